//! What an outsider is given: checkpoints, proofs and bundles, true ones and every kind of false one.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests may stop and speak")]
#![allow(clippy::disallowed_methods, reason = "rates are printed")]

mod support;

use std::sync::OnceLock;

use atb_core::anchor_class::Evidence;
use atb_core::canon::Digest;
use atb_core::codes;
use atb_core::entry::{Chain, Row};
use atb_core::note::{Algorithm, Checkpoint, Note, NoteSigner};
use atb_ledger::{Bundle, Chains, CheckError, Ledger, Proof, Trust, Vouched, covered, csv, json_lines, verify_chains};
use proptest::prelude::*;
use support::*;

const ORIGIN: &str = "example.org/ledger";

fn signer(secret: u8) -> NoteSigner {
    NoteSigner::new(ORIGIN, Algorithm::Ed25519, &[secret; 32]).unwrap()
}

fn witness(secret: u8) -> NoteSigner {
    NoteSigner::new("witness.example.org", Algorithm::Cosignature, &[secret; 32]).unwrap()
}

fn trust() -> Trust {
    Trust { log: Some(signer(1).verifier()), witnesses: Vec::new() }
}

/// A ledger with a keep and a close, and how it was some entries earlier.
fn ledger() -> (Chains, Chains) {
    let folder = tempfile::tempdir().unwrap();
    let (mut ledger, _) = begin_with_keep(&folder.path().join("atb.db"));
    let before = Chains::of(&ledger).unwrap();
    let close = close_body(&ledger);
    ledger.append(&close, START_MS + 2000).unwrap();
    (before, Chains::of(&ledger).unwrap())
}

fn note(checkpoint: &Checkpoint, signers: &[&NoteSigner]) -> String {
    let mut note = Note::of(checkpoint.to_string());
    for signer in signers {
        signer.sign(&mut note, 1_800_000_000);
    }
    note.to_string()
}

fn signed(chains: &Chains) -> String {
    note(&chains.checkpoint(ORIGIN, &chains.tree("t").unwrap()), &[&signer(1)])
}

fn vouched(chains: &Chains) -> Vouched {
    trust().vouch("checkpoint", &signed(chains)).unwrap()
}

#[track_caller]
fn code<T: std::fmt::Debug>(result: Result<T, CheckError>) -> codes::Code {
    result.unwrap_err().code
}

/// Changes a row and chains everything anew, as a careful forger would.
fn forged(chains: &Chains, change: impl FnOnce(&mut Vec<Row>)) -> Chains {
    let mut chains = chains.clone();
    change(&mut chains.entries);
    let mut prev = Digest::GENESIS.to_string();
    for (row, seq) in chains.entries.iter_mut().zip(1..) {
        (row.seq, row.prev) = (seq, prev.clone());
        row.hash = row.compute_hash(Chain::Entry).to_string();
        prev.clone_from(&row.hash);
    }
    chains
}

#[test]
fn a_ledger_continues_its_own_checkpoints_and_no_others() {
    let (before, after) = ledger();
    let (old, new) = (vouched(&before), vouched(&after));
    assert_eq!(old.evidence, Evidence::Signed);
    covered(&after, "db", &old).unwrap();
    covered(&after, "db", &new).unwrap();
    assert_eq!(code(covered(&before, "db", &new)), codes::ROLLED_BACK);
    // Forked, reordered: chained anew, and valid by hash.
    let fork = forged(&after, |rows| rows[3].at_ms += 1);
    assert_eq!(code(covered(&fork, "db", &old)), codes::OTHER_TREE);
    let reordered = forged(&after, |rows| rows.swap(4, 5));
    assert_eq!(code(covered(&reordered, "db", &old)), codes::OTHER_TREE);
    // A fork after the older checkpoint is seen by the newer one only.
    let late = forged(&after, |rows| rows.last_mut().unwrap().at_ms += 1);
    covered(&late, "db", &old).unwrap();
    assert_eq!(code(covered(&late, "db", &new)), codes::OTHER_TREE);
}

#[test]
fn dropped_gates_and_refusals_are_seen_by_a_checkpoint() {
    let (_, after) = ledger();
    let mut with = after.clone();
    for (rows, chain) in [(&mut with.gates, Chain::Gate), (&mut with.refusals, Chain::Refusal)] {
        let mut row = after.entries[0].clone();
        row.hash = row.compute_hash(chain).to_string();
        rows.push(row);
    }
    let new = vouched(&with);
    covered(&with, "db", &new).unwrap();
    assert_eq!(code(covered(&after, "db", &new)), codes::ROLLED_BACK);
    with.refusals.last_mut().unwrap().hash = "0".repeat(64);
    assert_eq!(code(covered(&with, "db", &new)), codes::OTHER_TREE);
}

#[test]
fn only_the_named_keys_count() {
    let (_, after) = ledger();
    let checkpoint = after.checkpoint(ORIGIN, &after.tree("t").unwrap());
    let both = note(&checkpoint, &[&signer(1), &witness(5)]);
    let keys =
        |witnesses: &[u8]| Trust { witnesses: witnesses.iter().map(|w| witness(*w).verifier()).collect(), ..trust() };
    assert_eq!(keys(&[5]).vouch("c", &both).unwrap().evidence, Evidence::Witnessed(1));
    assert_eq!(code(keys(&[6]).vouch("c", &both)), codes::SIGNATURE);
    assert_eq!(code(keys(&[5]).vouch("c", &signed(&after))), codes::SIGNATURE);
    assert_eq!(code(trust().vouch("c", &note(&checkpoint, &[&signer(2)]))), codes::SIGNATURE);
    let elsewhere = Checkpoint { origin: "example.org/other".into(), ..checkpoint };
    assert_eq!(code(trust().vouch("c", &note(&elsewhere, &[&signer(1)]))), codes::SIGNATURE);
    assert_eq!(code(trust().vouch("c", &both.replace('\u{2014}', "-"))), codes::NOTE);
    let texts = |key: NoteSigner| key.verifier().to_string();
    let twice = [texts(witness(5)), texts(witness(5))];
    assert_eq!(Trust::of(Some(&texts(signer(1))), &twice).unwrap().witnesses.len(), 1);
    assert_eq!(code(Trust::of(Some(&texts(witness(5))), &[])), codes::KEY_FORM);
    assert_eq!(code(Trust::of(Some("key"), &[])), codes::KEY_FORM);
}

#[test]
fn proofs_verify_alone_and_for_their_tree_only() {
    let (before, after) = ledger();
    let tree = after.tree("t").unwrap();
    let (old, new) = (vouched(&before), vouched(&after));
    for seq in 1..=after.entries.len() as u64 {
        let proof = Proof::inclusion(&after.entries, &tree, seq, Some(&new)).unwrap();
        let proof = Proof::parse("p", &proof.to_line().unwrap()).unwrap();
        let proved = proof.verify("p", &trust()).unwrap();
        assert_eq!(proved.row.as_ref(), after.entries.get(usize::try_from(seq).unwrap() - 1));
        assert_eq!((proved.evidence, proved.size), (Evidence::Signed, tree.size()));
    }
    let bare = Proof::inclusion(&after.entries, &tree, 2, None).unwrap();
    assert_eq!(bare.verify("p", &Trust::default()).unwrap().evidence, Evidence::Tree);
    assert_eq!(code(bare.verify("p", &trust())), codes::SIGNATURE);
    assert_eq!(code(Proof::inclusion(&after.entries, &tree, 0, None)), codes::PROOF);
    assert_eq!(code(Proof::inclusion(&after.entries, &tree, tree.size() + 1, None)), codes::PROOF);
    assert_eq!(code(Proof::inclusion(&after.entries, &tree, tree.size(), Some(&old))), codes::PROOF);

    let grown = Proof::consistency(&tree, &old, Some(&new)).unwrap();
    let proved = grown.verify("p", &trust()).unwrap();
    assert_eq!((proved.old, proved.size), (Some(old.checkpoint.size), tree.size()));
    assert_eq!(code(Proof::consistency(&tree, &new, Some(&old))), codes::PROOF);
    // A path of a fork, under the true checkpoints.
    let fork = forged(&after, |rows| rows[3].at_ms += 1);
    let fork_tree = fork.tree("t").unwrap();
    let line = Proof::inclusion(&fork.entries, &fork_tree, 2, Some(&new)).unwrap().to_line().unwrap();
    assert_eq!(code(Proof::parse("p", &line).unwrap().verify("p", &trust())), codes::PROOF);
    // The fork's own root beside a checkpoint of the true tree.
    let own = Proof::inclusion(&fork.entries, &fork_tree, 2, None).unwrap().to_line().unwrap();
    let mixed = own.replace("\"checkpoint\":null", &format!("\"checkpoint\":{}", serde_json::json!(new.note)));
    assert_eq!(code(Proof::parse("p", &mixed).unwrap().verify("p", &trust())), codes::OTHER_TREE);
    // An edited row under its old hash.
    let line = Proof::inclusion(&after.entries, &tree, 2, Some(&new)).unwrap().to_line().unwrap();
    let edited = line.replace("\"at_ms\":18", "\"at_ms\":17");
    assert_ne!(edited, line);
    assert_eq!(code(Proof::parse("p", &edited).unwrap().verify("p", &trust())), codes::HASH);
}

#[test]
fn a_bundle_verifies_alone_and_every_cut_or_change_is_seen() {
    let (before, after) = ledger();
    let tree = after.tree("t").unwrap();
    let bundle = Bundle::new(after.clone(), &tree, &[vouched(&before), vouched(&after)]).unwrap();
    let text = bundle.to_text().unwrap();
    let read = |text: &str| Bundle::read("b", text.as_bytes());
    assert_eq!(read(&text).unwrap(), bundle);
    let (report, vouched) = bundle.verify("b", &trust()).unwrap();
    assert_eq!((report.first_bad, vouched.len(), bundle.proofs.len()), (None, 2, 2 + 1 + 2));
    let other = Trust { log: Some(signer(2).verifier()), witnesses: Vec::new() };
    assert_eq!(code(bundle.verify("b", &other)), codes::SIGNATURE);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for missing in 0..lines.len() {
        let cut: String = lines.iter().enumerate().filter(|(at, _)| *at != missing).map(|(_, line)| *line).collect();
        assert_eq!(code(read(&cut)), codes::PROOF_FORM, "without line {missing}");
    }
    assert_eq!(code(read(&text[..text.len() - 1])), codes::PROOF_FORM);
    assert_eq!(code(read("")), codes::PROOF_FORM);
    let swapped: String = [0, 2, 1].into_iter().chain(3..lines.len()).map(|at| lines[at]).collect();
    assert!(read(&swapped).unwrap().verify("b", &trust()).unwrap().0.first_bad.is_some());
    let foreign = lines[0].replace(&atb_ledger::schema_digest().to_string(), &"0".repeat(64)) + &lines[1..].concat();
    assert_eq!(code(read(&foreign)), codes::OTHER_VERSION);
    // Another ledger's rows, with the checkpoints and proofs of this one.
    let fork = forged(&after, |rows| rows.last_mut().unwrap().at_ms += 1);
    assert_eq!(verify_chains(&fork).first_bad, None, "the forger keeps every rule");
    assert_eq!(code(Bundle { chains: fork.clone(), ..bundle.clone() }.verify("b", &trust())), codes::OTHER_TREE);
    let unsigned = Bundle { chains: fork, checkpoints: Vec::new(), ..bundle.clone() };
    assert_eq!(code(unsigned.verify("b", &Trust::default())), codes::OTHER_TREE);
    let bare = Bundle::new(after, &tree, &[]).unwrap();
    assert_eq!(code(bare.verify("b", &trust())), codes::SIGNATURE);
}

#[test]
fn exports_hold_every_row() {
    let (_, after) = ledger();
    let lines = json_lines(&after.entries).unwrap();
    for (line, row) in lines.lines().zip(&after.entries) {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        // Canonical bodies come back byte for byte.
        assert_eq!((value["body"].to_string(), value["hash"].as_str()), (row.body.clone(), Some(row.hash.as_str())));
    }
    assert_eq!(lines.lines().count(), after.entries.len());
    let table = csv(&after.entries);
    assert_eq!(table.split("\r\n").count(), after.entries.len() + 2);
    assert!(table.contains(&after.entries[1].body.replace('"', "\"\"")));
}

/// How fast proofs and checks are; the figures depend on the machine and are printed only.
#[test]
fn rates() {
    let (_, chains) = ledger();
    let row = &chains.entries[0];
    let count = 20_000;
    let rows: Vec<Row> = (1..=count).map(|seq| Row { seq, ..row.clone() }).collect();
    let many = forged(&Chains { entries: rows, ..Chains::default() }, |_| ());
    let start = std::time::Instant::now();
    let tree = many.tree("t").unwrap();
    let built = start.elapsed();
    let seqs = (1..=2000).map(|step| step * 10);
    let start = std::time::Instant::now();
    let proofs: Vec<Proof> = seqs.map(|seq| Proof::inclusion(&many.entries, &tree, seq, None).unwrap()).collect();
    let proved = start.elapsed();
    let start = std::time::Instant::now();
    assert!(proofs.iter().all(|proof| proof.verify("p", &Trust::default()).is_ok()));
    let verified = start.elapsed();
    let start = std::time::Instant::now();
    assert!((0..20).all(|_| verify_chains(&chains).first_bad.is_none()));
    let rechecked = start.elapsed();
    let rate = |count: usize, time: std::time::Duration| count as f64 / time.as_secs_f64();
    println!(
        "every rule: {:.0} entries/s; tree: {:.0} entries/s; prove: {:.0} proofs/s; verify: {:.0} proofs/s, of {count} entries",
        rate(20 * chains.entries.len(), rechecked),
        rate(many.entries.len(), built),
        rate(proofs.len(), proved),
        rate(proofs.len(), verified)
    );
}

proptest! {
    #[test]
    fn parsers_answer_to_anything(text in "(?s).{0,200}", json in "[{}\\[\\]\":,a-z0-9]{0,80}") {
        for text in [&text, &json] {
            let _ = (Proof::parse("p", text).is_ok(), Bundle::read("b", text.as_bytes()).is_ok(), trust().vouch("c", text).is_ok());
        }
    }

    #[test]
    fn an_altered_proof_never_proves_another_row(at in any::<prop::sample::Index>(), bit in 0_u8..7) {
        static ONE: OnceLock<(Row, String)> = OnceLock::new();
        let (row, line) = ONE.get_or_init(|| {
            let (_, after) = ledger();
            let tree = after.tree("t").unwrap();
            let proof = Proof::inclusion(&after.entries, &tree, 3, Some(&vouched(&after))).unwrap();
            (after.entries[2].clone(), proof.to_line().unwrap())
        });
        let mut bytes = line.clone().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let proof = String::from_utf8(bytes).ok().and_then(|text| Proof::parse("p", &text).ok());
        if let Some(proved) = proof.and_then(|proof| proof.verify("p", &trust()).ok()) {
            // What is left is spelling, such as an escape or white space between tokens.
            prop_assert_eq!(proved.row.as_ref(), Some(row));
            prop_assert_eq!(proved.evidence, Evidence::Signed);
        }
    }
}

#[test]
fn an_empty_ledger_has_an_empty_tree() {
    let folder = tempfile::tempdir().unwrap();
    let chains = Chains::of(&Ledger::create(&folder.path().join("atb.db")).unwrap()).unwrap();
    let vouched = vouched(&chains);
    assert_eq!((vouched.checkpoint.size, vouched.checkpoint.root), (0, atb_core::merkle::empty_root()));
    covered(&chains, "db", &vouched).unwrap();
    Bundle::new(chains.clone(), &chains.tree("t").unwrap(), &[vouched]).unwrap().verify("b", &trust()).unwrap();
}
