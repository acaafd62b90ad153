//! Laws of families, machines, lists, tasks, percentiles and bounds.

use proptest::prelude::*;

use super::{log_ratios, near, probability};
use crate::quantity::{
    Bytes, BytesPerSecond, EValue, Flops, FlopsPerSecond, LogRatio, LogSpread, Probability, Ratio, Reading, Relative,
    Seconds, Share,
};
use crate::stats::aggregate::{Aggregate, TaskResult, fast_share};
use crate::stats::multiplicity::{e_bh, holm, is_win};
use crate::stats::percentile::rank_bounds;
use crate::stats::pooling::{MIN_MACHINES, MachineEstimate, Pooled, Transfer};
use crate::stats::proportion::Proportion;
use crate::stats::roofline::Roofline;
use crate::stats::saturation::{saturation, wall};
use crate::stats::shrinkage::shrink;

fn estimates(values: &[(f64, f64)]) -> Vec<MachineEstimate> {
    let estimate = |(y, s): &(f64, f64)| MachineEstimate {
        log_ratio: LogRatio::new(*y).unwrap(),
        standard_error: LogSpread::new(*s).unwrap(),
    };
    values.iter().map(estimate).collect()
}

fn pooled(values: &[(f64, f64)]) -> Pooled {
    Pooled::of(&estimates(values), probability(0.95)).unwrap()
}

fn machines() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((-0.2_f64..0.2, 0.001_f64..0.05), 2..9)
}

fn adjusted(p: &[f64]) -> Vec<Probability> {
    holm(&p.iter().map(|p| probability(*p)).collect::<Vec<_>>()).unwrap()
}

fn won(e: &[f64], alpha: f64) -> Vec<bool> {
    e_bh(&e.iter().map(|e| EValue::new(*e).unwrap()).collect::<Vec<_>>(), probability(alpha))
}

fn turned<T: Clone>(values: &[T], by: usize) -> Vec<T> {
    let mut copy = values.to_vec();
    copy.rotate_left(by % values.len());
    copy
}

proptest! {
    #[test]
    fn holm_adjusts_upwards_and_keeps_the_order(p in prop::collection::vec(0.0_f64..1.0, 1..12), turn in 0_usize..12) {
        let all = adjusted(&p);
        for (i, a) in all.iter().enumerate() {
            prop_assert!(a.get() >= p[i]);
            prop_assert!(all.iter().enumerate().all(|(j, b)| p[i] > p[j] || a <= b));
        }
        prop_assert_eq!(adjusted(&turned(&p, turn)), turned(&all, turn));
    }

    #[test]
    fn less_evidence_for_one_never_helps_another(
        p in prop::collection::vec(0.0_f64..1.0, 1..12), which in 0_usize..12, share in 0.0_f64..1.0,
    ) {
        let mut weaker = p.clone();
        let at = which % p.len();
        weaker[at] += share * (1.0 - p[at]);
        prop_assert!(adjusted(&p).iter().zip(adjusted(&weaker)).all(|(a, b)| *a <= b));
    }

    #[test]
    fn more_evidence_never_loses_a_win(
        e in prop::collection::vec(0.0_f64..200.0, 1..12), which in 0_usize..12, more in 0.0_f64..500.0, turn in 0_usize..12,
    ) {
        let wins = won(&e, 0.05);
        let mut stronger = e.clone();
        stronger[which % e.len()] += more;
        prop_assert!(wins.iter().zip(won(&stronger, 0.05)).all(|(before, after)| after || !before));
        prop_assert_eq!(won(&turned(&e, turn), 0.05), turned(&wins, turn));
        let scaled: Vec<f64> = e.iter().map(|e| e * 2.0).collect();
        prop_assert_eq!(won(&scaled, 0.025), wins);
    }

    #[test]
    fn what_holm_keeps_the_list_keeps_too(p in prop::collection::vec(0.0001_f64..1.0, 1..12)) {
        let inverse: Vec<f64> = p.iter().map(|p| 1.0 / p).collect();
        let family = adjusted(&p);
        let list = won(&inverse, 0.05);
        prop_assert!(family.iter().zip(list).all(|(a, listed)| listed || !is_win(*a, probability(0.05 - 1e-9))));
    }

    #[test]
    fn pooling_knows_neither_order_nor_direction_nor_unit(
        values in machines(), turn in 0_usize..9, factor in 0.1_f64..10.0,
    ) {
        let one = pooled(&values);
        let turned = pooled(&turned(&values, turn));
        prop_assert!(near(one.mean.get(), turned.mean.get()) && near(one.predicted_lo.get(), turned.predicted_lo.get()));
        let mirror = pooled(&values.iter().map(|(y, s)| (-y, *s)).collect::<Vec<_>>());
        prop_assert!(near(one.lo.get(), -mirror.hi.get()) && near(one.predicted_hi.get(), -mirror.predicted_lo.get()));
        let scaled = pooled(&values.iter().map(|(y, s)| (y * factor, s * factor)).collect::<Vec<_>>());
        prop_assert!(near(one.q.get(), scaled.q.get()) && near(one.i2.get(), scaled.i2.get()));
        prop_assert!(near(one.tau2.get() * factor * factor, scaled.tau2.get()));
        prop_assert!(near(one.mean.get() * factor, scaled.mean.get()));
    }

    #[test]
    fn another_machine_is_never_surer_than_the_mean(values in machines()) {
        let p = pooled(&values);
        prop_assert!(p.predicted_lo <= p.lo && p.hi <= p.predicted_hi);
        prop_assert!(p.lo.get() <= p.mean.get() && p.mean.get() <= p.hi.get());
        let ends = values.iter().map(|(y, _)| *y);
        let (least, most) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(y), b.max(y)));
        prop_assert!(p.mean.get() >= least - 1e-12 && p.mean.get() <= most + 1e-12);
    }

    #[test]
    fn the_transfer_ladder_is_exhaustive_and_exclusive(values in machines(), shift in -0.3_f64..0.3) {
        let p = pooled(&values.iter().map(|(y, s)| (y * 0.2 + shift, *s)).collect::<Vec<_>>());
        let few = p.machines < MIN_MACHINES;
        let above = p.predicted_lo.get() > 1e-12;
        let differ = p.q_p.get() < 0.05 - 1e-12 && !above && p.predicted_hi.get() >= -1e-12;
        let rungs = [
            (Transfer::PerBoxOnly, few),
            (Transfer::Transfers, !few && above),
            (Transfer::BoxSpecific, !few && differ),
            (Transfer::Undetermined, !few && !above && !differ),
        ];
        prop_assert_eq!(rungs.iter().filter(|(_, holds)| *holds).count(), 1);
        prop_assert!(rungs.contains(&(p.transfer(), true)));
    }

    #[test]
    fn shrinking_moves_towards_the_mean_and_never_past_it(values in machines()) {
        let list = shrink(&estimates(&values)).unwrap();
        for (entry, (y, s)) in list.entries.iter().zip(&values) {
            let (from, to) = (y - list.mean.get(), entry.log_ratio.get() - list.mean.get());
            prop_assert!(to.abs() <= from.abs() + 1e-12 && to * from >= -1e-15);
            prop_assert!(entry.standard_error.get() <= *s);
        }
    }

    #[test]
    fn slower_everywhere_is_faster_everywhere_inverted(values in machines()) {
        let tasks = |sign: f64| -> Vec<TaskResult> {
            let of = |m: MachineEstimate| TaskResult {
                log_ratio: LogRatio::new(sign * m.log_ratio.get()).unwrap(),
                standard_error: m.standard_error,
            };
            estimates(&values).into_iter().map(of).collect()
        };
        let (up, down) = (Aggregate::of(&tasks(1.0), probability(0.95)), Aggregate::of(&tasks(-1.0), probability(0.95)));
        let (up, down) = (up.unwrap(), down.unwrap());
        prop_assert!(near(up.geometric_mean.get() * down.geometric_mean.get(), 1.0));
        prop_assert!(near(up.lo.get() * down.hi.get(), 1.0));
        let tried: Vec<Option<TaskResult>> = tasks(1.0).into_iter().map(Some).collect();
        let share = |bar: f64| fast_share(&tried, Ratio::new(bar).unwrap(), probability(0.95)).unwrap();
        prop_assert!(share(1.0).certified <= share(1.0).point);
        prop_assert!(share(1.1).point <= share(1.0).point && share(1.1).certified <= share(1.0).certified);
    }

    #[test]
    fn shares_of_failures_mirror_shares_of_successes(trials in 1_usize..60, hits in 0_usize..60, conf in 0.5_f64..0.99) {
        let hits = hits % (trials + 1);
        let (one, other) = (Proportion::new(hits, trials).unwrap(), Proportion::new(trials - hits, trials).unwrap());
        let share = hits as f64 / trials as f64;
        for of in [Proportion::wilson, Proportion::clopper_pearson] {
            let ((lo, hi), (mirror_lo, mirror_hi)) = (of(one, probability(conf)).unwrap(), of(other, probability(conf)).unwrap());
            prop_assert!(near(lo.get(), 1.0 - mirror_hi.get()) && near(hi.get(), 1.0 - mirror_lo.get()));
            prop_assert!(lo.get() <= share + 1e-12 && share <= hi.get() + 1e-12);
            let (wide_lo, wide_hi) = of(one, probability(0.999)).unwrap();
            prop_assert!(wide_lo.get() <= lo.get() + 1e-12 && hi.get() <= wide_hi.get() + 1e-12);
        }
    }

    #[test]
    fn low_percentiles_mirror_high_ones(n in 1_usize..400, percent in 1_u32..100) {
        let p = f64::from(percent) / 100.0;
        let of = |p: f64| rank_bounds(n, probability(p), probability(0.95)).unwrap();
        let (low, high) = (of(p), of(1.0 - p));
        prop_assert_eq!(low.lower, high.upper.map(|rank| n + 1 - rank));
        prop_assert_eq!(low.upper, high.lower.map(|rank| n + 1 - rank));
    }

    #[test]
    fn bounds_and_walls_know_no_unit(
        (bytes, flops) in (1.0_f64..1e12, 0.0_f64..1e15), time in 1e-6_f64..1e3, factor in 1e-3_f64..1e3,
    ) {
        let standing = |f: f64| {
            let (bytes, flops) = (Bytes::new(bytes).unwrap(), Flops::new(flops).unwrap());
            let (bandwidth, rate) = (BytesPerSecond::new(1e11 / f).unwrap(), FlopsPerSecond::new(1e13 / f).unwrap());
            let roof = Roofline::of(bytes, flops, bandwidth, rate).unwrap();
            let (tolerance, headroom) = (Relative::new(0.02).unwrap(), Ratio::new(1.1).unwrap());
            roof.standing(Seconds::new(time * f).unwrap(), tolerance, headroom).unwrap()
        };
        prop_assert!(near(standing(1.0).headroom.get(), standing(factor).headroom.get()));
        prop_assert!(near(standing(1.0).headroom.get() * standing(1.0).utilisation.get(), 1.0));
        prop_assert!(!(standing(1.0).impossible && standing(1.0).at_wall));
    }

    #[test]
    fn saturation_knows_neither_unit_nor_order_of_arms(
        best in prop::collection::vec(1.0_f64..1.05, 2..10), other in prop::collection::vec(1.0_f64..1.05, 2..10), turn in 0_usize..10,
    ) {
        let readings = |v: &[f64], f: f64| v.iter().map(|v| Reading::new(v * f).unwrap()).collect::<Vec<_>>();
        let judged = |a: &[f64], b: &[f64], f: f64| {
            let (a, b) = (readings(a, f), readings(b, f));
            let reported: Vec<Reading> = a.iter().chain(&b).copied().collect();
            let wall = wall(None, &reported).unwrap();
            saturation(&a, &b, wall, Relative::new(0.01).unwrap(), Share::new(0.8).unwrap()).unwrap()
        };
        let one = judged(&best, &other, 1.0);
        // A power of two scales without rounding, so that a time at the edge stays there.
        prop_assert_eq!(one, judged(&turned(&best, turn), &other, 4.0));
        let swapped = judged(&other, &best, 1.0);
        prop_assert_eq!((one.share_a, one.share_b, one.saturated), (swapped.share_b, swapped.share_a, swapped.saturated));
    }

    #[test]
    fn a_machine_knows_no_order_of_its_pairs(d in prop::collection::vec(-0.1_f64..0.1, 2..20), turn in 0_usize..20) {
        let of = |d: &[f64]| MachineEstimate::of_pairs(&log_ratios(d)).unwrap();
        let (one, other) = (of(&d), of(&turned(&d, turn)));
        prop_assert!(near(one.log_ratio.get(), other.log_ratio.get()));
        prop_assert!(near(one.standard_error.get(), other.standard_error.get()));
    }
}
