//! Reference cases of the signed ranks, and the same statistics beyond the cases' size.

use serde_json::Value;

use super::{Case, Expect, close, count, float, floats, log_ratios, probability};
use crate::quantity::LogRatio;
use crate::stats::distributions::{student_quantile, student_tail};
use crate::stats::pairs::log_spread;
use crate::stats::signed_rank::{Interval, SignedRank, Walsh, critical, outlier_tolerance};
use crate::stats::{mean, variance};

fn check_interval(expect: &Value, got: &Interval) {
    let mut e = Expect::of(expect);
    let k = got.critical.map_or(-1, |c| i64::try_from(c.k).unwrap());
    assert_eq!(e.take("k").as_i64(), Some(k));
    e.number("attained", got.critical.map_or(1.0, |c| c.attained.get()));
    e.number("lo_log", got.lo.get());
    e.number("hi_log", got.hi.get());
    e.number("lo_ratio", got.lo.ratio_bound());
    e.number("hi_ratio", got.hi.ratio_bound());
    e.finish();
}

fn check_test(e: &mut Expect, pairs: &[LogRatio]) {
    let test = SignedRank::of(pairs).unwrap();
    e.number("W_plus", test.doubled_w_plus as f64 / 2.0);
    e.number("p_greater", test.p_greater.get());
    e.number("p_less", test.p_less.get());
    e.number("p_two", test.p_two.get());
}

/// The cross-check fields: t interval and sign-flip test, which no verdict uses and the library therefore does not have.
fn check_other_methods(e: &mut Expect, d: &[f64]) {
    let n = d.len() as f64;
    let se = log_spread(&log_ratios(d)).unwrap().get() / n.sqrt();
    e.number("sd_log", variance(d).sqrt());
    e.number("mean_log", mean(d));
    e.number("se_log", se);
    e.number("geomean_speedup", mean(d).exp());
    let half = se * student_quantile(0.975, n - 1.0).unwrap();
    let interval = floats(&e.take("t_ci95"));
    close("t_ci95 low", mean(d) - half, interval[0]);
    close("t_ci95 high", mean(d) + half, interval[1]);
    e.number("t_p_two", 2.0 * student_tail((mean(d) / se).abs(), n - 1.0).unwrap());
    if e.has("signflip_mean_p_greater") {
        let size: f64 = d.iter().map(|v| v.abs()).sum();
        let observed: f64 = d.iter().sum();
        let sums = (0..1_u32 << d.len()).map(|signs| -> f64 {
            d.iter().enumerate().map(|(i, v)| if signs >> i & 1 == 1 { v.abs() } else { -v.abs() }).sum()
        });
        let (mut greater, mut two) = (0.0, 0.0);
        for sum in sums {
            greater += f64::from(sum >= observed - 1e-12 * size);
            two += f64::from(sum.abs() >= observed.abs() - 1e-12 * size);
        }
        let patterns = f64::from(1_u32 << d.len());
        e.number("signflip_mean_p_greater", greater / patterns);
        e.number("signflip_mean_p_two", two / patterns);
    }
}

pub(super) fn paired_ratio(cases: &[Case]) {
    let mut flipped = 0;
    for (input, expect) in cases {
        let (base, cand) = (floats(&input["base"]), floats(&input["cand"]));
        let d: Vec<f64> = base.iter().zip(&cand).map(|(b, c)| (b / c).ln()).collect();
        let pairs = log_ratios(&d);
        let walsh = Walsh::of(&pairs).unwrap();
        let mut e = Expect::of(expect);
        e.count("n", d.len());
        for (got, want) in d.iter().zip(floats(&e.take("d"))) {
            close("d", *got, want);
        }
        e.number("hl_log", walsh.estimate().unwrap().get());
        e.number("speedup", walsh.estimate().unwrap().ratio().unwrap().get());
        for (key, conf) in [("ci90", 0.90), ("ci95", 0.95), ("ci99", 0.99)] {
            check_interval(&e.take(key), &walsh.interval(probability(conf)).unwrap());
        }
        check_test(&mut e, &pairs);
        flipped += usize::from(e.has("signflip_mean_p_greater"));
        check_other_methods(&mut e, &d);
        e.finish();
    }
    assert_eq!(flipped, 7);
}

pub(super) fn signrank_k(cases: &[Case]) {
    let mut finite = 0;
    for (input, expect) in cases {
        let n = count(&input["n"]);
        let got = critical(n, probability(float(&input["conf"]))).unwrap();
        let mut e = Expect::of(expect);
        let k = got.map_or(-1, |c| i64::try_from(c.k).unwrap());
        assert_eq!(e.take("k").as_i64(), Some(k), "{input}");
        match got {
            Some(c) => e.number("attained", c.attained.get()),
            None => assert!(e.take("attained").is_null()),
        }
        finite += usize::from(got.is_some());
        e.finish();
    }
    assert_eq!(finite, 74);
}

pub(super) fn signed_rank_external(cases: &[Case]) {
    for (input, expect) in cases {
        let pairs = log_ratios(&floats(&input["d"]));
        let walsh = Walsh::of(&pairs).unwrap();
        let interval = walsh.interval(probability(0.95)).unwrap();
        let mut e = Expect::of(expect);
        e.number("hl", walsh.estimate().unwrap().get());
        e.number("lo95", interval.lo.get());
        e.number("hi95", interval.hi.get());
        e.count("k", interval.critical.unwrap().k);
        e.number("attained", interval.critical.unwrap().attained.get());
        check_test(&mut e, &pairs);
        e.finish();
    }
}

pub(super) fn outlier_tolerances(cases: &[Case]) {
    for (input, expect) in cases {
        let n = count(&input["n"]);
        let mut e = Expect::of(expect);
        e.count("m", outlier_tolerance(n, probability(0.95)).unwrap());
        e.finish();
    }
}

/// Reference beyond the cases' size, by Python's big integers and fractions.
struct Beyond {
    n: usize,
    /// k and attained coverage at 90, 95 and 99 %.
    levels: [(usize, f64); 3],
    /// P(W+ <= n^2/8 - 1).
    tail: f64,
}

const BEYOND: [Beyond; 4] = [
    Beyond {
        n: 63,
        levels: [(767, 0.900_097_036_837_016_8), (721, 0.950_640_209_042_398_2), (634, 0.990_112_910_498_556_8)],
        tail: 1.617_503_163_378_661_7e-4,
    },
    Beyond {
        n: 64,
        levels: [(793, 0.900_513_669_846_425_2), (747, 0.950_002_105_968_091_1), (657, 0.990_130_528_896_383_9)],
        tail: 1.459_531_007_988_285_8e-4,
    },
    Beyond {
        n: 100,
        levels: [(2045, 0.900_640_674_573_816_8), (1955, 0.950_076_240_395_707_5), (1779, 0.990_047_269_060_436_6)],
        tail: 3.314_901_767_299_404_5e-6,
    },
    Beyond {
        n: 200,
        levels: [(8701, 0.900_037_447_554_718_8), (8444, 0.950_030_368_700_025_2), (7944, 0.990_008_442_627_755_7)],
        tail: 1.121_474_200_770_666_7e-10,
    },
];

#[test]
fn signed_ranks_stay_exact_to_200_pairs() {
    for Beyond { n, levels, tail } in BEYOND {
        for (conf, (k, attained)) in [0.90, 0.95, 0.99].into_iter().zip(levels) {
            let got = critical(n, probability(conf)).unwrap().unwrap();
            assert_eq!(got.k, k, "n {n}, conf {conf}");
            close("attained", got.attained.get(), attained);
        }
        // Ranks 1..=n, the largest ones positive until their sum is n^2/8 - 1.
        let mut rest = n * n / 8 - 1;
        let mut d = Vec::new();
        for rank in (1..=n).rev() {
            let positive = rank <= rest;
            rest -= if positive { rank } else { 0 };
            d.push(if positive { rank as f64 } else { -(rank as f64) });
        }
        let test = SignedRank::of(&log_ratios(&d)).unwrap();
        assert_eq!(test.doubled_w_plus, 2 * (n * n / 8 - 1));
        assert!((test.p_less.get() / tail - 1.0).abs() < 1e-12, "n {n}");
    }
}
