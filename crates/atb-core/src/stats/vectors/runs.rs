//! Reference cases of single runs and of the runs of one arm.

use super::{Case, Expect, close, float, floats, probability, readings, relative};
use crate::quantity::{Cv, Spread};
use crate::stats::closeness::closeness;
use crate::stats::cv::{CrossRunCv, exceeds_cap};
use crate::stats::steady::Trend;
use crate::stats::summary::RunSummary;

pub(super) fn per_run_summary(cases: &[Case]) {
    for (input, expect) in cases {
        let run = RunSummary::of(&readings(&input["x"])).unwrap();
        let mut e = Expect::of(expect);
        e.count("n", run.n);
        for (key, got) in [
            ("median", run.median),
            ("mean", run.mean),
            ("min", run.min),
            ("max", run.max),
            ("q05", run.q05),
            ("q20", run.q20),
            ("q25", run.q25),
            ("q75", run.q75),
            ("q80", run.q80),
            ("q95", run.q95),
            ("q99", run.q99),
        ] {
            e.number(key, got.get());
        }
        e.number("sd_ddof1", run.sd.get());
        e.number("rel_iqr", run.relative_iqr.get());
        e.number("mad_raw", run.mad.get());
        e.number("mad_scaled", run.mad_scaled.get());
        e.count("n_modified_z_gt_10", run.outliers.unwrap());
        e.number("lag1_autocorr", run.lag1.unwrap().get());
        e.number("n_eff_ar1", run.n_eff.get());
        e.finish();
    }
}

pub(super) fn cross_run_cv(cases: &[Case]) {
    let mut limits = 0;
    for (input, expect) in cases {
        let runs = readings(&input["x"]);
        let cv = CrossRunCv::of(&runs, probability(0.95)).unwrap();
        let mut e = Expect::of(expect);
        e.count("n", cv.n);
        e.number("cv_raw", cv.raw.get());
        e.number("cv_corrected", cv.corrected.get());
        e.number("cv_lognormal", cv.lognormal.get());
        let exceeds = exceeds_cap(&runs, Cv::new(0.05).unwrap()).unwrap();
        e.flag("passes_5pct", !exceeds);
        // Three equal runs have no reference limit; ours is zero.
        if e.has("cv_ucl95_mckay_vangel") {
            limits += 1;
            e.number("cv_ucl95_mckay_vangel", cv.upper.unwrap().get());
        } else {
            close("limit", cv.upper.unwrap().get(), 0.0);
        }
        e.finish();
    }
    assert_eq!(limits, 4);
}

pub(super) fn steady_state(cases: &[Case]) {
    for (input, expect) in cases {
        let trend = Trend::of(&readings(&input["x"])).unwrap();
        let mut e = Expect::of(expect);
        e.number("S", trend.s as f64);
        e.number("var", trend.variance_times_18 as f64 / 18.0);
        e.number("z", trend.z.get());
        e.number("p", trend.p.get());
        e.number("slope", trend.slope.get());
        e.number("rel_drift", trend.drift.get());
        e.flag("steady", !trend.is_drift(probability(0.01), relative(0.02)));
        e.finish();
    }
}

pub(super) fn allclose(cases: &[Case]) {
    for (input, expect) in cases {
        let (actual, expected) = (floats(&input["actual"]), floats(&input["expected"]));
        let absolute = Spread::new(float(&input["atol"])).unwrap();
        let got = closeness(&actual, &expected, absolute, relative(float(&input["rtol"]))).unwrap();
        let mut e = Expect::of(expect);
        e.flags("mask", &got.mask);
        e.flag("all", got.all);
        e.number("matched_ratio", got.matched.get());
        e.finish();
    }
}
