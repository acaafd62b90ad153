//! Quantities: one type per kind of number, so that a time cannot be passed where a ratio is meant.
//!
//! Every floating-point quantity is finite by construction, except interval ends, which may be infinite.
//! Times are integer nanoseconds; a mean of times is a derived quantity and never stored.

use std::fmt;
use std::num::NonZeroU64;

/// A number that was refused by a quantity's constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{quantity} is out of its range")]
pub struct QuantityError {
    /// The quantity that refused, as the glossary names it.
    pub quantity: &'static str,
}

macro_rules! float_quantity {
    ($(#[$doc:meta])* $name:ident, $label:literal, $ok:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            /// Accepts the number if it lies in the quantity's range.
            pub fn new(value: f64) -> Result<Self, QuantityError> {
                let ok: fn(f64) -> bool = $ok;
                if ok(value) { Ok(Self(value)) } else { Err(QuantityError { quantity: $label }) }
            }

            /// The number itself.
            pub fn get(self) -> f64 {
                self.0
            }
        }
    };
}

float_quantity!(
    /// A ratio of two times or rates; finite and above zero. Above 1 the candidate is faster.
    Ratio, "ratio", |v| v.is_finite() && v > 0.0
);
float_quantity!(
    /// A natural logarithm of a ratio; finite. Positive means that the candidate is faster.
    LogRatio, "log ratio", f64::is_finite
);
float_quantity!(
    /// An interval end on the log scale; infinite where the sample is too small for the confidence.
    LogBound, "log bound", |v| !v.is_nan()
);
float_quantity!(
    /// A coefficient of variation; finite and not negative.
    Cv, "coefficient of variation", |v| v.is_finite() && v >= 0.0
);
float_quantity!(
    /// A probability in [0, 1].
    Probability, "probability", |v| (0.0..=1.0).contains(&v)
);
float_quantity!(
    /// A relative size such as delta = 0.01; finite and not negative.
    Relative, "relative size", |v| v.is_finite() && v >= 0.0
);

float_quantity!(
    /// A reading: one time or rate in the caller's unit; finite and above zero.
    Reading, "reading", |v| v.is_finite() && v > 0.0
);
float_quantity!(
    /// A spread of readings (standard deviation, median absolute deviation) in their unit; finite and not negative.
    Spread, "spread", |v| v.is_finite() && v >= 0.0
);
float_quantity!(
    /// A standard deviation of log ratios; finite and not negative.
    LogSpread, "log spread", |v| v.is_finite() && v >= 0.0
);
float_quantity!(
    /// A correlation in [-1, 1].
    Correlation, "correlation", |v| (-1.0..=1.0).contains(&v)
);
float_quantity!(
    /// A number of independent samples that would carry the same information; finite and not negative.
    EffectiveCount, "effective count", |v| v.is_finite() && v >= 0.0
);

mod statistic;
pub use statistic::{
    Bytes, BytesPerSecond, Change, ChiSquare, EValue, Flops, FlopsPerSecond, LogEvidence, LogVariance, Seconds, Share,
    Slope, ZScore,
};

impl Relative {
    /// The size on the log scale, ln(1 + size): the half-width of the band in which two arms count as equal.
    pub fn log_margin(self) -> Result<LogRatio, QuantityError> {
        LogRatio::new(self.0.ln_1p())
    }
}

/// The calls of the candidate in one timed window (K); at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Iterations(NonZeroU64);

impl Iterations {
    /// Accepts a count of at least one.
    pub fn new(count: u64) -> Result<Self, QuantityError> {
        NonZeroU64::new(count).map(Self).ok_or(QuantityError { quantity: "iterations" })
    }

    /// The count.
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

/// A seed of a deterministic sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(u64);

impl Seed {
    /// Wraps a seed; every value is a good one.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The seed.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Probability {
    /// The nearest probability; for values whose range a schema has already checked.
    pub fn saturating(value: f64) -> Self {
        Self(if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) })
    }
}

impl Relative {
    /// The nearest relative size; for values whose range a schema has already checked.
    pub fn saturating(value: f64) -> Self {
        Self(if value.is_finite() { value.max(0.0) } else { 0.0 })
    }
}

impl LogRatio {
    /// ln(base / candidate) of two positive integer times.
    pub fn of_times(base: Nanos, candidate: Nanos) -> Result<Self, QuantityError> {
        Self::new((base.get() as f64 / candidate.get() as f64).ln())
    }

    /// The ratio that this is the logarithm of.
    pub fn ratio(self) -> Result<Ratio, QuantityError> {
        Ratio::new(self.0.exp())
    }
}

impl LogBound {
    /// The bound as a ratio: 0 for minus infinity, infinity for plus infinity.
    pub fn ratio_bound(self) -> f64 {
        self.0.exp()
    }
}

/// A duration in nanoseconds. Raw samples are this type, never a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanos(u64);

impl Nanos {
    /// Wraps a count of nanoseconds.
    pub const fn new(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The count of nanoseconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The duration in seconds, for display.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        match ns {
            0..=9_999 => write!(f, "{ns} ns"),
            10_000..=9_999_999 => write!(f, "{:.2} us", ns as f64 / 1e3),
            10_000_000..=9_999_999_999 => write!(f, "{:.2} ms", ns as f64 / 1e6),
            _ => write!(f, "{:.1} s", ns as f64 / 1e9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_has_no_quantity() {
        assert!(Ratio::new(f64::NAN).is_err());
        assert!(LogRatio::new(f64::NAN).is_err());
        assert!(LogBound::new(f64::NAN).is_err());
        assert!(Cv::new(f64::NAN).is_err());
        assert!(Probability::new(f64::NAN).is_err());
        assert!(Relative::new(f64::NAN).is_err());
    }

    #[test]
    fn a_failure_cannot_be_written_as_ratio_zero() {
        assert!(Ratio::new(0.0).is_err());
        assert!(LogRatio::of_times(Nanos::new(0), Nanos::new(5)).is_err());
        assert!(LogRatio::of_times(Nanos::new(5), Nanos::new(0)).is_err());
    }
}
