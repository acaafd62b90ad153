//! How many requests must be fast enough before a run may stop and still claim its percentile (MLPerf's rule).

use crate::quantity::{Probability, QuantityError};

use super::EPSILON;
use super::binomial::Binomial;
use super::percentile::{MAX_READINGS, partition};

/// The least count of fast requests beside a number of slow ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EarlyStop {
    /// Requests that must be within the latency limit (h).
    pub within: usize,
    /// All requests: those within and those over it.
    pub total: usize,
    /// Probability of so few slow requests if the true share within the limit were only p - d.
    pub odds: Probability,
}

/// Why no count was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EarlyStopError {
    /// The percentile less its tolerance, and the confidence, must lie strictly between 0 and 1.
    #[error("percentile less tolerance, and confidence, must lie strictly between 0 and 1")]
    Levels,
    /// The count would exceed what is tabulated.
    #[error("more than {MAX_READINGS} requests would be needed")]
    TooMany,
    /// A derived number left the range of its quantity.
    #[error("failed to plan an early stop")]
    Quantity(#[from] QuantityError),
}

/// The smallest h with I_{p-d}(h, t+1) <= 1 - c: beside t requests over the limit, h within it show with confidence c
/// that a share of at least p - d meets the limit.
///
/// I_{p-d}(h, t+1) is P(at most t of h+t requests are slow). Source: MLPerf Inference rules, appendix on early stopping,
/// and loadgen/early_stopping.cc, where d = 0 and c = 0.99. Assumes independent requests.
pub fn early_stop(
    p: Probability,
    over_limit: usize,
    conf: Probability,
    tolerance: Probability,
) -> Result<EarlyStop, EarlyStopError> {
    let fast = p.get() - tolerance.get();
    let open = |v: f64| v > 0.0 && v < 1.0;
    if !open(fast) || !open(conf.get()) {
        return Err(EarlyStopError::Levels);
    }
    let odds = |within: usize| Binomial::new(within + over_limit, 1.0 - fast).at_most(over_limit);
    let too_likely = |within: usize| odds(within) > 1.0 - conf.get() + EPSILON;
    let mut reach = over_limit.max(1);
    while too_likely(reach) {
        reach *= 2;
        if reach > MAX_READINGS {
            return Err(EarlyStopError::TooMany);
        }
    }
    let within = partition(reach, too_likely) + 1;
    Ok(EarlyStop { within, total: within + over_limit, odds: Probability::new(odds(within))? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probability(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    #[test]
    fn a_tolerance_needs_fewer_and_more_slow_requests_need_more() {
        let needed = |t, d| early_stop(probability(0.95), t, probability(0.99), probability(d)).unwrap().within;
        assert!(needed(3, 0.01) < needed(3, 0.0));
        assert!((0..30).all(|t| needed(t, 0.0) < needed(t + 1, 0.0)));
    }

    #[test]
    fn a_percentile_without_room_is_refused() {
        let (zero, c) = (probability(0.0), probability(0.99));
        assert_eq!(early_stop(probability(1.0), 0, c, zero), Err(EarlyStopError::Levels));
        assert_eq!(early_stop(probability(0.9), 0, c, probability(0.9)), Err(EarlyStopError::Levels));
        let tight = early_stop(probability(0.999_999_9), 5, c, zero);
        assert_eq!(tight, Err(EarlyStopError::TooMany));
    }
}
