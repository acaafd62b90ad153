//! `atb verify`: a ledger, a bundle, a proof or a checkpoint. What holds is decided by `atb-ledger` and `atb-core` alone.

use std::fmt::Write as _;
use std::path::Path;

use atb_core::anchor_class::{Anchor, Evidence, anchor};
use atb_core::entry::{BlockBody, Body as _};
use atb_ledger::{Bundle, Chains, Proof, Proved, Trust, VerifyReport, Vouched, verify_ledger};
use serde_json::{Value, json};

use super::Context;
use super::ledger::{covering, subject};
use crate::cli::{TrustArgs, VerifyArgs};
use crate::error::{Error, Result, exit};
use crate::io;

/// What a file is, told by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A database. Also anything that is nothing else: opening it as a ledger says with a code what is wrong.
    Ledger,
    /// JSON Lines that begin with a bundle's head.
    Bundle,
    /// A line of JSON.
    Proof,
    /// A signed note.
    Note,
}

impl Kind {
    fn of(path: &Path) -> Self {
        let first = io::first_bytes(path).unwrap_or_default();
        let first = String::from_utf8_lossy(&first);
        match () {
            () if first.starts_with("{\"bundle\"") => Self::Bundle,
            () if first.starts_with('{') => Self::Proof,
            () if first.contains("\n\n\u{2014} ") => Self::Note,
            () => Self::Ledger,
        }
    }
}

/// Reads the keys that the reader has named.
pub(super) fn trust(args: &TrustArgs) -> Result<Trust> {
    Ok(Trust::of(args.vkey.as_deref(), &args.witness)?)
}

pub(super) fn run(context: &Context, args: &VerifyArgs) -> Result<u8> {
    let (path, trust) = (&args.path, trust(&args.trust)?);
    let kind = Kind::of(path);
    let usage = |message: String, remedy: &str| Err(Error::Usage { message, remedy: remedy.to_owned() });
    if args.checkpoint.is_some() && matches!(kind, Kind::Proof | Kind::Note) {
        return usage(
            format!("--checkpoint belongs to a ledger or bundle, and {} is neither", path.display()),
            "name the ledger",
        );
    }
    match kind {
        Kind::Ledger => {
            let (report, chains) = verify_ledger(path)?;
            if args.checkpoint.is_none() && trust != Trust::default() {
                let message = "a key was named, and nothing that it has signed".to_owned();
                return usage(message, "name the checkpoint with --checkpoint FILE");
            }
            of_rows(context, args, &trust, (&report, &chains), Vec::new())
        }
        Kind::Bundle => {
            let bundle = Bundle::read(&subject(path), io::open_lines(path)?)?;
            // A checkpoint that is named beside the bundle is the one that the keys speak of.
            let inside = if args.checkpoint.is_some() { Trust::default() } else { trust.clone() };
            let (report, vouched) = bundle.verify(&subject(path), &inside)?;
            of_rows(context, args, &trust, (&report, &bundle.chains), vouched)
        }
        Kind::Proof => {
            let proved = Proof::parse(&subject(path), &io::read_text(path)?)?.verify(&subject(path), &trust)?;
            of_proof(context, &proved)
        }
        Kind::Note if trust.log.is_none() => usage(
            format!("{} is a checkpoint, and no key was named", path.display()),
            "name its publisher's key with --vkey KEY",
        ),
        Kind::Note => {
            let vouched = trust.vouch(&subject(path), &io::read_text(path)?)?;
            let (size, root, origin) = (vouched.checkpoint.size, vouched.checkpoint.root, &vouched.checkpoint.origin);
            let by = signers(vouched.evidence);
            let text = format!("ok: signed by {by}: {size} entries of {origin} with the root {root}\n");
            context.output.result(&text, &json!({ "ok": true, "size": size, "root": root, "origin": origin }))
        }
    }
}

/// Who has signed, as far as keys were named.
fn signers(evidence: Evidence) -> String {
    match evidence {
        Evidence::Chain | Evidence::Tree => "nobody whose key was named".to_owned(),
        Evidence::Signed => "the named key".to_owned(),
        Evidence::Witnessed(1) => "the named key and 1 witness".to_owned(),
        Evidence::Witnessed(count) => format!("the named key and {count} witnesses"),
    }
}

fn anchor_json(anchor: &Anchor) -> Value {
    json!({ "class": anchor.class.to_string(), "reason": anchor.reason })
}

/// Prints what was found of rows, whether from a ledger or a bundle.
fn of_rows(
    context: &Context,
    args: &VerifyArgs,
    trust: &Trust,
    (report, chains): (&VerifyReport, &Chains),
    mut vouched: Vec<Vouched>,
) -> Result<u8> {
    if let (Some(path), None) = (&args.checkpoint, &report.first_bad) {
        vouched.push(covering(path, trust, chains, &args.path)?);
    }
    let newest = vouched.iter().max_by_key(|vouched| (vouched.evidence, vouched.checkpoint.size));
    // The answer is about all rows, and those after the checkpoint are chained only.
    let whole = newest.filter(|newest| newest.checkpoint.size == report.entries);
    let judges = chains.judges();
    let class = anchor(whole.map_or(Evidence::Chain, |newest| newest.evidence), judges.iter().map(String::as_str));
    let bad = report.first_bad.as_ref();
    let json = json!({
        "ok": bad.is_none(),
        "entries": report.entries,
        "gates": report.gates,
        "refusals": report.refusals,
        "open": report.open,
        "signed": newest.map(|newest| newest.checkpoint.size),
        "anchor": anchor_json(&class),
        "first_bad": bad.map(|bad| json!({
            "chain": bad.chain.table(), "seq": bad.seq, "code": bad.code.to_string(), "reason": bad.reason,
        })),
    });
    if let Some(bad) = bad {
        let text = format!("bad: {} row {}: {}: {}\n", bad.chain.table(), bad.seq, bad.code, bad.reason);
        context.output.result(&text, &json)?;
        return Ok(exit::REFUSED);
    }
    let mut text = rows_text(report);
    if let Some(Vouched { checkpoint, evidence, .. }) = newest {
        let (by, size, entries) = (signers(*evidence), checkpoint.size, report.entries);
        let _ = writeln!(
            text,
            "checkpoint of {}, signed by {by}: holds for the first {size} of {entries} entries",
            checkpoint.origin
        );
    }
    let _ = writeln!(text, "anchor {class}");
    context.output.result(&text, &json)
}

fn rows_text(VerifyReport { entries, gates, refusals, open, .. }: &VerifyReport) -> String {
    let seeds = match open {
        0 => String::new(),
        1 => ", but the seeds of 1 open campaign, whose keys are not revealed".to_owned(),
        open => format!(", but the seeds of {open} open campaigns, whose keys are not revealed"),
    };
    format!(
        "ok: {entries} entries, {gates} gate decisions, {refusals} refusals; every rule, hash and seed rechecked{seeds}\n"
    )
}

fn of_proof(context: &Context, Proved { row, old, size, root, evidence }: &Proved) -> Result<u8> {
    let block = row.as_ref().filter(|row| row.kind == BlockBody::KIND);
    let judge = block.and_then(|row| serde_json::from_str::<BlockBody>(&row.body).ok()).map(|block| block.judge);
    let class = anchor(*evidence, judge.as_deref());
    let what = match (row, old) {
        (Some(row), _) => format!("entry {} ({}) is in the tree of {size} entries", row.seq, row.kind),
        (None, old) => format!("the tree of {} entries is the beginning of that of {size}", old.unwrap_or(0)),
    };
    let text = format!("ok: {what}, root {root}, signed by {}\nanchor {class}\n", signers(*evidence));
    let json = json!({
        "ok": true, "entry": row.as_ref().map(|row| row.seq), "old": old, "size": size, "root": root,
        "anchor": anchor_json(&class),
    });
    context.output.result(&text, &json)
}
