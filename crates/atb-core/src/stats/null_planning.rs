//! How many pairs show a null: the power of two one-sided tests when the arms are truly equal.

use crate::quantity::{LogSpread, Probability, Relative};

use super::distributions::{log_gamma, normal_cdf, student_quantile};
use super::planning::{Design, PlanningError, even_pairs, rank_test_pairs};
use super::signed_rank::MAX_PAIRS;

/// Panels of Simpson's rule; its error is then far below 1e-12, since the integrand is smooth between its ends.
const PANELS: usize = 2_000;

/// Fewest pairs with a useful spread: two have one degree of freedom, whose critical value is beyond use.
const LEAST: usize = 3;

/// Power to show that equal arms are equal: the probability that n pairs without a true difference are `equivalent` by
/// two one-sided t tests at level (1 - conf)/2 against +-ln(1 + delta).
///
/// P = E[max(0, 2 Phi(sqrt(n) (D - t s / sqrt(n)) / sd) - 1)] over the sample spread s, whose square is sd^2 chi-square
/// over n-1. Source: Phillips (1990), by Simpson's rule. Assumes normal log ratios; `conf` of the design is that of
/// `equivalent` (0.90).
pub fn null_power(sd: LogSpread, delta: Relative, n: usize, design: Design) -> Result<Probability, PlanningError> {
    if !(LEAST..=MAX_PAIRS).contains(&n) {
        return Err(PlanningError::Pairs { got: n });
    }
    if sd.get() <= 0.0 {
        return Ok(Probability::new(f64::from(u8::from(delta.get() > 0.0)))?);
    }
    let (root, df) = ((n as f64).sqrt(), n as f64 - 1.0);
    let margin = delta.log_margin()?.get() / sd.get(); // all in units of sd from here on
    let t = student_quantile(1.0 - design.tail(), df).ok_or(PlanningError::Levels)?;
    // Beyond the first bound the region of equivalence is empty; beyond the others lies less than 1e-16 of the law.
    let width = 12.0 / (2.0 * df).sqrt();
    let (low, high) = ((1.0 - width).max(0.0), (margin * root / t).min(1.0 + width));
    let shown = |s: f64| {
        let inside = 2.0 * normal_cdf(root * margin - t * s) - 1.0;
        inside.max(0.0) * spread_density(s, df)
    };
    let power = if high > low { simpson(shown, low, high) } else { 0.0 };
    Ok(Probability::new(power.clamp(0.0, 1.0))?)
}

/// Pairs that show a null with the design's power: the least n of [`null_power`], raised by pi/3 for the rank test, to an
/// even number and to the floor. None up to the most pairs of the signed ranks is an error.
pub fn pairs_for_null(sd: LogSpread, delta: Relative, design: Design, floor: usize) -> Result<usize, PlanningError> {
    Ok(even_pairs(rank_test_pairs(least_pairs(sd, delta, design)? as f64)?, floor))
}

/// The least n whose t tests reach the power.
pub(crate) fn least_pairs(sd: LogSpread, delta: Relative, design: Design) -> Result<usize, PlanningError> {
    for n in LEAST..=MAX_PAIRS {
        if null_power(sd, delta, n, design)?.get() >= design.power() {
            return Ok(n);
        }
    }
    Err(PlanningError::Undetectable)
}

/// Density of the sample spread in units of sd: that of sqrt(chi-square / df).
fn spread_density(s: f64, df: f64) -> f64 {
    if s <= 0.0 {
        return 0.0;
    }
    let half = df / 2.0;
    (std::f64::consts::LN_2 + half * half.ln() - log_gamma(half) + (df - 1.0) * s.ln() - half * s * s).exp()
}

fn simpson(f: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let step = (high - low) / (2 * PANELS) as f64;
    let inner: f64 = (1..2 * PANELS).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * f(low + step * i as f64)).sum();
    (f(low) + inner + f(high)) * step / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design() -> Design {
        Design::new(Probability::new(0.90).unwrap(), Probability::new(0.8).unwrap()).unwrap()
    }

    fn spread(sd: f64) -> LogSpread {
        LogSpread::new(sd).unwrap()
    }

    #[test]
    fn the_density_is_one_in_all() {
        for df in [2.0, 5.0, 11.0, 199.0] {
            let width = 12.0 / f64::sqrt(2.0 * df);
            let total = simpson(|s| spread_density(s, df), (1.0 - width).max(0.0), 1.0 + width);
            assert!((total - 1.0).abs() < 1e-10, "df {df}: {total}");
        }
    }

    #[test]
    fn power_rises_with_pairs_and_falls_with_scatter() {
        let delta = Relative::new(0.01).unwrap();
        let power = |sd, n| null_power(spread(sd), delta, n, design()).unwrap().get();
        assert!((3..40).all(|n| power(0.01, n) < power(0.01, n + 1)));
        assert!((1..20).all(|i| power(f64::from(i) * 1e-3, 12) >= power(f64::from(i + 1) * 1e-3, 12)));
        assert!(power(0.0, 6) > 0.999);
    }

    #[test]
    fn advice_is_even_and_what_cannot_be_shown_has_none() {
        let delta = Relative::new(0.01).unwrap();
        assert_eq!(pairs_for_null(spread(0.003), delta, design(), 12), Ok(12));
        assert_eq!(pairs_for_null(spread(0.01), delta, design(), 6), Ok(12));
        let none = Err(PlanningError::Undetectable);
        assert_eq!(pairs_for_null(spread(0.01), Relative::new(0.0).unwrap(), design(), 6), none);
        assert_eq!(null_power(spread(0.01), delta, 2, design()), Err(PlanningError::Pairs { got: 2 }));
    }
}
