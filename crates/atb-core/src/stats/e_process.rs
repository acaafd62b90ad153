//! Stopping as soon as the evidence suffices: bets on the sign of each pair, whose winnings may be looked at any time.
//!
//! Fixed or sequential is chosen at registration and never switched. A sequential comparison prints the interval of
//! `signed_rank` for description only; its verdict comes from here.

use crate::ladder::MeasuredOutcome;
use crate::outcome::Inconclusive;
use crate::quantity::{LogEvidence, LogRatio, QuantityError, Relative};

use super::EPSILON;
use super::spending::Threshold;

/// The bets, per unit of log ratio: from one that pays on effects of about 4 % to one that pays on 0.1 %.
const BETS: [f64; 6] = [12.5, 25.0, 50.0, 100.0, 200.0, 400.0];

/// When a sequential comparison stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SequentialDesign {
    /// Evidence that stops with `faster` or `slower`: 1/0.025 = 40, or `spending::e_threshold` of a campaign's level.
    pub decisive: Threshold,
    /// Evidence needed on either side for `equivalent`: 1/0.05 = 20.
    pub equivalence: Threshold,
    /// The smallest difference that matters; equal arms lie within ln(1 + delta) of zero.
    pub delta: Relative,
    /// Pairs before which nothing stops.
    pub min_pairs: usize,
    /// Pairs after which an undecided comparison is `inconclusive(precision)`.
    pub max_pairs: usize,
}

/// Evidence after one more pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Against "the candidate is not faster".
    pub faster: LogEvidence,
    /// Against "the candidate is not slower".
    pub slower: LogEvidence,
    /// Against "the log ratio is at most -ln(1 + delta)".
    pub above: LogEvidence,
    /// Against "the log ratio is at least ln(1 + delta)".
    pub below: LogEvidence,
}

/// A sequential comparison as far as it was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequential {
    /// Evidence after each pair.
    pub evidence: Vec<Evidence>,
    /// Pairs after which `faster` was first shown.
    pub first_faster: Option<usize>,
    /// Pairs after which `slower` was first shown.
    pub first_slower: Option<usize>,
    /// Pairs after which both sides of `equivalent` had each been shown at some time.
    pub first_equivalent: Option<usize>,
}

impl Sequential {
    /// E_t = (1/K) sum_k prod_{i<=t} 2/(1 + exp(-2 L_k x_i)), x = side (d - shift); summed on the log scale.
    ///
    /// Assumes that a pair without a true difference is as likely x as -x, which a fair coin for the order of each pair
    /// ensures; orders balanced over blocks need one bet per block, on the block's mean. Then each factor has mean 1,
    /// since 1/(1+e^-a) + 1/(1+e^a) = 1, and P(E_t >= 1/alpha at any t) <= alpha. Source: Ville's inequality
    /// (arXiv 2210.01948); e-values from sign symmetry (arXiv 2310.01153).
    pub fn of(pairs: &[LogRatio], design: &SequentialDesign) -> Result<Self, QuantityError> {
        let margin = design.delta.log_margin()?.get();
        let winnings = |side: f64, shift: f64| -> Result<Vec<LogEvidence>, QuantityError> {
            let stakes = pairs.iter().map(|d| side * (d.get() - shift));
            log_winnings(stakes).into_iter().map(LogEvidence::new).collect()
        };
        let (faster, slower) = (winnings(1.0, 0.0)?, winnings(-1.0, 0.0)?);
        let (above, below) = (winnings(1.0, -margin)?, winnings(-1.0, margin)?);
        let first = |side: &[LogEvidence], threshold: Threshold| {
            let enough = |e: &LogEvidence| e.get() >= threshold.get().ln() - EPSILON;
            side.iter().position(enough).map(|at| (at + 1).max(design.min_pairs)).filter(|at| *at <= pairs.len())
        };
        let sides = first(&above, design.equivalence).zip(first(&below, design.equivalence));
        Ok(Self {
            first_faster: first(&faster, design.decisive),
            first_slower: first(&slower, design.decisive),
            first_equivalent: sides.map(|(a, b)| a.max(b)),
            evidence: (0..pairs.len())
                .map(|t| Evidence { faster: faster[t], slower: slower[t], above: above[t], below: below[t] })
                .collect(),
        })
    }

    /// What stops the comparison, and after how many pairs; none while another pair is to be measured.
    ///
    /// What is shown first decides. Of two shown by the same pair the order is the ladder's: equivalent, faster, slower.
    pub fn stop(&self, design: &SequentialDesign) -> Option<(MeasuredOutcome, usize)> {
        let shown = [
            (MeasuredOutcome::Equivalent, self.first_equivalent),
            (MeasuredOutcome::Faster, self.first_faster),
            (MeasuredOutcome::Slower, self.first_slower),
        ];
        let earliest = shown.into_iter().filter_map(|(outcome, at)| at.map(|at| (outcome, at)));
        earliest.min_by_key(|(_, at)| *at).filter(|(_, at)| *at <= design.max_pairs).or_else(|| {
            let undecided = MeasuredOutcome::Inconclusive(Inconclusive::Precision);
            (self.evidence.len() >= design.max_pairs).then_some((undecided, design.max_pairs))
        })
    }
}

/// ln E_t for every t.
fn log_winnings(stakes: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut logs = [0.0; BETS.len()];
    stakes
        .map(|x| {
            for (log, bet) in logs.iter_mut().zip(BETS) {
                *log += log_factor(bet * x);
            }
            let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
            largest + (sum / BETS.len() as f64).ln()
        })
        .collect()
}

/// ln(2 / (1 + exp(-2a))), without overflow for a stake of any size.
fn log_factor(a: f64) -> f64 {
    std::f64::consts::LN_2 + (2.0 * a).min(0.0) - (-2.0 * a.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design() -> SequentialDesign {
        SequentialDesign {
            decisive: Threshold::new(40.0).unwrap(),
            equivalence: Threshold::new(20.0).unwrap(),
            delta: Relative::new(0.01).unwrap(),
            min_pairs: 6,
            max_pairs: 30,
        }
    }

    fn run(pairs: &[f64]) -> (Sequential, Option<(MeasuredOutcome, usize)>) {
        let pairs: Vec<LogRatio> = pairs.iter().map(|d| LogRatio::new(*d).unwrap()).collect();
        let run = Sequential::of(&pairs, &design()).unwrap();
        let stop = run.stop(&design());
        (run, stop)
    }

    #[test]
    fn a_large_gain_still_waits_for_the_least_pairs() {
        assert_eq!(run(&[0.5; 5]).1, None);
        assert_eq!(run(&[0.5; 6]).1, Some((MeasuredOutcome::Faster, 6)));
        assert_eq!(run(&[-0.5; 9]).1, Some((MeasuredOutcome::Slower, 6)));
    }

    #[test]
    fn a_shown_difference_below_delta_is_equivalent() {
        let (run, stop) = run(&[0.004; 30]);
        assert!(run.first_faster.is_some());
        assert_eq!(stop.map(|(outcome, _)| outcome), Some(MeasuredOutcome::Equivalent));
    }

    #[test]
    fn an_undecided_comparison_ends_at_the_most_pairs() {
        let seesaw: Vec<f64> = (0..31).map(|i| if i % 2 == 0 { 0.03 } else { -0.03 }).collect();
        let undecided = MeasuredOutcome::Inconclusive(Inconclusive::Precision);
        assert_eq!(run(&seesaw[..29]).1, None);
        assert_eq!(run(&seesaw).1, Some((undecided, 30)));
    }

    #[test]
    fn what_was_shown_stays_decided() {
        let mut pairs = vec![0.05; 12];
        let early = run(&pairs).1;
        pairs.extend([-0.5; 18]);
        assert_eq!(run(&pairs).1, early);
    }

    #[test]
    fn the_factor_is_fair_and_never_overflows() {
        for a in [0.0, 1e-9, 0.3, 2.0, 40.0] {
            let mean = 0.5 * (log_factor(a).exp() + log_factor(-a).exp());
            assert!((mean - 1.0).abs() < 1e-14, "a {a}");
        }
        assert!(log_factor(-1e300).is_finite() && (log_factor(1e300) - 2_f64.ln()).abs() < 1e-15);
    }
}
