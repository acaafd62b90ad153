//! Laws that hold for all inputs, on random ones.

mod collections;
mod evidence;

use proptest::prelude::*;

use super::cv::{CrossRunCv, exceeds_cap};
use super::pairs::{CellTime, cell_log_ratio};
use super::signed_rank::{SignedRank, Walsh, critical, null_counts};
use super::summary::twice_median;
use super::{EPSILON, mean};
use crate::ladder::{LadderInput, MeasuredOutcome, Verdict, judge};
use crate::outcome::Inconclusive;
use crate::quantity::{Cv, Iterations, LogRatio, Nanos, Probability, Reading, Relative};

fn probability(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

fn log_ratios(values: &[f64]) -> Vec<LogRatio> {
    values.iter().map(|v| LogRatio::new(*v).unwrap()).collect()
}

fn verdict(values: &[f64]) -> Verdict {
    judge(&LadderInput {
        pairs: &log_ratios(values),
        cycle_pairs: None,
        delta: Relative::new(0.01).unwrap(),
        conf: probability(0.95),
        conf_equivalence: probability(0.90),
        power: probability(0.8),
        min_pairs: 6,
        noise: false,
    })
    .unwrap()
}

/// Log ratios around a common shift, some of them tied or zero, so that every rung of the ladder is reached.
fn shifted_pairs() -> impl Strategy<Value = Vec<f64>> {
    let spread = prop_oneof![Just(0.002), Just(0.02), Just(0.2)];
    let shift = prop_oneof![Just(0.0), Just(0.01), Just(-0.01), -0.05..0.05];
    (spread, shift, prop::collection::vec(-10_i32..=10, 1..24))
        .prop_map(|(spread, shift, steps)| steps.into_iter().map(|s| shift + spread * f64::from(s) / 10.0).collect())
}

fn near(a: f64, b: f64) -> bool {
    a.total_cmp(&b).is_eq() || (a - b).abs() <= 1e-12 + 1e-9 * b.abs()
}

fn mirrored(outcome: MeasuredOutcome) -> MeasuredOutcome {
    match outcome {
        MeasuredOutcome::Faster => MeasuredOutcome::Slower,
        MeasuredOutcome::Slower => MeasuredOutcome::Faster,
        same => same,
    }
}

/// The rungs below noise, as statements about the printed numbers, in ladder order.
fn rungs(v: &Verdict) -> [bool; 4] {
    let margin = 1.01_f64.ln();
    let equivalent = v.lo90.get() > -margin + EPSILON && v.hi90.get() < margin - EPSILON;
    let faster = v.lo95.get() > EPSILON && v.estimate_log.get() >= margin - EPSILON;
    let slower = v.hi95.get() < -EPSILON && v.estimate_log.get() <= -margin + EPSILON;
    [v.n < 6, equivalent, faster, slower]
}

proptest! {
    #[test]
    fn swapping_the_arms_mirrors_the_verdict(d in shifted_pairs()) {
        let swapped: Vec<f64> = d.iter().map(|v| -v).collect();
        let (one, other) = (verdict(&d), verdict(&swapped));
        prop_assert!(near(one.estimate_log.get(), -other.estimate_log.get()));
        prop_assert!(near(one.lo95.get(), -other.hi95.get()));
        prop_assert!(near(one.hi95.get(), -other.lo95.get()));
        prop_assert!(near(one.lo90.get(), -other.hi90.get()));
        prop_assert!(near(one.hi90.get(), -other.lo90.get()));
        prop_assert_eq!(mirrored(one.outcome), other.outcome);
        prop_assert_eq!(one.material, other.material);
        prop_assert_eq!(one.pairs_needed, other.pairs_needed);
        let (test, swapped) = (SignedRank::of(&log_ratios(&d)).unwrap(), SignedRank::of(&log_ratios(&swapped)).unwrap());
        prop_assert_eq!(test.p_greater, swapped.p_less);
        prop_assert_eq!(test.p_two, swapped.p_two);
    }

    #[test]
    fn the_order_of_the_pairs_does_not_matter(d in shifted_pairs(), turn in 0_usize..24) {
        let mut turned = d.clone();
        turned.rotate_left(turn % d.len());
        turned.reverse();
        let (one, other) = (verdict(&d), verdict(&turned));
        // The spread behind the advice is a float sum and may round differently; all else is equal to the bit.
        prop_assert_eq!(Verdict { pairs_needed: None, ..one }, Verdict { pairs_needed: None, ..other });
    }

    #[test]
    fn a_faster_pair_never_lowers_estimate_or_bounds(
        d in shifted_pairs(), which in 0_usize..24, gain in 0.0..0.3,
    ) {
        let mut better = d.clone();
        let index = which % d.len();
        better[index] += gain;
        let (one, other) = (verdict(&d), verdict(&better));
        prop_assert!(other.estimate_log >= one.estimate_log);
        prop_assert!(other.lo95 >= one.lo95 && other.hi95 >= one.hi95);
        prop_assert!(other.lo90 >= one.lo90 && other.hi90 >= one.hi90);
        if one.outcome == MeasuredOutcome::Faster {
            prop_assert_eq!(other.outcome, MeasuredOutcome::Faster);
        }
        if other.outcome == MeasuredOutcome::Slower {
            prop_assert_eq!(one.outcome, MeasuredOutcome::Slower);
        }
    }

    #[test]
    fn the_ladder_is_exhaustive_and_exclusive(d in shifted_pairs()) {
        let v = verdict(&d);
        let [few, equivalent, faster, slower] = rungs(&v);
        prop_assert!(u8::from(equivalent) + u8::from(faster) + u8::from(slower) <= 1);
        let expected = if few {
            MeasuredOutcome::Inconclusive(Inconclusive::N)
        } else if equivalent {
            MeasuredOutcome::Equivalent
        } else if faster {
            MeasuredOutcome::Faster
        } else if slower {
            MeasuredOutcome::Slower
        } else {
            MeasuredOutcome::Inconclusive(Inconclusive::Precision)
        };
        prop_assert_eq!(v.outcome, expected);
        prop_assert!(!v.material || faster || slower);
        prop_assert!(v.pairs_needed.is_none() || v.outcome == expected && !v.outcome.is_decided());
    }

    #[test]
    fn the_unit_of_time_does_not_matter(
        times in prop::collection::vec((1_u64..1 << 40, 1_u64..1 << 40), 2..12), factor in 1_u64..1 << 20,
    ) {
        let one = Iterations::new(1).unwrap();
        let time = |t| CellTime { twice_median: Nanos::new(t), calls: one };
        for (base, candidate) in &times {
            let d = cell_log_ratio(time(*base), time(*candidate)).unwrap();
            let scaled = cell_log_ratio(time(base * factor), time(candidate * factor)).unwrap();
            prop_assert!(near(d.get(), scaled.get()));
            let calls = CellTime { calls: Iterations::new(factor).unwrap(), ..time(base * factor) };
            prop_assert!(near(d.get(), cell_log_ratio(calls, time(*candidate)).unwrap().get()));
            let swapped = cell_log_ratio(time(*candidate), time(*base)).unwrap();
            prop_assert!(d.get().total_cmp(&-swapped.get()).is_eq() || base == candidate);
        }
        let runs = |f: u64| times.iter().map(|(b, _)| Reading::new((b * f) as f64).unwrap()).collect::<Vec<_>>();
        let cv = CrossRunCv::of(&runs(1), probability(0.95)).unwrap();
        let scaled = CrossRunCv::of(&runs(factor), probability(0.95)).unwrap();
        prop_assert!(near(cv.raw.get(), scaled.raw.get()) && near(cv.robust.get(), scaled.robust.get()));
        prop_assert!(near(cv.lognormal.get(), scaled.lognormal.get()));
    }

    #[test]
    fn the_squared_cap_agrees_with_the_corrected_cv(
        runs in prop::collection::vec(90.0..110.0, 2..14), cap in 0.005_f64..0.2,
    ) {
        let runs: Vec<Reading> = runs.into_iter().map(|v| Reading::new(v).unwrap()).collect();
        let corrected = CrossRunCv::of(&runs, probability(0.95)).unwrap().corrected.get();
        prop_assume!((corrected - cap).abs() > 1e-9);
        prop_assert_eq!(exceeds_cap(&runs, Cv::new(cap).unwrap()).unwrap(), corrected > cap);
    }

    #[test]
    fn twice_median_is_twice_the_naive_median(samples in prop::collection::vec(0_u64..1 << 50, 1..60)) {
        let mut floats: Vec<f64> = samples.iter().map(|v| *v as f64).collect();
        floats.sort_by(f64::total_cmp);
        let half = floats.len() / 2;
        let middle = if floats.len() % 2 == 1 { &floats[half..=half] } else { &floats[half - 1..=half] };
        let samples: Vec<Nanos> = samples.into_iter().map(Nanos::new).collect();
        let got = twice_median(&samples).unwrap();
        prop_assert!((got.get() as f64).total_cmp(&(2.0 * mean(middle))).is_eq());
    }

    #[test]
    fn p_equals_enumeration_with_ties_and_zeros(steps in prop::collection::vec(-4_i32..=4, 1..=10)) {
        let d: Vec<f64> = steps.iter().map(|s| f64::from(*s)).collect();
        let test = SignedRank::of(&log_ratios(&d)).unwrap();
        // Doubled midrank of v: those below it twice, those equal to it (itself included) once, plus one.
        let rank = |v: i32| steps.iter().map(|s| match s.abs().cmp(&v.abs()) {
            std::cmp::Ordering::Less => 2,
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Greater => 0,
        }).sum::<usize>() + 1;
        let ranks: Vec<usize> = steps.iter().filter(|s| **s != 0).map(|s| rank(*s)).collect();
        let observed: usize = steps.iter().filter(|s| **s > 0).map(|s| rank(*s)).sum();
        let patterns = 1_usize << ranks.len();
        let sums: Vec<usize> = (0..patterns)
            .map(|signs| ranks.iter().enumerate().filter(|(i, _)| signs >> i & 1 == 1).map(|(_, r)| r).sum())
            .collect();
        let share = |hits: usize| probability(hits as f64 / patterns as f64);
        prop_assert_eq!(test.doubled_w_plus, observed);
        prop_assert_eq!(test.p_greater, share(sums.iter().filter(|s| **s >= observed).count()));
        prop_assert_eq!(test.p_less, share(sums.iter().filter(|s| **s <= observed).count()));
    }
}

#[test]
fn counts_and_k_equal_enumeration_up_to_12() {
    for n in 1..=12_usize {
        let mut counts = vec![0_u64; n * (n + 1) / 2 + 1];
        for signs in 0..1_usize << n {
            let sum: usize = (1..=n).filter(|rank| signs >> (rank - 1) & 1 == 1).sum();
            counts[sum] += 1;
        }
        assert_eq!(null_counts(n), Some(counts.clone()));
        for conf in [0.5, 0.8, 0.9, 0.9375, 0.95, 0.99, 0.999] {
            let tail = (1.0 - conf) / 2.0 * (1_u64 << n) as f64 + 1e-9;
            let k = (0..counts.len()).rev().find(|k| counts[..=*k].iter().sum::<u64>() as f64 <= tail);
            let got = critical(n, probability(conf)).unwrap();
            assert_eq!(got.map(|c| c.k), k, "n {n}, conf {conf}");
        }
    }
}

#[test]
fn the_estimate_lies_inside_every_interval_up_to_200_pairs() {
    for n in [1, 6, 12, 63, 64, 65, 120, 200] {
        let d: Vec<f64> = (0..n).map(|i| f64::from(i * 37 % 101) / 1000.0 - 0.03).collect();
        let walsh = Walsh::of(&log_ratios(&d)).unwrap();
        let estimate = walsh.estimate().unwrap().get();
        for conf in [0.0, 0.5, 0.9, 0.95, 0.999] {
            let interval = walsh.interval(probability(conf)).unwrap();
            assert!(interval.lo.get() <= estimate && estimate <= interval.hi.get(), "n {n}, conf {conf}");
            assert!(interval.critical.is_none_or(|c| c.attained.get() >= conf - 1e-11));
        }
    }
}
