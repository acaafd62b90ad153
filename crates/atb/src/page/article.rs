//! One campaign as the template shows it.

use atb_core::entry::Role;
use atb_core::outcome::Outcome;

use super::mark::Mark;
use super::path::{self, PathPlot};
use super::runs::{self, RunsPlot};
use super::strip::{self, Strip};
use super::table::Table;
use super::{evidence, setting};
use crate::report::number::{self, shown};
use crate::report::{CampaignReport, Comparison, Fate, text};

/// Everything of a campaign, ready to be written.
#[derive(Debug)]
pub(super) struct Article {
    /// Prefix of ids within the page, such as `c1`.
    pub(super) id: String,
    pub(super) task: String,
    pub(super) command: String,
    pub(super) verdict: Verdict,
    pub(super) notices: Vec<String>,
    pub(super) beside: Vec<Beside>,
    /// What the paper's rules say, and why it differs.
    pub(super) paper: Option<String>,
    pub(super) trust: Vec<String>,
    pub(super) tally: String,
    pub(super) strips: Vec<Strip>,
    pub(super) pairs: Table,
    pub(super) delta: String,
    pub(super) confidence: String,
    pub(super) runs: Vec<RunsPlot>,
    pub(super) arms: Vec<String>,
    pub(super) runs_block: String,
    pub(super) path: Option<PathPlot>,
    pub(super) controls: Table,
    pub(super) checks: Table,
    pub(super) candidates: Table,
    pub(super) gates: Table,
    pub(super) refusals: Table,
    pub(super) blocks: Table,
    pub(super) baselines: Table,
    pub(super) deciding: Table,
    pub(super) others: Table,
    pub(super) machine: Table,
    pub(super) registration: Table,
    pub(super) registrations: Table,
}

/// The headline. No number stands here without interval, baseline, pairs and machine.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) mark: Mark,
    /// The outcome's name as `--json` prints it.
    pub(super) outcome: &'static str,
    /// The ratio as printed; `null` without a keep, as the fields below.
    pub(super) ratio: String,
    pub(super) lo: String,
    pub(super) hi: String,
    pub(super) baseline: &'static str,
    pub(super) n: String,
    pub(super) machine: String,
    pub(super) block: String,
    /// Who is compared, such as `head`.
    pub(super) judged: &'static str,
    pub(super) has_ratio: bool,
    pub(super) sentence: String,
    pub(super) reason: String,
    /// Without a ratio: what the last CONFIRM read.
    pub(super) read: Option<String>,
    pub(super) exploratory: bool,
    /// True for a decided outcome on a quiet machine: only then does the number stand in full ink.
    pub(super) firm: bool,
}

/// A ratio that stands beside the headline.
#[derive(Debug)]
pub(super) struct Beside {
    pub(super) field: &'static str,
    pub(super) label: &'static str,
    pub(super) ratio: String,
    pub(super) interval: String,
    pub(super) what: String,
}

impl Article {
    pub(super) fn of(report: &CampaignReport, id: String) -> Self {
        let (deciding, others) = setting::protocol(report);
        let block = report.deciding_block();
        Self {
            id,
            task: text::clean(&report.registered.body.task_id, 64),
            command: text::clean(&report.registered.body.command, 20),
            verdict: verdict(report),
            notices: report.notices.clone(),
            beside: beside(report),
            paper: report.conclusion.paper.as_ref().map(|paper| format!("{}: {}", paper.words(), paper.differs)),
            trust: trust(report),
            tally: tally(report),
            strips: strip::strips(report),
            pairs: pairs(report),
            delta: number::size(report.protocol.statistics_delta()),
            confidence: number::confidence(report.protocol.statistics_confidence()),
            runs: block.map(runs::plots).unwrap_or_default(),
            arms: block.map(|block| block.arms.iter().map(|arm| arm.role.to_string()).collect()).unwrap_or_default(),
            runs_block: block.map(crate::report::BlockReport::name).unwrap_or_default(),
            path: path::plot(report),
            controls: evidence::controls(report),
            checks: evidence::checks(report),
            candidates: evidence::candidates(report),
            gates: evidence::gates(report),
            refusals: evidence::refusals(report),
            blocks: evidence::blocks(report),
            baselines: setting::baselines(report),
            machine: setting::machine(report),
            registration: setting::registration(report),
            registrations: setting::registrations(report),
            deciding,
            others,
        }
    }
}

const NULL: &str = "null";

fn or_null(comparison: Option<&Comparison>, read: fn(&Comparison) -> Option<number::Rounded>) -> String {
    comparison.and_then(read).map_or_else(|| NULL.to_owned(), |rounded| rounded.to_string())
}

fn verdict(report: &CampaignReport) -> Verdict {
    let conclusion = &report.conclusion;
    let headline = conclusion.headline.as_ref();
    let confirm = conclusion.confirm.as_ref();
    let decided = matches!(conclusion.outcome, Outcome::Faster | Outcome::Slower | Outcome::Equivalent);
    let read = confirm.map(|confirm| {
        let comparison = &confirm.comparison;
        format!(
            "CONFIRM {} read {} {} over the parent. Nothing was kept, so no ratio is claimed.",
            confirm.index,
            shown(comparison.ratio()),
            comparison.interval()
        )
    });
    Verdict {
        mark: Mark::of_outcome(conclusion.outcome),
        outcome: conclusion.outcome.name(),
        ratio: or_null(headline, Comparison::ratio),
        lo: or_null(headline, Comparison::lo),
        hi: or_null(headline, Comparison::hi),
        baseline: conclusion.baseline().map_or(NULL, Role::name),
        n: conclusion.pairs().map_or_else(|| NULL.to_owned(), |n| n.to_string()),
        machine: report.machine_line(),
        block: report.deciding_block().map(crate::report::BlockReport::name).unwrap_or_default(),
        judged: conclusion.deciding().map_or("head", |comparison| comparison.judged.name()),
        has_ratio: headline.is_some(),
        sentence: sentence(conclusion.outcome, headline),
        reason: conclusion.reason.clone(),
        read,
        exploratory: report.exploratory,
        firm: decided && !report.exploratory,
    }
}

/// What the outcome means, for a reader who knows none of the words.
fn sentence(outcome: Outcome, headline: Option<&Comparison>) -> String {
    let judged = headline.map_or("candidate", |comparison| comparison.judged.name());
    match outcome {
        Outcome::Faster if headline.is_some_and(|comparison| comparison.base == Role::Control) => {
            format!("The {judged} is faster than the control, on this machine.")
        }
        Outcome::Faster => format!("The {judged} is faster than the fastest baseline, on this machine."),
        Outcome::Slower => format!("The {judged} is slower than what it was compared with, on this machine."),
        Outcome::Equivalent => "The two take the same time, within the smallest difference of interest.".to_owned(),
        Outcome::Inconclusive(_) => "The measurement does not decide. This is not a null result.".to_owned(),
        Outcome::Quarantined(_) => "Set aside: no speedup is claimed until someone has found the mechanism.".to_owned(),
        Outcome::NotQuiet
        | Outcome::NotDelivered
        | Outcome::HarnessError(_)
        | Outcome::Cancelled
        | Outcome::Void(_) => "There is no answer. The candidate is not to blame.".to_owned(),
        _ => "The candidate did not reach a measurement, so there is no ratio.".to_owned(),
    }
}

fn beside(report: &CampaignReport) -> Vec<Beside> {
    let conclusion = &report.conclusion;
    let one = |field, label, comparison: Option<&Comparison>, what: &str| {
        comparison.map(|comparison| Beside {
            field,
            label,
            ratio: shown(comparison.ratio()),
            interval: comparison.interval(),
            what: what.to_owned(),
        })
    };
    let naive = one(
        "naive_ratio",
        "Naive ratio",
        conclusion.naive.as_ref(),
        "over the code as a careless author writes it; not a headline",
    );
    let root = one(
        "root_ratio",
        "Root ratio",
        conclusion.root.as_ref(),
        "over the compiler baseline, the root of every search",
    );
    naive.into_iter().chain(root).collect()
}

fn trust(report: &CampaignReport) -> Vec<String> {
    let judge = if report.judge.is_empty() { "none yet" } else { &report.judge };
    let isolation = if report.isolation.is_empty() { "none yet" } else { &report.isolation };
    vec![
        report.anchor.to_string(),
        format!("judge={}", text::clean(judge, 40)),
        format!("isolation {}", text::clean(isolation, 40)),
        format!("protocol {}", report.protocol.id()),
    ]
}

fn tally(report: &CampaignReport) -> String {
    let count = |fate: fn(&Fate) -> bool| report.candidates.iter().filter(|candidate| fate(&candidate.fate)).count();
    let effort = &report.effort;
    let refused = match effort.refused_runs {
        0 => String::new(),
        runs => format!(", and {runs} runs in refused blocks"),
    };
    format!(
        "{}: {} kept, {} measured and not kept, {} screened out, {} with a fault, {} quarantined, {} not measured. \
         {} refused. {} runs and {} timed windows ({}) in admitted blocks{refused}.",
        number::count(report.candidates.len(), "candidate"),
        count(|fate| matches!(fate, Fate::Kept)),
        count(|fate| matches!(fate, Fate::NotKept(_) | Fate::Probed(_) | Fate::Compared | Fate::Demoted)),
        count(|fate| matches!(fate, Fate::ScreenedOut | Fate::Unconfirmed)),
        count(|fate| matches!(fate, Fate::Fault(_))),
        count(|fate| matches!(fate, Fate::Quarantined(_))),
        count(|fate| matches!(fate, Fate::NotMeasured)),
        number::count(report.refusals.len(), "row"),
        effort.runs,
        effort.windows,
        number::total(effort.time),
    )
}

/// The ratios behind the strip plots, pair by pair.
fn pairs(report: &CampaignReport) -> Table {
    use super::table::{Cell, Column};
    let conclusion = &report.conclusion;
    let deciding = conclusion.deciding();
    let controls = conclusion.controls.iter().filter_map(|control| control.comparison.as_ref());
    let mut columns: Vec<(String, &[atb_core::quantity::LogRatio])> = Vec::new();
    for comparison in deciding.into_iter().chain(conclusion.naive.as_ref()).chain(controls) {
        columns.push((comparison.name(), &comparison.pairs));
    }
    if let Some(comparison) = deciding {
        columns.extend(comparison.cells.iter().map(|cell| (text::clean(&cell.shape, 40), cell.pairs.as_slice())));
    }
    let mut table = Table::new("Ratio of each pair", &["#pair"]);
    table.head.extend(columns.iter().map(|(name, _)| Column { name: name.clone(), class: "num" }));
    for pair in 0..deciding.map_or(0, |comparison| comparison.pairs.len()) {
        let mut row = vec![Cell::number(pair.to_string())];
        let at =
            |logs: &[atb_core::quantity::LogRatio]| logs.get(pair)?.ratio().ok().and_then(number::Rounded::nearest);
        row.extend(columns.iter().map(|(_, logs)| Cell::number(shown(at(logs)))));
        table.row(row);
    }
    table
}
