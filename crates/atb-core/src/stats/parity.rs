//! Is a published speedup reproduced? Our pair ratios against the figure, within a band.
//!
//! Ratios only: a published time says nothing on another machine. A mismatch is a finding that needs a mechanism; it is
//! never a win or a loss.

use crate::quantity::{LogBound, LogRatio, Probability, QuantityError, Ratio, Relative};

use super::EPSILON;
use super::signed_rank::{SignedRankError, Walsh};

/// What became of a published figure here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParityOutcome {
    /// The interval lies inside the band.
    Parity,
    /// The interval lies wholly outside the band.
    Mismatch,
    /// The interval reaches into the band and out of it.
    Inconclusive,
}

/// Our speedup as a share of the published one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parity {
    /// Hodges & Lehmann's estimate of ours / published.
    pub ratio: Ratio,
    /// Lower end of its interval, as a logarithm.
    pub lo: LogBound,
    /// Upper end of its interval, as a logarithm.
    pub hi: LogBound,
    /// Where the interval lies.
    pub outcome: ParityOutcome,
}

/// Why parity could not be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParityError {
    /// A band of 1 or more would hold a speedup of zero.
    #[error("the band must be less than 1")]
    Band,
    /// No pairs, or too many.
    #[error("failed to judge the pairs")]
    SignedRank(#[from] SignedRankError),
    /// A derived number left the range of its quantity.
    #[error("failed to compare with the published figure")]
    Quantity(#[from] QuantityError),
}

/// Compares d_i = ln(ours_i / published) with [ln(1 - band), ln(1 + band)], by the signed-rank interval at `conf` (0.90).
///
/// `ours` holds one log ratio per pair. Source: the band is AutoTuneBench's (arXiv 2609.18123), the interval that of
/// `signed_rank`; the published figure counts as exact.
pub fn parity(ours: &[LogRatio], published: Ratio, band: Relative, conf: Probability) -> Result<Parity, ParityError> {
    if band.get() >= 1.0 {
        return Err(ParityError::Band);
    }
    let against = published.get().ln();
    let pairs: Vec<LogRatio> = ours.iter().map(|d| LogRatio::new(d.get() - against)).collect::<Result<_, _>>()?;
    let walsh = Walsh::of(&pairs)?;
    let interval = walsh.interval(conf)?;
    let (lo, hi) = (interval.lo.get(), interval.hi.get());
    let (least, most) = ((-band.get()).ln_1p(), band.get().ln_1p());
    let outcome = if lo >= least - EPSILON && hi <= most + EPSILON {
        ParityOutcome::Parity
    } else if hi < least - EPSILON || lo > most + EPSILON {
        ParityOutcome::Mismatch
    } else {
        ParityOutcome::Inconclusive
    };
    Ok(Parity { ratio: walsh.estimate()?.ratio()?, lo: interval.lo, hi: interval.hi, outcome })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(ours: f64, pairs: usize) -> ParityOutcome {
        let d = vec![LogRatio::new(ours.ln()).unwrap(); pairs];
        let p = Probability::new(0.9).unwrap();
        parity(&d, Ratio::new(1.5).unwrap(), Relative::new(0.1).unwrap(), p).unwrap().outcome
    }

    #[test]
    fn the_ends_of_the_band_belong_to_it() {
        assert_eq!(outcome(1.5 * 0.9, 8), ParityOutcome::Parity);
        assert_eq!(outcome(1.5 * 1.1, 8), ParityOutcome::Parity);
        assert_eq!(outcome(1.5 * 1.11, 8), ParityOutcome::Mismatch);
        assert_eq!(outcome(1.5 * 0.89, 8), ParityOutcome::Mismatch);
        assert_eq!(outcome(1.5, 4), ParityOutcome::Inconclusive);
    }

    #[test]
    fn a_band_without_a_lower_end_is_refused() {
        let d = [LogRatio::new(0.0).unwrap(); 8];
        let wide = parity(&d, Ratio::new(1.0).unwrap(), Relative::new(1.0).unwrap(), Probability::new(0.9).unwrap());
        assert_eq!(wide, Err(ParityError::Band));
    }
}
