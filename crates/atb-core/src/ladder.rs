//! The verdict ladder: from paired log ratios to one measured outcome, first match wins.
//!
//! A pure function of its input. One interval drives every rung, equivalence included; "not significant" is never a
//! null. Refusals, quarantine and failures of the candidate are decided before and never reach this module.

use crate::outcome::{Inconclusive, Outcome};
use crate::quantity::{LogBound, LogRatio, Probability, QuantityError, Ratio, Relative};
use crate::stats::EPSILON;
use crate::stats::pairs::log_spread;
use crate::stats::planning::{Design, pairs_needed};
use crate::stats::signed_rank::{SignedRank, SignedRankError, Walsh};

/// What the ladder judges, and by which levels of the protocol.
#[derive(Debug, Clone, Copy)]
pub struct LadderInput<'a> {
    /// One log ratio per usable pair; positive where the candidate is faster.
    pub pairs: &'a [LogRatio],
    /// The same pairs in clock cycles (time x frequency), where the device reports its clock.
    pub cycle_pairs: Option<&'a [LogRatio]>,
    /// The smallest difference that matters: the band of equal arms is within ln(1 + delta) of zero.
    pub delta: Relative,
    /// Two-sided confidence of `faster` and `slower` (0.95).
    pub conf: Probability,
    /// Two-sided confidence of `equivalent` (0.90: two one-sided tests at 5 %).
    pub conf_equivalence: Probability,
    /// Power for which more pairs are advised (0.8).
    pub power: Probability,
    /// Fewest usable pairs that may decide.
    pub min_pairs: usize,
    /// True if the block breached a noise rule twice: CV cap, A/A gate or drift.
    pub noise: bool,
}

/// What a measurement showed: the four measured outcomes of [`Outcome`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MeasuredOutcome {
    /// The interval lies above zero and the estimate reaches ln(1 + delta).
    Faster,
    /// Mirror image of `Faster`.
    Slower,
    /// The equivalence interval lies inside +-ln(1 + delta): an honest null.
    Equivalent,
    /// No evidence for any of the three.
    Inconclusive(Inconclusive),
}

/// A measured outcome with the numbers behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// The outcome.
    pub outcome: MeasuredOutcome,
    /// True if `faster` or `slower` holds with the whole interval beyond delta.
    pub material: bool,
    /// The speed ratio, Hodges & Lehmann's estimate; above 1 the candidate is faster.
    pub estimate: Ratio,
    /// Its logarithm, which the rungs compare.
    pub estimate_log: LogRatio,
    /// Lower end of the interval at `conf`.
    pub lo95: LogBound,
    /// Upper end of the interval at `conf`.
    pub hi95: LogBound,
    /// Lower end of the interval at `conf_equivalence`.
    pub lo90: LogBound,
    /// Upper end of the interval at `conf_equivalence`.
    pub hi90: LogBound,
    /// Exact one-sided p of "the candidate is not faster".
    pub p_greater: Probability,
    /// Pairs judged.
    pub n: usize,
    /// For `inconclusive(precision)`: pairs that would show a difference of delta. None if that is not more than `n`
    /// (the true difference then sits at the edge of delta, and more pairs are no remedy) or no number is practical.
    pub pairs_needed: Option<usize>,
}

/// Why there is no verdict at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LadderError {
    /// No pairs, or too many.
    #[error("failed to judge the pairs")]
    SignedRank(#[from] SignedRankError),
    /// The cycle readings are not of the same pairs.
    #[error("{pairs} pairs were timed but {cycles} counted in cycles")]
    CyclePairs {
        /// Pairs timed.
        pairs: usize,
        /// Pairs counted in cycles.
        cycles: usize,
    },
    /// A derived number left the range of its quantity.
    #[error("failed to state the verdict")]
    Quantity(#[from] QuantityError),
}

/// Judges the pairs. Rungs in order: noise, n, equivalent, faster, slower, precision.
///
/// `equivalent` and `faster` exclude each other because the estimate lies inside the equivalence interval. A decided
/// verdict that the cycle counts do not repeat becomes `inconclusive(clock)`: the clock moved, not the code (after
/// NVBench's confirmation in cycle space).
pub fn judge(input: &LadderInput<'_>) -> Result<Verdict, LadderError> {
    let verdict = judge_in_time(input)?;
    let Some(cycles) = input.cycle_pairs else { return Ok(verdict) };
    if cycles.len() != input.pairs.len() {
        let (pairs, cycles) = (input.pairs.len(), cycles.len());
        return Err(LadderError::CyclePairs { pairs, cycles });
    }
    let in_cycles = judge_in_time(&LadderInput { pairs: cycles, ..*input })?;
    if verdict.outcome.is_decided() && in_cycles.outcome != verdict.outcome {
        let outcome = MeasuredOutcome::Inconclusive(Inconclusive::Clock);
        return Ok(Verdict { outcome, material: false, ..verdict });
    }
    Ok(verdict)
}

/// True if a confirmation keeps the candidate: `faster`, and the exact one-sided p is within the level that the
/// campaign may still spend (`stats::spending::level`).
pub fn kept(verdict: &Verdict, level: Probability) -> bool {
    verdict.outcome == MeasuredOutcome::Faster && verdict.p_greater.get() <= level.get() + EPSILON
}

impl MeasuredOutcome {
    /// True for every outcome but `inconclusive`.
    pub fn is_decided(self) -> bool {
        !matches!(self, Self::Inconclusive(_))
    }
}

impl From<MeasuredOutcome> for Outcome {
    fn from(measured: MeasuredOutcome) -> Self {
        match measured {
            MeasuredOutcome::Faster => Self::Faster,
            MeasuredOutcome::Slower => Self::Slower,
            MeasuredOutcome::Equivalent => Self::Equivalent,
            MeasuredOutcome::Inconclusive(reason) => Self::Inconclusive(reason),
        }
    }
}

fn judge_in_time(input: &LadderInput<'_>) -> Result<Verdict, LadderError> {
    let walsh = Walsh::of(input.pairs)?;
    let estimate_log = walsh.estimate()?;
    let decisive = walsh.interval(input.conf)?;
    let equivalence = walsh.interval(input.conf_equivalence)?;
    let margin = input.delta.log_margin()?.get();
    let mut verdict = Verdict {
        outcome: MeasuredOutcome::Inconclusive(Inconclusive::Precision),
        material: false,
        estimate: estimate_log.ratio()?,
        estimate_log,
        lo95: decisive.lo,
        hi95: decisive.hi,
        lo90: equivalence.lo,
        hi90: equivalence.hi,
        p_greater: SignedRank::of(input.pairs)?.p_greater,
        n: input.pairs.len(),
        pairs_needed: None,
    };
    verdict.outcome = first_match(input, &verdict, margin);
    match verdict.outcome {
        MeasuredOutcome::Faster => verdict.material = above(verdict.lo95.get(), margin),
        MeasuredOutcome::Slower => verdict.material = above(-verdict.hi95.get(), margin),
        MeasuredOutcome::Inconclusive(Inconclusive::Precision) => {
            verdict.pairs_needed = advised_pairs(input);
        }
        MeasuredOutcome::Equivalent | MeasuredOutcome::Inconclusive(_) => {}
    }
    Ok(verdict)
}

fn first_match(input: &LadderInput<'_>, v: &Verdict, margin: f64) -> MeasuredOutcome {
    let estimate = v.estimate_log.get();
    if input.noise {
        MeasuredOutcome::Inconclusive(Inconclusive::Noise)
    } else if v.n < input.min_pairs {
        MeasuredOutcome::Inconclusive(Inconclusive::N)
    } else if above(v.lo90.get(), -margin) && above(margin, v.hi90.get()) {
        MeasuredOutcome::Equivalent
    } else if above(v.lo95.get(), 0.0) && !above(margin, estimate) {
        MeasuredOutcome::Faster
    } else if above(0.0, v.hi95.get()) && !above(estimate, -margin) {
        MeasuredOutcome::Slower
    } else {
        MeasuredOutcome::Inconclusive(Inconclusive::Precision)
    }
}

/// a > b by more than rounding can explain.
fn above(a: f64, b: f64) -> bool {
    a > b + EPSILON
}

fn advised_pairs(input: &LadderInput<'_>) -> Option<usize> {
    let design = Design::new(input.conf, input.power).ok()?;
    let sd = log_spread(input.pairs).ok()?;
    let pairs = pairs_needed(sd, input.delta, design, input.min_pairs).ok()?;
    (pairs > input.pairs.len()).then_some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(values: &[f64]) -> Vec<LogRatio> {
        values.iter().map(|v| LogRatio::new(*v).unwrap()).collect()
    }

    fn input(pairs: &[LogRatio]) -> LadderInput<'_> {
        let p = |v| Probability::new(v).unwrap();
        LadderInput {
            pairs,
            cycle_pairs: None,
            delta: Relative::new(0.01).unwrap(),
            conf: p(0.95),
            conf_equivalence: p(0.90),
            power: p(0.8),
            min_pairs: 6,
            noise: false,
        }
    }

    const FAST: [f64; 6] = [0.05, 0.06, 0.055, 0.052, 0.058, 0.061];

    #[test]
    fn noise_and_n_come_before_any_number() {
        let fast = pairs(&FAST);
        let noisy = judge(&LadderInput { noise: true, min_pairs: 60, ..input(&fast) }).unwrap();
        assert_eq!(noisy.outcome, MeasuredOutcome::Inconclusive(Inconclusive::Noise));
        let few = judge(&LadderInput { min_pairs: 7, ..input(&fast) }).unwrap();
        assert_eq!(few.outcome, MeasuredOutcome::Inconclusive(Inconclusive::N));
        assert!(!kept(&few, Probability::new(1.0).unwrap()));
    }

    #[test]
    fn a_verdict_that_cycles_do_not_repeat_is_the_clocks() {
        let fast = pairs(&FAST);
        let flat = pairs(&[0.0, 0.001, -0.001, 0.002, -0.002, 0.0]);
        let by_clock = judge(&LadderInput { cycle_pairs: Some(&flat), ..input(&fast) }).unwrap();
        assert_eq!(by_clock.outcome, MeasuredOutcome::Inconclusive(Inconclusive::Clock));
        assert!(!by_clock.material);
        let repeated = judge(&LadderInput { cycle_pairs: Some(&fast), ..input(&fast) }).unwrap();
        assert_eq!(repeated, judge(&input(&fast)).unwrap());
        let wide = pairs(&[0.02, -0.03, -0.05, 0.04, 0.03, -0.02]);
        let undecided = judge(&LadderInput { cycle_pairs: Some(&fast), ..input(&wide) }).unwrap();
        assert_eq!(undecided.outcome, MeasuredOutcome::Inconclusive(Inconclusive::Precision));
        let odd = judge(&LadderInput { cycle_pairs: Some(&flat[1..]), ..input(&fast) });
        assert_eq!(odd, Err(LadderError::CyclePairs { pairs: 6, cycles: 5 }));
    }

    #[test]
    fn a_keep_needs_the_level_too() {
        let fast = pairs(&FAST);
        let verdict = judge(&input(&fast)).unwrap();
        assert!(verdict.material && verdict.outcome == MeasuredOutcome::Faster);
        assert!(kept(&verdict, Probability::new(1.0 / 64.0).unwrap()));
        assert!(!kept(&verdict, Probability::new(0.015).unwrap()));
    }

    #[test]
    fn a_lower_end_at_zero_up_to_rounding_is_not_faster() {
        let edge = pairs(&[1e-13, 0.05, 0.05, 0.05, 0.05, 0.05]);
        let verdict = judge(&input(&edge)).unwrap();
        assert_eq!(verdict.outcome, MeasuredOutcome::Inconclusive(Inconclusive::Precision));
    }

    #[test]
    fn advice_is_given_only_where_more_pairs_help() {
        let wide = pairs(&[0.02, -0.03, -0.05, 0.04, 0.03, -0.02]);
        assert!(judge(&input(&wide)).unwrap().pairs_needed.is_some_and(|need| need > 6));
        let edge = pairs(&[0.008, 0.0085, 0.009, 0.0095, 0.0102, 0.0101, 0.0099, 0.0103]);
        let verdict = judge(&input(&edge)).unwrap();
        assert_eq!(verdict.outcome, MeasuredOutcome::Inconclusive(Inconclusive::Precision));
        assert_eq!(verdict.pairs_needed, None);
    }

    #[test]
    fn no_pairs_is_no_verdict() {
        let none = judge(&input(&[]));
        assert_eq!(none, Err(LadderError::SignedRank(SignedRankError::Pairs { got: 0 })));
    }
}
