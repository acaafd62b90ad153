//! How much error a campaign may still spend: the level of its j-th confirmation and the pairs that level needs.

use std::num::NonZeroU32;

use crate::quantity::{Probability, QuantityError};

/// Level of the j-th confirmation of a campaign: alpha / (j(j+1)).
///
/// The levels sum to alpha over any number of confirmations, because 1/(j(j+1)) telescopes to 1; so the chance of one
/// false keep in a campaign stays below alpha however long it runs.
pub fn level(alpha: Probability, j: NonZeroU32) -> Result<Probability, QuantityError> {
    let j = f64::from(j.get());
    Probability::new(alpha.get() / (j * (j + 1.0)))
}

/// The same level as an e-value threshold, 1 / level. Where the level is 0 no threshold exists.
pub fn e_threshold(level: Probability) -> Result<Threshold, QuantityError> {
    Threshold::new(1.0 / level.get())
}

/// Fewest pairs that can reach a level at all: the smallest n with 2^-n <= level.
///
/// 2^-n is the smallest one-sided p of n pairs, and 2^n the largest e-value on sign symmetry. None for level 0.
pub fn min_pairs(level: Probability) -> Option<u32> {
    // 1074: below the smallest positive f64 no power of one half is left to compare with.
    (0..=1074).find(|n| half_to(*n) <= level.get() && level.get() > 0.0)
}

/// An e-value that stops a sequential test; finite and at least 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Threshold(f64);

impl Threshold {
    /// Accepts a finite number of at least 1.
    pub fn new(value: f64) -> Result<Self, QuantityError> {
        let ok = value.is_finite() && value >= 1.0;
        ok.then_some(Self(value)).ok_or(QuantityError { quantity: "e-value threshold" })
    }

    /// The e-value.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// How many pairs the j-th confirmation takes, as the protocol tabulates it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairSchedule(Vec<ScheduleStep>);

/// One step of a schedule: from confirmation `from` on, `pairs` pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduleStep {
    /// First confirmation, counted from 1, that the step covers.
    pub from: NonZeroU32,
    /// Pairs of each confirmation in the step.
    pub pairs: NonZeroU32,
}

/// Why a table is no schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// No step covers the first confirmation.
    #[error("the pair schedule must start at confirmation 1")]
    Start,
    /// A step starts no later than the one before it.
    #[error("step {step} of the pair schedule starts no later than the step before it")]
    Order {
        /// The offending step, counted from 1.
        step: usize,
    },
}

impl PairSchedule {
    /// Accepts steps that start at confirmation 1 and rise strictly.
    pub fn new(steps: Vec<ScheduleStep>) -> Result<Self, ScheduleError> {
        if steps.first().is_none_or(|s| s.from != NonZeroU32::MIN) {
            return Err(ScheduleError::Start);
        }
        match steps.windows(2).position(|w| w[1].from <= w[0].from) {
            Some(before) => Err(ScheduleError::Order { step: before + 2 }),
            None => Ok(Self(steps)),
        }
    }

    /// Pairs of the j-th confirmation.
    pub fn pairs(&self, j: NonZeroU32) -> NonZeroU32 {
        let step = self.0.iter().rev().find(|s| s.from <= j);
        // The constructor holds a step from 1, so the fallback is never taken; one pair can keep nothing.
        step.map_or(NonZeroU32::MIN, |s| s.pairs)
    }
}

/// 2^-n by halving: exact down to the smallest subnormal.
fn half_to(n: u32) -> f64 {
    (0..n).fold(1.0, |p, _| p / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(n: u32) -> NonZeroU32 {
        NonZeroU32::new(n).unwrap()
    }

    fn step(from: u32, pairs: u32) -> ScheduleStep {
        ScheduleStep { from: count(from), pairs: count(pairs) }
    }

    #[test]
    fn the_certified_schedule_is_looked_up_by_confirmation() {
        let steps = vec![step(1, 12), step(2, 18), step(5, 20), step(10, 24)];
        let schedule = PairSchedule::new(steps).unwrap();
        let at = |j| schedule.pairs(count(j)).get();
        assert_eq!([1, 2, 4, 5, 9, 10, 1000].map(at), [12, 18, 18, 20, 20, 24, 24]);
    }

    #[test]
    fn tables_with_holes_are_refused() {
        assert_eq!(PairSchedule::new(vec![]), Err(ScheduleError::Start));
        assert_eq!(PairSchedule::new(vec![step(2, 12)]), Err(ScheduleError::Start));
        let twice = vec![step(1, 12), step(3, 18), step(3, 20)];
        assert_eq!(PairSchedule::new(twice), Err(ScheduleError::Order { step: 3 }));
    }

    #[test]
    fn the_levels_never_sum_past_alpha() {
        let alpha = Probability::new(0.05).unwrap();
        let sum: f64 = (1..=10_000).map(|j| level(alpha, count(j)).unwrap().get()).sum();
        assert!(sum < 0.05 && sum > 0.049_99);
    }

    #[test]
    fn a_level_of_zero_is_never_reached() {
        let zero = Probability::new(0.0).unwrap();
        assert_eq!(min_pairs(zero), None);
        assert!(e_threshold(zero).is_err());
        assert_eq!(min_pairs(Probability::new(0.25).unwrap()), Some(2));
    }
}
