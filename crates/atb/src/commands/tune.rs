//! `atb tune` and `atb report`.

use std::path::{Path, PathBuf};

use atb_core::entry::CampaignBody;
use atb_core::outcome::Outcome;
use atb_core::quantity::Seed;
use atb_ledger::{Chains, Ledger, Vouched};
use atb_measure::preflight::IfBusy;
use atb_propose::Proposer;
use atb_propose::deterministic::Deterministic;
use atb_propose::random::Random;

use super::ledger::covering;
use super::{Context, cancel_flag, out_path, timed_shapes};
use crate::campaign::{Campaign, Console, Plan, Registration, Settings};
use crate::cli::{ProposerName, ReportArgs, TuneArgs};
use crate::error::{Error, Result};
use crate::io::{self, Folder, Tasks, crash_point};
use crate::report::{self, CampaignReport};

pub(super) fn run(context: &Context, args: TuneArgs) -> Result<u8> {
    let (folder, settings) = match &args.resume {
        Some(dir) => {
            let folder = Folder::begun(dir)?;
            let settings = Settings::read(&folder)?;
            (folder, settings)
        }
        None => start(context, args)?,
    };
    // A folder of tasks may have moved; the task itself is compared by its digest.
    let tasks =
        if context.tasks.folder().is_some() { context.tasks.clone() } else { Tasks::new(settings.tasks.clone()) };
    let task = tasks.load(&settings.task)?;
    let plan = Plan {
        cells: timed_shapes(&task, &settings.shapes)?,
        protocol: io::load_protocol(&settings.protocol)?,
        task,
        folder,
        if_busy: if settings.exploratory { IfBusy::Explore } else { IfBusy::Refuse },
        quiet_wait_s: 0,
        cancel: cancel_flag(),
    };
    let plan = Plan { quiet_wait_s: plan.protocol.machine_quiet_wait_s(), ..plan };
    let proposer = proposer(&settings);
    let console = Console::new(context.quiet);
    let registration = registration(&settings);
    let mut campaign = if Campaign::is_registered(&plan.folder)? {
        Campaign::resume(plan, &registration, console)?
    } else {
        Campaign::register(plan, &registration, console)?
    };
    let worked = work(&mut campaign, proposer.as_ref());
    let ended = campaign.end(worked);
    let folder = campaign.folder().clone();
    let id = campaign.id().to_owned();
    drop(campaign);
    if let Err(error) = ended {
        let cancelled = matches!(&error, Error::Fault { fault, .. } if fault.outcome == Outcome::Cancelled);
        let kept = if cancelled { "ended by the user" } else { "stopped" };
        Console::new(context.quiet).line(&format!("{kept}; go on with: atb tune --resume {}", folder.path().display()));
        return Err(error);
    }
    publish(context, &folder, &[id])
}

/// Everything between the registration and the report.
pub(super) fn work(campaign: &mut Campaign, proposer: &dyn Proposer) -> Result<()> {
    let mut arms = campaign.baselines()?;
    campaign.search(proposer, &mut arms)?;
    campaign.report(&mut arms)
}

fn start(context: &Context, args: TuneArgs) -> Result<(Folder, Settings)> {
    let id = args.task.unwrap_or_default();
    let task = context.tasks.load(&id)?;
    timed_shapes(&task, &args.measuring.shape)?;
    io::load_protocol(&args.measuring.protocol)?;
    let points = task.space.as_ref().map_or(0, atb_core::task::Space::size) as u64;
    if points == 0 {
        return Err(Error::Usage {
            message: format!("task {id} has no search space"),
            remedy: "add space.toml and space.c to the task, or measure a file with `atb measure`".into(),
        });
    }
    let folder = Folder::create(&out_path(args.measuring.out.as_deref(), &id))?;
    let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let protocol = if io::SHIPPED.contains(&args.measuring.protocol.as_str()) {
        args.measuring.protocol
    } else {
        absolute(Path::new(&args.measuring.protocol)).display().to_string()
    };
    let settings = Settings {
        task: id,
        tasks: context.tasks.folder().map(absolute),
        protocol,
        proposer: match args.proposer {
            ProposerName::Deterministic => "deterministic".to_owned(),
            ProposerName::Random => "random".to_owned(),
        },
        seed: args.seed,
        iterations: args.iterations.unwrap_or(points),
        shapes: args.measuring.shape,
        exploratory: args.measuring.exploratory,
    };
    settings.write(&folder)?;
    Ok((folder, settings))
}

fn proposer(settings: &Settings) -> Box<dyn Proposer> {
    if settings.proposer == "random" {
        Box::new(Random::new(Seed::new(settings.seed)))
    } else {
        Box::new(Deterministic)
    }
}

fn registration(settings: &Settings) -> Registration {
    Registration {
        command: "tune",
        registration: String::new(),
        proposer: settings.proposer.clone(),
        seed: settings.seed,
        iterations: settings.iterations,
        hypothesis: "a candidate of the space is faster than the compiler baseline".to_owned(),
        stop_rule: format!("after {} candidates or when the space is exhausted", settings.iterations),
    }
}

/// Derives the report of campaigns from the ledger, writes the page, prints text or JSON, and returns the exit code.
pub(super) fn publish(context: &Context, folder: &Folder, campaigns: &[String]) -> Result<u8> {
    let rows = Chains::of(&Ledger::open_read_only(&folder.db())?)?;
    publish_rows(context, folder, &rows, campaigns, None)
}

/// The same of rows that were read, with what a signed checkpoint says of them.
fn publish_rows(
    context: &Context,
    folder: &Folder,
    rows: &Chains,
    campaigns: &[String],
    vouched: Option<&Vouched>,
) -> Result<u8> {
    let derived = campaigns.iter().map(|id| report::derive(rows, id));
    let mut reports = derived.collect::<std::result::Result<Vec<_>, _>>()?;
    if let Some(vouched) = vouched {
        for report in &mut reports {
            report.anchor_by(rows, vouched.checkpoint.size, vouched.evidence);
        }
    }
    let Some((first, also)) = reports.split_first() else {
        return Err(Error::Usage {
            message: "the ledger has no campaign".into(),
            remedy: "run `atb tune` or `atb demo`".into(),
        });
    };
    crash_point("report.before-page");
    let page = crate::page::render(first, also)?;
    io::write_durable(&folder.page(), page.as_bytes(), "page")?;
    let mut text = report::terminal::campaign(first, 80);
    for other in also {
        text.push('\n');
        text.push_str(&report::terminal::campaign(other, 80));
    }
    text = format!("{text}\nledger  {}\npage    {}\n", folder.db().display(), folder.page().display());
    let db = folder.db().display().to_string();
    let mut json = report::json::campaign(first, &db);
    if let Some(object) = json.as_object_mut() {
        let also: Vec<_> = also.iter().map(|other| report::json::campaign(other, &db)).collect();
        object.insert("also".to_owned(), also.into());
    }
    context.output.result(&text, &json)?;
    Ok(exit_code(first))
}

/// The exit code of a campaign's outcome.
pub(super) fn exit_code(report: &CampaignReport) -> u8 {
    report.outcome().exit_code()
}

pub(super) fn report_again(context: &Context, args: &ReportArgs) -> Result<u8> {
    let folder = Folder::open(&args.dir)?;
    let ledger = Ledger::open_read_only(&folder.db())?;
    let campaigns: Vec<String> = ledger.bodies::<CampaignBody>()?.into_iter().map(|stored| stored.body.id).collect();
    let rows = Chains::of(&ledger)?;
    drop(ledger);
    let trust = super::verify::trust(&args.trust)?;
    let read = |path: &PathBuf| covering(path, &trust, &rows, &folder.db());
    let vouched = args.checkpoint.as_ref().map(read).transpose()?;
    publish_rows(context, &folder, &rows, &campaigns, vouched.as_ref())?;
    Ok(0)
}
