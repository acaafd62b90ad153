//! Values for a list that nobody has confirmed: each is drawn towards the mean of all, the noisier the further.
//!
//! For display of unconfirmed candidates only. A kept candidate has its own REPORT, which is never shrunk.

use crate::quantity::{LogRatio, LogSpread, LogVariance, QuantityError, Share};

use super::pooling::{MachineEstimate, PoolingError, Sample};

/// A list after shrinking.
#[derive(Debug, Clone, PartialEq)]
pub struct Shrunk {
    /// Variance of the true values, by Paule & Mandel.
    pub tau2: LogVariance,
    /// Mean of all, weighted by precision and tau2.
    pub mean: LogRatio,
    /// The entries in the order given.
    pub entries: Vec<ShrunkEntry>,
}

/// One entry of a shrunk list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShrunkEntry {
    /// B: the share of the way to the mean.
    pub pull: Share,
    /// mean + (1 - B)(y - mean).
    pub log_ratio: LogRatio,
    /// Standard error of the shrunk value, s sqrt(1 - B).
    pub standard_error: LogSpread,
}

/// Shrinks at least two estimates, B = s^2 / (s^2 + tau2).
///
/// Source: empirical Bayes for normal means (Efron & Morris 1975), tau2 by Paule & Mandel (1982). Assumes that the true
/// values scatter normally about one mean.
pub fn shrink(estimates: &[MachineEstimate]) -> Result<Shrunk, PoolingError> {
    let sample = Sample::of(estimates)?;
    let tau2 = sample.paule_mandel();
    let mean = sample.mean(tau2);
    let shrunk = |estimate: &MachineEstimate| -> Result<ShrunkEntry, QuantityError> {
        let (y, s) = (estimate.log_ratio.get(), estimate.standard_error.get());
        let pull = s * s / (s * s + tau2);
        Ok(ShrunkEntry {
            pull: Share::new(pull)?,
            log_ratio: LogRatio::new(mean + (1.0 - pull) * (y - mean))?,
            standard_error: LogSpread::new(s * (1.0 - pull).sqrt())?,
        })
    };
    Ok(Shrunk {
        tau2: LogVariance::new(tau2)?,
        mean: LogRatio::new(mean)?,
        entries: estimates.iter().map(shrunk).collect::<Result<_, _>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_differ_by_their_errors_alone_all_become_the_mean() {
        let estimate = |y: f64| MachineEstimate {
            log_ratio: LogRatio::new(y).unwrap(),
            standard_error: LogSpread::new(0.1).unwrap(),
        };
        let shrunk = shrink(&[estimate(0.01), estimate(0.02), estimate(0.06)]).unwrap();
        assert!(shrunk.tau2.get() < 1e-15);
        assert!(shrunk.entries.iter().all(|e| (e.log_ratio.get() - 0.03).abs() < 1e-12));
        assert_eq!(shrink(&[estimate(0.0)]), Err(PoolingError::TooFew { got: 1 }));
    }
}
