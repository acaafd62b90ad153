//! Registered comparisons: what `verify` adds to the rules, and what the order of rows does not allow.

#![allow(clippy::unwrap_used, reason = "tests may stop")]

mod support;

use atb_core::codes;
use atb_core::entry::{AbandonBody, CandidateBody, RegistrationBody};
use atb_ledger::{IngestError, verify};
use support::*;

const AT: i64 = START_MS + 1000;

#[track_caller]
fn refused<T: std::fmt::Debug>(done: Result<T, IngestError>, wanted: codes::Code) {
    match done {
        Err(IngestError::Refused { code, .. }) => assert_eq!(code, wanted),
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn a_comparison_runs_once_and_as_registered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("atb.db");
    let (mut ledger, _) = begin_registered(&path);
    let mut swapped = compared();
    swapped.arms.swap(0, 1);
    refused(ledger.append(&swapped, AT), codes::ARMS);
    let mut fewer = compared();
    fewer.seeds.pop();
    fewer.runs.truncate(12);
    refused(ledger.append(&fewer, AT), codes::PAIR_COUNT);
    let mut other = session_body("00000000000000e4", COMPARE);
    other.machine.fingerprint = digest("another machine");
    refused(ledger.append(&other, AT), codes::NOT_AS_REGISTERED);
    ledger.append(&compared(), AT).unwrap();
    refused(ledger.append(&compare_campaign("00000000000000b9", REGISTERED), AT), codes::REGISTRATION_SPENT);
    let abandon = AbandonBody { format: 1, registration: WAITING.into(), reason: "r".into() };
    ledger.append(&abandon, AT).unwrap();
    refused(ledger.append(&compare_campaign("00000000000000b9", WAITING), AT), codes::REGISTRATION_SPENT);
    drop(ledger);
    assert_eq!(verify(&path).unwrap().first_bad, None);
}

#[test]
fn a_comparison_before_its_registration_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = begin(&folder.path().join("atb.db"));
    refused(ledger.append(&compare_campaign(COMPARE, REGISTERED), AT), codes::UNREGISTERED);
    // A search may not measure what only a comparison may.
    let again = CandidateBody { source: root(), ..candidate_body(3, root()) };
    ledger.append(&again, AT).unwrap();
    let mut block = compared();
    (block.campaign, block.session) = (CAMPAIGN.into(), SESSION.into());
    refused(ledger.append(&block, AT), codes::UNREGISTERED);
}

#[test]
fn verify_computes_the_minimum_detectable_effect_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("atb.db");
    let (mut ledger, same) = begin_registered(&path);
    let honest = registration_body("00000000000000f3", same, "candidate 4");
    let row = ledger.append(&RegistrationBody { mde: "0.000001".into(), ..honest }, AT).unwrap();
    drop(ledger);
    let bad = verify(&path).unwrap().first_bad.unwrap();
    assert_eq!((bad.seq, bad.code), (row.seq(), codes::SAME_BLOCK));
}
