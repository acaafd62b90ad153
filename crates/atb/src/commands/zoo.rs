//! `atb zoo`: the cheat suite against this instrument, on this machine.

use std::fmt::Write as _;
use std::path::Path;

use atb_core::codes;
use atb_core::outcome::Outcome;
use atb_measure::naive::Reading;
use atb_measure::preflight::IfBusy;
use serde_json::{Value, json};

use super::{Context, cancel_flag, out_path};
use crate::campaign::{Arms, Campaign, Console, Plan, Registration};
use crate::cli::ZooArgs;
use crate::error::{Error, Result, exit};
use crate::io::{self, Folder};
use crate::report::number;
use crate::zoo::{self, Entry, Judged, Standing};

/// The protocol under which entries are measured.
const PROTOCOL: &str = "small-1";
/// Honest entries of `--quick`.
const QUICK_HONEST: usize = 5;

/// A line of the table.
struct Line {
    entry: Entry,
    judged: Judged,
    /// What a naive harness would have credited; of a cheat as it is.
    naive: Option<String>,
}

pub(super) fn run(context: &Context, args: &ZooArgs) -> Result<u8> {
    let entries = chosen(args)?;
    let out = out_path(args.out.as_deref(), "zoo");
    let mut lines = Vec::new();
    let mut isolation = String::new();
    let mut tasks: Vec<&str> = entries.iter().map(|entry| entry.task.as_str()).collect();
    tasks.sort_unstable();
    tasks.dedup();
    for task in tasks {
        let of_task: Vec<&Entry> = entries.iter().filter(|entry| entry.task == task).collect();
        if let Err(absent) = io::interpreter_for(&io::Tasks::default().load(task)?) {
            let outcome = Outcome::HarnessError(codes::NO_INTERPRETER);
            lines.extend(of_task.into_iter().map(|entry| skipped(entry, outcome, &absent.to_string())));
            continue;
        }
        let before = lines.len();
        isolation = run_task(context, args, task, &of_task, &out.join(task), &mut lines)?;
        // A campaign whose sessions are void ends early, and says so of nothing that it did not reach.
        let reached: Vec<String> = lines[before..].iter().map(|line| line.entry.id.clone()).collect();
        let left = of_task.into_iter().filter(|entry| !reached.contains(&entry.id));
        lines.extend(left.map(|entry| skipped(entry, Outcome::Void(codes::CONTROL), "the sessions are void")));
    }
    let text = table(&lines, &isolation);
    context.output.result(&text, &summary(&lines, &isolation))?;
    Ok(if lines.iter().all(|line| line.judged.standing.holds()) { 0 } else { exit::HARNESS })
}

/// The entries that the user asks for.
fn chosen(args: &ZooArgs) -> Result<Vec<Entry>> {
    let mut entries = zoo::entries()?;
    if let Some(unknown) = args.only.iter().find(|id| entries.iter().all(|entry| entry.id != **id)) {
        let known = entries.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>().join(", ");
        return Err(Error::Usage {
            message: format!("the suite has no entry `{unknown}`"),
            remedy: format!("its entries are {known}"),
        });
    }
    entries.retain(|entry| args.only.is_empty() || args.only.contains(&entry.id));
    if args.quick && args.only.is_empty() {
        let mut honest = 0;
        entries.retain(|entry| {
            honest += usize::from(!entry.is_cheat());
            entry.is_cheat() || honest <= QUICK_HONEST
        });
    }
    Ok(entries)
}

/// What this machine cannot run, or not now.
fn skipped(entry: &Entry, outcome: Outcome, reason: &str) -> Line {
    let judged = Judged { standing: Standing::Skipped, outcome, detail: reason.to_owned() };
    Line { entry: entry.clone(), judged, naive: None }
}

/// Probes the entries of one task in one campaign. Returns the isolation.
fn run_task(
    context: &Context,
    args: &ZooArgs,
    task: &str,
    entries: &[&Entry],
    out: &Path,
    lines: &mut Vec<Line>,
) -> Result<String> {
    let task = io::Tasks::default().load(task)?;
    let protocol = io::load_protocol(PROTOCOL)?;
    let plan = Plan {
        folder: Folder::create(out)?,
        cells: task.spec.timed().take(1).cloned().collect(),
        quiet_wait_s: 0,
        task,
        protocol,
        if_busy: IfBusy::Explore,
        cancel: cancel_flag(),
    };
    let registration = Registration {
        command: "zoo",
        registration: String::new(),
        proposer: "zoo".to_owned(),
        seed: 0,
        iterations: entries.len() as u64,
        hypothesis: "no cheat is faster than the compiler baseline, and no honest kernel is refused".to_owned(),
        stop_rule: "after all entries".to_owned(),
    };
    let mut campaign = Campaign::register(plan, &registration, Console::new(context.quiet))?;
    let worked = campaign.baselines().and_then(|arms| probe_all(&mut campaign, args, entries, &arms, lines));
    campaign.end(worked)?;
    Ok(campaign.isolation())
}

fn probe_all(
    campaign: &mut Campaign,
    args: &ZooArgs,
    entries: &[&Entry],
    arms: &Arms,
    lines: &mut Vec<Line>,
) -> Result<()> {
    let honest_ns = arms.compiler.pilot_ns().first().copied().unwrap_or(0.0);
    let honest = campaign.naive_harness(&campaign.root_text(), arms)?;
    for entry in entries {
        let naive =
            if entry.is_attack() { None } else { Some(credit(campaign.naive_harness(&entry.text, arms)?, honest)) };
        let throttled = (entry.is_cheat() && !args.quick).then(|| (entry.throttled(honest_ns), None));
        let runs = [((*entry).clone(), naive)].into_iter().chain(throttled);
        for (entry, naive) in runs {
            let end = campaign.probe(&entry.text, &entry.id, arms)?;
            let judged = zoo::judge(&entry, &end);
            let code = judged.outcome.code().map(|code| format!(" {code}")).unwrap_or_default();
            campaign.console().line(&format!("  {}: {}{code}", entry.id, judged.standing.name()));
            lines.push(Line { entry, judged, naive });
        }
    }
    Ok(())
}

/// What a naive harness would have credited, beside its reading of the honest kernel.
fn credit(reading: Reading, honest: Reading) -> String {
    match (reading, honest) {
        (Reading::Timed(ns), Reading::Timed(honest)) if ns > 0.0 => format!("{:.1}x", honest / ns),
        (Reading::Timed(_), _) => "any".to_owned(),
        (Reading::Wrong, _) => "wrong".to_owned(),
        (Reading::Ended, _) => "ended".to_owned(),
    }
}

fn table(lines: &[Line], isolation: &str) -> String {
    /// What is left of 80 columns.
    const TITLE: usize = 80 - 47;
    let mut text = format!("{:<9} {:<11} {:<12} {:>10}  what it does\n", "entry", "standing", "by", "naive");
    for Line { entry, judged, naive } in lines {
        let by = judged.outcome.code().map_or_else(|| judged.outcome.name().to_owned(), |code| code.to_string());
        let by: String = by.split('(').next().unwrap_or_default().to_owned();
        let naive = naive.as_deref().unwrap_or_default();
        let title: String = match entry.title.char_indices().nth(TITLE) {
            Some((end, _)) => format!("{}...", entry.title[..end - 3].trim_end()),
            None => entry.title.clone(),
        };
        let _ = writeln!(text, "{:<9} {:<11} {by:<12} {naive:>10}  {title}", entry.id, judged.standing.name());
    }
    let count = |standing| lines.iter().filter(|line| line.judged.standing == standing).count();
    let (caught, neutralised) = (count(Standing::Caught), count(Standing::Neutralised));
    let cheats = lines.iter().filter(|line| line.entry.is_cheat()).count();
    let _ = writeln!(
        text,
        "\n{}: {caught} caught, {neutralised} neutralised, {} missed; {}: {} rejected; {} skipped; isolation {isolation}\n\
         naive: what a harness in the candidate's own process would have credited, from one input and one check",
        number::count(cheats, "cheat"),
        count(Standing::Missed),
        number::count(lines.len() - cheats, "honest kernel"),
        count(Standing::Rejected),
        count(Standing::Skipped),
    );
    text
}

fn summary(lines: &[Line], isolation: &str) -> Value {
    let ids = |standing| -> Vec<&str> {
        lines.iter().filter(|line| line.judged.standing == standing).map(|line| line.entry.id.as_str()).collect()
    };
    let rows: Vec<Value> = lines
        .iter()
        .map(|Line { entry, judged, naive }| {
            json!({
                "id": entry.id,
                "standing": judged.standing.name(),
                "outcome": judged.outcome.name(),
                "code": judged.outcome.code().map(|code| code.to_string()),
                "detail": judged.detail,
                "naive": naive,
            })
        })
        .collect();
    json!({
        "entries": lines.len(),
        "caught": ids(Standing::Caught).len(),
        "neutralised": ids(Standing::Neutralised).len(),
        "missed": ids(Standing::Missed),
        "honest": lines.iter().filter(|line| !line.entry.is_cheat()).count(),
        "honest_rejected": ids(Standing::Rejected),
        "pending": [],
        "skipped": ids(Standing::Skipped),
        "level": isolation,
        "rows": rows,
    })
}
