//! Reading a block: from raw samples to verdicts. Used wherever a verdict is needed, so that there is one derivation.

use crate::entry::{BlockBody, Phase, Role};
use crate::ladder::{self, LadderError, LadderInput, Verdict};
use crate::protocol::Protocol;
use crate::quantity::{Iterations, LogRatio, LogSpread, Nanos, Probability, QuantityError};
use crate::stats::pairs::{CellTime, PairsError, log_ratios, log_spread};
use crate::stats::pooling::{MachineEstimate, PoolingError};
use crate::stats::shrinkage::shrink;
use crate::stats::{mean, median_of_sorted, sorted, spending};

/// Why a block gave no verdict.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ComparisonError {
    /// The arm is not in the block, or lacks a run of some pair.
    #[error("arm {arm} does not have one run per pair")]
    Arm {
        /// Index of the arm.
        arm: usize,
    },
    /// A time or K is zero.
    #[error("failed to read a time")]
    Quantity(#[from] QuantityError),
    /// The arms do not pair.
    #[error("failed to pair the runs")]
    Pairs(#[from] PairsError),
    /// A list could not be shrunk.
    #[error("failed to shrink a screen")]
    Pooling(#[from] PoolingError),
    /// The ladder has no verdict.
    #[error("failed to judge the pairs")]
    Ladder(#[from] LadderError),
}

/// Index of the first arm with this role.
pub fn arm_of(block: &BlockBody, role: Role) -> Option<usize> {
    block.arms.iter().position(|arm| arm.role == role)
}

/// The times of an arm's runs in pair order: one list of cells per pair.
pub fn times(block: &BlockBody, arm: usize) -> Result<Vec<Vec<CellTime>>, ComparisonError> {
    let missing = || ComparisonError::Arm { arm };
    (0..block.seeds.len() as u64)
        .map(|pair| {
            let wanted = u64::try_from(arm).ok();
            let run = block.runs.iter().find(|run| run.pair == pair && Some(run.arm) == wanted).ok_or_else(missing)?;
            run.cells
                .iter()
                .map(|cell| Ok(CellTime { twice_median: Nanos::new(cell.value), calls: Iterations::new(cell.k)? }))
                .collect()
        })
        .collect()
}

/// One log ratio per pair: positive where `candidate` is faster than `base`. Cells are averaged.
pub fn pair_ratios(block: &BlockBody, base: usize, candidate: usize) -> Result<Vec<LogRatio>, ComparisonError> {
    Ok(log_ratios(&times(block, base)?, &times(block, candidate)?)?)
}

/// The verdict of `candidate` against `base`, at the protocol's levels.
pub fn compare(
    block: &BlockBody,
    base: usize,
    candidate: usize,
    protocol: &Protocol,
) -> Result<Verdict, ComparisonError> {
    let pairs = pair_ratios(block, base, candidate)?;
    let input = LadderInput {
        pairs: &pairs,
        cycle_pairs: None,
        delta: protocol.statistics_delta(),
        conf: protocol.statistics_confidence(),
        conf_equivalence: protocol.statistics_confidence_equivalence(),
        power: protocol.statistics_power(),
        min_pairs: usize::try_from(protocol.replication_min_usable_pairs()).unwrap_or(usize::MAX),
        noise: false,
    };
    Ok(ladder::judge(&input)?)
}

/// The level that the j-th CONFIRM of a campaign may spend; 0 for a block that is no CONFIRM.
pub fn confirm_level(block: &BlockBody, protocol: &Protocol) -> Probability {
    let index = u32::try_from(block.index).ok().and_then(std::num::NonZeroU32::new);
    match (block.phase, index) {
        (Phase::Confirm, Some(j)) => {
            spending::level(protocol.statistics_alpha_campaign(), j).unwrap_or_else(|_| Probability::saturating(0.0))
        }
        _ => Probability::saturating(0.0),
    }
}

/// Median log ratio of each candidate arm over the parent, best first. The median, since one outlier must not promote.
pub fn screen_ranking(block: &BlockBody) -> Result<Vec<(usize, LogRatio)>, ComparisonError> {
    let parent = arm_of(block, Role::Parent).ok_or(ComparisonError::Arm { arm: 0 })?;
    let mut ranking = Vec::new();
    for (arm, _) in block.arms.iter().enumerate().filter(|(_, arm)| arm.role == Role::Candidate) {
        ranking.push((arm, median_ratio(block, parent, arm)?));
    }
    ranking.sort_by(|(_, a), (_, b)| b.get().total_cmp(&a.get()));
    Ok(ranking)
}

/// What each candidate's screen is worth: its mean log ratio over the parent, shrunk towards the mean of all, since the best of a list is
/// more often lucky than good. Per arm; nothing for a screen of fewer than two candidates. Shown beside a screen, and decides nothing.
pub fn screen_shrunk(block: &BlockBody) -> Result<Vec<(usize, LogRatio)>, ComparisonError> {
    let parent = arm_of(block, Role::Parent).ok_or(ComparisonError::Arm { arm: 0 })?;
    let candidates = block.arms.iter().enumerate().filter(|(_, arm)| arm.role == Role::Candidate);
    let arms: Vec<usize> = candidates.map(|(arm, _)| arm).collect();
    if arms.len() < 2 {
        return Ok(Vec::new());
    }
    let pairs = arms.iter().map(|&arm| pair_ratios(block, parent, arm)).collect::<Result<Vec<_>, _>>()?;
    // A handful of pairs does not tell the spread of one arm, so all arms share the mean variance.
    let spreads = pairs.iter().map(|of| Ok(log_spread(of)?.get().powi(2))).collect::<Result<Vec<f64>, PairsError>>()?;
    let pairs_each = block.seeds.len().max(1) as f64;
    let standard_error = LogSpread::new((mean(&spreads) / pairs_each).sqrt())?;
    let estimate = |of: &Vec<LogRatio>| {
        let log_ratio = LogRatio::new(mean(&of.iter().map(|d| d.get()).collect::<Vec<_>>()))?;
        Ok::<_, QuantityError>(MachineEstimate { log_ratio, standard_error })
    };
    let estimates = pairs.iter().map(estimate).collect::<Result<Vec<_>, _>>()?;
    let shrunk = shrink(&estimates)?;
    Ok(arms.into_iter().zip(shrunk.entries.into_iter().map(|entry| entry.log_ratio)).collect())
}

/// The baseline arm with the least time: verdicts and gates compare with it, whatever its kind.
pub fn fastest_baseline(block: &BlockBody) -> Result<Option<usize>, ComparisonError> {
    let mut fastest: Option<(usize, f64)> = None;
    for (arm, body) in block.arms.iter().enumerate() {
        if !matches!(body.role, Role::Compiler | Role::Vendor | Role::Naive) {
            continue;
        }
        let against = fastest.map_or(arm, |(best, _)| best);
        let gain = median_ratio(block, against, arm)?.get();
        if fastest.is_none() || gain > 0.0 {
            fastest = Some((arm, gain));
        }
    }
    Ok(fastest.map(|(arm, _)| arm))
}

/// Median over the pairs of an arm's log ratio over a base.
pub fn median_ratio(block: &BlockBody, base: usize, arm: usize) -> Result<LogRatio, ComparisonError> {
    let pairs: Vec<f64> = pair_ratios(block, base, arm)?.into_iter().map(LogRatio::get).collect();
    if pairs.is_empty() {
        return Err(ComparisonError::Arm { arm });
    }
    Ok(LogRatio::new(median_of_sorted(&sorted(&pairs)))?)
}
