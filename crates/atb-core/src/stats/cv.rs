//! How far repeated runs of one arm lie apart: the coefficient of variation and its cap.
//!
//! The gate is on the corrected CV of all runs; the others are printed beside it. None of them may be met by leaving
//! runs out.

use crate::quantity::{Cv, Probability, QuantityError, Reading};

use super::distributions::chi_square_quantile;
use super::{MAD_TO_SD, mad, mean, median_of_sorted, sorted, variance};

/// Coefficients of variation of one arm's runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrossRunCv {
    /// Number of runs.
    pub n: usize,
    /// s / mean, s with divisor n-1.
    pub raw: Cv,
    /// raw x (1 + 1/(4n)): the small-sample correction that the gate uses.
    pub corrected: Cv,
    /// One-sided upper confidence limit of the CV; none where the sample bounds it by no finite number.
    pub upper: Option<Cv>,
    /// sqrt(exp(var ln x) - 1): the CV if the readings are lognormal.
    pub lognormal: Cv,
    /// 1.4826 MAD / median: small where a large `corrected` comes from few outlier runs. Never replaces the gate.
    pub robust: Cv,
}

/// Why no coefficient of variation could be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CvError {
    /// A spread needs two runs.
    #[error("a coefficient of variation needs at least 2 runs, got {got}")]
    TooFew {
        /// Runs given.
        got: usize,
    },
    /// A derived number left the range of its quantity.
    #[error("failed to compute a coefficient of variation")]
    Quantity(#[from] QuantityError),
}

impl CrossRunCv {
    /// Computes every form from one reading per run; `conf` is the confidence of the upper limit (0.95).
    ///
    /// Source of the upper limit: Vangel's modification of McKay's approximation.
    pub fn of(runs: &[Reading], conf: Probability) -> Result<Self, CvError> {
        let values = checked(runs)?;
        let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
        let raw = variance(&values).sqrt() / mean(&values);
        let median = median_of_sorted(&sorted(&values));
        Ok(Self {
            n: values.len(),
            raw: Cv::new(raw)?,
            corrected: Cv::new(raw * correction(values.len()))?,
            upper: upper_limit(raw, values.len(), conf).map(Cv::new).transpose()?,
            lognormal: Cv::new(variance(&logs).exp_m1().sqrt())?,
            robust: Cv::new(MAD_TO_SD * mad(&values, median) / median)?,
        })
    }
}

/// True if the corrected CV of the runs exceeds the cap: `var / mean^2 * (1 + 1/(4n))^2 > cap^2`.
///
/// Squared, because a plain sqlite3 build has no square root: the ledger's trigger computes this same expression
/// (var with divisor n-1, from the runs in the row), so both judge a row alike.
pub fn exceeds_cap(runs: &[Reading], cap: Cv) -> Result<bool, CvError> {
    let values = checked(runs)?;
    let mean = mean(&values);
    let correction = correction(values.len());
    let squared = variance(&values) / (mean * mean) * (correction * correction);
    Ok(squared > cap.get() * cap.get())
}

fn checked(runs: &[Reading]) -> Result<Vec<f64>, CvError> {
    match runs.len() {
        got @ 0..2 => Err(CvError::TooFew { got }),
        _ => Ok(runs.iter().map(|r| r.get()).collect()),
    }
}

fn correction(n: usize) -> f64 {
    1.0 + 1.0 / (4.0 * n as f64)
}

/// cv / sqrt(((u+2)/n - 1) cv^2 + u/(n-1)) with u = chi2 quantile of 1-conf at n-1 degrees of freedom.
fn upper_limit(cv: f64, n: usize, conf: Probability) -> Option<f64> {
    let (n, df) = (n as f64, n as f64 - 1.0);
    let u = chi_square_quantile(1.0 - conf.get(), df)?;
    let radicand = ((u + 2.0) / n - 1.0) * cv * cv + u / df;
    (radicand.is_finite() && radicand > 0.0).then(|| cv / radicand.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(values: &[f64]) -> Vec<Reading> {
        values.iter().map(|v| Reading::new(*v).unwrap()).collect()
    }

    #[test]
    fn the_cap_is_on_the_corrected_cv() {
        let runs = readings(&[400.04, 432.17, 435.9]); // raw 4.66 %, corrected 5.05 %
        assert!(exceeds_cap(&runs, Cv::new(0.05).unwrap()).unwrap());
        assert!(!exceeds_cap(&runs, Cv::new(0.051).unwrap()).unwrap());
    }

    #[test]
    fn one_run_fails_closed() {
        let one = readings(&[1.0]);
        assert_eq!(exceeds_cap(&one, Cv::new(1.0).unwrap()), Err(CvError::TooFew { got: 1 }));
    }

    #[test]
    fn a_wild_sample_has_no_finite_limit() {
        let conf = Probability::new(0.95).unwrap();
        let wild = CrossRunCv::of(&readings(&[1.0, 2.0, 100.0]), conf).unwrap();
        assert_eq!(wild.upper, None);
        let certain = Probability::new(1.0).unwrap();
        assert_eq!(CrossRunCv::of(&readings(&[1.0, 2.0, 3.0]), certain).unwrap().upper, None);
    }

    #[test]
    fn the_robust_cv_ignores_one_outlier_run() {
        let conf = Probability::new(0.95).unwrap();
        let cv = CrossRunCv::of(&readings(&[100.0, 101.0, 99.0, 100.5, 130.0]), conf).unwrap();
        assert!(cv.corrected.get() > 0.05 && cv.robust.get() < 0.015);
    }
}
