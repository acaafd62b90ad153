//! Sessions: a lab with a fresh key, opened when needed and replaced when it grows too old.

use std::path::PathBuf;

use atb_core::codes;
use atb_core::entry::{FORMAT, SessionBody, key_commitment};
use atb_core::outcome::Outcome;
use atb_measure::build::Compiler;
use atb_measure::fault::Fault;
use atb_measure::fingerprint;
use atb_measure::isolation::Isolation;
use atb_measure::lab::{Lab, LabSetup, SessionKey};
use atb_measure::preflight::IfBusy;
use atb_measure::sys::clock;

use super::{Arms, Campaign, random_id};
use crate::error::{Error, Result};
use crate::io;
use crate::report::failed_clock;

/// Minutes before a session's end after which no new block starts in it.
const MARGIN_MIN: u64 = 10;
/// Sessions of a campaign that are opened in a row until the clock's controls of one hold.
const ATTEMPTS: usize = 3;

impl Campaign {
    /// True if the session is missing or too old for another block.
    fn needs_session(&self) -> bool {
        let age_ms = clock::wall_ms() - self.session_started_ms;
        let limit = self.plan.protocol.session_minutes_max().saturating_sub(MARGIN_MIN).max(1) * 60_000;
        self.session.is_none() || u64::try_from(age_ms).is_ok_and(|age| age > limit)
    }

    /// Opens a session if none is open or the open one is too old. Only with its baselines can blocks cite it.
    ///
    /// A session whose clock controls fail stays on record, is void, and another is opened: nothing was measured in it.
    pub(super) fn ensure_session(&mut self) -> Result<()> {
        if !self.needs_session() {
            return Ok(());
        }
        // Those on record count, also across kills.
        let opened = self.mine(|session: &SessionBody| session.campaign.as_str())?;
        let failures = opened.iter().rev().map_while(|session| failed_clock(session, &self.plan.protocol));
        let mut failures: Vec<String> = failures.collect();
        while failures.len() < ATTEMPTS {
            let body = self.open_session()?;
            let Some(failure) = failed_clock(&body, &self.plan.protocol) else {
                self.session_started_ms = clock::wall_ms();
                self.session = Some(body);
                return Ok(());
            };
            self.console.line(&format!("  the session is void: {failure}"));
            failures.push(failure);
        }
        let fault = Fault::new(Outcome::Void(codes::CONTROL), failures.pop().unwrap_or_default());
        Err(Error::Fault { context: format!("{ATTEMPTS} sessions in a row are void"), fault })
    }

    /// Closes the campaign after its work, also if no session of it counts, which is then its outcome. Any other error is passed on; a
    /// campaign that can be resumed stays open, any other one is closed as interrupted.
    pub fn end(&mut self, worked: Result<()>) -> Result<()> {
        match worked {
            Ok(()) => self.close("complete"),
            Err(Error::Fault { fault, .. }) if fault.outcome == Outcome::Void(codes::CONTROL) => self.close("void"),
            Err(error) => {
                if !self.is_resumable() {
                    // The first error is the one to report; a ledger that cannot be written keeps the campaign open.
                    let _ = self.close("interrupted");
                }
                Err(error)
            }
        }
    }

    fn open_session(&mut self) -> Result<SessionBody> {
        let key = SessionKey::random().map_err(|source| Error::Unwritable { path: "a session key".into(), source })?;
        let setup = LabSetup {
            program: PathBuf::from("/proc/self/exe"),
            task: self.plan.task.clone(),
            protocol: self.plan.protocol.clone(),
            key: key.clone(),
            compiler: Compiler::find(io::compiler_override().as_deref())?,
            interpreter: io::interpreter_for(&self.plan.task)?,
            cells: self.plan.cells.clone(),
            cancel: self.plan.cancel.clone(),
            layers: io::layers()?,
        };
        let failed = |fault| Error::Fault { context: "failed to open a session".into(), fault };
        let lab = Lab::open(setup).map_err(failed)?;
        let isolation = lab.isolation().map_err(failed)?;
        self.require_isolation(&isolation)?;
        let id = random_id()?;
        self.plan.folder.keep_key(&id, key.bytes())?;
        let body = SessionBody {
            format: FORMAT,
            id,
            campaign: self.body.id.clone(),
            machine: fingerprint::machine(),
            key_hash: key_commitment(key.bytes()),
            handoff_ns: lab.handoff().map_err(failed)?.get(),
            delay_ns: lab.delay_reading().map_err(failed)?.get(),
            isolation: isolation.to_string(),
            canary: isolation.canary(),
            harness: fingerprint::program(),
            compiler: match lab.interpreter() {
                Some(interpreter) => interpreter.identity(),
                None => lab.compiler().version().to_owned(),
            },
        };
        self.append(&body)?;
        self.lab = Some(lab);
        Ok(body)
    }

    /// Refuses a jail below the protocol's level, unless rows may be exploratory.
    fn require_isolation(&self, isolation: &Isolation) -> Result<()> {
        let least = self.plan.protocol.isolation_level_min();
        if isolation.level() >= least {
            return Ok(());
        }
        let got = isolation.allowed();
        let some = got.iter().take(3).copied().collect::<Vec<_>>().join("; ");
        let got =
            if got.is_empty() { String::new() } else { format!("; the canary got {} actions: {some}", got.len()) };
        let cause = format!("{isolation}, the protocol asks for L{least}{got}");
        match self.plan.if_busy {
            IfBusy::Refuse => Err(Error::Isolation { cause }),
            IfBusy::Explore => {
                self.console.line(&format!("  isolation {cause}: going on, rows are exploratory"));
                Ok(())
            }
        }
    }

    /// Replaces the session, and the arms that were measured in it, if it is too old for another generation or report.
    pub fn renew_session(&mut self, arms: &mut Arms) -> Result<()> {
        if self.needs_session() {
            *arms = self.baselines()?;
        }
        Ok(())
    }

    /// The open lab.
    pub(super) fn lab(&mut self) -> Result<&mut Lab> {
        self.lab.as_mut().ok_or_else(|| super::usage("no session is open".into(), "report this"))
    }

    /// The id of the open session.
    pub(super) fn session_id(&self) -> String {
        self.session.as_ref().map(|session| session.id.clone()).unwrap_or_default()
    }
}
