//! From the two arms' medians to one log ratio per pair.
//!
//! A run times one or more cells (shapes); a pair is one run of each arm with the same seed. Nothing here may leave out
//! a cell or a pair.

use crate::quantity::{Iterations, LogRatio, LogSpread, Nanos, QuantityError};

use super::{mean, variance};

/// What one run measured in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellTime {
    /// Twice the median window time, as `summary::twice_median` gives it.
    pub twice_median: Nanos,
    /// Calls per window (K); the arms may differ.
    pub calls: Iterations,
}

/// Why two arms' runs gave no log ratios.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PairsError {
    /// The arms have different numbers of runs, so some run has no partner.
    #[error("the base has {base} runs and the candidate {candidate}")]
    Runs {
        /// Runs of the base.
        base: usize,
        /// Runs of the candidate.
        candidate: usize,
    },
    /// The two runs of a pair cover different numbers of cells, or none.
    #[error("pair {pair}: the base has {base} cells and the candidate {candidate}")]
    Cells {
        /// The pair, counted from 0.
        pair: usize,
        /// Cells of the base's run.
        base: usize,
        /// Cells of the candidate's run.
        candidate: usize,
    },
    /// A time of zero has no ratio.
    #[error("pair {pair}, cell {cell}: a time is zero")]
    ZeroTime {
        /// The pair, counted from 0.
        pair: usize,
        /// The cell, counted from 0.
        cell: usize,
    },
    /// A spread needs two pairs.
    #[error("a spread of log ratios needs at least 2 pairs, got {got}")]
    TooFew {
        /// Pairs given.
        got: usize,
    },
    /// A derived number left the range of its quantity.
    #[error("failed to compute a log ratio")]
    Quantity(#[from] QuantityError),
}

/// d_i = mean over cells of ln((base / K_b) / (candidate / K_c)), one per pair; positive where the candidate is faster.
///
/// Run i of one arm is paired with run i of the other, cell by cell in the order given.
pub fn log_ratios<R: AsRef<[CellTime]>>(base: &[R], candidate: &[R]) -> Result<Vec<LogRatio>, PairsError> {
    if base.len() != candidate.len() {
        return Err(PairsError::Runs { base: base.len(), candidate: candidate.len() });
    }
    let runs = base.iter().zip(candidate).enumerate();
    runs.map(|(pair, (b, c))| pair_log_ratio(pair, b.as_ref(), c.as_ref())).collect()
}

/// Standard deviation of the d_i, divisor n-1: the s_d of planning.
pub fn log_spread(pairs: &[LogRatio]) -> Result<LogSpread, PairsError> {
    if pairs.len() < 2 {
        return Err(PairsError::TooFew { got: pairs.len() });
    }
    let values: Vec<f64> = pairs.iter().map(|d| d.get()).collect();
    Ok(LogSpread::new(variance(&values).sqrt())?)
}

/// Natural logarithm of the ratio of two per-call times; none where a time is zero.
///
/// Swapping the arms negates the result exactly, because the fraction is formed in integers and inverted before, not
/// after, rounding. So equal and opposite pairs tie exactly in the signed ranks.
pub fn cell_log_ratio(base: CellTime, candidate: CellTime) -> Option<LogRatio> {
    let above = u128::from(base.twice_median.get()) * u128::from(candidate.calls.get());
    let below = u128::from(candidate.twice_median.get()) * u128::from(base.calls.get());
    if above == 0 || below == 0 {
        return None;
    }
    let ln = (above.max(below) as f64 / above.min(below) as f64).ln();
    LogRatio::new(if above >= below { ln } else { -ln }).ok()
}

fn pair_log_ratio(pair: usize, base: &[CellTime], candidate: &[CellTime]) -> Result<LogRatio, PairsError> {
    if base.len() != candidate.len() || base.is_empty() {
        return Err(PairsError::Cells { pair, base: base.len(), candidate: candidate.len() });
    }
    let cells = base.iter().zip(candidate).enumerate();
    let logs: Vec<f64> = cells
        .map(|(cell, (b, c))| {
            let log = cell_log_ratio(*b, *c).ok_or(PairsError::ZeroTime { pair, cell })?;
            Ok(log.get())
        })
        .collect::<Result<_, PairsError>>()?;
    Ok(LogRatio::new(mean(&logs))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(twice_median: u64, calls: u64) -> CellTime {
        CellTime { twice_median: Nanos::new(twice_median), calls: Iterations::new(calls).unwrap() }
    }

    #[test]
    fn times_are_compared_per_call() {
        // 2000/10 against 500/5: 200 against 100 per call.
        let d = log_ratios(&[[cell(2000, 10)]], &[[cell(500, 5)]]).unwrap();
        assert!((d[0].get() - 2_f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn cells_are_averaged_on_the_log_scale() {
        let d = log_ratios(&[[cell(400, 1), cell(100, 1)]], &[[cell(100, 1), cell(100, 1)]]);
        assert!((d.unwrap()[0].get() - 2_f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn unmatched_runs_cells_and_zero_times_are_refused() {
        let one = [cell(1, 1)];
        assert_eq!(log_ratios(&[one], &[one, one]), Err(PairsError::Runs { base: 1, candidate: 2 }));
        assert_eq!(
            log_ratios::<&[CellTime]>(&[&one, &[]], &[&one, &[]]),
            Err(PairsError::Cells { pair: 1, base: 0, candidate: 0 })
        );
        let zero = [cell(0, 1)];
        assert_eq!(log_ratios(&[one], &[zero]), Err(PairsError::ZeroTime { pair: 0, cell: 0 }));
        assert_eq!(log_ratios(&[zero], &[one]), Err(PairsError::ZeroTime { pair: 0, cell: 0 }));
    }

    #[test]
    fn a_spread_needs_two_pairs() {
        let d = LogRatio::new(0.1).unwrap();
        assert_eq!(log_spread(&[d]), Err(PairsError::TooFew { got: 1 }));
        assert!(log_spread(&[d, d]).unwrap().get() < 1e-15);
    }
}
