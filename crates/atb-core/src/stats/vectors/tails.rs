//! Reference cases of tail percentiles.

use super::{Case, Expect, count, float, probability};
use crate::stats::early_stopping::early_stop;
use crate::stats::percentile::{least_readings, rank_bounds};

pub(super) fn quantile_min_n(cases: &[Case]) {
    for (input, expect) in cases {
        let least = least_readings(probability(float(&input["p"])), probability(float(&input["conf"]))).unwrap();
        let mut e = Expect::of(expect);
        e.count("n_one_sided_upper", least.upper);
        e.count("n_two_sided", least.enclosed);
        e.count("n_equal_tailed", least.equal_tailed);
        e.finish();
    }
}

pub(super) fn quantile_order_stat_ci(cases: &[Case]) {
    let mut unbounded = 0;
    for (input, expect) in cases {
        let (p, conf) = (probability(float(&input["p"])), probability(float(&input["conf"])));
        let bounds = rank_bounds(count(&input["n"]), p, conf).unwrap();
        let mut e = Expect::of(expect);
        e.optional("rank_lo", bounds.lower);
        e.optional("rank_hi", bounds.upper);
        e.number("tail_count", bounds.tail.get());
        match bounds.coverage {
            Some(coverage) => e.number("coverage", coverage.get()),
            None => assert!(e.take("coverage").is_null()),
        }
        unbounded += usize::from(bounds.coverage.is_none());
        e.finish();
    }
    assert_eq!(unbounded, 3);
}

pub(super) fn mlperf_early_stopping(cases: &[Case]) {
    for (input, expect) in cases {
        let of = |key: &str| probability(float(&input[key]));
        let stop = early_stop(of("p"), count(&input["t"]), of("c"), of("d")).unwrap();
        let mut e = Expect::of(expect);
        e.count("min_h", stop.within);
        e.count("min_total", stop.total);
        e.number("odds", stop.odds.get());
        e.finish();
    }
}
