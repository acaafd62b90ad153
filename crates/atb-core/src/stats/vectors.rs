//! Every reference case of the statistics: relative 1e-9, absolute 1e-12 near zero.
//!
//! The reference values come from numpy, scipy and statsmodels. One line of [`groups!`] names a group, its number of cases
//! and the function that checks them; that makes its test. A group of the file without a line fails, and so does a
//! field that nobody read.

mod distributions;
mod families;
mod limits;
mod machines;
mod nulls;
mod planning;
mod runs;
mod signed_rank;
mod tails;
mod tasks;

use serde_json::Value;

use crate::quantity::{LogRatio, LogSpread, Probability, Ratio, Reading, Relative, Share};

const VECTORS: &str = include_str!("../../tests/data/stat-vectors.json");

/// Input and expectation of one case.
type Case = (Value, Value);

/// Makes a test of each group, and the list of all.
macro_rules! groups {
    ($($group:ident: $count:literal, $check:path;)*) => {
        const GROUPS: &[(&str, usize)] = &[$((stringify!($group), $count)),*];

        $(
            #[test]
            fn $group() {
                let cases = cases(stringify!($group));
                assert_eq!(cases.len(), $count);
                $check(&cases);
            }
        )*
    };
}

groups! {
    per_run_summary: 3, runs::per_run_summary;
    cross_run_cv: 5, runs::cross_run_cv;
    steady_state: 3, runs::steady_state;
    allclose: 4, runs::allclose;
    paired_ratio: 8, signed_rank::paired_ratio;
    signrank_k: 84, signed_rank::signrank_k;
    signed_rank_external: 1, signed_rank::signed_rank_external;
    outlier_tolerance: 25, signed_rank::outlier_tolerances;
    verdict_ladder: 9, nulls::verdict_ladder;
    tost: 4, nulls::tost;
    eprocess: 4, nulls::e_process;
    parity: 3, nulls::parity;
    alpha_spending: 7, families::alpha_spending;
    multiple_testing: 2, families::multiple_testing;
    e_bh: 1, families::e_bh;
    eb_shrinkage: 1, machines::eb_shrinkage;
    cross_machine: 4, machines::cross_machine;
    quantile_min_n: 10, tails::quantile_min_n;
    quantile_order_stat_ci: 24, tails::quantile_order_stat_ci;
    mlperf_early_stopping: 30, tails::mlperf_early_stopping;
    roofline: 4, limits::roofline;
    sol_score: 4, limits::sol_score;
    saturation_two_arms: 2, limits::saturation_two_arms;
    power_planning: 12, planning::power_planning;
    aggregate_geomean: 1, tasks::aggregate_geomean;
    proportion_ci: 5, tasks::proportion_ci;
    bootstrap_tasks: 1, tasks::bootstrap_tasks;
    special_functions: 47, distributions::special_functions;
}

#[test]
fn every_group_of_the_file_is_run() {
    let all: Value = serde_json::from_str(VECTORS).unwrap();
    let mut in_file: Vec<&str> = all["vectors"].as_object().unwrap().keys().map(String::as_str).collect();
    let mut run: Vec<&str> = GROUPS.iter().map(|(group, _)| *group).collect();
    in_file.sort_unstable();
    run.sort_unstable();
    assert_eq!(run, in_file);
    assert_eq!(GROUPS.iter().map(|(_, count)| count).sum::<usize>(), 308);
}

#[test]
fn every_group_is_in_the_documents_table() {
    let page = include_str!("../../../../docs/statistics.md");
    let missing: Vec<&str> =
        GROUPS.iter().map(|(group, _)| *group).filter(|group| !page.contains(&format!("`{group}`"))).collect();
    assert!(missing.is_empty(), "docs/statistics.md does not name {missing:?}");
}

fn cases(group: &str) -> Vec<Case> {
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

    /// A count that is null where there is none.
    fn optional(&mut self, key: &str, got: Option<usize>) {
        assert_eq!(self.take(key).as_u64(), got.map(|got| got as u64), "{key}");
    }

    fn flag(&mut self, key: &str, got: bool) {
        assert_eq!(self.take(key).as_bool(), Some(got), "{key}");
    }

    fn name(&mut self, key: &str, got: &str) {
        assert_eq!(self.take(key).as_str(), Some(got), "{key}");
    }

    /// A list of numbers, of the same length.
    fn numbers(&mut self, key: &str, got: &[f64]) {
        let want = floats(&self.take(key));
        assert_eq!(got.len(), want.len(), "{key}");
        for (got, want) in got.iter().zip(want) {
            close(key, *got, want);
        }
    }

    /// A list of answers.
    fn flags(&mut self, key: &str, got: &[bool]) {
        let want: Vec<Value> = got.iter().map(|flag| Value::Bool(*flag)).collect();
        assert_eq!(self.take(key), Value::Array(want), "{key}");
    }

    fn finish(self) {
        assert!(self.0.is_empty(), "unread fields: {:?}", self.0.keys().collect::<Vec<_>>());
    }
}

fn float(value: &Value) -> f64 {
    match value.as_str() {
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        Some("nan") => f64::NAN,
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

fn count(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn spread(value: f64) -> LogSpread {
    LogSpread::new(value).unwrap()
}

fn relative(value: f64) -> Relative {
    Relative::new(value).unwrap()
}

fn ratio(value: f64) -> Ratio {
    Ratio::new(value).unwrap()
}

fn share(value: f64) -> Share {
    Share::new(value).unwrap()
}
