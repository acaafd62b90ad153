//! Reference cases of planning.

use serde_json::Value;

use super::{Case, Expect, count, float, probability, relative, spread};
use crate::quantity::Probability;
use crate::stats::distributions::normal_quantile;
use crate::stats::null_planning::{least_pairs, null_power};
use crate::stats::planning::{
    Design, minimum_detectable_effect, noncentrality, normal_pairs, pairs_needed, student_pairs,
};

pub(super) fn power_planning(cases: &[Case]) {
    let mut asked = [0; 3];
    for (input, expect) in cases {
        let e = Expect::of(expect);
        match input["ask"].as_str() {
            None => size(input, e),
            Some("mde") => effect(input, e),
            Some("tost_n_at_zero") => null(input, e),
            Some(other) => panic!("nobody asks for {other}"),
        }
        asked[input["ask"].as_str().map_or(0, |ask| if ask == "mde" { 1 } else { 2 })] += 1;
    }
    assert_eq!(asked, [5, 3, 4]);
}

fn size(input: &Value, mut e: Expect) {
    let design = Design::new(probability(1.0 - float(&input["alpha"])), probability(float(&input["power"]))).unwrap();
    let (sd, delta) = (spread(float(&input["sd_log"])), relative(float(&input["effect_ratio"]) - 1.0));
    let margin = delta.log_margin().unwrap();
    e.number("n_z", normal_pairs(sd, margin, design));
    // The reference's solver stopped up to 4e-8 off; `planning` holds all five to a solution in 30 digits.
    let (got, want) = (student_pairs(sd, margin, design).unwrap(), float(&e.take("n_t_exact")));
    assert!((got / want - 1.0).abs() < 1e-7, "n_t_exact: got {got}, want {want}");
    e.count("n_pairs", pairs_needed(sd, delta, design, 6).unwrap());
    e.finish();
}

fn effect(input: &Value, mut e: Expect) {
    let design = Design::new(probability(1.0 - float(&input["alpha"])), probability(float(&input["power"]))).unwrap();
    let (sd, n) = (spread(float(&input["sd_log"])), count(&input["n"]));
    let mde = minimum_detectable_effect(sd, n, design).unwrap();
    e.number("mde_log", mde.get());
    e.number("mde_ratio", mde.ratio().unwrap().get());
    e.number("ncp", noncentrality(n as f64 - 1.0, design).unwrap());
    e.number("mde_z_approx_log", design.z_sum() * sd.get() / (n as f64).sqrt());
    e.finish();
}

/// Two one-sided tests at alpha are an interval at 1 - 2 alpha.
fn null(input: &Value, mut e: Expect) {
    let power = float(&input["power"]);
    let design = Design::new(probability(1.0 - 2.0 * float(&input["alpha"])), probability(power)).unwrap();
    let (sd, delta) = (spread(float(&input["sd_log"])), relative(float(&input["delta"])));
    let n = least_pairs(sd, delta, design).unwrap();
    let at = |n: usize| null_power(sd, delta, n, design).ok().map(Probability::get);
    e.count("n_t", n);
    e.number("power_at_n", at(n).unwrap());
    match at(n - 1) {
        Some(below) => e.number("power_at_n_minus_1", below),
        None => assert!(e.take("power_at_n_minus_1").is_null()),
    }
    // The normal approximation, which nothing uses.
    let z = design.z_conf() + normal_quantile(f64::midpoint(1.0, power));
    e.number("n_z", (z * sd.get() / delta.log_margin().unwrap().get()).powi(2));
    e.finish();
}
