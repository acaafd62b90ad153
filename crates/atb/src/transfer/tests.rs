//! The report of machines, on ledgers with chosen ratios.

use atb_core::outcome::Outcome;
use atb_core::stats::pooling::Transfer;

use super::*;
use crate::report::fixture::{Ledger, add_null, demo};

/// A ledger's campaign, as if another machine had measured it.
fn given(ledger: &Ledger, campaign: &str, machine: &str) -> Given {
    let [known, wanted] = [b"machine".as_slice(), machine.as_bytes()].map(|name| Digest::of(name).to_string());
    let mut rows = ledger.rows.clone();
    for row in &mut rows.entries {
        row.body = row.body.replace(&known, &wanted);
    }
    let mut report = crate::report::derive(&rows, campaign).unwrap();
    // Registrations of the fixture are alike; real ones carry their own time and predecessors.
    report.registered.hash = format!("registered on {machine}");
    Given { ledger: format!("{machine}.db"), report }
}

/// The demo's first campaign with a head of this ratio.
fn on(machine: &str, ratio: f64) -> Given {
    given(&demo(ratio), "c1", machine)
}

/// A campaign on the same task that keeps nothing.
fn without_keep(machine: &str) -> Given {
    let mut ledger = Ledger::new("c0", "demo", "gelu_tanh", &["prefill-32x4096"]);
    let candidate = ledger.candidate(1, 1, "VW=16");
    let root = ledger.source(Role::Compiler);
    ledger.block(Phase::Confirm, 1, 12, &[(Role::Parent, root, 1.0), (Role::Candidate, candidate, 1.0)]);
    ledger.close();
    given(&ledger, "c0", machine)
}

fn of(ratios: &[f64]) -> TransferReport {
    let given = ratios.iter().enumerate().map(|(at, ratio)| on(&format!("box{at}"), *ratio)).collect();
    derive(given, None).unwrap()
}

#[test]
fn below_three_machines_nothing_is_pooled() {
    let report = of(&[1.174, 1.03]);
    assert_eq!((report.verdict, report.machines.len()), (Transfer::PerBoxOnly, 2));
    let (text, json) = (text::transfer(&report), json::transfer(&report));
    assert!(report.pooled.is_none() && json["pooled"].is_null() && !text.contains("mean over machines"));
    assert!(text.starts_with("gelu_tanh: per-box only: 2 of the 3 machines"), "{text}");
    assert_eq!(json["verdict"], "per_box_only");
}

#[test]
fn equal_gains_on_four_machines_transfer() {
    let report = of(&[1.20, 1.21, 1.20, 1.19]);
    assert_eq!(report.verdict, Transfer::Transfers);
    let json = json::transfer(&report);
    let number = |key: &str| json["pooled"][key].as_f64().unwrap();
    assert!(number("predicted_lo") > 1.15 && number("predicted_lo") <= number("lo"));
    assert!(number("lo") < number("ratio") && number("ratio") < number("hi") && number("hi") <= number("predicted_hi"));
    let text = text::transfer(&report);
    assert!(text.contains("transfers: on another machine") && text.contains("mean over machines"), "{text}");
}

#[test]
fn unlike_machines_have_no_mean() {
    let report = of(&[1.30, 1.05, 1.10]);
    assert_eq!(report.verdict, Transfer::BoxSpecific);
    let json = json::transfer(&report);
    assert!(json["pooled"]["ratio"].is_null() && json["pooled"]["lo"].is_null());
    assert!(json["pooled"]["i2"].as_f64().unwrap() > 0.9);
    assert!(!text::transfer(&report).contains("mean over machines"));
}

#[test]
fn a_machine_without_a_result_forbids_a_general_gain() {
    let mut given: Vec<Given> =
        [1.20, 1.21, 1.20].iter().enumerate().map(|(at, r)| on(&format!("b{at}"), *r)).collect();
    assert_eq!(derive(given.clone(), None).unwrap().verdict, Transfer::Transfers);
    let mut void = without_keep("void");
    void.report.conclusion.outcome = Outcome::Void(codes::CONTROL);
    given.push(void);
    assert_eq!(derive(given.clone(), None).unwrap().verdict, Transfer::Transfers);
    given.push(without_keep("idle"));
    let report = derive(given, Some("gelu_tanh")).unwrap();
    assert_eq!((report.verdict, report.left_out.len()), (Transfer::Undetermined, 2));
    assert_eq!(report.left_out[1].outcome, Outcome::Equivalent);
    assert!(text::transfer(&report).contains("1 campaign has no gain to show"));
}

#[test]
fn campaigns_of_one_machine_are_one_estimate() {
    let mut again = on("box", 1.22);
    again.report.registered.hash = "another row".into();
    let report = derive(vec![on("box", 1.20), again, on("other", 1.2)], None).unwrap();
    assert_eq!(report.machines.len(), 2);
    assert_eq!((report.machines[0].blocks.len(), report.machines[0].pairs()), (2, 24));
    let ratio = report.machines[0].estimate.log_ratio.ratio().unwrap().get();
    assert!((ratio - 1.21).abs() < 0.005, "{ratio}");
}

#[test]
fn a_campaign_counts_once_and_only_under_one_protocol() {
    let twice = derive(vec![on("box", 1.2), on("box", 1.2)], None).unwrap_err();
    assert!(matches!(twice, TransferError::Twice { .. }) && twice.to_string().starts_with("ATB904"), "{twice}");
    let mut other = on("other", 1.2);
    other.report.protocol_digest = Digest::of(b"another protocol");
    let mixed = derive(vec![on("box", 1.2), other], None).unwrap_err().to_string();
    assert!(mixed.contains("other.db") && mixed.contains("protocol") && mixed.contains("box.db"), "{mixed}");
    let mut both = demo(1.2);
    add_null(&mut both, 1.0);
    let tasks = ["c1", "c2"].map(|campaign| given(&both, campaign, campaign)).to_vec();
    assert!(matches!(derive(tasks.clone(), None), Err(TransferError::Mixed { what: "task", .. })));
    assert_eq!(derive(tasks, Some("gelu_tanh")).unwrap().machines.len(), 1);
    let none = derive(vec![on("box", 1.2)], Some("matmul")).unwrap_err();
    assert!(none.to_string().contains("no campaign of matmul"));
}

#[test]
fn times_stay_on_their_machine() {
    let report = of(&[1.2, 1.2]);
    let time = |at: usize| report.machines[at].blocks[0].times[0].code;
    assert!(matches!(time(0).ratio_over(time(1)), Err(MachineTimeError::Foreign { .. })));
    assert!((report.machines[0].blocks[0].times[0].ratio.get() - 1.2).abs() < 0.02);
}
