//! Registered comparisons: the A/A block that a registration rests on, and the one block that answers it.

use atb_core::canon::Digest;
use atb_core::entry::{
    BlockBody, Body as _, CandidateBody, FORMAT, FaultBody, Phase, RegisteredArmBody, RegistrationBody, Role,
};
use atb_core::outcome::Outcome;
use atb_core::task::Task;
use atb_measure::correctness::Checked;
use atb_measure::fault::Fault;
use atb_measure::timing::Arm;

use super::search::arm;
use super::{Arms, BlockEnd, Campaign};
use crate::error::{Error, Result};

/// The file of a task that holds a baseline.
pub fn baseline_text<'t>(task: &'t Task, kind: &str) -> &'t str {
    task.file(&format!("baselines/{kind}.c"))
}

impl Campaign {
    /// The compiler baseline in both arms. False if the block was refused for noise twice.
    pub fn same(&mut self, arms: &Arms) -> Result<bool> {
        self.record_arm(&self.root_text(), "control", arms)?;
        let list = [arm(Role::Control, &arms.compiler), arm(Role::ControlAgain, &arms.compiler)];
        let pairs = self.plan.protocol.replication_pairs_report();
        match self.block(Phase::Same, pairs, &list, "A/A")? {
            BlockEnd::Admitted(..) => Ok(true),
            BlockEnd::Noise => Ok(false),
            BlockEnd::Failed(_, fault) => {
                Err(Error::Fault { context: "a baseline failed in a timed run".into(), fault })
            }
        }
    }

    /// Runs a registered comparison to its end: a fault, or its block. What a kill left undone is done.
    pub fn compare(&mut self, registered: &RegistrationBody, arms: &Arms) -> Result<()> {
        if let Some(block) = self.mine(|block: &BlockBody| block.campaign.as_str())?.pop() {
            return self.compare_gates(&block);
        }
        let last = 1 + self.plan.protocol.noise_remeasures();
        let too_noisy = self.noisy_blocks(Phase::Compare)?.iter().any(|block| block.attempt >= last);
        if too_noisy || !self.mine(|fault: &FaultBody| fault.campaign.as_str())?.is_empty() {
            return Ok(());
        }
        let [control, treatment] = registered.arms.as_slice() else {
            return Err(super::usage("the registration does not have two arms".into(), "run `atb verify`"));
        };
        let Some(control) = self.built_arm(control, arms)? else { return Ok(()) };
        let Some(treatment) = self.built_arm(treatment, arms)? else { return Ok(()) };
        let (control, treatment) = (control.arm(Role::Control, arms), treatment.arm(Role::Treatment, arms));
        if let Some(fault) = undelivered(control.checked, treatment.checked) {
            self.console.line(&format!("  not delivered: {}", fault.detail));
            return self.record_fault(treatment.checked.built().source(), &fault);
        }
        let list = [control, treatment];
        match self.block(Phase::Compare, registered.pairs, &list, "compare")? {
            BlockEnd::Admitted(_, block) => self.compare_gates(&block),
            BlockEnd::Noise => Ok(()),
            BlockEnd::Failed(at, fault) => self.record_fault(list[at].checked.built().source(), &fault),
        }
    }

    fn compare_gates(&mut self, block: &BlockBody) -> Result<()> {
        let Some(row) = self.ledger.admitted::<BlockBody>(&block.key())? else { return Ok(()) };
        self.gates(&row, block, 0, &[1]).map(drop)
    }

    /// Builds and checks an arm; none if that fails, which is recorded.
    fn built_arm(&mut self, registered: &RegisteredArmBody, arms: &Arms) -> Result<Option<BuiltArm>> {
        let name = registered.role.name();
        if registered.kind != "file" {
            let text = baseline_text(&self.plan.task, &registered.kind).to_owned();
            self.record_arm(&text, name, arms)?;
            let role =
                [Role::Naive, Role::Compiler, Role::Vendor].into_iter().find(|role| role.name() == registered.kind);
            return match role {
                Some(Role::Vendor) if arms.vendor.is_none() => Err(super::usage(
                    format!("the {name} is the vendor baseline, which is not installed or not usable"),
                    "install its library, or abandon the registration",
                )),
                role => Ok(role.map(BuiltArm::Baseline)),
            };
        }
        let text = self.plan.folder.read_candidate(registered.source)?;
        self.record_arm(&text, name, arms)?;
        match self.build_and_check(&text, &arms.flags, &[], &[])? {
            Ok(checked) => Ok(Some(BuiltArm::File(Box::new(checked)))),
            Err(fault) => self.record_fault(registered.source, &fault).map(|()| None),
        }
    }

    /// Records the code of an arm as a candidate, once.
    fn record_arm(&mut self, text: &str, name: &str, arms: &Arms) -> Result<()> {
        let known = self.candidates()?;
        let source = Digest::of(text.as_bytes());
        if known.iter().any(|candidate| candidate.source == source) {
            return Ok(());
        }
        let body = CandidateBody {
            format: FORMAT,
            campaign: self.body.id.clone(),
            iteration: known.len() as u64 + 1,
            generation: 1,
            source,
            parent: arms.root(),
            proposer: self.body.proposer.clone(),
            note: name.to_owned(),
            cost: "unknown".to_owned(),
        };
        self.record_candidate(text, &body)
    }
}

/// The code of an arm.
enum BuiltArm {
    File(Box<Checked>),
    Baseline(Role),
}

impl BuiltArm {
    fn arm<'a>(&'a self, role: Role, arms: &'a Arms) -> Arm<'a> {
        match (self, &arms.vendor) {
            (Self::File(checked), _) => arm(role, checked),
            (Self::Baseline(Role::Vendor), Some(vendor)) => Arm { env: &arms.vendor_env, ..arm(role, vendor) },
            (Self::Baseline(Role::Naive), _) => arm(role, &arms.naive),
            (Self::Baseline(_), _) => arm(role, &arms.compiler),
        }
    }
}

/// The delivery probe: arms with the same machine code are one arm.
fn undelivered(control: &Checked, treatment: &Checked) -> Option<Fault> {
    let artefact = treatment.built().artefact();
    let detail = format!("both arms are the machine code {}: nothing of the treatment was built", artefact.short());
    (control.built().artefact() == artefact).then(|| Fault::new(Outcome::NotDelivered, detail))
}
