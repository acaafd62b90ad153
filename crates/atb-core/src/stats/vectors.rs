//! Every reference case of the statistics groups: relative 1e-9, absolute 1e-12 near zero.
//!
//! The reference values come from numpy, scipy and statsmodels. Each test asserts its number of cases and consumes every
//! expected field, so neither a skipped case nor an unread field passes.

mod signed_rank;

use std::num::NonZeroU32;

use serde_json::Value;

use super::cv::{CrossRunCv, exceeds_cap};
use super::spending::{e_threshold, level, min_pairs};
use super::splitmix::SplitMix64;
use super::summary::RunSummary;
use super::{mean, sorted, summary, variance};
use crate::ladder::{LadderInput, MeasuredOutcome, judge};
use crate::quantity::{Cv, LogRatio, Probability, Reading, Relative, Seed};

const VECTORS: &str = include_str!("../../tests/data/stat-vectors.json");

/// Input and expectation of every case of a group.
pub(super) fn cases(group: &str) -> Vec<(Value, Value)> {
    let all: Value = serde_json::from_str(VECTORS).unwrap();
    let cases = all["vectors"][group]["cases"].as_array().unwrap();
    cases.iter().map(|c| (c["input"].clone(), c["expect"].clone())).collect()
}

/// The expected fields of one case; dropped only when each was consumed.
struct Expect(serde_json::Map<String, Value>);

impl Expect {
    fn of(value: &Value) -> Self {
        Self(value.as_object().unwrap().clone())
    }

    fn take(&mut self, key: &str) -> Value {
        self.0.remove(key).unwrap_or_else(|| panic!("no field {key}"))
    }

    fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    fn number(&mut self, key: &str, got: f64) {
        close(key, got, float(&self.take(key)));
    }

    fn count(&mut self, key: &str, got: usize) {
        assert_eq!(self.take(key).as_u64(), Some(got as u64), "{key}");
    }

    fn finish(self) {
        assert!(self.0.is_empty(), "unread fields: {:?}", self.0.keys().collect::<Vec<_>>());
    }
}

fn float(value: &Value) -> f64 {
    match value.as_str() {
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        Some(other) => panic!("not a number: {other}"),
        None => value.as_f64().unwrap(),
    }
}

fn close(what: &str, got: f64, want: f64) {
    let same_infinity = got.is_infinite() && got.total_cmp(&want).is_eq();
    let near = (got - want).abs() <= 1e-12 + 1e-9 * want.abs();
    assert!(same_infinity || (want.is_finite() && near), "{what}: got {got}, want {want}");
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(float).collect()
}

fn readings(value: &Value) -> Vec<Reading> {
    floats(value).into_iter().map(|v| Reading::new(v).unwrap()).collect()
}

fn log_ratios(values: &[f64]) -> Vec<LogRatio> {
    values.iter().map(|v| LogRatio::new(*v).unwrap()).collect()
}

fn probability(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

#[test]
fn per_run_summary() {
    let cases = cases("per_run_summary");
    for (input, expect) in &cases {
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
    assert_eq!(cases.len(), 3);
}

#[test]
fn cross_run_cv() {
    let cases = cases("cross_run_cv");
    let mut limits = 0;
    for (input, expect) in &cases {
        let runs = readings(&input["x"]);
        let cv = CrossRunCv::of(&runs, probability(0.95)).unwrap();
        let mut e = Expect::of(expect);
        e.count("n", cv.n);
        e.number("cv_raw", cv.raw.get());
        e.number("cv_corrected", cv.corrected.get());
        e.number("cv_lognormal", cv.lognormal.get());
        let exceeds = exceeds_cap(&runs, Cv::new(0.05).unwrap()).unwrap();
        assert_eq!(e.take("passes_5pct").as_bool(), Some(!exceeds));
        // Three equal runs have no reference limit; ours is zero.
        if e.has("cv_ucl95_mckay_vangel") {
            limits += 1;
            e.number("cv_ucl95_mckay_vangel", cv.upper.unwrap().get());
        } else {
            close("limit", cv.upper.unwrap().get(), 0.0);
        }
        e.finish();
    }
    assert_eq!((cases.len(), limits), (5, 4));
}

#[test]
fn verdict_ladder() {
    let cases = cases("verdict_ladder");
    for (input, expect) in &cases {
        let pairs = log_ratios(&floats(&input["d"]));
        let delta = Relative::new(float(&input["delta"])).unwrap();
        let verdict = judge(&LadderInput {
            pairs: &pairs,
            cycle_pairs: None,
            delta,
            conf: probability(float(&input["conf"])),
            conf_equivalence: probability(0.90),
            power: probability(0.8),
            min_pairs: usize::try_from(input["min_pairs"].as_u64().unwrap()).unwrap(),
            noise: false,
        })
        .unwrap();
        let mut e = Expect::of(expect);
        e.number("hl", verdict.estimate_log.get());
        e.number("lo95", verdict.lo95.get());
        e.number("hi95", verdict.hi95.get());
        e.number("lo90", verdict.lo90.get());
        e.number("hi90", verdict.hi90.get());
        e.number("margin_log", delta.log_margin().unwrap().get());
        let name = match verdict.outcome {
            MeasuredOutcome::Faster => "faster",
            MeasuredOutcome::Slower => "slower",
            MeasuredOutcome::Equivalent => "equivalent",
            MeasuredOutcome::Inconclusive(_) => "inconclusive",
        };
        assert_eq!(e.take("verdict").as_str(), Some(name), "{input}");
        e.finish();
    }
    assert_eq!(cases.len(), 9);
}

#[test]
fn alpha_spending() {
    let cases = cases("alpha_spending");
    for (input, expect) in &cases {
        let j = u32::try_from(input["j"].as_u64().unwrap()).unwrap();
        let level = level(probability(float(&input["alpha"])), NonZeroU32::new(j).unwrap()).unwrap();
        let mut e = Expect::of(expect);
        e.number("alpha_j", level.get());
        e.number("threshold", e_threshold(level).unwrap().get());
        e.count("min_pairs", min_pairs(level).unwrap() as usize);
        e.finish();
    }
    assert_eq!(cases.len(), 7);
}

#[test]
fn bootstrap_tasks() {
    let cases = cases("bootstrap_tasks");
    for (input, expect) in &cases {
        let mut e = Expect::of(expect);
        let mut first = SplitMix64::new(Seed::new(42));
        for want in e.take("splitmix_seed42_first4").as_array().unwrap() {
            assert_eq!(want.as_str(), Some(first.next_u64().to_string().as_str()));
        }
        let logs: Vec<f64> = floats(&input["speedup"]).iter().map(|v| v.ln()).collect();
        let size = std::num::NonZeroU64::new(logs.len() as u64).unwrap();
        let mut draws = SplitMix64::new(Seed::new(input["seed"].as_u64().unwrap()));
        let mut resample = || -> f64 {
            let picked = (0..logs.len()).map(|_| usize::try_from(draws.below(size)).unwrap());
            mean(&picked.map(|i| logs[i]).collect::<Vec<_>>())
        };
        let stats: Vec<f64> = (0..input["B"].as_u64().unwrap()).map(|_| resample()).collect();
        for (got, want) in stats.iter().zip(floats(&e.take("first3_stat"))) {
            close("first3_stat", *got, want);
        }
        let ordered = sorted(&stats);
        for (p, want) in [0.025, 0.975].into_iter().zip(floats(&e.take("ci95"))) {
            close("ci95", summary::type_7(&ordered, p).exp(), want);
        }
        e.number("boot_se_log", variance(&stats).sqrt());
        e.finish();
    }
    assert_eq!(cases.len(), 1);
}
