//! The page: tables of searches, self-comparisons and costs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use atb_core::comparison::{arm_of, compare, times};
use atb_core::entry::{BlockBody, Phase, ProtocolBody, Role};
use atb_core::ladder::Verdict;
use atb_core::outcome::Outcome;
use atb_core::protocol::Protocol;
use atb_ledger::Ledger;
use serde_json::Value;

use super::costs::Costs;
use super::{ITERATIONS, blocks};

/// The line about the machine.
#[derive(Debug)]
pub(crate) struct Machine(String);

impl Machine {
    /// From `atb doctor --json`.
    pub(crate) fn of(doctor: &Value) -> Self {
        let machine = &doctor["machine"];
        Self(format!(
            "{}, {} processors, {} MiB, Linux {}, virtual: {}; {}. Hand-off {} ns, a 1 ms delay reads {} ns.",
            cell(&machine["cpu"]),
            machine["cpus"],
            machine["memory_mib"],
            cell(&machine["kernel"]),
            machine["virtual_machine"],
            cell(&doctor["compiler"]),
            doctor["handoff_ns"],
            doctor["delay_1ms_ns"],
        ))
    }
}

/// One measurement of a starting point against the compiler baseline, whose code it is.
#[derive(Debug)]
pub(crate) struct SelfComparison {
    row: String,
    outcome: String,
    /// Cross-run CV of the candidate and of the compiler baseline, in percent, in the last attempt.
    scatter: Vec<f64>,
}

impl SelfComparison {
    /// From `atb measure --json` and its ledger.
    pub(crate) fn of(task: &str, found: &Value, db: &Path) -> Result<Self> {
        let attempts = blocks(db)?;
        let last = attempts.iter().max_by_key(|block| block.attempt).context("a block was measured")?;
        let scatter =
            [Role::Candidate, Role::Compiler].into_iter().filter_map(|role| scatter(last, role)).collect::<Vec<_>>();
        let shown: Vec<String> = scatter.iter().map(|cv| format!("{cv:.1} %")).collect();
        let (mut outcome, mut ratio) = (cell(&found["outcome"]), "-".to_owned());
        // The program compares with the fastest baseline, which may be the vendor's; the same code is the compiler baseline's.
        if let Some(verdict) = verdict_over(db, Phase::Probe, Role::Candidate, Role::Compiler)? {
            outcome = Outcome::from(verdict.outcome).to_string();
            ratio = shown_ratio(&verdict);
        }
        let row = format!("| {task} | {outcome} | {ratio} | {} | {} |", shown.join(", "), attempts.len());
        Ok(Self { row, outcome, scatter })
    }
}

/// Sample standard deviation over mean of an arm's runs, in percent; the first cell.
fn scatter(block: &BlockBody, role: Role) -> Option<f64> {
    let runs = times(block, arm_of(block, role)?).ok()?;
    let values: Vec<f64> = runs.iter().filter_map(|cells| Some(cells.first()?.twice_median.get() as f64)).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt() / mean * 100.0)
}

/// The REPORT's ratio of the head over each baseline, with its interval.
pub(crate) fn report_ratios(db: &Path) -> Result<BTreeMap<&'static str, String>> {
    let mut ratios = BTreeMap::new();
    for role in [Role::Compiler, Role::Naive, Role::Vendor] {
        if let Some(verdict) = verdict_over(db, Phase::Report, Role::Head, role)? {
            ratios.insert(role.name(), shown_ratio(&verdict));
        }
    }
    Ok(ratios)
}

/// The verdict of one arm over another in the first admitted block of a phase.
fn verdict_over(db: &Path, phase: Phase, judged: Role, base: Role) -> Result<Option<Verdict>> {
    let ledger = Ledger::open_read_only(db)?;
    let protocol = ledger.bodies::<ProtocolBody>()?.pop().context("a ledger has a protocol")?.body;
    let protocol = Protocol::from_json("ledger", &protocol.protocol).map_err(|error| anyhow::anyhow!("{error}"))?;
    let block = ledger.bodies::<BlockBody>()?.into_iter().find(|stored| stored.body.phase == phase);
    let Some(block) = block.map(|stored| stored.body) else { return Ok(None) };
    match (arm_of(&block, base), arm_of(&block, judged)) {
        (Some(base), Some(judged)) => Ok(Some(compare(&block, base, judged, &protocol)?)),
        _ => Ok(None),
    }
}

fn shown_ratio(verdict: &Verdict) -> String {
    let (lo, hi) = (verdict.lo95.ratio_bound(), verdict.hi95.ratio_bound());
    format!("{:.3} [{lo:.3}, {hi:.3}]", verdict.estimate.get())
}

/// What has been measured so far.
#[derive(Debug)]
pub(crate) struct Page {
    protocol: String,
    machine: Machine,
    searches: Vec<String>,
    /// Task and sentence.
    reasons: Vec<(String, String)>,
    selves: Vec<SelfComparison>,
    pub(crate) costs: Costs,
}

impl Page {
    pub(crate) fn new(protocol: &str, machine: Machine) -> Self {
        Self {
            protocol: protocol.to_owned(),
            machine,
            searches: Vec::new(),
            reasons: Vec::new(),
            selves: Vec::new(),
            costs: Costs::default(),
        }
    }

    pub(crate) fn add_search(
        &mut self,
        task: &str,
        shape: &str,
        found: &Value,
        seconds: f64,
        ratios: &BTreeMap<&'static str, String>,
    ) {
        self.reasons.push((task.to_owned(), cell(&found["reason"])));
        let over = |role: &str| ratios.get(role).map_or("-", String::as_str);
        self.searches.push(format!(
            "| {task} | {shape} | {} | {} | {} | {} | {} | {} | {} | {:.1} |",
            cell(&found["outcome"]),
            over("compiler"),
            over("vendor"),
            over("naive"),
            cell(&found["kept"]),
            cell(&found["refused"]),
            cell(&found["exploratory"]),
            seconds / 60.0,
        ));
    }

    pub(crate) fn add_self_comparison(&mut self, comparison: SelfComparison) {
        self.selves.push(comparison);
    }

    /// Writes the page anew.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let mut text = String::from(
            "# Evidence\n\nWritten by `cargo xtask full`, which runs every task's search and compares every starting point with itself. \
             The figures hold\nfor the machine named below and for nothing else; run it on yours.\n",
        );
        writeln!(text, "\nMachine: {}", self.machine.0)?;
        self.searches(&mut text)?;
        self.selves(&mut text)?;
        self.costs(&mut text)?;
        std::fs::write(path, text).with_context(|| format!("failed to write {}", path.display()))
    }

    fn searches(&self, text: &mut String) -> Result<()> {
        writeln!(
            text,
            "\n## Searches\n\n`atb tune TASK --iterations {ITERATIONS} --shape SHAPE --protocol {} --exploratory`. Ratios are the head's over each \
             baseline, with 95 % intervals, from the\nREPORT block; the outcome is over the fastest of them, and the other \
             ratios stand beside it. Refused: rows that the database did not admit.\n\n\
             | task | shape | outcome | over compiler | over vendor | over naive | kept | refused | exploratory | minutes |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
            self.protocol
        )?;
        self.searches.iter().try_for_each(|row| writeln!(text, "{row}"))?;
        writeln!(text, "\nWhy:\n")?;
        self.reasons.iter().try_for_each(|(task, reason)| writeln!(text, "- {task}: {reason}"))?;
        Ok(())
    }

    fn selves(&self, text: &mut String) -> Result<()> {
        writeln!(
            text,
            "\n## Self-comparisons\n\n`atb measure TASK kernel.c` with the task's own starting point, which is the compiler baseline's code: any \
             `faster` or `slower`\nwould be a false verdict. Scatter is the cross-run CV of the candidate and of the compiler baseline, in the \
             last attempt.\n\n| task | outcome | ratio | scatter | attempts |\n| --- | --- | --- | --- | --- |"
        )?;
        self.selves.iter().try_for_each(|comparison| writeln!(text, "{}", comparison.row))?;
        let mut counts = BTreeMap::<&str, usize>::new();
        for comparison in &self.selves {
            *counts.entry(&comparison.outcome).or_default() += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
        let mut scatter: Vec<f64> =
            self.selves.iter().flat_map(|comparison| comparison.scatter.iter().copied()).collect();
        scatter.sort_by(f64::total_cmp);
        writeln!(
            text,
            "\nIn all: {}. Scatter of {} arms: {}.",
            counts.join(", "),
            scatter.len(),
            spread(&scatter, "%")
        )?;
        Ok(())
    }

    fn costs(&self, text: &mut String) -> Result<()> {
        writeln!(
            text,
            "\n## Costs\n\nWall time over the time of the windows, warm-up included, by phase:\n\n\
             | phase | blocks | wall s | windows s | factor |\n| --- | --- | --- | --- | --- |"
        )?;
        for (phase, (blocks, wall, windows)) in &self.costs.phases {
            writeln!(text, "| {phase} | {blocks} | {wall:.1} | {windows:.1} | {:.2} |", wall / windows)?;
        }
        writeln!(
            text,
            "\nA durable row, from the statement to the end of its commit, the rules included; the rows of all searches appended to new \
             ledgers:\n\n| kind | rows | milliseconds |\n| --- | --- | --- |"
        )?;
        for (kind, times) in &self.costs.rows {
            let mut times = times.clone();
            times.sort_by(f64::total_cmp);
            writeln!(text, "| {kind} | {} | {} |", times.len(), spread(&times, "ms"))?;
        }
        let (rows, seconds) = self.costs.verified;
        writeln!(
            text,
            "\n`atb verify` checked {rows} rows in {seconds:.1} s: {:.0} rows a second.",
            rows as f64 / seconds
        )?;
        Ok(())
    }
}

/// Least, median and greatest of sorted values.
fn spread(sorted: &[f64], unit: &str) -> String {
    let at = |share: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of a short list")]
        let index = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
        sorted.get(index).copied().unwrap_or(f64::NAN)
    };
    format!("{:.1} .. {:.1} .. {:.1} {unit} (least, median, greatest)", at(0.0), at(0.5), at(1.0))
}

/// A JSON value as a table cell; an absent one is a dash.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
