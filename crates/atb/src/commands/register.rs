//! `atb register`: checks a registration, measures what it can see, and writes it before any run of it.

use std::path::{Path, PathBuf};

use atb_core::canon::Digest;
use atb_core::codes;
use atb_core::entry::{
    AbandonBody, BlockBody, CampaignBody, Chain, CloseBody, FORMAT, Phase, RegisteredArmBody, RegistrationBody, Role,
    SessionBody,
};
use atb_core::outcome::{Inconclusive, Outcome};
use atb_core::protocol::Protocol;
use atb_core::registration::{self, ArmSource, DELIVERY, LADDER, Power, READOUT, Registration, SAME_MAX_MS, STOP};
use atb_core::task::{Shape, Task};
use atb_ledger::{Admitted, IngestError, Ledger, Stored};
use atb_measure::fingerprint;
use atb_measure::preflight::IfBusy;
use atb_measure::sys::clock;
use serde_json::json;

use super::output::Output;
use super::{Context, cancel_flag, ledger_rows, timed_shapes};
use crate::campaign::{self, Campaign, Console, Plan};
use crate::cli::RegisterArgs;
use crate::error::{Error, Result, exit};
use crate::io::{self, Folder};
use crate::report;

/// A commented registration file.
const EXAMPLE: &str = include_str!("../../templates/registration.toml");

/// Where registrations go unless a folder is named.
pub(super) fn folder_path(out: Option<&Path>) -> PathBuf {
    out.map_or_else(|| PathBuf::from("atb-out").join("registered"), Path::to_owned)
}

pub(super) fn run(context: &Context, args: &RegisterArgs) -> Result<u8> {
    let out = folder_path(args.out.as_deref());
    match (&args.file, &args.abandon) {
        _ if args.example => Output::text(EXAMPLE),
        _ if args.list => list(context, &out),
        (_, Some(id)) => abandon(context, &out, id, args.reason.as_deref().unwrap_or_default()),
        (Some(file), None) => register(context, file, &out, args.exploratory),
        (None, None) => Err(Error::Usage {
            message: "nothing is registered".into(),
            remedy: "name a registration file; `atb register --example` prints one".into(),
        }),
    }
}

/// A registration file with what it names.
struct Question {
    file: Registration,
    task: Task,
    protocol: Protocol,
    cells: Vec<Shape>,
    /// Texts of control and treatment.
    texts: [String; 2],
}

impl Question {
    fn read(context: &Context, path: &Path) -> Result<Self> {
        let text = io::read_text(path)?;
        let name = path.display().to_string();
        let (task, protocol) = registration::names(&name, &text)?;
        let task = context.tasks.load(&task)?;
        let beside = path.parent().unwrap_or(Path::new("."));
        let shipped = io::SHIPPED.contains(&protocol.as_str());
        let protocol = if shipped { protocol } else { beside.join(protocol).display().to_string() };
        let protocol = io::load_protocol(&protocol)?;
        let file = Registration::parse(&name, &text, &protocol)?;
        let cells = timed_shapes(&task, &file.shapes)?;
        let texts = [arm_text(&file.control, &task, beside)?, arm_text(&file.treatment, &task, beside)?];
        if texts[0] == texts[1] {
            let message =
                format!("{name}: {}: both arms are the same source, so nothing would be compared", codes::REGISTRATION);
            let remedy = "name the code that the hypothesis is about as the treatment".into();
            return Err(Error::Registered { message, remedy, exit: exit::USAGE });
        }
        Ok(Self { file, task, protocol, cells, texts })
    }

    fn shapes(&self) -> Vec<String> {
        self.cells.iter().map(|shape| shape.name.clone()).collect()
    }

    /// The row, resting on an A/A block.
    fn body(&self, same: &Stored<BlockBody>, power: &Power) -> Result<RegistrationBody> {
        let arm = |role, source: &ArmSource, text: &str| RegisteredArmBody {
            role,
            kind: source.kind().to_owned(),
            source: Digest::of(text.as_bytes()),
        };
        let Registration { control, treatment, levels: [delta, confidence, confidence_equivalence], .. } =
            self.file.clone();
        Ok(RegistrationBody {
            format: FORMAT,
            id: campaign::random_id()?,
            digest: self.file.digest(),
            hypothesis: self.file.hypothesis.clone(),
            why: self.file.why.clone(),
            task: self.task.digest(),
            task_id: self.task.spec.id.clone(),
            protocol: self.protocol.digest(),
            shapes: self.shapes(),
            arms: vec![arm(Role::Control, &control, &self.texts[0]), arm(Role::Treatment, &treatment, &self.texts[1])],
            pairs: self.file.pairs,
            min_pairs: self.file.min_pairs,
            readout: READOUT.to_owned(),
            ladder: LADDER.to_owned(),
            delta,
            confidence,
            confidence_equivalence,
            delivery: DELIVERY.to_owned(),
            stop_rule: STOP.to_owned(),
            machine: fingerprint::machine().fingerprint,
            harness: fingerprint::program(),
            same: u64::try_from(same.seq).unwrap_or(0),
            mde: power.written.clone(),
            underpowered: self.file.underpowered.clone(),
        })
    }
}

fn arm_text(source: &ArmSource, task: &Task, beside: &Path) -> Result<String> {
    match source {
        ArmSource::File(path) => io::read_text(&beside.join(path)),
        ArmSource::Baseline(role) => {
            let text = campaign::baseline_text(task, role.name());
            if text.is_empty() {
                return Err(Error::Usage {
                    message: format!("task {} has no {role} baseline", task.spec.id),
                    remedy: "name another baseline, or a file".into(),
                });
            }
            Ok(text.to_owned())
        }
    }
}

fn register(context: &Context, path: &Path, out: &Path, exploratory: bool) -> Result<u8> {
    let question = Question::read(context, path)?;
    let folder = Folder::open_or_create(out)?;
    for text in &question.texts {
        folder.keep_candidate(text)?;
    }
    let console = Console::new(context.quiet);
    let mut same = find_same(&folder, &question)?;
    if same.is_none() {
        console.line("no A/A block of this machine, task, shapes and protocol within 7 days: measuring one");
        measure_same(&folder, &question, Console::new(context.quiet), exploratory)?;
        same = find_same(&folder, &question)?;
    }
    let Some(same) = same else {
        let noise = Outcome::Inconclusive(Inconclusive::Noise);
        return Err(Error::Registered {
            message: format!(
                "{}: the A/A block was refused for noise twice, or no session counted, so what could be seen is unknown",
                codes::SAME_BLOCK
            ),
            remedy: "quiet the machine and register again; nothing was registered".into(),
            exit: noise.exit_code(),
        });
    };
    let power = registration::power(&same.body, question.file.pairs, &question.protocol)?;
    let body = question.body(&same, &power)?;
    let mut ledger = Ledger::open(&folder.db())?;
    let row = ledger.append(&body, clock::wall_ms()).map_err(|error| explain(error, &body, &power))?;
    let head = ledger.head(Chain::Entry)?;
    announce(context, &folder, &body, &row, &power, &head)
}

/// The newest A/A block that a registration of the question may rest on.
fn find_same(folder: &Folder, question: &Question) -> Result<Option<Stored<BlockBody>>> {
    let db = folder.db();
    if !db.exists() {
        return Ok(None);
    }
    let ledger = Ledger::open_read_only(&db)?;
    let machine = fingerprint::machine().fingerprint;
    let campaigns = ledger.bodies::<CampaignBody>()?;
    let sessions = ledger.bodies::<SessionBody>()?;
    let (task, protocol, shapes) = (question.task.digest(), question.protocol.digest(), question.shapes());
    let fits = |stored: &Stored<BlockBody>| {
        let block = &stored.body;
        block.phase == Phase::Same
            && (block.task, block.protocol) == (task, protocol)
            && clock::wall_ms() - stored.at_ms <= SAME_MAX_MS
            && campaigns.iter().any(|campaign| campaign.body.id == block.campaign && campaign.body.shapes == shapes)
            && sessions.iter().any(|of| of.body.id == block.session && of.body.machine.fingerprint == machine)
    };
    Ok(ledger.bodies::<BlockBody>()?.into_iter().rfind(fits))
}

fn measure_same(folder: &Folder, question: &Question, console: Console, exploratory: bool) -> Result<()> {
    let plan = Plan {
        folder: folder.clone(),
        quiet_wait_s: question.protocol.machine_quiet_wait_s(),
        task: question.task.clone(),
        protocol: question.protocol.clone(),
        cells: question.cells.clone(),
        if_busy: if exploratory { IfBusy::Explore } else { IfBusy::Refuse },
        cancel: cancel_flag(),
    };
    let registration = campaign::Registration {
        command: "self",
        registration: String::new(),
        proposer: "none".to_owned(),
        seed: 0,
        iterations: 1,
        hypothesis: "the compiler baseline takes as long as itself".to_owned(),
        stop_rule: "one A/A block".to_owned(),
    };
    let mut campaign = Campaign::register(plan, &registration, console)?;
    let worked = campaign.baselines().and_then(|arms| campaign.same(&arms).map(drop));
    campaign.end(worked)
}

/// What the ledger's refusal of a registration means. The refused row is on record.
fn explain(error: IngestError, body: &RegistrationBody, power: &Power) -> Error {
    match error {
        IngestError::Refused { code, .. } if code == codes::UNDERPOWERED => {
            let needed = power.needed.map_or_else(
                || "no practical number of pairs would do".to_owned(),
                |pairs| format!("{pairs} pairs would do"),
            );
            let (mde, delta, pairs) = (&body.mde, &body.delta, body.pairs);
            Error::Registered {
                message: format!(
                    "{code}: the registration is underpowered: {pairs} pairs show effects of {mde} and more on this machine (A/A block: \
                     entry {}), delta is {delta}; {needed}",
                    body.same
                ),
                remedy: "register more pairs, quiet the machine, or write `underpowered = \"accept: REASON\"`".into(),
                exit: exit::REFUSED,
            }
        }
        error => error.into(),
    }
}

fn announce(
    context: &Context,
    folder: &Folder,
    body: &RegistrationBody,
    row: &Admitted,
    power: &Power,
    head: &(u64, String),
) -> Result<u8> {
    let checkpoint = format!("atb checkpoint: entry {}, head {}", head.0, head.1);
    let accepted = match body.underpowered.as_str() {
        "" => String::new(),
        text => format!("underpowered  {text}\n"),
    };
    let spread = power.spread.get() * 100.0;
    let text = format!(
        "registered    {}\nentry         {}, hash {}\nfile          {}\ndetectable    {} with {} pairs; delta {}; scatter {spread:.3} % in the A/A \
         block, entry {}\n{accepted}\npublish this line, so that nobody can doubt the order:\n  {checkpoint}\nthen run:\n  atb compare \
         --registration {} --out {}\n",
        body.id,
        row.seq(),
        row.hash(),
        body.digest,
        body.mde,
        body.pairs,
        body.delta,
        body.same,
        body.id,
        folder.path().display()
    );
    let json = json!({
        "registration": body.id,
        "entry": row.seq(),
        "hash": row.hash(),
        "digest": body.digest.to_string(),
        "checkpoint": { "entry": head.0, "head": head.1 },
        "task": body.task_id,
        "pairs": body.pairs,
        "delta": report::json::decimal(&body.delta),
        "mde": report::json::decimal(&body.mde),
        "pairs_needed": power.needed,
        "same": body.same,
        "underpowered": body.underpowered,
        "db": folder.db().display().to_string(),
    });
    context.output.result(&text, &json)
}

fn list(context: &Context, out: &Path) -> Result<u8> {
    let folder = Folder::open(out)?;
    let registrations = report::registrations(&ledger_rows(&Ledger::open_read_only(&folder.db())?)?)?;
    let lines: Vec<String> = registrations.iter().map(report::RegistrationReport::line).collect();
    let text = if lines.is_empty() { "no registration\n".to_owned() } else { lines.join("\n") + "\n" };
    context.output.result(&text, &json!({ "registrations": report::json::registrations(&registrations) }))
}

/// The registration with this id, or with the only id that begins so.
pub(super) fn find(ledger: &Ledger, id: &str) -> Result<RegistrationBody> {
    let mut found = ledger.bodies::<RegistrationBody>()?;
    found.retain(|stored| !id.is_empty() && stored.body.id.starts_with(id));
    match (found.pop(), found.is_empty()) {
        (Some(stored), true) => Ok(stored.body),
        (one, _) => {
            let what = if one.is_some() { "several registrations begin" } else { "no registration begins" };
            Err(Error::Registered {
                message: format!("{}: {what} with `{id}` in {}", codes::UNKNOWN_REGISTRATION, ledger.path().display()),
                remedy: "see `atb register --list --out DIR`".into(),
                exit: exit::USAGE,
            })
        }
    }
}

/// Ends a registration without a result, and the campaign that was to answer it.
fn abandon(context: &Context, out: &Path, id: &str, reason: &str) -> Result<u8> {
    let folder = Folder::begun(out)?;
    let mut ledger = Ledger::open(&folder.db())?;
    let body = find(&ledger, id)?;
    let known = ledger.bodies::<AbandonBody>()?.into_iter().any(|stored| stored.body.registration == body.id);
    if !known {
        let abandoned = AbandonBody { format: FORMAT, registration: body.id.clone(), reason: reason.to_owned() };
        ledger.append(&abandoned, clock::wall_ms())?;
    }
    let closed: Vec<String> = ledger.bodies::<CloseBody>()?.into_iter().map(|stored| stored.body.campaign).collect();
    let mut campaigns = ledger.bodies::<CampaignBody>()?.into_iter().map(|stored| stored.body);
    let open = campaigns.find(|campaign| campaign.registration == body.id && !closed.contains(&campaign.id));
    if let Some(campaign) = open {
        campaign::close(&mut ledger, &folder, &campaign.id, "abandoned")?;
    }
    context
        .output
        .result(&format!("abandoned {}\n", body.id), &json!({ "registration": body.id, "standing": "abandoned" }))
}
