//! PROBE: one candidate file against all baselines. Never a keep.

use atb_core::canon::Digest;
use atb_core::codes::Code;
use atb_core::comparison::{compare, fastest_baseline};
use atb_core::entry::{CandidateBody, FORMAT, Phase, Role};
use atb_core::ladder::Verdict;
use atb_measure::fault::Fault;
use atb_measure::naive::Reading;
use atb_measure::timing::Arm;

use super::search::arm;
use super::{Arms, BlockEnd, Campaign};
use crate::error::{Error, Result};
use crate::report::ReportError;

/// How a PROBE ended.
#[derive(Debug)]
pub enum ProbeEnd {
    /// The candidate ended before it was measured.
    Fault(Fault),
    /// The block was refused for noise twice.
    Noise,
    /// It was measured.
    Measured {
        /// The candidate over the compiler baseline, whatever the fastest baseline is.
        over_twin: Verdict,
        /// The code of the first gate that it did not pass.
        stopped: Option<Code>,
    },
}

impl Campaign {
    /// PROBE of one candidate file against all baselines.
    pub fn probe(&mut self, text: &str, note: &str, arms: &Arms) -> Result<ProbeEnd> {
        let source = Digest::of(text.as_bytes());
        let candidate = CandidateBody {
            format: FORMAT,
            campaign: self.body.id.clone(),
            iteration: self.candidates()?.len() as u64 + 1,
            generation: 1,
            source,
            parent: arms.root(),
            proposer: self.body.proposer.clone(),
            note: note.to_owned(),
            cost: "unknown".to_owned(),
        };
        self.record_candidate(text, &candidate)?;
        let checked = match self.build_and_check(text, &arms.flags, &[], &[])? {
            Ok(checked) => checked,
            Err(fault) => return self.probe_fault(source, fault),
        };
        let mut list =
            vec![arm(Role::Candidate, &checked), arm(Role::Compiler, &arms.compiler), arm(Role::Naive, &arms.naive)];
        if let Some(vendor) = &arms.vendor {
            list.push(Arm { env: &arms.vendor_env, ..arm(Role::Vendor, vendor) });
        }
        let pairs = self.plan.protocol.replication_pairs_probe();
        match self.block(Phase::Probe, pairs, &list, "probe")? {
            BlockEnd::Admitted(row, block) => {
                let base = fastest_baseline(&block).map_err(ReportError::from)?;
                let stopped = self.gates(&row, &block, base.unwrap_or(1), &[0])?.and_then(|decision| decision.stops());
                let over_twin = compare(&block, 1, 0, &self.plan.protocol).map_err(ReportError::from)?;
                Ok(ProbeEnd::Measured { over_twin, stopped })
            }
            BlockEnd::Noise => Ok(ProbeEnd::Noise),
            BlockEnd::Failed(0, fault) => self.probe_fault(source, fault),
            BlockEnd::Failed(_, fault) => {
                Err(Error::Fault { context: "a baseline failed in a timed run".into(), fault })
            }
        }
    }

    fn probe_fault(&mut self, source: Digest, fault: Fault) -> Result<ProbeEnd> {
        self.record_fault(source, &fault)?;
        Ok(ProbeEnd::Fault(fault))
    }

    /// The text of the campaign's root, the compiler baseline.
    pub fn root_text(&self) -> String {
        self.plan.task.baseline("compiler").to_owned()
    }

    /// The isolation of the last session; empty before the first one.
    pub fn isolation(&self) -> String {
        self.session.as_ref().map(|session| session.isolation.clone()).unwrap_or_default()
    }

    /// What a harness in the candidate's own process would believe of a text, built as candidates are.
    pub fn naive_harness(&mut self, text: &str, arms: &Arms) -> Result<Reading> {
        let read = self.lab()?.naive_harness(text, &arms.flags);
        read.map_err(|fault| Error::Fault { context: "failed to run a naive harness".into(), fault })
    }
}
