//! Reference cases of pooling over machines and of shrinking.

use super::{Case, Expect, close, float, floats, log_ratios, probability, spread};
use crate::quantity::LogBound;
use crate::stats::distributions::student_quantile;
use crate::stats::pooling::{MachineEstimate, Pooled};
use crate::stats::shrinkage::shrink;

fn estimates(y: &[f64], s: &[f64]) -> Vec<MachineEstimate> {
    let estimate = |(log_ratio, s): (_, &f64)| MachineEstimate { log_ratio, standard_error: spread(*s) };
    log_ratios(y).into_iter().zip(s).map(estimate).collect()
}

/// The variance between machines by DerSimonian & Laird's moments: a cross-check that nothing uses.
fn moments(pooled: &Pooled, s: &[f64]) -> f64 {
    let weights: Vec<f64> = s.iter().map(|s| 1.0 / (s * s)).collect();
    let total: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    let excess = pooled.q.get() - (s.len() as f64 - 1.0);
    (excess / (total - squares / total)).max(0.0)
}

pub(super) fn cross_machine(cases: &[Case]) {
    for (input, expect) in cases {
        let (y, s) = (floats(&input["y_log"]), floats(&input["se_log"]));
        let conf = float(&input["conf"]);
        let pooled = Pooled::of(&estimates(&y, &s), probability(conf)).unwrap();
        let df = y.len() - 1;
        let mut e = Expect::of(expect);
        e.count("k", pooled.machines);
        e.count("df", df);
        e.number("mu_fixed", pooled.fixed_mean.get());
        e.number("Q", pooled.q.get());
        let tail = float(&e.take("p_Q"));
        // Far tails lie below the absolute tolerance, so they are held to a relative one.
        assert!((pooled.q_p.get() / tail - 1.0).abs() < 1e-9, "p_Q: got {}, want {tail}", pooled.q_p.get());
        e.number("I2", pooled.i2.get());
        e.number("tau2_PM", pooled.tau2.get());
        e.number("tau2_DL_crosscheck", moments(&pooled, &s));
        e.number("mu_RE", pooled.mean.get());
        e.number("q_HK", pooled.inflation.get());
        e.number("se_mKH", pooled.standard_error.get());
        close("t_crit", student_quantile(f64::midpoint(1.0, conf), df as f64).unwrap(), float(&e.take("t_crit")));
        let (mean, predicted) = ([pooled.lo, pooled.hi], [pooled.predicted_lo, pooled.predicted_hi]);
        e.numbers("ci", &mean.map(LogBound::get));
        e.numbers("pi", &predicted.map(LogBound::get));
        e.number("ratio", pooled.mean.ratio().unwrap().get());
        e.numbers("ratio_ci", &mean.map(LogBound::ratio_bound));
        e.numbers("ratio_pi", &predicted.map(LogBound::ratio_bound));
        e.finish();
    }
}

pub(super) fn eb_shrinkage(cases: &[Case]) {
    for (input, expect) in cases {
        let shrunk = shrink(&estimates(&floats(&input["y"]), &floats(&input["se"]))).unwrap();
        let mut e = Expect::of(expect);
        e.number("tau2", shrunk.tau2.get());
        e.number("mu", shrunk.mean.get());
        e.numbers("B", &shrunk.entries.iter().map(|entry| entry.pull.get()).collect::<Vec<_>>());
        e.numbers("theta", &shrunk.entries.iter().map(|entry| entry.log_ratio.get()).collect::<Vec<_>>());
        e.numbers("post_se", &shrunk.entries.iter().map(|entry| entry.standard_error.get()).collect::<Vec<_>>());
        e.finish();
    }
}
