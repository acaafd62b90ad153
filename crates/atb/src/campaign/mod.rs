//! A campaign: one task, one protocol, one folder with its ledger. Everything that is decided is in the ledger, so a campaign
//! that was killed goes on from its rows.

mod baselines;
mod block;
mod comparison;
mod console;
mod gates;
mod probe;
mod search;
mod session;
mod settings;

pub use baselines::Arms;
pub use block::BlockEnd;
pub use comparison::baseline_text;
pub use console::Console;
pub use probe::ProbeEnd;
pub use settings::Settings;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use atb_core::canon::Digest;
use atb_core::entry::{
    Body, CampaignBody, CandidateBody, Chain, CloseBody, FORMAT, FaultBody, FileBody, KeyBody, Phase, ProtocolBody,
    SessionBody, TaskBody,
};
use atb_core::protocol::Protocol;
use atb_core::task::{Shape, Task};
use atb_ledger::{Admitted, Ledger};
use atb_measure::fault::Fault;
use atb_measure::lab::Lab;
use atb_measure::preflight::IfBusy;
use atb_measure::sys::clock;

use crate::error::{Error, Result};
use crate::io::Folder;

/// The commands whose campaigns can be resumed.
const RESUMABLE: [&str; 2] = ["tune", "compare"];

/// What a campaign is made from.
#[derive(Debug)]
pub struct Plan {
    /// Its folder.
    pub folder: Folder,
    /// The task.
    pub task: Task,
    /// The protocol.
    pub protocol: Protocol,
    /// Timed shapes to use.
    pub cells: Vec<Shape>,
    /// What to do on a busy machine.
    pub if_busy: IfBusy,
    /// Seconds to wait for a quiet machine.
    pub quiet_wait_s: u64,
    /// Set by Ctrl-C.
    pub cancel: Arc<AtomicBool>,
}

/// What is registered before the first run.
#[derive(Debug, Clone)]
pub struct Registration {
    /// `tune`, `demo`, `measure`, `self` or `compare`.
    pub command: &'static str,
    /// Id of the registration that a `compare` runs; empty for the others.
    pub registration: String,
    /// Proposer id.
    pub proposer: String,
    /// Seed of the proposer.
    pub seed: u64,
    /// Candidates that may be proposed.
    pub iterations: u64,
    /// What is compared with what.
    pub hypothesis: String,
    /// When it ends.
    pub stop_rule: String,
}

/// A running campaign.
#[derive(Debug)]
pub struct Campaign {
    plan: Plan,
    ledger: Ledger,
    body: CampaignBody,
    console: Console,
    lab: Option<Lab>,
    session: Option<SessionBody>,
    session_started_ms: i64,
    used_index: [u64; Phase::ALL.len()],
    fingerprints: gates::Fingerprints,
}

impl Campaign {
    /// Opens or makes the folder's ledger and registers a new campaign.
    pub fn register(plan: Plan, registration: &Registration, console: Console) -> Result<Self> {
        let (least, shapes) = (plan.protocol.correctness_shapes_min(), plan.task.spec.shapes.len() as u64);
        if shapes < least {
            return Err(usage(
                format!("task {} has {shapes} public shapes, the protocol asks for {least}", plan.task.spec.id),
                "add shapes to task.toml",
            ));
        }
        let db = plan.folder.db();
        let mut ledger = if db.exists() { Ledger::open(&db)? } else { Ledger::create(&db)? };
        let protocol = ProtocolBody {
            format: FORMAT,
            digest: plan.protocol.digest(),
            id: plan.protocol.id().to_owned(),
            protocol: plan.protocol.to_json(),
        };
        append_once(&mut ledger, &protocol)?;
        let file = |(name, digest): (&str, Digest)| FileBody { name: name.to_owned(), digest };
        let task = TaskBody {
            format: FORMAT,
            digest: plan.task.digest(),
            id: plan.task.spec.id.clone(),
            unit: plan.task.spec.unit,
            files: plan.task.file_digests().into_iter().map(file).collect(),
        };
        append_once(&mut ledger, &task)?;
        let body = CampaignBody {
            format: FORMAT,
            id: random_id()?,
            command: registration.command.to_owned(),
            registration: registration.registration.clone(),
            task: task.digest,
            task_id: task.id.clone(),
            protocol: protocol.digest,
            proposer: registration.proposer.clone(),
            seed: registration.seed,
            iterations: registration.iterations,
            shapes: plan.cells.iter().map(|shape| shape.name.clone()).collect(),
            hypothesis: registration.hypothesis.clone(),
            readout: "median window time per run; Hodges-Lehmann ratio over pairs of runs".to_owned(),
            stop_rule: registration.stop_rule.clone(),
        };
        let row = ledger.append(&body, clock::wall_ms())?;
        console.line(&format!("registered campaign {} as entry {} ({})", body.id, row.seq(), row.hash()));
        Ok(Self::new(plan, ledger, body, console))
    }

    /// True if a folder's ledger is there and holds a campaign; a kill may have come before either.
    pub fn is_registered(folder: &Folder) -> Result<bool> {
        let db = folder.db();
        Ok(db.exists() && !bodies::<CampaignBody>(&Ledger::open_read_only(&db)?)?.is_empty())
    }

    /// Goes on with the open campaign of a folder. It must be the registered one in everything that decides what is proposed and measured.
    pub fn resume(plan: Plan, registration: &Registration, console: Console) -> Result<Self> {
        let ledger = Ledger::open(&plan.folder.db())?;
        let closed: Vec<String> = bodies::<CloseBody>(&ledger)?.into_iter().map(|close| close.campaign).collect();
        let mut campaigns = bodies::<CampaignBody>(&ledger)?;
        let asked = (registration.command, registration.registration.as_str());
        let mine = |campaign: &CampaignBody| (campaign.command.as_str(), campaign.registration.as_str()) == asked;
        campaigns.retain(|campaign| !closed.contains(&campaign.id) && mine(campaign));
        let Some(body) = campaigns.pop() else {
            return Err(usage(
                format!("{} has no open campaign", plan.folder.path().display()),
                "print its report with `atb report DIR`, or start a new campaign",
            ));
        };
        if body.task != plan.task.digest() || body.protocol != plan.protocol.digest() {
            return Err(usage(
                "the task or the protocol has changed since the campaign was registered".to_owned(),
                "use the same atb and the same --tasks folder, or start a new campaign",
            ));
        }
        let shapes: Vec<&str> = plan.cells.iter().map(|shape| shape.name.as_str()).collect();
        let asked = (registration.proposer.as_str(), registration.seed, registration.iterations, shapes);
        let registered: Vec<&str> = body.shapes.iter().map(String::as_str).collect();
        if asked != (body.proposer.as_str(), body.seed, body.iterations, registered) {
            return Err(usage(
                format!("{} is not how the campaign was registered", plan.folder.settings().display()),
                "restore its proposer, seed, iterations and shapes, or start a new campaign",
            ));
        }
        console.line(&format!("resuming campaign {}", body.id));
        Ok(Self::new(plan, ledger, body, console))
    }

    fn new(plan: Plan, ledger: Ledger, body: CampaignBody, console: Console) -> Self {
        Self {
            plan,
            ledger,
            body,
            console,
            lab: None,
            session: None,
            session_started_ms: 0,
            used_index: [0; Phase::ALL.len()],
            fingerprints: gates::Fingerprints::new(),
        }
    }

    /// True if the campaign can be gone on with after it was interrupted.
    fn is_resumable(&self) -> bool {
        RESUMABLE.contains(&self.body.command.as_str())
    }

    /// The campaign's id.
    pub fn id(&self) -> &str {
        &self.body.id
    }

    /// Its folder.
    pub fn folder(&self) -> &Folder {
        &self.plan.folder
    }

    /// Where progress goes.
    pub fn console(&self) -> &Console {
        &self.console
    }

    fn append<B: Body>(&mut self, body: &B) -> Result<Admitted> {
        Ok(self.ledger.append(body, clock::wall_ms())?)
    }

    /// Bodies of a kind that belong to this campaign.
    fn mine<B: Body>(&self, campaign: impl Fn(&B) -> &str) -> Result<Vec<B>> {
        let mut all = bodies::<B>(&self.ledger)?;
        all.retain(|body| campaign(body) == self.body.id);
        Ok(all)
    }

    fn candidates(&self) -> Result<Vec<CandidateBody>> {
        self.mine(|candidate: &CandidateBody| candidate.campaign.as_str())
    }

    /// Records a proposed candidate and keeps its text.
    pub fn record_candidate(&mut self, text: &str, body: &CandidateBody) -> Result<()> {
        self.plan.folder.keep_candidate(text)?;
        self.append(body).map(drop)
    }

    /// Records that a candidate ended before it was measured. A fault of the harness is not the candidate's and ends the command.
    pub fn record_fault(&mut self, candidate: Digest, fault: &Fault) -> Result<()> {
        if fault.is_harness() {
            return Err(Error::Fault { context: "the harness failed".into(), fault: fault.clone() });
        }
        let body = FaultBody {
            format: FORMAT,
            campaign: self.body.id.clone(),
            candidate,
            outcome: fault.outcome.name().to_owned(),
            code: fault.outcome.code().map(|code| code.to_string()).unwrap_or_default(),
            detail: fault.detail.clone(),
        };
        self.append(&body).map(drop)
    }

    /// Closes the campaign and reveals its session keys.
    pub fn close(&mut self, reason: &str) -> Result<()> {
        close(&mut self.ledger, &self.plan.folder, &self.body.id, reason)
    }
}

/// Closes a campaign of a folder and reveals its session keys.
pub fn close(ledger: &mut Ledger, folder: &Folder, campaign: &str, reason: &str) -> Result<()> {
    let mut keys = Vec::new();
    for session in bodies::<SessionBody>(ledger)?.into_iter().filter(|session| session.campaign == campaign) {
        keys.push(KeyBody { key: folder.read_key(&session.id)?, session: session.id });
    }
    let (gates, gates_head) = ledger.head(Chain::Gate)?;
    let (refusals, refusals_head) = ledger.head(Chain::Refusal)?;
    let (campaign, reason) = (campaign.to_owned(), reason.to_owned());
    let body = CloseBody { format: FORMAT, campaign, reason, keys, gates, gates_head, refusals, refusals_head };
    ledger.append(&body, clock::wall_ms())?;
    Ok(())
}

/// All bodies of a kind.
fn bodies<B: Body>(ledger: &Ledger) -> Result<Vec<B>> {
    Ok(ledger.bodies::<B>()?.into_iter().map(|stored| stored.body).collect())
}

/// Appends a body unless its key is there already.
fn append_once<B: Body>(ledger: &mut Ledger, body: &B) -> Result<()> {
    let known = ledger.bodies::<B>()?.into_iter().any(|stored| stored.body.key() == body.key());
    if !known {
        ledger.append(body, clock::wall_ms())?;
    }
    Ok(())
}

fn usage(message: String, remedy: &str) -> Error {
    Error::Usage { message, remedy: remedy.to_owned() }
}

/// A random id of 16 hexadecimal digits.
pub fn random_id() -> Result<String> {
    let mut bytes = [0; 8];
    clock::random_bytes(&mut bytes).map_err(|source| Error::Unwritable { path: "a random id".into(), source })?;
    Ok(format!("{:016x}", u64::from_be_bytes(bytes)))
}
