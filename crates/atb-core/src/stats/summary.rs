//! What one run looked like: medians, quantiles and diagnostics of its timed windows.
//!
//! Only the median enters a verdict. The rest is printed beside it: dependence inside a run is harmless because the
//! run, not the window, is the unit of replication.

use crate::quantity::{
    Correlation, EffectiveCount, Iterations, Nanos, Probability, QuantityError, Reading, Relative, Spread,
};

use super::{MAD_TO_SD, mad, mean, median_of_sorted, sorted, variance};

/// Deviations from the median beyond this many scaled MADs are counted as outliers; counted only, never dropped.
const OUTLIER_SCALED_MADS: f64 = 10.0;

/// Summary of the readings of one run; all in the readings' unit unless named otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunSummary {
    /// Number of readings.
    pub n: usize,
    /// Mean of the two middle order statistics.
    pub median: Reading,
    /// Arithmetic mean.
    pub mean: Reading,
    /// Standard deviation, divisor n-1.
    pub sd: Spread,
    /// Smallest reading.
    pub min: Reading,
    /// Largest reading.
    pub max: Reading,
    /// Quantile 0.05; this and the following are of type 7.
    pub q05: Reading,
    /// Quantile 0.20.
    pub q20: Reading,
    /// Quantile 0.25.
    pub q25: Reading,
    /// Quantile 0.75.
    pub q75: Reading,
    /// Quantile 0.80.
    pub q80: Reading,
    /// Quantile 0.95.
    pub q95: Reading,
    /// Quantile 0.99.
    pub q99: Reading,
    /// (q75 - q25) / median.
    pub relative_iqr: Relative,
    /// Median absolute deviation from the median, unscaled.
    pub mad: Spread,
    /// MAD x 1.4826022185056018, comparable with a standard deviation.
    pub mad_scaled: Spread,
    /// Readings further than ten scaled MADs from the median; none where the MAD is zero and gives no scale.
    pub outliers: Option<usize>,
    /// Lag-1 autocorrelation in time order; none where all readings are equal.
    pub lag1: Option<Correlation>,
    /// n(1-r)/(1+r), r = lag-1 autocorrelation clipped at zero. Diagnostic only.
    pub n_eff: EffectiveCount,
}

/// Why a run could not be summarised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError {
    /// A spread needs two readings.
    #[error("a run summary needs at least 2 readings, got {got}")]
    TooFew {
        /// Readings given.
        got: usize,
    },
    /// A derived number left the range of its quantity.
    #[error("failed to summarise a run")]
    Quantity(#[from] QuantityError),
}

impl RunSummary {
    /// Summarises readings given in time order.
    ///
    /// Source: quantiles of type 7 (Hyndman & Fan 1996); median, not minimum, because boost clocks and cache luck make
    /// the minimum the less accurate of the two.
    pub fn of(readings: &[Reading]) -> Result<Self, SummaryError> {
        let n = readings.len();
        let values: Vec<f64> = readings.iter().map(|r| r.get()).collect();
        let ordered = sorted(&values);
        let (Some(&min), Some(&max), true) = (ordered.first(), ordered.last(), n >= 2) else {
            return Err(SummaryError::TooFew { got: n });
        };
        let at = |p: f64| Reading::new(type_7(&ordered, p));
        let median = median_of_sorted(&ordered);
        let mad = mad(&values, median);
        let lag1 = lag1(&values);
        let r = lag1.unwrap_or(0.0).max(0.0);
        let (q25, q75) = (at(0.25)?, at(0.75)?);
        Ok(Self {
            n,
            median: Reading::new(median)?,
            mean: Reading::new(mean(&values))?,
            sd: Spread::new(variance(&values).sqrt())?,
            min: Reading::new(min)?,
            max: Reading::new(max)?,
            q05: at(0.05)?,
            q20: at(0.20)?,
            q25,
            q75,
            q80: at(0.80)?,
            q95: at(0.95)?,
            q99: at(0.99)?,
            relative_iqr: Relative::new((q75.get() - q25.get()) / median)?,
            mad: Spread::new(mad)?,
            mad_scaled: Spread::new(mad * MAD_TO_SD)?,
            outliers: outliers(&values, median, mad),
            lag1: lag1.map(Correlation::new).transpose()?,
            n_eff: EffectiveCount::new(n as f64 * (1.0 - r) / (1.0 + r))?,
        })
    }
}

/// Twice the median of integer times, exactly: the sum of the two middle order statistics, or twice the middle one.
///
/// None if there are no samples or the sum does not fit 64 bits. Doubling keeps the median of an even count an integer,
/// so that a database without floats computes the same value.
pub fn twice_median(samples: &[Nanos]) -> Option<Nanos> {
    let mut ordered = samples.to_vec();
    ordered.sort_unstable();
    let upper = ordered.get(ordered.len() / 2)?;
    let lower = ordered.get((ordered.len() - 1) / 2)?;
    lower.get().checked_add(upper.get()).map(Nanos::new)
}

/// Time per call in nanoseconds, from the whole time of a window of `calls` calls.
pub fn per_call(window: Nanos, calls: Iterations) -> Result<Reading, QuantityError> {
    Reading::new(window.get() as f64 / calls.get() as f64)
}

/// Quantile of type 7: h = (n-1)p, linear between the neighbouring order statistics (Hyndman & Fan 1996).
pub fn quantile(readings: &[Reading], p: Probability) -> Result<Reading, SummaryError> {
    if readings.is_empty() {
        return Err(SummaryError::TooFew { got: 0 });
    }
    let values: Vec<f64> = readings.iter().map(|r| r.get()).collect();
    Ok(Reading::new(type_7(&sorted(&values), p.get()))?)
}

/// Type-7 quantile of sorted values; NaN for an empty slice.
pub(crate) fn type_7(sorted: &[f64], p: f64) -> f64 {
    let h = (sorted.len() as f64 - 1.0) * p;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "h lies in [0, n-1]; its whole part is the index"
    )]
    let index = h as usize;
    let low = sorted.get(index).copied().unwrap_or(f64::NAN);
    let high = sorted.get(index + 1).copied().unwrap_or(low);
    low + (h - h.floor()) * (high - low)
}

fn outliers(values: &[f64], median: f64, mad: f64) -> Option<usize> {
    let limit = OUTLIER_SCALED_MADS * mad * MAD_TO_SD;
    (mad > 0.0).then(|| values.iter().filter(|v| (**v - median).abs() > limit).count())
}

fn lag1(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let total: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let lagged: f64 = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    (total > 0.0).then_some(lagged / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(values: &[u64]) -> Vec<Nanos> {
        values.iter().copied().map(Nanos::new).collect()
    }

    #[test]
    fn twice_median_is_an_exact_integer() {
        assert_eq!(twice_median(&nanos(&[5, 1, 4])), Some(Nanos::new(8)));
        assert_eq!(twice_median(&nanos(&[5, 1, 4, 2])), Some(Nanos::new(6)));
        let odd = (1 << 53) + 1;
        assert_eq!(twice_median(&nanos(&[odd])), Some(Nanos::new(2 * odd)));
    }

    #[test]
    fn no_samples_have_no_median() {
        assert_eq!(twice_median(&[]), None);
        assert_eq!(twice_median(&nanos(&[u64::MAX])), None);
    }

    #[test]
    fn equal_readings_have_no_autocorrelation_and_no_outlier_scale() {
        let run = RunSummary::of(&[Reading::new(2.0).unwrap(); 4]).unwrap();
        assert_eq!((run.lag1, run.outliers), (None, None));
        assert!((run.n_eff.get() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn one_reading_is_refused() {
        let one = [Reading::new(1.0).unwrap()];
        assert_eq!(RunSummary::of(&one), Err(SummaryError::TooFew { got: 1 }));
        assert_eq!(quantile(&[], Probability::new(0.5).unwrap()), Err(SummaryError::TooFew { got: 0 }));
        assert_eq!(quantile(&one, Probability::new(1.0).unwrap()), Ok(one[0]));
    }
}
