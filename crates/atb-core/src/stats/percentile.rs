//! What n requests can say of a tail percentile: ranks that bound it, and the least n that bounds it at all.
//!
//! The bounds hold for independent readings of one run. They never compare arms, and requests of several runs are
//! never pooled: at a lag-1 correlation of 0.9 a nominal 95 % bound covers the 95th percentile half of the time.

use crate::quantity::{EffectiveCount, Probability, QuantityError};

use super::EPSILON;
use super::binomial::Binomial;

/// Most readings accepted; the law of the ranks is tabulated.
pub const MAX_READINGS: usize = 1_000_000;

/// Order statistics (ranks from 1) that bound a percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankBounds {
    /// The reading of this rank is a lower bound; none where even the smallest is too high.
    pub lower: Option<usize>,
    /// The reading of this rank is an upper bound; none where even the largest is too low.
    pub upper: Option<usize>,
    /// Probability that the two together cover the percentile; none where one is missing.
    pub coverage: Option<Probability>,
    /// Readings expected beyond the percentile, n(1-p).
    pub tail: EffectiveCount,
}

/// The least numbers of readings that bound a percentile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeastReadings {
    /// The largest reading is an upper bound: 1 - p^n >= conf.
    pub upper: usize,
    /// Smallest and largest reading enclose it: 1 - p^n - (1-p)^n >= conf.
    pub enclosed: usize,
    /// Each of the two bounds misses with at most half the risk: p^n and (1-p)^n <= (1-conf)/2.
    pub equal_tailed: usize,
}

/// Why a percentile was not bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PercentileError {
    /// The percentile or the confidence is 0 or 1, where nothing can be bounded.
    #[error("percentile and confidence must lie strictly between 0 and 1")]
    Levels,
    /// No readings, or more than are tabulated.
    #[error("a percentile is bounded from 1 to {MAX_READINGS} readings, got {got}")]
    Readings {
        /// Readings given or needed.
        got: usize,
    },
    /// A derived number left the range of its quantity.
    #[error("failed to bound a percentile")]
    Quantity(#[from] QuantityError),
}

/// Ranks l and u with l = max{l: P(B <= l-1) <= a/2} and u = min{u: P(B >= u) <= a/2}, B binomial(n, p), a = 1 - conf.
///
/// Source: distribution-free interval for a quantile (David & Nagaraja, Order Statistics, section 7.1). Assumes
/// independent readings of one continuous law.
pub fn rank_bounds(n: usize, p: Probability, conf: Probability) -> Result<RankBounds, PercentileError> {
    let (p, conf) = (open(p)?, open(conf)?);
    if !(1..=MAX_READINGS).contains(&n) {
        return Err(PercentileError::Readings { got: n });
    }
    let law = Binomial::new(n, p);
    let tail = (1.0 - conf) / 2.0 + EPSILON;
    // Both probabilities are monotone in the rank, so the ranks that qualify are a prefix and a suffix of 1..=n.
    let lower = partition(n, |rank| law.less_than(rank) <= tail);
    let upper = partition(n, |rank| law.at_least(rank) > tail) + 1;
    let lower = (lower >= 1).then_some(lower);
    let upper = (upper <= n).then_some(upper);
    let coverage = lower.zip(upper).map(|(l, u)| (law.less_than(u) - law.less_than(l)).clamp(0.0, 1.0));
    Ok(RankBounds {
        lower,
        upper,
        coverage: coverage.map(Probability::new).transpose()?,
        tail: EffectiveCount::new(n as f64 * (1.0 - p))?,
    })
}

/// The least numbers of readings that bound percentile p with confidence conf.
///
/// Source: the same law at its extreme ranks. Below `upper`, a printed bound would be invented.
pub fn least_readings(p: Probability, conf: Probability) -> Result<LeastReadings, PercentileError> {
    let (p, conf) = (open(p)?, open(conf)?);
    let upper = whole((1.0 - conf).ln() / p.ln())?;
    // The likelier of the two misses decides. With half the risk for either the two together are within it, too.
    let equal_tailed = whole(((1.0 - conf) / 2.0).ln() / p.max(1.0 - p).ln())?;
    let misses = |n: usize| p.powf(n as f64) + (1.0 - p).powf(n as f64) > 1.0 - conf + EPSILON;
    Ok(LeastReadings { upper, enclosed: partition(equal_tailed - 1, misses) + 1, equal_tailed })
}

/// How many of 1..=n satisfy a condition that holds up to some number and then no more.
pub(crate) fn partition(n: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut yes, mut no) = (0, n + 1);
    while no - yes > 1 {
        let middle = usize::midpoint(yes, no);
        if holds(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    yes
}

fn open(p: Probability) -> Result<f64, PercentileError> {
    if p.get() > 0.0 && p.get() < 1.0 { Ok(p.get()) } else { Err(PercentileError::Levels) }
}

/// Rounds a count up, unless rounding alone put it above a whole number.
fn whole(count: f64) -> Result<usize, PercentileError> {
    let count = (count - EPSILON).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in range")]
    let readings = count as usize;
    if count <= MAX_READINGS as f64 { Ok(readings) } else { Err(PercentileError::Readings { got: readings }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probability(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    #[test]
    fn bounds_appear_exactly_at_the_least_numbers() {
        for p in [0.2, 0.5, 0.9, 0.95, 0.99] {
            let least = least_readings(probability(p), probability(0.95)).unwrap();
            let bounded = |n: usize| rank_bounds(n, probability(p), probability(0.95)).unwrap().coverage.is_some();
            assert!(bounded(least.equal_tailed) && !bounded(least.equal_tailed - 1), "p {p}");
            let missed = |n: usize| p.powf(n as f64) + (1.0 - p).powf(n as f64);
            assert!(missed(least.enclosed) <= 0.05 && missed(least.enclosed - 1) > 0.05, "p {p}");
        }
    }

    #[test]
    fn the_bounds_cover_as_promised_and_move_with_p() {
        for n in [59, 200, 1000, 5000] {
            let mut before = (0, 0);
            for p in [0.1, 0.25, 0.5, 0.75, 0.9] {
                let bounds = rank_bounds(n, probability(p), probability(0.95)).unwrap();
                let now = (bounds.lower.unwrap_or(0), bounds.upper.unwrap_or(n + 1));
                assert!(now > before && now.0 < now.1);
                assert!(bounds.coverage.is_none_or(|c| c.get() >= 0.95 - 1e-12), "n {n}, p {p}");
                before = now;
            }
        }
    }

    #[test]
    fn levels_and_counts_without_a_bound_are_refused() {
        let half = probability(0.5);
        assert_eq!(rank_bounds(9, probability(1.0), half), Err(PercentileError::Levels));
        assert_eq!(least_readings(half, probability(0.0)), Err(PercentileError::Levels));
        assert_eq!(rank_bounds(0, half, half), Err(PercentileError::Readings { got: 0 }));
        let extreme = probability(1.0 - 1e-12);
        assert!(matches!(least_readings(extreme, half), Err(PercentileError::Readings { .. })));
    }
}
