//! Reference cases of several tasks.

use std::num::NonZeroU32;

use super::{Case, Expect, close, count, float, floats, log_ratios, probability, ratio, spread};
use crate::quantity::{LogRatio, Seed};
use crate::stats::aggregate::{Aggregate, TaskResult, fast_share};
use crate::stats::bootstrap::{Bootstrap, resampled_means};
use crate::stats::proportion::Proportion;
use crate::stats::splitmix::SplitMix64;

fn logs(input: &serde_json::Value) -> Vec<LogRatio> {
    log_ratios(&floats(&input["speedup"]).iter().map(|v| v.ln()).collect::<Vec<_>>())
}

pub(super) fn aggregate_geomean(cases: &[Case]) {
    for (input, expect) in cases {
        let errors = floats(&input["se_log"]).into_iter().map(spread);
        let tasks: Vec<TaskResult> = logs(input)
            .into_iter()
            .zip(errors)
            .map(|(log_ratio, standard_error)| TaskResult { log_ratio, standard_error })
            .collect();
        let conf = probability(0.95);
        let all = Aggregate::of(&tasks, conf).unwrap();
        let tried: Vec<Option<TaskResult>> = tasks.into_iter().map(Some).collect();
        let mut e = Expect::of(expect);
        e.number("geomean", all.geometric_mean.get());
        e.numbers("meas_ci95", &[all.lo.get(), all.hi.get()]);
        e.number("median", all.median.get());
        for (bar, point, certified) in
            [(1.0, "fast_1_point", "fast_1_certified"), (1.1, "fast_1p1_point", "fast_1p1_certified")]
        {
            let share = fast_share(&tried, ratio(bar), conf).unwrap();
            e.number(point, share.point.get());
            e.number(certified, share.certified.get());
        }
        e.finish();
    }
}

pub(super) fn proportion_ci(cases: &[Case]) {
    for (input, expect) in cases {
        let proportion = Proportion::new(count(&input["k"]), count(&input["n"])).unwrap();
        let conf = probability(float(&input["conf"]));
        let mut e = Expect::of(expect);
        for (key, (lo, hi)) in
            [("wilson", proportion.wilson(conf)), ("clopper_pearson", proportion.clopper_pearson(conf))]
                .map(|(key, interval)| (key, interval.unwrap()))
        {
            e.numbers(key, &[lo.get(), hi.get()]);
        }
        e.finish();
    }
}

pub(super) fn bootstrap_tasks(cases: &[Case]) {
    for (input, expect) in cases {
        let mut e = Expect::of(expect);
        let mut first = SplitMix64::new(Seed::new(42));
        for want in e.take("splitmix_seed42_first4").as_array().unwrap() {
            assert_eq!(want.as_str(), Some(first.next_u64().to_string().as_str()));
        }
        let (tasks, seed) = (logs(input), Seed::new(input["seed"].as_u64().unwrap()));
        let resamples = NonZeroU32::new(u32::try_from(count(&input["B"])).unwrap()).unwrap();
        let means = resampled_means(&tasks, seed, resamples).unwrap();
        for (got, want) in means.iter().zip(floats(&e.take("first3_stat"))) {
            close("first3_stat", got.get(), want);
        }
        let interval = Bootstrap::of(&tasks, seed, resamples, probability(0.95)).unwrap();
        e.numbers("ci95", &[interval.lo.get(), interval.hi.get()]);
        e.number("boot_se_log", interval.standard_error.get());
        e.finish();
    }
}
