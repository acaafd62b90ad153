//! `atb task admit`: may a task judge kernels?

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use atb_core::codes;
use atb_core::task::Task;
use atb_measure::admission::Probed;
use atb_measure::build::Compiler;
use atb_measure::fault::Fault;
use atb_measure::lab::{Lab, LabSetup, SessionKey};
use serde_json::{Value, json};

use super::{Context, cancel_flag};
use crate::error::{Error, Result, exit};
use crate::io::{self, Tasks};

/// A baseline with the flags that it was built with, and how it failed its check.
struct Baseline {
    name: String,
    fault: Option<Fault>,
}

pub(super) fn run(context: &Context, task: &str, protocol: &str) -> Result<u8> {
    let task = load(context, task)?;
    let protocol = io::load_protocol(protocol)?;
    let failed = |context: &'static str| move |fault| Error::Fault { context: context.into(), fault };
    let mut lab = Lab::open(LabSetup {
        program: PathBuf::from("/proc/self/exe"),
        task: task.clone(),
        protocol,
        key: SessionKey::random().map_err(|source| Error::Unwritable { path: "a key".into(), source })?,
        compiler: Compiler::find(io::compiler_override().as_deref())?,
        interpreter: io::interpreter_for(&task)?,
        cells: Vec::new(),
        cancel: cancel_flag(),
        layers: io::layers()?,
    })
    .map_err(failed("failed to open the task"))?;
    let baselines = baselines(&mut lab, &task)?;
    let probes = lab.admission().map_err(failed("failed to probe the task"))?;
    let admitted = baselines.iter().all(|baseline| baseline.fault.is_none())
        && probes.iter().all(|probed| probed.refusal.is_some());
    context
        .output
        .result(&text(&task, &baselines, &probes, admitted), &summary(&task, &baselines, &probes, admitted))?;
    Ok(if admitted { 0 } else { exit::REFUSED })
}

/// A task by its id, or by its folder.
fn load(context: &Context, name: &str) -> Result<Task> {
    let folder = Path::new(name);
    if !folder.join("task.toml").is_file() {
        return context.tasks.load(name);
    }
    let path =
        folder.canonicalize().map_err(|error| Error::Unreadable { path: folder.into(), reason: error.to_string() })?;
    let id = path.file_name().and_then(|id| id.to_str()).unwrap_or_default();
    Tasks::new(path.parent().map(Path::to_owned)).load(id)
}

/// Every honest baseline must pass, the compiler's with every set of flags: reorderings of sums among them.
fn baselines(lab: &mut Lab, task: &Task) -> Result<Vec<Baseline>> {
    let protocol = lab.protocol().clone();
    let own = lab.interpreter().map(|interpreter| vec![interpreter.identity()]);
    let sets = |name: &'static str, sets: &[String]| -> Vec<(String, &'static str, String)> {
        let sets = own.as_deref().unwrap_or(sets);
        sets.iter().map(|flags| (format!("{name} {flags}"), name, flags.clone())).collect()
    };
    let mut all = sets("naive", protocol.build_naive_flags());
    all.extend(sets("compiler", protocol.build_compiler_flags()));
    let mut baselines = Vec::new();
    for (name, of, flags) in all {
        let checked = lab.build(task.baseline(of), &flags, &[]).and_then(|built| lab.check(built, &[]));
        let fault = match checked {
            Ok(_) => None,
            Err(fault) if fault.is_harness() => {
                return Err(Error::Fault { context: "failed to check a baseline".into(), fault });
            }
            Err(fault) => Some(fault),
        };
        baselines.push(Baseline { name, fault });
    }
    Ok(baselines)
}

fn text(task: &Task, baselines: &[Baseline], probes: &[Probed], admitted: bool) -> String {
    let id = &task.spec.id;
    let mut text = if admitted {
        format!("{id}: admitted\n")
    } else {
        format!("{id}: {}: {}\n", codes::TASK_WEAK, "refused, for the witnesses marked below")
    };
    text.push_str("\nhonest code must pass\n");
    for Baseline { name, fault } in baselines {
        let _ = match fault {
            None => writeln!(text, "  passes   {name}"),
            Some(fault) => writeln!(text, "! fails    {name}: {fault}"),
        };
    }
    text.push_str("\nwhat does not compute the task must fail, at every timed shape\n");
    for Probed { probe, shape, refusal } in probes {
        let _ = match refusal {
            Some(_) => writeln!(text, "  fails    {probe} ({shape})"),
            None => writeln!(text, "! passes   {probe} ({shape})"),
        };
    }
    text
}

fn summary(task: &Task, baselines: &[Baseline], probes: &[Probed], admitted: bool) -> Value {
    let honest: Vec<Value> = baselines
        .iter()
        .map(|Baseline { name, fault }| json!({ "baseline": name, "passes": fault.is_none(), "detail": fault.as_ref().map(ToString::to_string) }))
        .collect();
    let probes: Vec<Value> = probes
        .iter()
        .map(|Probed { probe, shape, refusal }| json!({ "probe": probe, "shape": shape, "fails": refusal.is_some(), "detail": refusal }))
        .collect();
    json!({
        "task": task.spec.id,
        "admitted": admitted,
        "code": (!admitted).then(|| codes::TASK_WEAK.to_string()),
        "honest": honest,
        "probes": probes,
    })
}
