//! How many pairs would have been enough: the advice printed beside an undecided verdict.
//!
//! Advice only: no verdict reads it. Pairs for a null are planned in `null_planning`.

use crate::quantity::{LogRatio, LogSpread, Probability, QuantityError, Relative};

use super::distributions::{noncentral_t_tail, normal_quantile, student_quantile, two_sided_z};
use super::signed_rank::MAX_PAIRS;

/// Pairs that a signed-rank test needs for each pair of a t test on normal log ratios (asymptotic efficiency 3/pi).
const RANK_TEST_COST: f64 = std::f64::consts::PI / 3.0;

/// Above this, the advice is "never": no schedule could run it.
const MOST_ADVISED: f64 = 1e9;

/// Above this, the closed form serves for Student's t: it is within a hundredth of a pair there.
const MOST_EXACT: f64 = 500.0;

/// Larger effects, in standard deviations, are planned as this one: either needs fewer pairs than any floor allows.
const LARGEST_EFFECT: f64 = 8.0;

/// The error levels of a design: two-sided confidence and power, both strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    conf: Probability,
    power: Probability,
}

/// Why nothing could be planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PlanningError {
    /// Certainty has no finite sample size.
    #[error("confidence and power must lie strictly between 0.5 and 1")]
    Levels,
    /// A difference of zero is found by no number of pairs, and a far too small one by no practical number.
    #[error("no practical number of pairs can show so small a difference")]
    Undetectable,
    /// A spread is unknown below two pairs; above the limit nothing is computed.
    #[error("a minimum detectable effect needs 2 to {MAX_PAIRS} pairs, got {got}")]
    Pairs {
        /// Pairs given.
        got: usize,
    },
    /// A derived number left the range of its quantity.
    #[error("failed to plan")]
    Quantity(#[from] QuantityError),
}

impl Design {
    /// Accepts levels strictly between 0.5 and 1, such as 0.95 and 0.8.
    pub fn new(conf: Probability, power: Probability) -> Result<Self, PlanningError> {
        let open = |p: Probability| p.get() > 0.5 && p.get() < 1.0;
        if open(conf) && open(power) { Ok(Self { conf, power }) } else { Err(PlanningError::Levels) }
    }

    pub(crate) fn tail(self) -> f64 {
        (1.0 - self.conf.get()) / 2.0
    }

    pub(crate) fn power(self) -> f64 {
        self.power.get()
    }

    /// z_{1-a/2}
    pub(crate) fn z_conf(self) -> f64 {
        two_sided_z(self.conf.get())
    }

    /// z_{1-a/2} + z_{1-b}
    pub(crate) fn z_sum(self) -> f64 {
        self.z_conf() + normal_quantile(self.power.get())
    }
}

/// Pairs that show a true difference of `delta` with the design's power, from the spread of the log ratios; even, and at
/// least `floor`.
///
/// n = ((z_{1-a/2} + z_{1-b}) sd / ln(1+delta))^2, refined by the noncentral t, times pi/3 for the rank test.
/// Source: Lehmann, Nonparametrics, for the efficiency of the rank test. Assumes about normal log ratios.
pub fn pairs_needed(sd: LogSpread, delta: Relative, design: Design, floor: usize) -> Result<usize, PlanningError> {
    let margin = delta.log_margin()?;
    if margin.get() <= 0.0 {
        return Err(PlanningError::Undetectable);
    }
    Ok(even_pairs(rank_test_pairs(student_pairs(sd, margin, design)?)?, floor))
}

/// The smallest true log ratio that n pairs show with the design's power: ncp sd / sqrt(n).
///
/// ncp is the noncentrality at which Student's t with n-1 degrees of freedom passes its critical value with that power;
/// the normal approximation would promise 20 % too much at n = 6.
pub fn minimum_detectable_effect(sd: LogSpread, n: usize, design: Design) -> Result<LogRatio, PlanningError> {
    if !(2..=MAX_PAIRS).contains(&n) {
        return Err(PlanningError::Pairs { got: n });
    }
    let ncp = noncentrality(n as f64 - 1.0, design).ok_or(PlanningError::Levels)?;
    Ok(LogRatio::new(ncp * sd.get() / (n as f64).sqrt())?)
}

/// Pairs that the rank test needs where a t test needs `student`.
pub(crate) fn rank_test_pairs(student: f64) -> Result<usize, PlanningError> {
    let pairs = (student * RANK_TEST_COST).ceil();
    if !(0.0..=MOST_ADVISED).contains(&pairs) {
        return Err(PlanningError::Undetectable);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in 0..=1e9")]
    let pairs = pairs as usize;
    Ok(pairs)
}

/// Even, so that either order of the arms comes equally often.
pub(crate) fn even_pairs(pairs: usize, floor: usize) -> usize {
    pairs.max(floor).next_multiple_of(2)
}

/// ((z_{1-a/2} + z_{1-b}) sd / margin)^2, unrounded.
pub(crate) fn normal_pairs(sd: LogSpread, margin: LogRatio, design: Design) -> f64 {
    (design.z_sum() * sd.get() / margin.get()).powi(2)
}

/// The n, unrounded and at least 2, at which the two-sided t test has the design's power.
///
/// The closed form n_z + z_{1-a/2}^2 / 2 (Guenther 1981) lies within a pair of it and starts the search; it is taken
/// itself where n is large.
pub(crate) fn student_pairs(sd: LogSpread, margin: LogRatio, design: Design) -> Result<f64, PlanningError> {
    let closed = normal_pairs(sd, margin, design) + design.z_conf().powi(2) / 2.0;
    if closed > MOST_EXACT || sd.get() <= 0.0 {
        return Ok(closed);
    }
    let effect = (margin.get() / sd.get()).min(LARGEST_EFFECT);
    let excess = |n: f64| -> Result<f64, PlanningError> {
        let critical = student_quantile(1.0 - design.tail(), n - 1.0).ok_or(PlanningError::Levels)?;
        let tail = |ncp: f64| noncentral_t_tail(critical, n - 1.0, ncp).ok_or(PlanningError::Levels);
        Ok(tail(effect * n.sqrt())? + tail(-effect * n.sqrt())? - design.power())
    };
    // One degree of freedom is the least that Student's t is planned with.
    let (low, mut high) = (2.0, closed.max(2.0) + 1.0);
    if excess(low)? >= 0.0 {
        return Ok(low);
    }
    while excess(high)? < 0.0 {
        high *= 2.0;
    }
    falsi(excess, low, high)
}

/// The zero of a rising function between two ends of opposite sign, by regula falsi in the Illinois form.
fn falsi(f: impl Fn(f64) -> Result<f64, PlanningError>, mut low: f64, mut high: f64) -> Result<f64, PlanningError> {
    let (mut at_low, mut at_high) = (f(low)?, f(high)?);
    let mut last_was_high = None;
    for _ in 0..100 {
        let between = (low * at_high - high * at_low) / (at_high - at_low);
        let value = f(between)?;
        if value.abs() < 1e-14 || high - low < 1e-12 * high {
            return Ok(between);
        }
        // The end that stays twice in a row is weighed half, so that it moves, too.
        let is_high = value >= 0.0;
        if is_high {
            (high, at_high) = (between, value);
            at_low /= if last_was_high == Some(true) { 2.0 } else { 1.0 };
        } else {
            (low, at_low) = (between, value);
            at_high /= if last_was_high == Some(false) { 2.0 } else { 1.0 };
        }
        last_was_high = Some(is_high);
    }
    Ok(high)
}

/// The noncentrality with P(T > t_crit) = power, by bisection: the power rises with it.
pub(crate) fn noncentrality(df: f64, design: Design) -> Option<f64> {
    let critical = student_quantile(1.0 - design.tail(), df)?;
    // P(T > t) at noncentrality 2t + 40 exceeds any power below 1 that a protocol names; checked on the way out.
    let (mut low, mut high) = (0.0, 2.0 * critical + 40.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if noncentral_t_tail(critical, df, middle)? < design.power.get() {
            low = middle;
        } else {
            high = middle;
        }
    }
    let reached = (noncentral_t_tail(critical, df, high)? - design.power.get()).abs() < 1e-9;
    reached.then_some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(conf: f64, power: f64) -> Result<Design, PlanningError> {
        Design::new(Probability::new(conf).unwrap(), Probability::new(power).unwrap())
    }

    fn spread(sd: f64) -> LogSpread {
        LogSpread::new(sd).unwrap()
    }

    fn relative(delta: f64) -> Relative {
        Relative::new(delta).unwrap()
    }

    // Two-sided power of the noncentral t solved in 30 digits (mpmath).
    #[test]
    fn the_search_finds_the_exact_number() {
        for (sd, effect, power, want) in [
            (0.005, 1.01_f64, 0.8, 4.239_613_267_506_02),
            (0.01, 1.02, 0.8, 4.258_533_378_522_09),
            (0.01, 1.01, 0.9, 12.689_354_371_903_5),
            (0.02, 1.01, 0.8, 33.680_870_946_479_1),
            (0.03, 1.05, 0.8, 5.185_338_870_526_94),
        ] {
            let margin = LogRatio::new(effect.ln()).unwrap();
            let got = student_pairs(spread(sd), margin, design(0.95, power).unwrap()).unwrap();
            assert!((got / want - 1.0).abs() < 1e-11, "sd {sd}: {got}");
        }
    }

    #[test]
    fn the_closed_form_takes_over_without_a_step() {
        let (levels, margin) = (design(0.95, 0.8).unwrap(), LogRatio::new(0.01).unwrap());
        let sd = |normal: f64| spread(0.01 * normal.sqrt() / levels.z_sum());
        for normal in [MOST_EXACT / 2.0, MOST_EXACT - 2.0, MOST_EXACT, MOST_EXACT * 2.0] {
            let closed = normal_pairs(sd(normal), margin, levels) + levels.z_conf().powi(2) / 2.0;
            assert!((student_pairs(sd(normal), margin, levels).unwrap() - closed).abs() < 0.01);
        }
    }

    #[test]
    fn a_huge_effect_is_planned_at_once() {
        let levels = design(0.999, 0.99).unwrap();
        assert_eq!(pairs_needed(spread(1e-12), relative(0.01), levels, 12), Ok(12));
    }

    #[test]
    fn advice_is_even_and_at_least_the_floor() {
        let levels = design(0.95, 0.8).unwrap();
        assert_eq!(pairs_needed(spread(0.0), relative(0.01), levels, 11), Ok(12));
        let none = Err(PlanningError::Undetectable);
        assert_eq!(pairs_needed(spread(0.1), relative(0.0), levels, 6), none);
        assert_eq!(pairs_needed(spread(0.0), relative(0.0), levels, 6), none);
        assert_eq!(pairs_needed(spread(1e9), relative(1e-3), levels, 6), none);
    }

    #[test]
    fn certainty_and_single_pairs_are_refused() {
        assert_eq!(design(1.0, 0.8), Err(PlanningError::Levels));
        assert_eq!(design(0.95, 1.0), Err(PlanningError::Levels));
        let levels = design(0.95, 0.8).unwrap();
        let one = minimum_detectable_effect(spread(0.1), 1, levels);
        assert_eq!(one, Err(PlanningError::Pairs { got: 1 }));
        for n in [2, 3, 60, MAX_PAIRS] {
            assert!(minimum_detectable_effect(spread(0.1), n, levels).is_ok(), "n {n}");
        }
    }
}
