//! Tables of what was fixed beforehand: registration, baselines, protocol, machine.

use atb_core::entry::{BaselineBody, SessionBody, TriedBody};
use atb_core::quantity::Reading;

use super::table::{Cell, Column, Table};
use super::time;
use crate::report::CampaignReport;
use crate::report::number::TimeUnit;
use crate::report::text;

/// Groups of protocol fields that a verdict rests on; the others stand folded below.
const DECIDING: &[&str] = &["replication", "statistics", "noise", "gates", "session"];

pub(super) fn registration(report: &CampaignReport) -> Table {
    let registered = &report.registered;
    let body = &registered.body;
    let mut table = Table::new("Registered before the first run", &["what", "value"]);
    table.fact("campaign", text::clean(&body.id, 40));
    table.fact("command", format!("atb {}", text::clean(&body.command, 20)));
    table.fact("registered", format!("{}, entry {}", time(registered.at_ms), registered.seq));
    table.fact("entry hash", registered.hash.clone());
    table.fact("task", format!("{} ({})", text::clean(&body.task_id, 64), body.task.short()));
    table.fact("protocol", format!("{} ({})", report.protocol.id(), report.protocol_digest));
    table.fact("hypothesis", text::clean(&body.hypothesis, 300));
    table.fact("readout", text::clean(&body.readout, 300));
    table.fact("stop rule", text::clean(&body.stop_rule, 300));
    table.fact("proposer", format!("{}, seed {}", text::clean(&body.proposer, 40), body.seed));
    table.fact("candidates at most", body.iterations.to_string());
    table.fact("timed shapes", text::clean(&body.shapes.join(", "), 300));
    table.fact(
        "closed",
        report.closed.as_deref().map_or_else(|| "not yet".to_owned(), |reason| text::clean(reason, 40)),
    );
    table
}

/// Every registration of the ledger, open and abandoned ones too.
pub(super) fn registrations(report: &CampaignReport) -> Table {
    let columns = ["id", "entry", "standing", "hypothesis", "#pairs", "#detectable", "#delta", "accepted"];
    let mut table = Table::new("Registrations of this ledger", &columns);
    for registration in &report.registrations {
        let body = &registration.body;
        table.row(vec![
            Cell::code(text::clean(&body.id, 20)),
            Cell::text(registration.seq.to_string()),
            Cell::long(registration.standing.words()),
            Cell::long(text::clean(&body.hypothesis, 300)),
            Cell::number(body.pairs.to_string()),
            Cell::number(text::clean(&body.mde, 20)),
            Cell::number(text::clean(&body.delta, 20)),
            Cell::long(text::clean(&body.underpowered, 300)),
        ]);
    }
    table
}

pub(super) fn baselines(report: &CampaignReport) -> Table {
    let columns = ["baseline", "source", "flags", "#median", "tried with", "answer"];
    let mut table = Table::new("Baselines and the flag sets that were tried", &columns);
    for baseline in &report.baselines {
        let row = |flags: &str, median: String, tried: &str, answer: String| {
            let flags = Cell::code(text::clean(flags, 80));
            let (role, source) = (Cell::text(baseline.role.name()), Cell::code(baseline.source.short()));
            vec![role, source, flags, Cell::number(median), Cell::text(tried), Cell::text(answer)]
        };
        if baseline.tried.is_empty() {
            table.row(row(&baseline.flags, String::new(), "fixed by the task or an earlier session", "ok".to_owned()));
        }
        for tried in &baseline.tried {
            let word = if tried.flags == baseline.flags { "chosen" } else { "not chosen" };
            let runs = format!("{} runs", tried.picos.len());
            let answer = format!("{}, {word}", text::clean(&tried.outcome, 40));
            table.row(row(&tried.flags, median(tried, baseline), &runs, answer));
        }
    }
    table
}

/// The median time per call of a flag set, in the unit of the slowest set.
fn median(tried: &TriedBody, baseline: &BaselineBody) -> String {
    let nanos = |picos: u64| Reading::new(picos as f64 / 1e3).ok();
    let unit = TimeUnit::of(baseline.tried.iter().flat_map(|tried| &tried.picos).filter_map(|picos| nanos(*picos)));
    let mut sorted = tried.picos.clone();
    sorted.sort_unstable();
    let middle = sorted.get(sorted.len() / 2).and_then(|picos| nanos(*picos));
    middle.map_or_else(String::new, |time| format!("{} {}/call", unit.show(time), unit.name))
}

/// Fields that verdicts rest on, and the others.
pub(super) fn protocol(report: &CampaignReport) -> (Table, Table) {
    let columns = ["field", "#value", "unit", "source", "where"];
    let mut deciding = Table::new(format!("Protocol {}: what verdicts rest on", report.protocol.id()), &columns);
    let mut others = Table::new("Other fields of the protocol", &columns);
    for (field, cited) in report.protocol.cited() {
        let (group, _) = field.split();
        let table = if DECIDING.contains(&group) { &mut deciding } else { &mut others };
        table.row(vec![
            Cell::code(field.key),
            Cell::number(text::clean(&cited.value().to_string(), 160)),
            Cell::text(field.unit),
            Cell::text(text::clean(cited.source(), 40)),
            Cell::long(text::clean(cited.locator(), 200)),
        ]);
    }
    (deciding, others)
}

/// One column per session.
pub(super) fn machine(report: &CampaignReport) -> Table {
    type Read = fn(&SessionBody) -> String;
    let facts: [(&str, Read); 14] = [
        ("processor", |s| s.machine.cpu.clone()),
        ("processors in use", |s| s.machine.cpus.to_string()),
        ("memory", |s| format!("{} MiB", s.machine.memory_mib)),
        ("kernel", |s| s.machine.kernel.clone()),
        ("frequency governor", |s| s.machine.governor.clone()),
        ("virtual machine", |s| if s.machine.virtual_machine { "yes" } else { "no" }.to_owned()),
        ("fingerprint", |s| s.machine.fingerprint.short()),
        ("boot", |s| s.machine.boot.clone()),
        ("compiler", |s| s.compiler.clone()),
        ("isolation", |s| s.isolation.clone()),
        ("hand-off", |s| format!("{} ns", s.handoff_ns)),
        ("1 ms reads as", |s| format!("{} ns", s.delay_ns)),
        ("measuring program", |s| s.harness.short()),
        ("key commitment", |s| s.key_hash.short()),
    ];
    let mut table = Table::new("Machine and session", &["what"]);
    for session in &report.sessions {
        table.head.push(Column { name: format!("session {}", text::clean(&session.id, 20)), class: "" });
    }
    for (name, read) in facts {
        let mut row = vec![Cell::text(name)];
        row.extend(report.sessions.iter().map(|session| Cell::long(text::clean(&read(session), 120))));
        table.row(row);
    }
    table
}
