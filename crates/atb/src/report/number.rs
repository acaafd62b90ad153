//! How numbers are written, once for terminal, JSON and page.

use std::fmt;

use atb_core::outcome::Outcome;
use atb_core::quantity::{Cv, LogBound, LogRatio, Nanos, Probability, Ratio, Reading, Relative};
use serde_json::Value;

/// Units in the last place of a printed ratio: four decimals.
const SCALE: f64 = 1e4;
/// Largest ratio that is printed; beyond it four decimals say nothing.
const LARGEST: f64 = 1e9;

/// A ratio to four decimals. The same value is printed in text, JSON and page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rounded(i64);

impl Rounded {
    /// The nearest; none beyond 1e9.
    pub fn nearest(ratio: Ratio) -> Option<Self> {
        Self::scaled((ratio.get() * SCALE).round())
    }

    /// A lower end, rounded down; none if it is not finite.
    pub fn down(bound: LogBound) -> Option<Self> {
        let value = finite(bound)?;
        let near = Self::scaled((value * SCALE).round())?;
        Some(if near.value() > value { Self(near.0 - 1) } else { near })
    }

    /// An upper end, rounded up; none if it is not finite.
    pub fn up(bound: LogBound) -> Option<Self> {
        let value = finite(bound)?;
        let near = Self::scaled((value * SCALE).round())?;
        Some(if near.value() < value { Self(near.0 + 1) } else { near })
    }

    /// The JSON number.
    pub fn json(self) -> Value {
        Value::from(self.value())
    }

    fn scaled(units: f64) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, reason = "checked to lie in 0..=1e13")]
        (0.0..=LARGEST * SCALE).contains(&units).then_some(Self(units as i64))
    }

    fn value(self) -> f64 {
        self.0 as f64 / SCALE
    }
}

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{:04}", self.0 / 10_000, self.0 % 10_000))
    }
}

fn finite(bound: LogBound) -> Option<f64> {
    bound.get().is_finite().then(|| bound.ratio_bound())
}

/// The JSON of a number that may be missing.
pub fn json_or_null(rounded: Option<Rounded>) -> Value {
    rounded.map_or(Value::Null, Rounded::json)
}

/// A number that may be missing, as text; an infinite end is written as the bound it is.
pub fn shown(rounded: Option<Rounded>) -> String {
    rounded.map_or_else(|| "none".to_owned(), |rounded| rounded.to_string())
}

/// The interval of a verdict as text, rounded outward.
pub fn interval(lo: LogBound, hi: LogBound) -> String {
    format!("[{}, {}]", shown(Rounded::down(lo)), shown(Rounded::up(hi)))
}

/// A share as a percentage with two decimals.
pub fn percent(share: Cv) -> String {
    format!("{:.2} %", share.get() * 100.0)
}

/// A relative size such as delta as a percentage without needless digits.
pub fn size(relative: Relative) -> String {
    format!("{} %", trimmed(relative.get() * 100.0))
}

/// A confidence as a percentage without needless digits.
pub fn confidence(probability: Probability) -> String {
    format!("{} %", trimmed(probability.get() * 100.0))
}

/// A small probability.
pub fn p_value(probability: Probability) -> String {
    let p = probability.get();
    if p < 1e-4 { format!("{p:.1e}") } else { format!("{p:.4}") }
}

/// A log ratio as a change in percent: ln 1.01 is `1.0 %`.
pub fn change(log: LogRatio) -> String {
    format!("{:.1} %", log.get().exp_m1() * 100.0)
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A unit in which several times per call read well together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeUnit {
    /// Its name: `ns`, `us` or `ms`.
    pub name: &'static str,
    nanos: f64,
}

impl TimeUnit {
    /// The unit in which the longest time has one to four digits before the point.
    pub fn of(times: impl IntoIterator<Item = Reading>) -> Self {
        let longest = times.into_iter().map(Reading::get).fold(0.0, f64::max);
        match longest {
            t if t < 1e4 => Self { name: "ns", nanos: 1.0 },
            t if t < 1e7 => Self { name: "us", nanos: 1e3 },
            _ => Self { name: "ms", nanos: 1e6 },
        }
    }

    /// The number of these units in a time.
    pub(crate) fn number(self, nanos: Reading) -> f64 {
        nanos.get() / self.nanos
    }

    /// A time in this unit with four significant digits.
    pub fn show(self, nanos: Reading) -> String {
        let value = self.number(nanos);
        let decimals = match value {
            v if v >= 1000.0 => 0,
            v if v >= 100.0 => 1,
            v if v >= 10.0 => 2,
            _ => 3,
        };
        format!("{value:.decimals$}")
    }
}

/// A total time for people.
pub fn total(time: Nanos) -> String {
    format!("{:.1} s", time.seconds())
}

/// A count with its noun.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// An outcome with its code where that is part of its name.
pub fn outcome(outcome: Outcome) -> String {
    outcome.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(ratio: f64) -> LogBound {
        LogBound::new(ratio.ln()).unwrap()
    }

    #[test]
    fn bounds_are_rounded_outward_and_estimates_to_the_nearest() {
        assert_eq!(Rounded::down(bound(1.198_29)).unwrap().to_string(), "1.1982");
        assert_eq!(Rounded::up(bound(1.223_01)).unwrap().to_string(), "1.2231");
        assert_eq!(Rounded::nearest(Ratio::new(1.210_36).unwrap()).unwrap().to_string(), "1.2104");
        assert_eq!(Rounded::down(LogBound::new(0.0).unwrap()).unwrap().to_string(), "1.0000");
        assert_eq!(Rounded::up(LogBound::new(0.0).unwrap()).unwrap().to_string(), "1.0000");
    }

    #[test]
    fn what_is_not_finite_has_no_number() {
        let (below, above) = (LogBound::new(f64::NEG_INFINITY).unwrap(), LogBound::new(f64::INFINITY).unwrap());
        assert_eq!(Rounded::up(above), None);
        assert_eq!(Rounded::down(below), None);
        assert_eq!(json_or_null(Rounded::up(above)), Value::Null);
        assert_eq!(Rounded::nearest(Ratio::new(1e300).unwrap()), None);
    }

    #[test]
    fn text_and_json_are_the_same_number() {
        for ratio in [0.5, 1.0, 1.000_049_9, 1.234_56, 4.912_3, 9_999.999_95] {
            let rounded = Rounded::nearest(Ratio::new(ratio).unwrap()).unwrap();
            let (text, json): (f64, f64) = (rounded.to_string().parse().unwrap(), rounded.json().as_f64().unwrap());
            assert!((text - json).abs() < f64::EPSILON, "{ratio}");
        }
    }

    #[test]
    fn times_share_a_unit() {
        let times = [Reading::new(812.3).unwrap(), Reading::new(25_000.0).unwrap()];
        let unit = TimeUnit::of(times);
        assert_eq!((unit.name, unit.show(times[0]), unit.show(times[1])), ("us", "0.812".into(), "25.00".into()));
    }
}
