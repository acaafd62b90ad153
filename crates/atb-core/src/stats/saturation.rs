//! When a null says nothing of the treatment: both arms of a study have reached the wall, or the search has stalled.
//!
//! `saturated` forbids the sentence "no effect". The readout then switches, as registered, to how soon the wall was
//! reached; nothing here chooses the readout.

use std::num::NonZeroUsize;

use crate::ladder::MeasuredOutcome;
use crate::quantity::{EffectiveCount, QuantityError, Reading, Relative, Share};

use super::{EPSILON, mean};

/// Two arms at a wall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// Share of the first arm's repeats that ended at the wall.
    pub share_a: Share,
    /// Share of the second arm's repeats that ended at the wall.
    pub share_b: Share,
    /// True if both shares reach the registered one.
    pub saturated: bool,
}

/// Why saturation could not be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SaturationError {
    /// An arm without repeats has no share.
    #[error("an arm has no repeats")]
    NoRepeats,
    /// A derived number left the range of its quantity.
    #[error("failed to judge saturation")]
    Quantity(#[from] QuantityError),
}

/// The wall of a study: the bound or the best reported time of either arm, whichever is larger; none without either.
///
/// All times in one unit and from one machine. Source: sat.* of the protocol table, after AutoTuneBench's null on a task
/// at its memory wall (2.4840 against 2.4957 ms).
pub fn wall(bound: Option<Reading>, reported: &[Reading]) -> Option<Reading> {
    let best = reported.iter().copied().min_by(|a, b| a.get().total_cmp(&b.get()));
    bound.into_iter().chain(best).max_by(|a, b| a.get().total_cmp(&b.get()))
}

/// Judges two arms by the best time of each of their repeats at the end of the budget: at the wall is a repeat within
/// wall x (1 + delta); the study is saturated if at least `least` of the repeats of both arms are.
///
/// Source: AutoTuneBench's ceiling effect (arXiv 2609.18123), made a rule here. Assumes the same budget for every repeat; one
/// arm at the wall and the other not is a difference, and no saturation.
pub fn saturation(
    best_a: &[Reading],
    best_b: &[Reading],
    wall: Reading,
    delta: Relative,
    least: Share,
) -> Result<Saturation, SaturationError> {
    let share = |best: &[Reading]| -> Result<Share, SaturationError> {
        let reached = best.iter().filter(|time| at_wall(**time, wall, delta)).count();
        if best.is_empty() {
            return Err(SaturationError::NoRepeats);
        }
        Ok(Share::new(reached as f64 / best.len() as f64)?)
    };
    let (share_a, share_b) = (share(best_a)?, share(best_b)?);
    let saturated = [share_a, share_b].iter().all(|share| share.get() >= least.get() - EPSILON);
    Ok(Saturation { share_a, share_b, saturated })
}

/// Iterations until a repeat's best time first reached the wall, counted from 1; none if it never did.
///
/// `best` holds the best time after each iteration, and so never rises. Counts every iteration, failed candidates included.
pub fn iterations_to_wall(best: &[Reading], wall: Reading, delta: Relative) -> Option<usize> {
    best.iter().position(|time| at_wall(*time, wall, delta)).map(|at| at + 1)
}

/// Mean number of iterations to the wall, those that never reached it counted as the whole budget.
///
/// Source: restricted mean survival time (Royston & Parmar 2013), here without censoring before the budget's end.
pub fn restricted_mean(repeats: &[Option<usize>], budget: usize) -> Result<EffectiveCount, SaturationError> {
    if repeats.is_empty() {
        return Err(SaturationError::NoRepeats);
    }
    let spent: Vec<f64> = repeats.iter().map(|at| at.map_or(budget, |at| at.min(budget)) as f64).collect();
    Ok(EffectiveCount::new(mean(&spent))?)
}

/// True if the last `run` CONFIRMs all read `equivalent` (five): the proposer has stalled. Says nothing of the hardware.
pub fn plateau(confirms: &[MeasuredOutcome], run: NonZeroUsize) -> bool {
    let last = confirms.iter().rev().take(run.get());
    confirms.len() >= run.get() && last.copied().all(|outcome| outcome == MeasuredOutcome::Equivalent)
}

fn at_wall(time: Reading, wall: Reading, delta: Relative) -> bool {
    time.get() <= wall.get() * (1.0 + delta.get()) * (1.0 + EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(values: &[f64]) -> Vec<Reading> {
        values.iter().map(|v| Reading::new(*v).unwrap()).collect()
    }

    #[test]
    fn the_wall_is_never_below_the_bound() {
        let times = readings(&[2.5, 2.4, 2.6]);
        assert_eq!(wall(None, &times), Some(times[1]));
        let bounds = readings(&[2.45, 2.3]);
        assert_eq!(wall(Some(bounds[0]), &times), Some(bounds[0]));
        assert_eq!(wall(Some(bounds[1]), &times), Some(times[1]));
        assert_eq!((wall(Some(bounds[0]), &[]), wall(None, &[])), (Some(bounds[0]), None));
    }

    #[test]
    fn one_arm_off_the_wall_is_not_saturation() {
        let (at, off) = (readings(&[1.0, 1.005]), readings(&[1.0, 1.2]));
        let wall = at[0];
        let (delta, least) = (Relative::new(0.01).unwrap(), Share::new(0.8).unwrap());
        assert!(saturation(&at, &at, wall, delta, least).unwrap().saturated);
        assert!(!saturation(&at, &off, wall, delta, least).unwrap().saturated);
        assert_eq!(saturation(&at, &[], wall, delta, least), Err(SaturationError::NoRepeats));
    }

    #[test]
    fn the_way_to_the_wall_is_counted_up_to_the_budget() {
        let best = readings(&[3.0, 2.0, 1.005, 1.0]);
        let (delta, wall) = (Relative::new(0.01).unwrap(), best[3]);
        assert_eq!(iterations_to_wall(&best, wall, delta), Some(3));
        assert_eq!(iterations_to_wall(&best[..2], wall, delta), None);
        let mean = restricted_mean(&[Some(3), None, Some(99)], 9).unwrap();
        assert!((mean.get() - 7.0).abs() < 1e-12);
        assert_eq!(restricted_mean(&[], 9), Err(SaturationError::NoRepeats));
    }

    #[test]
    fn a_plateau_is_unbroken() {
        let five = NonZeroUsize::new(5).unwrap();
        let mut confirms = vec![MeasuredOutcome::Faster];
        confirms.extend([MeasuredOutcome::Equivalent; 5]);
        assert!(plateau(&confirms, five) && !plateau(&confirms[..5], five));
        confirms.push(MeasuredOutcome::Slower);
        assert!(!plateau(&confirms, five) && !plateau(&[], five));
    }
}
