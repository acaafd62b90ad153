//! Quantities that only statistics and bounds speak of.

use super::QuantityError;

float_quantity!(
    /// A part of a whole, in [0, 1].
    Share, "share", |v| (0.0..=1.0).contains(&v)
);
float_quantity!(
    /// A signed relative change such as a drift of -0.02; finite.
    Change, "relative change", f64::is_finite
);
float_quantity!(
    /// A change per reading, in the readings' unit; finite.
    Slope, "slope", f64::is_finite
);
float_quantity!(
    /// A statistic in units of its standard deviation; finite.
    ZScore, "standardised statistic", f64::is_finite
);
float_quantity!(
    /// A chi-square statistic; finite and not negative.
    ChiSquare, "chi-square statistic", |v| v.is_finite() && v >= 0.0
);
float_quantity!(
    /// A variance of log ratios; finite and not negative.
    LogVariance, "log variance", |v| v.is_finite() && v >= 0.0
);
float_quantity!(
    /// Evidence against a null: a number whose mean is at most 1 under it; finite and not negative.
    EValue, "e-value", |v| v.is_finite() && v >= 0.0
);
float_quantity!(
    /// The natural logarithm of an e-value; finite.
    LogEvidence, "log evidence", f64::is_finite
);
float_quantity!(
    /// A time in seconds; finite and not negative.
    Seconds, "seconds", |v| v.is_finite() && v >= 0.0
);
float_quantity!(
    /// Bytes that must move between memory and processor; finite and not negative.
    Bytes, "bytes", |v| v.is_finite() && v >= 0.0
);
float_quantity!(
    /// Floating-point operations that must be done; finite and not negative.
    Flops, "floating-point operations", |v| v.is_finite() && v >= 0.0
);
float_quantity!(
    /// A memory rate; finite and above zero.
    BytesPerSecond, "bytes per second", |v| v.is_finite() && v > 0.0
);
float_quantity!(
    /// An arithmetic rate; finite and above zero.
    FlopsPerSecond, "floating-point operations per second", |v| v.is_finite() && v > 0.0
);
