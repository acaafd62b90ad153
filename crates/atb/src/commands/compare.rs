//! `atb compare`: runs a registered comparison, and nothing that was not registered.

use atb_core::codes;
use atb_core::entry::{AbandonBody, CampaignBody, CloseBody, ProtocolBody, RegistrationBody};
use atb_core::protocol::Protocol;
use atb_ledger::Ledger;
use atb_measure::fingerprint;
use atb_measure::preflight::IfBusy;

use super::{Context, cancel_flag, ledger_rows, register, timed_shapes, tune};
use crate::campaign::{Campaign, Console, Plan, Registration};
use crate::cli::CompareArgs;
use crate::error::{Error, Result, exit};
use crate::io::{self, Folder};
use crate::report;

pub(super) fn run(context: &Context, args: &CompareArgs) -> Result<u8> {
    let folder = Folder::begun(&register::folder_path(args.out.as_deref()))?;
    let ledger = Ledger::open_read_only(&folder.db())?;
    let registered = register::find(&ledger, &args.registration)?;
    let begun = standing(&ledger, &registered)?;
    let plan = plan(context, &ledger, &registered, folder.clone(), args.exploratory)?;
    drop(ledger);
    let registration = Registration {
        command: "compare",
        registration: registered.id.clone(),
        proposer: "registered".to_owned(),
        seed: 0,
        iterations: registered.pairs,
        hypothesis: registered.hypothesis.clone(),
        stop_rule: format!("one block of {} pairs", registered.pairs),
    };
    let console = Console::new(context.quiet);
    let mut campaign = if begun {
        Campaign::resume(plan, &registration, console)?
    } else {
        Campaign::register(plan, &registration, console)?
    };
    let worked = campaign.baselines().and_then(|arms| campaign.compare(&registered, &arms));
    let id = campaign.id().to_owned();
    let ended = campaign.end(worked);
    drop(campaign);
    if let Err(error) = ended {
        let line =
            format!("go on with: atb compare --registration {} --out {}", registered.id, folder.path().display());
        Console::new(context.quiet).line(&line);
        return Err(error);
    }
    let rows = ledger_rows(&Ledger::open_read_only(&folder.db())?)?;
    let derived = report::derive(&rows, &id)?;
    io::write_durable(&folder.page(), crate::page::render(&derived, &[])?.as_bytes(), "page")?;
    let text = format!("{}\nledger  {}\n", report::terminal::campaign(&derived, 80), folder.db().display());
    context.output.result(&text, &report::json::comparison(&derived, &folder.db().display().to_string()))?;
    Ok(tune::exit_code(&derived))
}

/// True if the comparison was begun and can be gone on with; an error if the registration is spent.
fn standing(ledger: &Ledger, registered: &RegistrationBody) -> Result<bool> {
    let id = &registered.id;
    let spent = |how: String| Error::Registered {
        message: format!("{}: registration {id} is {how}", codes::REGISTRATION_SPENT),
        remedy: "register the question again, saying why; the first answer stays on record".into(),
        exit: exit::REFUSED,
    };
    if ledger.bodies::<AbandonBody>()?.iter().any(|stored| stored.body.registration == *id) {
        return Err(spent("abandoned".to_owned()));
    }
    let campaigns = ledger.bodies::<CampaignBody>()?;
    let Some(campaign) = campaigns.iter().find(|stored| stored.body.registration == *id) else { return Ok(false) };
    let closed = ledger.bodies::<CloseBody>()?.iter().any(|stored| stored.body.campaign == campaign.body.id);
    if closed { Err(spent(format!("finished: campaign {}", campaign.body.id))) } else { Ok(true) }
}

/// What was registered, loaded again; an error names what differs.
fn plan(
    context: &Context,
    ledger: &Ledger,
    registered: &RegistrationBody,
    folder: Folder,
    exploratory: bool,
) -> Result<Plan> {
    let task = context.tasks.load(&registered.task_id)?;
    let differs = [
        ("task", registered.task, task.digest()),
        ("machine", registered.machine, fingerprint::machine().fingerprint),
        ("program", registered.harness, fingerprint::program()),
    ];
    if let Some((what, was, is)) = differs.into_iter().find(|(_, was, is)| was != is) {
        return Err(Error::Registered {
            message: format!(
                "{}: the {what} is not the registered one: {} was registered, this is {}",
                codes::NOT_AS_REGISTERED,
                was.short(),
                is.short()
            ),
            remedy:
                "restore it (the same --tasks folder, machine and atb), or abandon the registration and register anew"
                    .into(),
            exit: exit::REFUSED,
        });
    }
    let protocols = ledger.bodies::<ProtocolBody>()?;
    let protocol = protocols.iter().find(|stored| stored.body.digest == registered.protocol);
    let protocol = protocol.map(|stored| Protocol::from_json("ledger", &stored.body.protocol)).transpose()?;
    let protocol = protocol.ok_or(report::ReportError::NoProtocol { digest: registered.protocol })?;
    Ok(Plan {
        folder,
        quiet_wait_s: protocol.machine_quiet_wait_s(),
        cells: timed_shapes(&task, &registered.shapes)?,
        task,
        protocol,
        if_busy: if exploratory { IfBusy::Explore } else { IfBusy::Refuse },
        cancel: cancel_flag(),
    })
}
