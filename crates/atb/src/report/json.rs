//! The report as `--json` prints it. Numbers are finite or null; bounds are rounded outward to four decimals.

use serde_json::{Value, json};

use super::number::{Rounded, json_or_null};
use super::{CampaignReport, Comparison, PaperReadout, RegistrationReport};

/// The object of `atb demo` and `atb tune`. The ratio is that of the head over the fastest baseline, from REPORT; without a keep
/// ratio, bounds, `naive_ratio` and `root_ratio` are null. `n` counts the pairs of the deciding block, `refused` the refused rows,
/// `kept` and `quarantined` candidates. `also` is empty here; the caller fills it. `db` is the ledger's absolute path.
pub fn campaign(report: &CampaignReport, db: &str) -> Value {
    let conclusion = &report.conclusion;
    let headline = conclusion.headline.as_ref();
    json!({
        "task": report.registered.body.task_id,
        "outcome": conclusion.outcome.name(),
        "code": conclusion.outcome.code().map(|code| code.to_string()),
        "reason": conclusion.reason,
        "ratio": json_or_null(headline.and_then(Comparison::ratio)),
        "lo": json_or_null(headline.and_then(Comparison::lo)),
        "hi": json_or_null(headline.and_then(Comparison::hi)),
        "baseline": conclusion.baseline().map(atb_core::entry::Role::name),
        "naive_ratio": json_or_null(conclusion.naive.as_ref().and_then(Comparison::ratio)),
        "root_ratio": json_or_null(conclusion.root.as_ref().and_then(Comparison::ratio)),
        "paper": conclusion.paper.as_ref().map(paper),
        "n": conclusion.pairs(),
        "kept": report.kept.len(),
        "refused": report.refusals.len(),
        "quarantined": report.quarantined.len(),
        "exploratory": report.exploratory,
        "protocol": report.protocol.id(),
        "isolation": report.isolation,
        "judge": report.judge,
        "anchor": { "class": report.anchor.class.to_string(), "reason": report.anchor.reason },
        "machine": report.machine_line(),
        "notices": report.notices,
        "registrations": registrations(&report.registrations),
        "db": db,
        "also": [],
    })
}

/// The object of `atb measure`: the candidate over the fastest baseline of its PROBE block.
pub fn probe(report: &CampaignReport) -> Value {
    let conclusion = &report.conclusion;
    let headline = conclusion.headline.as_ref();
    let checks: Vec<Value> = conclusion
        .checks
        .iter()
        .map(|check| json!({ "check": check.name, "passed": check.passed, "code": check.code, "detail": check.detail }))
        .collect();
    json!({
        "task": report.registered.body.task_id,
        "candidate": report.candidates.last().map(|candidate| candidate.body.source.to_string()),
        "outcome": conclusion.outcome.name(),
        "code": conclusion.outcome.code().map(|code| code.to_string()),
        "reason": conclusion.reason,
        "ratio": json_or_null(headline.and_then(Comparison::ratio)),
        "lo": json_or_null(headline.and_then(Comparison::lo)),
        "hi": json_or_null(headline.and_then(Comparison::hi)),
        "baseline": conclusion.baseline().map(atb_core::entry::Role::name),
        "naive_ratio": json_or_null(conclusion.naive.as_ref().and_then(Comparison::ratio)),
        "paper": conclusion.paper.as_ref().map(paper),
        "n": conclusion.pairs(),
        "checks": checks,
        "exploratory": report.exploratory,
        "protocol": report.protocol.id(),
        "isolation": report.isolation,
        "judge": report.judge,
        "anchor": { "class": report.anchor.class.to_string(), "reason": report.anchor.reason },
        "machine": report.machine_line(),
        "notices": report.notices,
        "registrations": registrations(&report.registrations),
    })
}

/// What the paper's rules say of the same samples.
fn paper(paper: &PaperReadout) -> Value {
    json!({
        "rules": paper.rules,
        "outcome": paper.readout.said.name(),
        "ratio": json_or_null(Rounded::nearest(paper.readout.ratio)),
        "naive_ratio": json_or_null(paper.naive.and_then(Rounded::nearest)),
        "pairs": paper.readout.pairs,
        "cv": paper.readout.cv.get(),
        "differs": paper.differs,
    })
}

/// The object of `atb compare`: the treatment over the control of the registered comparison.
pub fn comparison(report: &CampaignReport, db: &str) -> Value {
    let mut object = probe(report);
    let body = report.registration().map(|registration| &registration.body);
    if let (Some(members), Some(body)) = (object.as_object_mut(), body) {
        // The baseline of a comparison is its control.
        for absent in ["candidate", "naive_ratio"] {
            members.remove(absent);
        }
        members.insert("registration".to_owned(), json!(body.id));
        for arm in &body.arms {
            members.insert(arm.role.name().to_owned(), json!(arm.source.to_string()));
        }
        members.insert("mde".to_owned(), decimal(&body.mde));
        members.insert("delta".to_owned(), decimal(&body.delta));
        members.insert("underpowered".to_owned(), json!(body.underpowered));
        members.insert("db".to_owned(), json!(db));
    }
    object
}

/// One object per registration of the ledger.
pub fn registrations(registrations: &[RegistrationReport]) -> Vec<Value> {
    let one = |registration: &RegistrationReport| {
        let body = &registration.body;
        json!({
            "registration": body.id,
            "entry": registration.seq,
            "hash": registration.hash,
            "standing": registration.standing.name(),
            "detail": registration.standing.words(),
            "task": body.task_id,
            "hypothesis": body.hypothesis,
            "pairs": body.pairs,
            "mde": decimal(&body.mde),
            "delta": decimal(&body.delta),
            "underpowered": body.underpowered,
        })
    };
    registrations.iter().map(one).collect()
}

/// A decimal of a row as a number; null if it is none.
pub fn decimal(text: &str) -> Value {
    text.parse::<f64>().map_or(Value::Null, Into::into)
}
