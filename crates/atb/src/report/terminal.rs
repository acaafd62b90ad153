//! The report as plain text: no colour, no line longer than asked for, the outcome first.

use atb_core::entry::{Decision, Role};
use atb_core::ladder::Verdict;
use atb_core::outcome::Outcome;
use atb_core::quantity::Ratio;

use super::block::ArmCell;
use super::number::{self, Rounded, TimeUnit, shown};
use super::{BlockReport, CampaignReport, CandidateReport, Comparison, Fate, text};

/// Least width that the tables are laid out for.
const NARROWEST: usize = 40;
/// Indent of everything below a title.
const INDENT: &str = "  ";
/// Width of the labels of facts.
const LABEL: usize = 12;

/// One verdict in one line: outcome, ratio, interval, pairs.
pub fn verdict_line(verdict: &Verdict) -> String {
    format!(
        "{} {}x {}, n = {}",
        Outcome::from(verdict.outcome),
        shown(Rounded::nearest(verdict.estimate)),
        number::interval(verdict.lo95, verdict.hi95),
        verdict.n
    )
}

/// The report of a campaign; every line ends with a line feed and holds at most `width` characters (at least 40).
pub fn campaign(report: &CampaignReport, width: usize) -> String {
    let mut page = Lines { width: width.max(NARROWEST), text: String::new() };
    headline(&mut page, report);
    beside(&mut page, report);
    arms(&mut page, report);
    if !report.is_of_two_arms() {
        search(&mut page, report);
    }
    registrations(&mut page, report);
    checks(&mut page, report);
    refusals(&mut page, report);
    page.text
}

struct Lines {
    width: usize,
    text: String,
}

impl Lines {
    /// One line, cut if it is too long.
    fn line(&mut self, line: &str) {
        let line = line.trim_end();
        if line.chars().count() <= self.width {
            self.text.push_str(line);
        } else {
            self.text.extend(line.chars().take(self.width - 3));
            self.text.push_str("...");
        }
        self.text.push('\n');
    }

    fn title(&mut self, title: &str) {
        self.text.push('\n');
        self.line(title);
    }

    /// A labelled fact, broken at spaces.
    fn fact(&mut self, label: &str, fact: &str) {
        let room = self.width - INDENT.len() - LABEL;
        for (at, line) in text::wrap(fact, room).iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            self.line(&format!("{INDENT}{label:LABEL$}{line}"));
        }
    }
}

/// Task, outcome, ratio, interval, baseline, pairs and machine: no estimate without the others.
fn headline(page: &mut Lines, report: &CampaignReport) {
    let conclusion = &report.conclusion;
    let task = text::clean(&report.registered.body.task_id, 40);
    let outcome = number::outcome(conclusion.outcome);
    let confidence = number::confidence(report.protocol.statistics_confidence());
    let against = conclusion.baseline().map_or("no baseline", Role::name);
    if let Some(comparison) = &conclusion.headline {
        let (ratio, interval) = (shown(comparison.ratio()), comparison.interval());
        page.line(&format!("{task}: {outcome}, {ratio}x {interval} {confidence}"));
        let n = comparison.pairs.len();
        let block = report.deciding_block().map_or_else(String::new, BlockReport::name);
        let judged = comparison.judged;
        let base =
            if report.is_of_two_arms() { against.to_owned() } else { format!("{against} baseline, the fastest") };
        page.fact("compared", &format!("{judged} over the {base}; {block}, {n} pairs"));
    } else {
        page.line(&format!("{task}: {outcome}, no ratio"));
    }
    if let Some(confirm) = &conclusion.confirm {
        let (ratio, interval) = (shown(confirm.comparison.ratio()), confirm.comparison.interval());
        let (n, index) = (confirm.comparison.pairs.len(), confirm.index);
        page.fact("compared", &format!("candidate over the {against} baseline; CONFIRM {index}, {n} pairs"));
        page.fact("read", &format!("{ratio}x {interval} {confidence}; nothing was kept, so no ratio is claimed"));
    }
    page.fact("because", &conclusion.reason);
    page.fact("machine", &report.machine_line());
    for notice in &report.notices {
        page.fact("note", notice);
    }
}

/// What stands beside the headline, labelled.
fn beside(page: &mut Lines, report: &CampaignReport) {
    let conclusion = &report.conclusion;
    let mut ratio = |label: &str, comparison: &Option<Comparison>, what: &str| {
        if let Some(comparison) = comparison {
            page.fact(label, &format!("{}x {}  {what}", shown(comparison.ratio()), comparison.interval()));
        }
    };
    ratio("naive ratio", &conclusion.naive, "over the naive baseline: no headline");
    ratio("root ratio", &conclusion.root, "over the compiler baseline, the root");
    if let Some(paper) = &conclusion.paper {
        page.fact("paper-1", &format!("{}: {}", paper.words(), paper.differs));
    }
    if let Some(change) = conclusion.deciding().and_then(|comparison| comparison.detectable) {
        let power = number::confidence(report.protocol.statistics_power());
        let n = conclusion.pairs().unwrap_or(0);
        page.fact("detectable", &format!("{} at {n} pairs and {power} power", number::change(change)));
    }
    for control in &conclusion.controls {
        page.fact(control.name, &format!("{}: {}", control.standing.name(), control.read));
    }
    let judge = if report.judge.is_empty() { "none" } else { &report.judge };
    page.fact("trust", &format!("{}; judge={}; {}", report.anchor, text::clean(judge, 40), report.isolation));
    let effort = &report.effort;
    page.fact(
        "effort",
        &format!("{} runs, {} windows, {} of windows", effort.runs, effort.windows, number::total(effort.time)),
    );
}

/// Arms of the deciding block.
fn arms(page: &mut Lines, report: &CampaignReport) {
    let Some(block) = report.deciding_block() else { return };
    let cells = || block.arms.iter().flat_map(|arm| &arm.cells).map(ArmCell::median);
    let unit = TimeUnit::of(cells());
    let base = report.conclusion.deciding().map(|comparison| comparison.base);
    let base_name = base.map_or("base", Role::name);
    for (at, shape) in block.shapes.iter().enumerate() {
        let shape = text::clean(shape, 30);
        let per_call = format!("{}/call", unit.name);
        page.title(&format!(
            "{INDENT}{:12} {per_call:>12} {:>8}  {:>9}  {shape}",
            "arm",
            "CV",
            format!("x {base_name}")
        ));
        for arm in &block.arms {
            let Some(cell) = arm.cells.get(at) else { continue };
            let base = base.and_then(|role| block.arm(role)?.cells.get(at));
            // The plain ratio of medians, to read the column beside it; verdicts use pairs.
            let ratio =
                base.map_or_else(String::new, |base| format!("{:.4}", base.median().get() / cell.median().get()));
            let (median, cv) = (unit.show(cell.median()), number::percent(cell.cv.corrected));
            page.line(&format!("{INDENT}{:12} {median:>12} {cv:>8}  {ratio:>9}  {}", arm.role.name(), arm.flags));
        }
    }
}

/// What was registered for this campaign, then every registration of the ledger.
fn registrations(page: &mut Lines, report: &CampaignReport) {
    if let Some(registration) = report.registration() {
        let body = &registration.body;
        page.fact(
            "registered",
            &format!("{} as entry {}: {}", body.id, registration.seq, text::clean(&body.hypothesis, 200)),
        );
        let least = format!("{} pairs show {} and more; delta {}", body.pairs, body.mde, body.delta);
        page.fact("could see", &format!("{least}; A/A block: entry {}", body.same));
    }
    if report.registrations.is_empty() {
        return;
    }
    page.title(&format!("{INDENT}{} in this ledger", number::count(report.registrations.len(), "registration")));
    for registration in &report.registrations {
        page.line(&format!("{INDENT}{INDENT}{}", registration.line()));
    }
}

/// One line per candidate.
fn search(page: &mut Lines, report: &CampaignReport) {
    if report.candidates.is_empty() {
        return;
    }
    let count = |fate: fn(&Fate) -> bool| report.candidates.iter().filter(|candidate| fate(&candidate.fate)).count();
    page.title(&format!(
        "{INDENT}search: {}; {} kept, {} screened out, {} with a fault, {} quarantined",
        number::count(report.candidates.len(), "candidate"),
        count(|fate| matches!(fate, Fate::Kept)),
        count(|fate| matches!(fate, Fate::ScreenedOut)),
        count(|fate| matches!(fate, Fate::Fault(_))),
        count(|fate| matches!(fate, Fate::Quarantined(_))),
    ));
    page.line(&format!(
        "{INDENT}{:>3} {:>3}  {:>7} {:>7}  {:23}  point or note",
        "#", "gen", "screen", "shrunk", "outcome"
    ));
    for candidate in &report.candidates {
        page.line(&candidate_line(candidate));
        if let Some(confirm) = &candidate.confirm {
            let (ratio, interval) = (shown(confirm.comparison.ratio()), confirm.comparison.interval());
            let (p, level) = (number::p_value(confirm.comparison.verdict.p_greater), number::p_value(confirm.level));
            page.line(&format!("{INDENT}{:19}CONFIRM {}: {ratio} {interval}, p {p}, level {level}", "", confirm.index));
        }
    }
}

fn candidate_line(candidate: &CandidateReport) -> String {
    let ratio =
        |of: Option<Ratio>| of.and_then(Rounded::nearest).map_or_else(|| "-".to_owned(), |ratio| ratio.to_string());
    let (screen, shrunk) = (ratio(candidate.screen), ratio(candidate.shrunk));
    let body = &candidate.body;
    let note = text::clean(&body.note, 200);
    format!(
        "{INDENT}{:>3} {:>3}  {screen:>7} {shrunk:>7}  {:23}  {note}",
        body.iteration,
        body.generation,
        candidate.fate.words()
    )
}

/// What did not pass.
fn checks(page: &mut Lines, report: &CampaignReport) {
    let failed: Vec<_> = report.gates.iter().filter(|gate| gate.ruled.body.decision != Decision::Pass).collect();
    page.title(&format!(
        "{INDENT}gates: {}, {} did not pass",
        number::count(report.gates.len(), "decision"),
        failed.len()
    ));
    for gate in failed {
        // The reason stands among the notes.
        let state = match gate.ruled.rulings.last() {
            None => gate.ruled.body.decision.name(),
            Some((_, _, ruling)) => ruling.decision.name(),
        };
        page.line(&format!("{INDENT}{INDENT}{state} {}", gate.words()));
    }
}

fn refusals(page: &mut Lines, report: &CampaignReport) {
    page.line(&format!("{INDENT}refusals: {}", if report.refusals.is_empty() { "none" } else { "" }));
    for refusal in &report.refusals {
        let code: Option<atb_core::codes::Code> = refusal.body.code.parse().ok();
        let title = code.and_then(atb_core::codes::Code::entry).map_or("unknown code", |entry| entry.title);
        let kind = text::clean(&refusal.body.kind, 20);
        page.line(&format!("{INDENT}{INDENT}{} {kind}: {title}", text::clean(&refusal.body.code, 8)));
    }
}
