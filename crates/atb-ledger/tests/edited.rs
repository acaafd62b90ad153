//! Edits behind the triggers: `verify` names the first bad row.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests may stop and speak")]

mod support;

use std::path::{Path, PathBuf};

use atb_core::canon::Digest;
use atb_core::codes::{self, Code};
use atb_core::entry::{Chain, KeepBody, Phase, Role, Row, Ruling, RulingBody};
use atb_ledger::{Ledger, verify};
use rusqlite::Connection;
use support::*;

/// Executes statements with all triggers dropped, then makes the triggers again as they were.
fn edit(path: &Path, statements: &str) {
    let connection = Connection::open(path).unwrap();
    let triggers: Vec<(String, String)> = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for (name, _) in &triggers {
        connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    connection.execute_batch(statements).unwrap();
    for (_, create) in &triggers {
        connection.execute_batch(create).unwrap();
    }
}

/// Gives every row of a chain the hash and the prev that its present content asks for, as a careful forger would.
fn rechain(path: &Path, chain: Chain) {
    let rows = Ledger::open(path).unwrap().rows(chain).unwrap();
    let mut prev = Digest::GENESIS.to_string();
    let mut statements = String::new();
    for mut row in rows {
        row.prev = prev;
        row.hash = row.compute_hash(chain).to_string();
        let Row { seq, prev: before, hash, .. } = &row;
        let set = format!("UPDATE {} SET prev = '{before}', hash = '{hash}' WHERE seq = {seq};", chain.table());
        statements.push_str(&set);
        prev = row.hash;
    }
    edit(path, &statements);
}

/// A ledger with a keep, a REPORT and its close.
fn closed(key: [u8; 32]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("atb.db");
    let (mut ledger, _) = begin_with_keep(&path);
    ledger.append(&report(digest("candidate 1")), START_MS + 900).unwrap();
    let mut close = close_body(&ledger);
    close.keys[0].key = Digest::from_bytes(key).to_string();
    ledger.append(&close, START_MS + 910).unwrap();
    (folder, path)
}

fn found(path: &Path) -> Option<(Chain, i64, Code)> {
    verify(path).unwrap().first_bad.map(|bad| (bad.chain, bad.seq, bad.code))
}

#[test]
fn an_unedited_ledger_is_good() {
    let (_folder, path) = closed(KEY);
    let report = verify(&path).unwrap();
    println!("{report:?}");
    assert_eq!((report.entries, report.gates, report.refusals, report.first_bad), (13, 1, 1, None));
    edit(&path, "SELECT 1;");
    assert_eq!(found(&path), None, "dropping and restoring the triggers changes nothing");
}

/// (what, statements, first bad row). Rows: 1 protocol, 2 task, 3 campaign, 4 session, 5-6 baselines, 7-8 candidates, 9 screen,
/// 10 confirm, 11 keep, 12 report, 13 close.
const EDITS: &[(&str, &str, Chain, i64, Code)] = &[
    (
        "edited body",
        "UPDATE entry SET body = replace(body, '\"quiet\":true', '\"quiet\":false') WHERE seq = 10",
        Chain::Entry,
        10,
        codes::HASH,
    ),
    ("edited time", "UPDATE entry SET at_ms = at_ms + 1 WHERE seq = 5", Chain::Entry, 5, codes::HASH),
    ("edited key", "UPDATE entry SET key = key || 'x' WHERE seq = 9", Chain::Entry, 9, codes::HASH),
    ("edited kind", "UPDATE entry SET kind = 'fault' WHERE seq = 8", Chain::Entry, 8, codes::HASH),
    ("edited prev", "UPDATE entry SET prev = hash WHERE seq = 6", Chain::Entry, 6, codes::CHAIN),
    ("edited hash", "UPDATE entry SET hash = prev WHERE seq = 4", Chain::Entry, 4, codes::HASH),
    ("deleted first row", "DELETE FROM entry WHERE seq = 1", Chain::Entry, 2, codes::SEQUENCE),
    ("deleted row", "DELETE FROM entry WHERE seq = 7", Chain::Entry, 8, codes::SEQUENCE),
    (
        "deleted row, renumbered",
        "DELETE FROM entry WHERE seq = 7; UPDATE entry SET seq = seq - 1 WHERE seq > 7",
        Chain::Entry,
        7,
        codes::CHAIN,
    ),
    (
        "reordered rows",
        "UPDATE entry SET seq = -7 WHERE seq = 7; UPDATE entry SET seq = 7 WHERE seq = 8; UPDATE entry SET seq = 8 WHERE seq = -7",
        Chain::Entry,
        7,
        codes::CHAIN,
    ),
    (
        "inserted row",
        "UPDATE entry SET seq = -seq - 1 WHERE seq >= 8; UPDATE entry SET seq = -seq WHERE seq < 0; INSERT INTO entry SELECT 8, hash, hash, at_ms, kind, key || 'x', body FROM entry WHERE seq = 7",
        Chain::Entry,
        8,
        codes::HASH,
    ),
    (
        "row numbered zero",
        "INSERT INTO entry SELECT 0, prev, hash, at_ms, kind, 'x', body FROM entry WHERE seq = 2",
        Chain::Entry,
        0,
        codes::SEQUENCE,
    ),
    ("edited gate", "UPDATE gate SET body = replace(body, 'pass', 'reject')", Chain::Gate, 1, codes::HASH),
    ("cut gate", "DELETE FROM gate", Chain::Entry, 13, codes::CITATION),
    ("edited refusal", "UPDATE refusal SET at_ms = at_ms - 1", Chain::Refusal, 1, codes::HASH),
    ("cut refusal", "DELETE FROM refusal", Chain::Entry, 10, codes::BLOCK_ORDER),
    ("cut tail with a block", "DELETE FROM entry WHERE seq >= 12", Chain::Entry, 12, codes::SEED_REUSED),
    ("freed seed", "DELETE FROM seed WHERE entry = 9", Chain::Entry, 9, codes::SEED_REUSED),
    (
        "moved seed",
        "UPDATE seed SET entry = 9 WHERE seed = (SELECT max(seed) FROM seed WHERE entry = 10)",
        Chain::Entry,
        10,
        codes::SEED_REUSED,
    ),
    (
        "invented seed",
        "INSERT INTO seed VALUES ('0123456789abcdef0123456789abcdef', 9)",
        Chain::Entry,
        9,
        codes::SEED_REUSED,
    ),
];

#[test]
fn verify_names_the_first_row_of_every_edit() {
    for (what, statements, chain, seq, code) in EDITS {
        let (_folder, path) = closed(KEY);
        edit(&path, statements);
        println!("{what}: {:?}", found(&path));
        assert_eq!(found(&path), Some((*chain, *seq, *code)), "{what}");
    }
}

/// Edits whose chain was made whole again: the rules and derivations still find them.
const FORGERIES: &[(&str, &str, i64, Code)] = &[
    (
        "a faster sample",
        "UPDATE entry SET body = json_set(body, '$.runs[0].cells[0].windows[0]', 1, '$.runs[0].cells[0].windows[1]', 1, '$.runs[0].cells[0].windows[2]', 1) WHERE seq = 10",
        10,
        codes::MEDIAN,
    ),
    (
        "a laxer protocol",
        "UPDATE entry SET body = json_set(body, '$.protocol.fields.\"noise.cv_cap\".value', '0.25') WHERE seq = 1",
        1,
        codes::PROTOCOL_DIGEST,
    ),
    (
        "another seed",
        "UPDATE seed SET seed = '0123456789abcdef0123456789abcdef' WHERE seed = (SELECT json_extract(body, '$.seeds[0]') FROM entry WHERE seq = 12); UPDATE entry SET body = json_set(body, '$.seeds[0]', '0123456789abcdef0123456789abcdef') WHERE seq = 12",
        13,
        codes::SEED_DERIVATION,
    ),
    (
        "another commitment",
        "UPDATE entry SET body = json_set(body, '$.key_hash', (SELECT hash FROM entry WHERE seq = 1)) WHERE seq = 4",
        13,
        codes::SEED_DERIVATION,
    ),
    (
        "a candidate's other parent",
        "UPDATE entry SET body = json_set(body, '$.parent', json_extract(body, '$.source')) WHERE seq = 8",
        8,
        codes::CITATION,
    ),
    (
        "a body that no reader parses",
        "UPDATE entry SET body = json_set(body, '$.iteration', -1) WHERE seq = 8",
        8,
        codes::SHAPE,
    ),
    (
        "a baseline of an unknown role",
        "UPDATE entry SET body = json_set(body, '$.role', 'best'), key = replace(key, 'naive', 'best') WHERE seq = 5",
        5,
        codes::SHAPE,
    ),
    ("time before the start", "UPDATE entry SET at_ms = 1 WHERE seq = 4", 4, codes::CLOCK_BACK),
];

#[test]
fn verify_finds_forgeries_with_a_whole_chain() {
    for (what, statements, seq, code) in FORGERIES {
        let (_folder, path) = closed(KEY);
        edit(&path, statements);
        rechain(&path, Chain::Entry);
        println!("{what}: {:?}", found(&path));
        assert_eq!(found(&path), Some((Chain::Entry, *seq, *code)), "{what}");
    }
}

#[test]
fn a_wrong_revealed_key_is_found_at_the_close() {
    let (_folder, path) = closed([8; 32]);
    assert_eq!(found(&path), Some((Chain::Entry, 13, codes::SEED_DERIVATION)));
}

#[test]
fn a_forged_keep_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("atb.db");
    let mut ledger = begin(&path);
    // The candidate is as fast as its parent.
    let arms = [(Role::Parent, root()), (Role::Candidate, digest("candidate 1"))];
    let mut block = block_body(Phase::Confirm, 1, 6, &arms, &[2_000_000, 2_000_000]);
    block.attempt = 2;
    let row = ledger.append(&block, START_MS + 500).unwrap();
    let decision = ledger.ratchet(&row, START_MS + 510).unwrap();
    assert_eq!(decision, atb_ledger::RatchetDecision::NotKept);
    assert_eq!(found(&path), None);
    let block = u64::try_from(row.seq()).unwrap();
    let keep =
        KeepBody { format: 1, campaign: CAMPAIGN.into(), candidate: digest("candidate 1"), parent: root(), block };
    // Triggers do not compute verdicts; verify does.
    ledger.append(&keep, START_MS + 520).unwrap();
    assert_eq!(found(&path), Some((Chain::Entry, row.seq() + 1, codes::RATCHET)));
}

/// Without a close, and without a copy of the head kept elsewhere, a cut tail that leaves no seed behind is a shorter ledger.
#[test]
fn a_tail_cut_before_the_close_is_not_detectable_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("atb.db");
    drop(begin_with_keep(&path));
    let head = Ledger::open(&path).unwrap().head(Chain::Entry).unwrap();
    edit(&path, "DELETE FROM entry WHERE kind = 'keep'");
    assert_eq!(found(&path), None);
    assert_ne!(Ledger::open(&path).unwrap().head(Chain::Entry).unwrap(), head, "a noted head shows it");
    edit(&path, "DELETE FROM entry WHERE kind = 'block' AND key LIKE '%/confirm/%'");
    assert_eq!(found(&path), Some((Chain::Entry, 10, codes::SEED_REUSED)), "its seeds show it");
}

#[test]
fn bytes_that_are_no_text_are_named_by_their_row() {
    let (_folder, path) = closed(KEY);
    edit(&path, "UPDATE entry SET key = CAST(x'63ff' AS TEXT) WHERE seq = 3");
    let error = verify(&path).unwrap_err();
    assert_eq!(error.code, codes::SHAPE, "{error}");
    assert!(error.to_string().contains("row 3 of table entry"), "{error}");
}

/// The gate row that stopped the CONFIRM of [`begin`], and the block's row.
fn quarantined(ledger: &mut Ledger) -> (atb_ledger::Admitted, u64) {
    let row = ledger.append(&confirm_again(), START_MS + 500).unwrap();
    let gate = atb_core::entry::GateBody {
        decision: atb_core::entry::Decision::Quarantine,
        code: codes::QUARANTINE.to_string(),
        ..gate_body(u64::try_from(row.seq()).unwrap())
    };
    let gate = ledger.record_gate(&gate, START_MS + 505).unwrap();
    assert_eq!(ledger.ratchet(&row, START_MS + 510).unwrap(), atb_ledger::RatchetDecision::NotKept);
    (row, u64::try_from(gate.seq()).unwrap())
}

#[test]
fn a_released_block_may_be_kept_and_a_later_rejection_does_not_undo_the_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("atb.db");
    let mut ledger = begin(&path);
    let (row, gate) = quarantined(&mut ledger);
    let rejected = |number| RulingBody { decision: Ruling::Reject, ..ruling_body(gate, number) };
    ledger.record_ruling(&rejected(1), START_MS + 511).unwrap();
    assert_eq!(ledger.ratchet(&row, START_MS + 512).unwrap(), atb_ledger::RatchetDecision::NotKept);
    ledger.record_ruling(&ruling_body(gate, 2), START_MS + 513).unwrap();
    assert!(matches!(ledger.ratchet(&row, START_MS + 514).unwrap(), atb_ledger::RatchetDecision::Kept(_)));
    assert_eq!(found(&path), None);
    ledger.record_ruling(&rejected(3), START_MS + 515).unwrap();
    assert_eq!(found(&path), None);
    edit(&path, "UPDATE gate SET body = replace(body, 'unrolled', 'rolled') WHERE kind = 'ruling'");
    assert_eq!(found(&path), Some((Chain::Gate, 3, codes::HASH)));
}

#[test]
fn a_keep_of_a_block_that_a_gate_stopped_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("atb.db");
    let mut ledger = begin(&path);
    let (row, _) = quarantined(&mut ledger);
    let block = u64::try_from(row.seq()).unwrap();
    assert_eq!(found(&path), None);
    let keep =
        KeepBody { format: 1, campaign: CAMPAIGN.into(), candidate: digest("candidate 1"), parent: root(), block };
    ledger.append(&keep, START_MS + 520).unwrap();
    assert_eq!(found(&path), Some((Chain::Entry, row.seq() + 1, codes::RATCHET)));
}
