//! Positions on a logarithmic axis, as percentages of its width, and round ticks.

use std::fmt;

/// Free space at either end, in percent.
const MARGIN: f64 = 3.0;
/// Ticks wanted at most.
const TICKS: f64 = 5.0;
/// Above this factor from end to end, ticks stand at 1, 2 and 5 times powers of ten.
const WIDE: f64 = 3.0;

/// A position in percent, with two decimals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}%", self.0)
    }
}

impl Percent {
    /// The share of a whole.
    pub(super) fn of(part: f64, whole: f64) -> Self {
        Self(if whole > 0.0 { 100.0 * part / whole } else { 0.0 })
    }

    /// The distance to a position further right.
    pub(super) fn to(self, other: Self) -> Self {
        Self((other.0 - self.0).max(0.0))
    }
}

/// A tick with its label.
#[derive(Debug, Clone)]
pub(super) struct Tick {
    pub(super) at: Percent,
    pub(super) label: String,
    /// How the label hangs on its position, so that none is cut at the ends.
    pub(super) anchor: &'static str,
}

/// A range of logarithms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    lo: f64,
    hi: f64,
}

impl Axis {
    /// The axis that shows all finite values; a little space is left around them.
    pub(super) fn of(logs: impl IntoIterator<Item = f64>) -> Self {
        let finite = logs.into_iter().filter(|log| log.is_finite());
        let (lo, hi) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), log| (lo.min(log), hi.max(log)));
        if lo > hi {
            return Self { lo: -0.01, hi: 0.01 };
        }
        let room = ((hi - lo) * 0.04).max(5e-4);
        Self { lo: lo - room, hi: hi + room }
    }

    /// Width on the logarithmic scale.
    pub(super) fn span(&self) -> f64 {
        self.hi - self.lo
    }

    /// The share of the way from the lower to the upper end, cut to 0..1. Infinite ends lie at the border.
    pub(super) fn share(&self, log: f64) -> f64 {
        ((log - self.lo) / self.span()).clamp(0.0, 1.0)
    }

    /// The position of a value.
    pub(super) fn at(&self, log: f64) -> Percent {
        Percent(MARGIN + self.share(log) * (100.0 - 2.0 * MARGIN))
    }

    /// Round values inside the range with their labels, as logarithms.
    pub(super) fn rounds(&self) -> Vec<(f64, String)> {
        let (from, to) = (self.lo.exp(), self.hi.exp());
        let values = if to / from > WIDE { decades(from, to) } else { steps(from, to) };
        values.into_iter().map(|(value, label)| (value.ln(), label)).collect()
    }

    /// Ticks with anchored labels.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let tick = |(log, label)| {
            let at = self.at(log);
            let anchor = match at.0 {
                x if x < 4.0 => "start",
                x if x > 96.0 => "end",
                _ => "middle",
            };
            Tick { at, label, anchor }
        };
        self.rounds().into_iter().map(tick).collect()
    }
}

/// Multiples of a round step.
fn steps(from: f64, to: f64) -> Vec<(f64, String)> {
    let raw = (to - from) / TICKS;
    let power = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|step| *step >= raw).unwrap_or(raw);
    let decimals = decimals(step);
    let mut values = Vec::new();
    let mut at = (from / step).ceil();
    while at * step <= to {
        values.push((at * step, format!("{:.decimals$}", at * step)));
        at += 1.0;
    }
    values
}

/// 1, 2 and 5 times powers of ten; powers of ten alone over more than three decades.
fn decades(from: f64, to: f64) -> Vec<(f64, String)> {
    let multiples: &[f64] = if to / from > 1e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let mut power = 10_f64.powf(from.log10().floor());
    let mut values = Vec::new();
    while power <= to {
        for value in multiples.iter().map(|multiple| multiple * power).filter(|value| (from..=to).contains(value)) {
            let decimals = decimals(power);
            values.push((value, format!("{value:.decimals$}")));
        }
        power *= 10.0;
    }
    values
}

fn decimals(step: f64) -> usize {
    // 1 needs none, 0.1 one, 0.02 two.
    (1..=6)
        .find(|places| step >= 10_f64.powi(-places) * (1.0 - 1e-9))
        .map_or(6, |places| if step >= 1.0 - 1e-9 { 0 } else { usize::try_from(places).unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: f64, to: f64) -> Vec<String> {
        let axis = Axis { lo: from.ln(), hi: to.ln() };
        axis.rounds().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(labels(0.98, 1.23), ["1.00", "1.05", "1.10", "1.15", "1.20"]);
        assert_eq!(labels(0.996, 1.004), ["0.996", "0.998", "1.000", "1.002", "1.004"]);
        assert_eq!(labels(0.5, 11.0), ["0.5", "1", "2", "5", "10"]);
        assert_eq!(labels(240.0, 310.0), ["240", "260", "280", "300"]);
    }

    #[test]
    fn positions_stay_inside_whatever_the_value() {
        let axis = Axis::of([0.0, 0.1, f64::INFINITY]);
        assert_eq!(axis.at(f64::NEG_INFINITY).to_string(), "3.00%");
        assert_eq!(axis.at(f64::INFINITY).to_string(), "97.00%");
        assert!(Axis::of([]).span() > 0.0);
    }
}
