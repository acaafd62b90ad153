//! The commands: each turns its arguments into work and returns the exit code.

mod admit;
mod anchor;
mod claim;
mod compare;
mod demo;
mod doctor;
mod documents;
mod ledger;
mod measure;
mod output;
mod quarantine;
mod register;
mod transfer;
mod tune;
mod verify;
mod zoo;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use atb_core::task::{Shape, Task};
use clap::CommandFactory as _;

use crate::cli::{ClaimCommand, Cli, Command};
use crate::error::{Error, Result};
use crate::io::Tasks;
use output::Output;

/// Runs a command and returns the process exit code.
pub fn run(cli: Cli) -> Result<u8> {
    atb_ledger::set_crash_hook(crate::io::crash_point);
    let Cli { command, json, tasks, quiet } = cli;
    let context = Context { output: Output::new(json), tasks: Tasks::new(tasks), quiet };
    match command {
        Command::Demo(args) => demo::run(&context, &args),
        Command::Tune(args) => tune::run(&context, args),
        Command::Measure(args) => measure::run(&context, &args),
        Command::Register(args) => register::run(&context, &args),
        Command::Compare(args) => compare::run(&context, &args),
        Command::Transfer(args) => transfer::run(&context, &args),
        Command::Verify(args) => verify::run(&context, &args),
        Command::Key { command } => ledger::key(&context, &command),
        Command::Checkpoint(args) => ledger::checkpoint(&context, &args),
        Command::Prove(args) => ledger::prove(&args),
        Command::Export(args) => ledger::export(&args),
        Command::Report(args) => tune::report_again(&context, &args),
        Command::Task { command } => documents::task(&context, &command),
        Command::Protocol { command } => documents::protocol(&context, &command),
        Command::Explain { code } => documents::explain(&context, code.as_deref()),
        Command::Anchor { command } => anchor::run(&context, &command),
        Command::Claim { command: ClaimCommand::Check { file } } => claim::check(&context, &file),
        Command::Quarantine { command } => quarantine::run(&context, &command),
        Command::Doctor { peaks: false } => doctor::run(&context),
        Command::Doctor { peaks: true } => doctor::peaks(&context),
        Command::Zoo(args) => zoo::run(&context, &args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "atb", &mut script);
            Output::text(&String::from_utf8_lossy(&script))
        }
        Command::Man => {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
            rendered.map_err(|source| Error::Unwritable { path: "the manual page".into(), source })?;
            Output::text(&String::from_utf8_lossy(&page))
        }
    }
}

/// What all commands share.
#[derive(Debug)]
pub(crate) struct Context {
    output: Output,
    tasks: Tasks,
    quiet: bool,
}

/// Sets the flag when the user presses Ctrl-C. The first press ends cleanly; a second one kills.
fn cancel_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Registered first, so that it sees the flag of an earlier press. Without handlers Ctrl-C still ends the program.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 18, flag.clone());
        let _ = signal_hook::flag::register(signal, flag.clone());
    }
    flag
}

/// The timed shapes that the user named, or all of the task.
fn timed_shapes(task: &Task, names: &[String]) -> Result<Vec<Shape>> {
    if names.is_empty() {
        return Ok(task.spec.timed().cloned().collect());
    }
    names
        .iter()
        .map(|name| {
            task.spec.shape(name).cloned().map(|shape| Shape { timed: true, ..shape }).ok_or_else(|| {
                let known = task.spec.shapes.iter().map(|shape| shape.name.as_str()).collect::<Vec<_>>().join(", ");
                Error::Usage {
                    message: format!("task {} has no shape `{name}`", task.spec.id),
                    remedy: format!("its public shapes are {known}"),
                }
            })
        })
        .collect()
}

/// A new folder's path: the given one, or one below atb-out that carries the time.
fn out_path(given: Option<&Path>, what: &str) -> PathBuf {
    given.map_or_else(
        || {
            let now = jiff::Timestamp::from_millisecond(atb_measure::sys::clock::wall_ms()).unwrap_or_default();
            PathBuf::from("atb-out").join(format!("{what}-{}", now.strftime("%Y%m%d-%H%M%S")))
        },
        Path::to_owned,
    )
}

/// All rows of a ledger, for reports.
fn ledger_rows(ledger: &atb_ledger::Ledger) -> Result<crate::report::LedgerRows> {
    Ok(crate::report::LedgerRows::of(ledger)?)
}
