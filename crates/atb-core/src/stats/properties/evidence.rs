//! Laws of trends, sequential evidence, equivalence and parity; and how often equal arms are called different.

use proptest::prelude::*;

use super::{log_ratios, mirrored, near, probability, shifted_pairs, verdict};
use crate::ladder::MeasuredOutcome;
use crate::quantity::{Ratio, Reading, Relative, Seed};
use crate::stats::e_process::{Sequential, SequentialDesign};
use crate::stats::equivalence::Equivalence;
use crate::stats::parity::parity;
use crate::stats::signed_rank::{Walsh, critical};
use crate::stats::spending::Threshold;
use crate::stats::splitmix::SplitMix64;
use crate::stats::steady::Trend;

const DESIGN_DELTA: f64 = 0.01;

fn design() -> SequentialDesign {
    SequentialDesign {
        decisive: Threshold::new(40.0).unwrap(),
        equivalence: Threshold::new(20.0).unwrap(),
        delta: Relative::new(DESIGN_DELTA).unwrap(),
        min_pairs: 6,
        max_pairs: 30,
    }
}

fn sequential(d: &[f64]) -> Sequential {
    Sequential::of(&log_ratios(d), &design()).unwrap()
}

fn trend(values: &[f64]) -> Trend {
    Trend::of(&values.iter().map(|v| Reading::new(*v).unwrap()).collect::<Vec<_>>()).unwrap()
}

/// A draw from a law that is symmetric about zero and has heavy tails, of a scale of some 3 %.
fn symmetric(draws: &mut SplitMix64) -> f64 {
    let uniform = (draws.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let size = 0.03 * (1.0 / (1.0 - uniform)).sqrt() - 0.03;
    if draws.coin() { size } else { -size }
}

proptest! {
    #[test]
    fn a_trend_knows_no_unit_and_turns_with_time(
        values in prop::collection::vec(1_i32..200, 2..40), factor in 0.001_f64..1000.0,
    ) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
        let (one, other) = (trend(&values), trend(&scaled));
        prop_assert!(near(one.drift.get(), other.drift.get()));
        prop_assert!(near(one.slope.get() * factor, other.slope.get()));
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        let back = trend(&reversed);
        prop_assert_eq!(back.s, -one.s);
        prop_assert_eq!(back.p, one.p);
        prop_assert!(near(back.drift.get(), -one.drift.get()));
    }

    #[test]
    fn a_steeper_run_never_has_a_smaller_trend(
        values in prop::collection::vec(1.0_f64..2.0, 2..40), tilt in 0.0_f64..0.1,
    ) {
        let tilted: Vec<f64> = values.iter().enumerate().map(|(i, v)| v + tilt * i as f64).collect();
        let (one, other) = (trend(&values), trend(&tilted));
        prop_assert!(other.s >= one.s);
        prop_assert!(near(other.slope.get(), one.slope.get() + tilt));
    }

    #[test]
    fn swapping_the_arms_mirrors_the_evidence(d in shifted_pairs()) {
        let swapped: Vec<f64> = d.iter().map(|v| -v).collect();
        let (one, other) = (sequential(&d), sequential(&swapped));
        prop_assert_eq!((one.first_faster, one.first_slower), (other.first_slower, other.first_faster));
        prop_assert_eq!(one.first_equivalent, other.first_equivalent);
        let mirror = one.stop(&design()).map(|(outcome, at)| (mirrored(outcome), at));
        prop_assert_eq!(mirror, other.stop(&design()));
    }

    #[test]
    fn evidence_never_looks_ahead(d in shifted_pairs(), cut in 0_usize..24) {
        let cut = cut % (d.len() + 1);
        let (all, part) = (sequential(&d), sequential(&d[..cut]));
        prop_assert_eq!(&all.evidence[..cut], &part.evidence[..]);
        if let Some(stop) = part.stop(&design()) {
            prop_assert_eq!(all.stop(&design()), Some(stop));
        }
    }

    #[test]
    fn a_faster_pair_never_lowers_the_evidence(d in shifted_pairs(), which in 0_usize..24, gain in 0.0..0.3) {
        let mut better = d.clone();
        better[which % d.len()] += gain;
        let (one, other) = (sequential(&d), sequential(&better));
        for (before, after) in one.evidence.iter().zip(&other.evidence) {
            prop_assert!(after.faster.get() >= before.faster.get() - 1e-12);
            prop_assert!(after.slower.get() <= before.slower.get() + 1e-12);
        }
    }

    #[test]
    fn evidence_is_one_on_average_over_all_signs(sizes in prop::collection::vec(0.0_f64..0.1, 1..9)) {
        let patterns = 1_usize << sizes.len();
        let total: f64 = (0..patterns)
            .map(|signs| {
                let d: Vec<f64> =
                    sizes.iter().enumerate().map(|(i, v)| if signs >> i & 1 == 1 { *v } else { -v }).collect();
                sequential(&d).evidence.last().unwrap().faster.get().exp()
            })
            .sum();
        prop_assert!((total / patterns as f64 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn two_one_sided_tests_and_the_interval_agree(d in prop::collection::vec(-0.03_f64..0.03, 5..20)) {
        let pairs = log_ratios(&d);
        let delta = Relative::new(DESIGN_DELTA).unwrap();
        let margin = delta.log_margin().unwrap().get();
        let test = Equivalence::of(&pairs, delta).unwrap();
        let interval = Walsh::of(&pairs).unwrap().interval(probability(0.90)).unwrap();
        // A Walsh average at the margin itself would tie; random ones do not.
        prop_assume!((interval.lo.get() + margin).abs() > 1e-9 && (interval.hi.get() - margin).abs() > 1e-9);
        let tail = critical(d.len(), probability(0.90)).unwrap().map_or(-1.0, |c| (1.0 - c.attained.get()) / 2.0);
        prop_assert_eq!(interval.lo.get() > -margin, test.p_lower.get() <= tail + 1e-12);
        prop_assert_eq!(interval.hi.get() < margin, test.p_upper.get() <= tail + 1e-12);
        let swapped = Equivalence::of(&log_ratios(&d.iter().map(|v| -v).collect::<Vec<_>>()), delta).unwrap();
        prop_assert_eq!((test.p_lower, test.p_upper), (swapped.p_upper, swapped.p_lower));
    }

    #[test]
    fn parity_depends_on_the_share_of_the_figure_alone(d in shifted_pairs(), figure in 0.5_f64..4.0) {
        let band = Relative::new(0.1).unwrap();
        let of = |d: &[f64], published: f64| {
            parity(&log_ratios(d), Ratio::new(published).unwrap(), band, probability(0.90)).unwrap()
        };
        let scaled: Vec<f64> = d.iter().map(|v| v + figure.ln()).collect();
        let (one, other) = (of(&d, 1.0), of(&scaled, figure));
        prop_assert!(near(one.ratio.get(), other.ratio.get()));
        prop_assert!(near(one.lo.get(), other.lo.get()) && near(one.hi.get(), other.hi.get()));
    }
}

#[test]
fn equal_arms_are_seldom_called_faster() {
    let mut draws = SplitMix64::new(Seed::new(101));
    let blocks = 4_000;
    let faster = (0..blocks)
        .filter(|_| {
            let pairs: Vec<f64> = (0..12).map(|_| symmetric(&mut draws)).collect();
            verdict(&pairs).outcome == MeasuredOutcome::Faster
        })
        .count();
    assert!(faster * 1000 <= 25 * blocks, "{faster} of {blocks}");
    assert!(faster > 0, "the test is blind");
}

#[test]
fn equal_arms_seldom_stop_a_sequential_comparison() {
    let mut draws = SplitMix64::new(Seed::new(202));
    let runs = 4_000;
    let decided = (0..runs)
        .filter(|_| {
            let pairs: Vec<f64> = (0..30).map(|_| symmetric(&mut draws)).collect();
            let stopped = sequential(&pairs).stop(&design()).map(|(outcome, _)| outcome);
            matches!(stopped, Some(MeasuredOutcome::Faster | MeasuredOutcome::Slower))
        })
        .count();
    assert!(decided * 1000 <= 50 * runs, "{decided} of {runs}");
    assert!(decided > 0, "the test is blind");
}
