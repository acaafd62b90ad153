//! `atb measure`.

use std::path::{Path, PathBuf};

use atb_core::task::{Language, Task};
use atb_ledger::{Chains, Ledger};
use atb_measure::preflight::IfBusy;

use super::{Context, cancel_flag, timed_shapes, tune};
use crate::campaign::{Campaign, Console, Plan, Registration};
use crate::cli::MeasureArgs;
use crate::error::{Error, Result};
use crate::io::{self, Folder};
use crate::report;

pub(super) fn run(context: &Context, args: &MeasureArgs) -> Result<u8> {
    let task = context.tasks.load(&args.task)?;
    let cells = timed_shapes(&task, &args.measuring.shape)?;
    let protocol = io::load_protocol(&args.measuring.protocol)?;
    require_language(&args.candidate, &task)?;
    let text = io::read_text(&args.candidate)?;
    let default = || PathBuf::from("atb-out").join(format!("measure-{}", args.task));
    let folder = Folder::open_or_create(&args.measuring.out.clone().unwrap_or_else(default))?;
    let plan = Plan {
        folder,
        quiet_wait_s: protocol.machine_quiet_wait_s(),
        task,
        protocol,
        cells,
        if_busy: if args.measuring.exploratory { IfBusy::Explore } else { IfBusy::Refuse },
        cancel: cancel_flag(),
    };
    let registration = Registration {
        command: "measure",
        registration: String::new(),
        proposer: "file".to_owned(),
        seed: 0,
        iterations: 1,
        hypothesis: "the file is faster than the fastest baseline".to_owned(),
        stop_rule: "one PROBE block".to_owned(),
    };
    let mut campaign = Campaign::register(plan, &registration, Console::new(context.quiet))?;
    let worked = campaign.baselines().and_then(|arms| campaign.probe(&text, "a file", &arms).map(drop));
    campaign.end(worked)?;
    let (folder, id) = (campaign.folder().clone(), campaign.id().to_owned());
    drop(campaign);
    let rows = Chains::of(&Ledger::open_read_only(&folder.db())?)?;
    let derived = report::derive(&rows, &id)?;
    io::write_durable(&folder.page(), crate::page::render(&derived, &[])?.as_bytes(), "page")?;
    let text = format!("{}\nledger  {}\n", report::terminal::campaign(&derived, 80), folder.db().display());
    context.output.result(&text, &report::json::probe(&derived))?;
    Ok(tune::exit_code(&derived))
}

/// Refuses a file whose name says that it is in another language than the task's; any other name may hold any language.
fn require_language(candidate: &Path, task: &Task) -> Result<()> {
    let suffix = candidate.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let other = [Language::C, Language::Python].into_iter().find(|language| &language.suffix()[1..] == suffix);
    match other {
        Some(other) if other != task.spec.language => Err(Error::Usage {
            message: format!(
                "{} is a {other:?} file, and candidates of {} are in {:?}",
                candidate.display(),
                task.spec.id,
                task.spec.language
            ),
            remedy: format!("see `atb task show {} --file {}` for a starting point", task.spec.id, task.spec.editable),
        }),
        _ => Ok(()),
    }
}
