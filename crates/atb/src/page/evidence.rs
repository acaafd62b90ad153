//! Tables of what was decided: controls, checks, candidates, gates, refusals, blocks.

use atb_core::codes::Code;
use atb_core::entry::Decision;
use atb_core::outcome::{Inconclusive, Outcome};
use atb_core::quantity::Ratio;

use super::mark::Mark;
use super::path;
use super::table::{Cell, Table};
use super::time;
use crate::report::number::{self, Rounded, shown};
use crate::report::{CampaignReport, CandidateReport, Fate, GateReport, text};

/// Gate decisions that are listed at most; those that did not pass come first.
const GATES_SHOWN: usize = 200;
/// Refusals that are listed at most.
const REFUSALS_SHOWN: usize = 120;
/// Blocks that are listed at most.
const BLOCKS_SHOWN: usize = 120;

pub(super) fn controls(report: &CampaignReport) -> Table {
    let mut table =
        Table::new("Controls: readings whose right answer is known", &["control", "standing", "reads", "must read"]);
    for control in &report.conclusion.controls {
        table.row(vec![
            Cell::text(control.name),
            Cell::mark(Mark::of_standing(control.standing)),
            Cell::text(&control.read),
            Cell::long(&control.expected),
        ]);
    }
    table
}

pub(super) fn checks(report: &CampaignReport) -> Table {
    let mut table = Table::new("Checks on the way to the outcome", &["check", "answer", "what was found"]);
    for check in &report.conclusion.checks {
        let answer = check.code.as_deref().map_or_else(|| "passed".to_owned(), |code| format!("failed ({code})"));
        table.row(vec![
            Cell::text(&check.name),
            Cell::mark(Mark::passed(check.passed, &answer)),
            Cell::long(&check.detail),
        ]);
    }
    table
}

pub(super) fn candidates(report: &CampaignReport) -> Table {
    let columns =
        ["#no.", "#gen.", "point or note", "#SCREEN", "#shrunk", "#CONFIRM", "interval", "outcome", "why", "source"];
    let mut table = Table::new("Candidates in the order in which they were proposed", &columns);
    for candidate in report.candidates.iter().take(path::SHOWN) {
        table.row(candidate_row(candidate));
    }
    table.note = left_out(report.candidates.len(), path::SHOWN, "candidates");
    table
}

fn candidate_row(candidate: &CandidateReport) -> Vec<Cell> {
    let ratio = |of: Option<Ratio>| of.and_then(Rounded::nearest).map_or_else(String::new, |ratio| ratio.to_string());
    let confirm = candidate.confirm.as_ref().map(|confirm| &confirm.comparison);
    vec![
        Cell::number(candidate.body.iteration.to_string()),
        Cell::number(candidate.body.generation.to_string()),
        Cell::long(text::clean(&candidate.body.note, 120)),
        Cell::number(ratio(candidate.screen)),
        Cell::number(ratio(candidate.shrunk)),
        Cell::number(confirm.map_or_else(String::new, |comparison| shown(comparison.ratio()))),
        Cell::number(confirm.map_or_else(String::new, crate::report::Comparison::interval)),
        Cell::mark(Mark::of_fate(candidate.fate)),
        Cell::long(why(candidate)),
        Cell::code(candidate.body.source.short()),
    ]
}

/// The code and the evidence of a fault, or how a CONFIRM fell short.
fn why(candidate: &CandidateReport) -> String {
    if let Some(fault) = &candidate.fault {
        return format!("{}: {}", text::clean(&fault.code, 8), text::clean(&fault.detail, 240));
    }
    if candidate.confirm.is_none() && candidate.fate == Fate::NotKept(Outcome::Inconclusive(Inconclusive::Noise)) {
        return "CONFIRM over the noise cap: see the refusals".to_owned();
    }
    candidate.confirm.as_ref().map_or_else(String::new, |confirm| {
        let (p, level) = (number::p_value(confirm.comparison.verdict.p_greater), number::p_value(confirm.level));
        format!("CONFIRM {}: p {p}, level {level}", confirm.index)
    })
}

pub(super) fn gates(report: &CampaignReport) -> Table {
    let columns =
        ["#row", "block", "gate", "arm", "source", "decision", "#observed", "#limit", "samples say", "limit's source"];
    let mut table = Table::new("Every gate decision, passed ones too", &columns);
    let (passed, stopped): (Vec<_>, Vec<_>) =
        report.gates.iter().partition(|gate| gate.ruled.body.decision == Decision::Pass);
    for gate in stopped.into_iter().chain(passed).take(GATES_SHOWN) {
        table.row(gate_row(gate));
    }
    table.note = left_out(report.gates.len(), GATES_SHOWN, "gate decisions");
    table
}

fn gate_row(gate: &GateReport) -> Vec<Cell> {
    let body = &gate.ruled.body;
    let mut decision = body.decision.name().to_owned();
    if body.decision != Decision::Pass {
        decision = format!("{decision} {}", text::clean(&body.code, 8));
    }
    if let Some(ruling) = gate.ruling() {
        decision = format!("{decision}; {ruling}");
    }
    let again = match gate.repeats {
        Some(true) => Cell::text("the same"),
        Some(false) => Cell::mark(Mark::passed(false, "otherwise")),
        None => Cell::text("not from samples"),
    };
    vec![
        Cell::number(gate.ruled.seq.to_string()),
        Cell::text(&gate.block),
        Cell::text(text::clean(&body.gate, 24)),
        Cell::text(body.role.name()),
        Cell::code(body.candidate.short()),
        Cell::mark(Mark::passed(!gate.ruled.standing().stops(), &decision)),
        Cell::number(text::clean(&body.observed, 16)),
        Cell::number(text::clean(&body.limit, 16)),
        again,
        Cell::text(text::clean(body.source.split(':').next().unwrap_or_default(), 24)),
    ]
}

pub(super) fn refusals(report: &CampaignReport) -> Table {
    let columns = ["#row", "code", "meaning", "kind", "key", "digest of the refused body"];
    let mut table = Table::new("Rows that the database refused", &columns);
    for refusal in report.refusals.iter().take(REFUSALS_SHOWN) {
        let body = &refusal.body;
        let title = body.code.parse::<Code>().ok().and_then(Code::entry).map_or("an unknown code", |entry| entry.title);
        table.row(vec![
            Cell::number(refusal.seq.to_string()),
            Cell::code(text::clean(&body.code, 8)),
            Cell::long(title),
            Cell::text(text::clean(&body.kind, 20)),
            Cell::code(text::clean(&body.key, 60)),
            Cell::code(body.digest.short()),
        ]);
    }
    table.note = left_out(report.refusals.len(), REFUSALS_SHOWN, "refusals");
    table
}

pub(super) fn blocks(report: &CampaignReport) -> Table {
    let columns =
        ["#row", "block", "#attempt", "#pairs", "#arms", "#worst CV", "machine", "outputs failed", "ended", "digest"];
    let mut table = Table::new("Blocks: what was measured", &columns);
    for block in report.blocks.iter().rev().take(BLOCKS_SHOWN).rev() {
        let cells = block.arms.iter().flat_map(|arm| &arm.cells);
        let worst = cells.map(|cell| cell.cv.corrected).fold(None, |worst, cv| match worst {
            Some(worst) if worst >= cv => Some(worst),
            _ => Some(cv),
        });
        table.row(vec![
            Cell::number(block.seq.to_string()),
            Cell::text(block.name()),
            Cell::number(block.attempt.to_string()),
            Cell::number(block.pairs.to_string()),
            Cell::number(block.arms.len().to_string()),
            Cell::number(worst.map_or_else(String::new, number::percent)),
            Cell::mark(Mark::passed(block.quiet, if block.quiet { "quiet" } else { "not quiet" })),
            Cell::number(format!("{} of {}", block.checks.failed, block.checks.sampled)),
            Cell::text(time(block.at_ms)),
            Cell::code(block.digest.short()),
        ]);
    }
    table.note = left_out(report.blocks.len(), BLOCKS_SHOWN, "blocks");
    table
}

fn left_out(of: usize, shown: usize, what: &str) -> String {
    if of <= shown {
        String::new()
    } else {
        format!("{shown} of {of} {what} are listed; the ledger holds all of them.")
    }
}
