//! `atb quarantine`: what gates flagged or stopped, and people's rulings on it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use atb_core::codes::{self, Code};
use atb_core::entry::{BlockBody, Chain, Decision, FORMAT, Ruling, RulingBody};
use atb_core::gates::Ruled;
use atb_ledger::{Ledger, Stored};
use atb_measure::sys::clock;
use serde_json::{Value, json};

use super::Context;
use crate::cli::{QuarantineCommand, RulingArgs};
use crate::error::{Error, Result};
use crate::io;
use crate::report::text::clean;

/// A decision that did not pass, and the block that it judged.
struct Case {
    ruled: Ruled,
    campaign: String,
    block: String,
}

pub(super) fn run(context: &Context, command: &QuarantineCommand) -> Result<u8> {
    match command {
        QuarantineCommand::List { path, all } => list(context, path, *all),
        QuarantineCommand::Show { path, row } => show(context, path, *row),
        QuarantineCommand::Release(args) => rule(context, args, Ruling::Release),
        QuarantineCommand::Reject(args) => rule(context, args, Ruling::Reject),
    }
}

/// The ledger of a campaign's folder, or the ledger itself.
fn ledger_path(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("atb.db") } else { path.to_owned() }
}

/// What gates did not pass for another reason than noise, in order.
fn cases(ledger: &Ledger) -> Result<Vec<Case>> {
    let blocks = ledger.bodies::<BlockBody>()?;
    let noise = codes::CV_CAP.to_string();
    let mut decisions = ledger.decisions()?;
    decisions.retain(|gate| gate.body.decision != Decision::Pass && gate.body.code != noise);
    let case = |ruled: Ruled| {
        let judged = |block: &&Stored<BlockBody>| u64::try_from(block.seq) == Ok(ruled.body.block);
        let block = blocks.iter().find(judged).map(|block| &block.body);
        let name = block.map_or_else(
            || format!("entry {}", ruled.body.block),
            |block| format!("{} {}", block.phase.name().to_uppercase(), block.index),
        );
        Case { campaign: block.map_or_else(String::new, |block| block.campaign.clone()), block: name, ruled }
    };
    Ok(decisions.into_iter().map(case).collect())
}

impl Case {
    fn code(&self) -> Option<Code> {
        self.ruled.body.code.parse().ok()
    }

    /// `open`, `released` or `rejected`.
    fn state(&self) -> &'static str {
        match self.ruled.rulings.last().map(|(_, _, ruling)| ruling.decision) {
            None => "open",
            Some(Ruling::Release) => "released",
            Some(Ruling::Reject) => "rejected",
        }
    }

    fn json(&self) -> Value {
        let body = &self.ruled.body;
        let rulings = self.ruled.rulings.iter().map(|(row, at_ms, ruling)| {
            let (decision, by, reason) = (ruling.decision.name(), &ruling.by, &ruling.reason);
            json!({ "row": row, "at_ms": at_ms, "decision": decision, "by": by, "reason": reason })
        });
        json!({
            "row": self.ruled.seq, "state": self.state(), "decision": body.decision.name(), "code": body.code, "gate": body.gate,
            "campaign": self.campaign, "block": self.block, "role": body.role.name(), "source": body.candidate.to_string(),
            "observed": body.observed, "limit": body.limit, "limit_source": body.source, "rulings": rulings.collect::<Vec<_>>(),
        })
    }
}

fn list(context: &Context, path: &Path, all: bool) -> Result<u8> {
    let path = ledger_path(path);
    let cases = cases(&Ledger::open_read_only(&path)?)?;
    let open = cases.iter().filter(|case| case.ruled.is_open()).count();
    let mut text = String::new();
    for case in cases.iter().filter(|case| all || case.ruled.is_open()) {
        let body = &case.ruled.body;
        let _ = writeln!(
            text,
            "row {:<4} {:9} {:10} {} {:20} {:10} {:9} {}  observed {}, limit {}",
            case.ruled.seq,
            case.state(),
            body.decision.name(),
            clean(&body.code, 8),
            clean(&body.gate, 20),
            case.block,
            body.role.name(),
            body.candidate.short(),
            clean(&body.observed, 16),
            clean(&body.limit, 16)
        );
    }
    let ruled = cases.len() - open;
    let _ =
        writeln!(text, "{open} open, {ruled} ruled on{}", if all || ruled == 0 { "" } else { " (--all lists them)" });
    let rows: Vec<Value> = cases.iter().map(Case::json).collect();
    context.output.result(&text, &json!({ "db": path.display().to_string(), "open": open, "rows": rows }))
}

fn find(ledger: &Ledger, row: u64) -> Result<Case> {
    let cases = cases(ledger)?;
    let known: Vec<String> = cases.iter().map(|case| case.ruled.seq.to_string()).collect();
    cases.into_iter().find(|case| u64::try_from(case.ruled.seq) == Ok(row)).ok_or_else(|| Error::Usage {
        message: format!("gate row {row} is no decision that a gate flagged or quarantined"),
        remedy: if known.is_empty() { "there is none".into() } else { format!("rows are {}", known.join(", ")) },
    })
}

fn show(context: &Context, path: &Path, row: u64) -> Result<u8> {
    let path = ledger_path(path);
    let case = find(&Ledger::open_read_only(&path)?, row)?;
    let body = &case.ruled.body;
    let entry = case.code().and_then(Code::entry);
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:10} {value}");
    };
    line("gate row", &format!("{row}, {}", case.state()));
    line(
        "decision",
        &format!("{} {}: {}", body.decision.name(), clean(&body.code, 8), entry.map_or("unknown code", |e| e.title)),
    );
    line("gate", &clean(&body.gate, 40));
    line("judged", &format!("{} in {} of campaign {}", body.role, case.block, clean(&case.campaign, 32)));
    line("source", &format!("{}, candidates/{}.c", body.candidate.short(), body.candidate));
    line(
        "observed",
        &format!("{}, limit {} ({})", clean(&body.observed, 24), clean(&body.limit, 24), clean(&body.source, 200)),
    );
    if let Some(entry) = entry {
        line("cause", entry.cause);
        line("remedy", entry.remedy);
    }
    for (_, _, ruling) in &case.ruled.rulings {
        let (by, reason) = (clean(&ruling.by, 40), clean(&ruling.reason, 300));
        line("ruling", &format!("{} {} by {by}: {reason}", ruling.number, ruling.decision.name()));
    }
    context.output.result(&text, &case.json())
}

fn rule(context: &Context, args: &RulingArgs, decision: Ruling) -> Result<u8> {
    let path = ledger_path(&args.path);
    let mut ledger = Ledger::open(&path)?;
    let by = args.by.clone().unwrap_or_else(io::user);
    let mut rows = Vec::new();
    let mut text = String::new();
    for &row in &args.rows {
        let case = find(&ledger, row)?;
        let last = case.ruled.rulings.last().map(|(seq, _, ruling)| (*seq, ruling));
        let (reason, number) = (args.reason.clone(), case.ruled.rulings.len() as u64 + 1);
        let body = RulingBody { format: FORMAT, gate: row, number, decision, by: by.clone(), reason };
        // A kill may have come between the rows of a list: what was ruled before is not ruled again.
        let known =
            last.filter(|(_, last)| (last.decision, &last.by, &last.reason) == (decision, &body.by, &body.reason));
        let (seq, done) = match known {
            Some((seq, _)) => (seq, "was on record"),
            None => (ledger.record_ruling(&body, clock::wall_ms())?.seq(), "recorded"),
        };
        let _ =
            writeln!(text, "gate row {row}: {} {done} as row {seq} of table {}", decision.name(), Chain::Gate.table());
        rows.push(json!({ "row": row, "ruling": seq, "decision": decision.name(), "new": known.is_none() }));
    }
    let _ = writeln!(
        text,
        "`atb report` prints the reason beside the number; an open campaign decides again with `atb tune --resume`"
    );
    context.output.result(&text, &json!({ "db": path.display().to_string(), "by": by, "rulings": rows }))
}
