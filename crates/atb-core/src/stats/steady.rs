//! Did a run reach a steady state: is there a trend over its windows, and how large is it?
//!
//! Both must hold before a run counts as drifting, because autocorrelation alone makes the trend test fire. What
//! follows (repeat the run under its seed once, then void the pair) is decided elsewhere; nothing here drops a reading.

use crate::quantity::{Change, Probability, QuantityError, Reading, Relative, Slope, ZScore};

use super::distributions::normal_tail;
use super::{EPSILON, median_of_sorted, sorted};

/// Most readings accepted: all pairs of readings are looked at, and their slopes are held at once.
pub const MAX_READINGS: usize = 5_000;

/// The trend of readings in time order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Mann & Kendall's S: later readings that are greater, less those that are smaller, over all pairs.
    pub s: i64,
    /// Variance of S without a trend, in eighteenths (so that it is an integer), corrected for ties.
    pub variance_times_18: u64,
    /// (S - sign S) / sqrt(variance); 0 where all readings are equal.
    pub z: ZScore,
    /// Two-sided probability of so large a trend without one.
    pub p: Probability,
    /// Theil & Sen's slope: the median of the slopes over all pairs, in the readings' unit per reading.
    pub slope: Slope,
    /// Slope x (n-1) / median: the relative change over the whole run.
    pub drift: Change,
}

/// Why no trend could be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TrendError {
    /// A trend needs two readings, and their pairs must fit into memory.
    #[error("a trend needs 2 to {MAX_READINGS} readings, got {got}")]
    Readings {
        /// Readings given.
        got: usize,
    },
    /// A derived number left the range of its quantity.
    #[error("failed to compute a trend")]
    Quantity(#[from] QuantityError),
}

impl Trend {
    /// Source: Mann (1945) and Kendall (1975) with tie correction and continuity correction; Sen (1968) for the slope.
    ///
    /// Assumes independent readings for `p`; with positive autocorrelation `p` is too small.
    pub fn of(readings: &[Reading]) -> Result<Self, TrendError> {
        let n = readings.len();
        if !(2..=MAX_READINGS).contains(&n) {
            return Err(TrendError::Readings { got: n });
        }
        let values: Vec<f64> = readings.iter().map(|r| r.get()).collect();
        let ordered = sorted(&values);
        let mut s = 0;
        let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
        for (i, earlier) in values.iter().enumerate() {
            for (steps, later) in values[i..].iter().enumerate().skip(1) {
                s += later.total_cmp(earlier) as i64;
                slopes.push((later - earlier) / steps as f64);
            }
        }
        let eighteenths = |t: usize| (t * (t - 1) * (2 * t + 5)) as u64;
        let ties: u64 = ordered.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|tied| eighteenths(tied.len())).sum();
        let variance_times_18 = eighteenths(n) - ties;
        let corrected = (s - s.signum()) as f64;
        let z = if s == 0 { 0.0 } else { corrected / (variance_times_18 as f64 / 18.0).sqrt() };
        let slope = median_of_sorted(&sorted(&slopes));
        Ok(Self {
            s,
            variance_times_18,
            z: ZScore::new(z)?,
            p: Probability::new((2.0 * normal_tail(z.abs())).min(1.0))?,
            slope: Slope::new(slope)?,
            drift: Change::new(slope * (n as f64 - 1.0) / median_of_sorted(&ordered))?,
        })
    }

    /// True if the trend is both more than chance (p < `drift_p`) and large enough to matter (|drift| > `drift_max`).
    pub fn is_drift(&self, drift_p: Probability, drift_max: Relative) -> bool {
        self.p.get() < drift_p.get() - EPSILON && self.drift.get().abs() > drift_max.get() + EPSILON
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(values: &[f64]) -> Trend {
        Trend::of(&values.iter().map(|v| Reading::new(*v).unwrap()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn equal_readings_have_no_trend() {
        let flat = trend(&[2.0; 10]);
        assert_eq!((flat.s, flat.variance_times_18), (0, 0));
        assert!((flat.p.get() - 1.0).abs() < 1e-15 && flat.drift.get().abs() < 1e-15);
    }

    #[test]
    fn a_sure_but_small_trend_is_no_drift() {
        let creeping: Vec<f64> = (0..100).map(|i| 100.0 + f64::from(i) * 1e-4).collect();
        let creeping = trend(&creeping);
        let (p, max) = (Probability::new(0.01).unwrap(), Relative::new(0.02).unwrap());
        assert!(creeping.p.get() < 1e-30 && !creeping.is_drift(p, max));
        let climbing: Vec<f64> = (0..100).map(|i| 100.0 + f64::from(i) * 0.05).collect();
        assert!(trend(&climbing).is_drift(p, max));
        let scattered = trend(&[100.0, 110.0, 95.0, 108.0, 112.0]);
        assert!(scattered.drift.get().abs() > 0.02 && !scattered.is_drift(p, max));
    }

    #[test]
    fn too_few_and_too_many_readings_are_refused() {
        let one = [Reading::new(1.0).unwrap()];
        assert_eq!(Trend::of(&one), Err(TrendError::Readings { got: 1 }));
        let many = vec![one[0]; MAX_READINGS + 1];
        assert_eq!(Trend::of(&many), Err(TrendError::Readings { got: MAX_READINGS + 1 }));
    }
}
