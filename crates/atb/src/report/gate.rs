//! Gate decisions: what was recorded, whether the samples say the same, and what they stop.

use std::collections::{BTreeMap, BTreeSet};

use atb_core::canon::Digest;
use atb_core::codes::{self, Code};
use atb_core::comparison::fastest_baseline;
use atb_core::entry::{BlockBody, GateBody, Phase, Role};
use atb_core::gates::{self, GateDecision};
use atb_core::outcome::{Inconclusive, Outcome};
use atb_core::protocol::Protocol;

use super::ReportError;
use super::records::{Records, StoredBlock};

/// A recorded gate decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateReport {
    /// Position in the chain of gates.
    pub seq: i64,
    /// The decision as recorded.
    pub body: GateBody,
    /// The block it judged, such as `CONFIRM 1`.
    pub block: String,
    /// True if the samples give the same decision and number; none if this version has no such gate.
    pub repeats: Option<bool>,
}

/// The recorded decisions of a campaign, each beside what the samples say.
pub(super) fn reports(records: &Records) -> Result<Vec<GateReport>, ReportError> {
    let mut reports = Vec::new();
    for stored in &records.gates {
        let block = records.blocks.iter().find(|block| i64::try_from(stored.body.block) == Ok(block.seq));
        let Some(block) = block else { continue };
        let again = decisions(&block.body, &records.protocol)?.into_iter().find_map(|decision| {
            let body = decision.body(stored.body.block, &block.body)?;
            let same =
                (&body.gate, body.role, body.candidate) == (&stored.body.gate, stored.body.role, stored.body.candidate);
            same.then_some(body)
        });
        reports.push(GateReport {
            seq: stored.seq,
            block: super::block::phase_name(block.body.phase, block.body.index),
            repeats: again.map(|body| body == stored.body),
            body: stored.body.clone(),
        });
    }
    Ok(reports)
}

/// What gates stop: by block and source, the code of the first decision that did not pass.
#[derive(Debug, Default)]
pub(super) struct Stops(BTreeMap<(i64, Digest), Code>);

impl Stops {
    /// Decisions of the samples first, then recorded ones: a stop counts wherever it comes from.
    pub(super) fn of(records: &Records, recorded: &[GateReport]) -> Result<Self, ReportError> {
        let mut stops = Self::default();
        for StoredBlock { seq, body, .. } in &records.blocks {
            for decision in decisions(body, &records.protocol)? {
                if let (Some(code), Some(arm)) = (decision.code, body.arms.get(decision.arm)) {
                    stops.add(*seq, arm.source, code);
                }
            }
        }
        for gate in recorded.iter().filter(|gate| gate.body.decision != "pass") {
            let code = gate.body.code.parse().unwrap_or(codes::QUARANTINE);
            stops.add(i64::try_from(gate.body.block).unwrap_or(0), gate.body.candidate, code);
        }
        Ok(stops)
    }

    fn add(&mut self, block: i64, source: Digest, code: Code) {
        let known = self.0.entry((block, source)).or_insert(code);
        // A quarantine is the graver of two stops.
        if *known == codes::CV_CAP {
            *known = code;
        }
    }

    /// The outcome that a stop makes of an arm of a block; none if nothing stops it.
    pub(super) fn outcome(&self, block: i64, source: Digest) -> Option<Outcome> {
        self.0.get(&(block, source)).map(|code| match *code {
            codes::CV_CAP => Outcome::Inconclusive(Inconclusive::Noise),
            code => Outcome::Quarantined(code),
        })
    }

    /// Sources that something other than the noise cap stopped.
    pub(super) fn quarantined(&self) -> BTreeSet<Digest> {
        let graver = self.0.iter().filter(|(_, code)| **code != codes::CV_CAP);
        graver.map(|((_, source), _)| *source).collect()
    }

    /// The code by which a source is quarantined, in whichever block.
    pub(super) fn quarantine(&self, source: Digest) -> Option<Code> {
        let mine = self.0.iter().filter(|((_, stopped), code)| *stopped == source && **code != codes::CV_CAP);
        mine.map(|(_, code)| *code).next()
    }
}

/// All gates of a block, computed from its samples: of each judged arm against what its phase compares it with.
fn decisions(block: &BlockBody, protocol: &Protocol) -> Result<Vec<GateDecision>, ReportError> {
    let base = match block.phase {
        Phase::Screen | Phase::Confirm => atb_core::comparison::arm_of(block, Role::Parent),
        Phase::Report | Phase::Probe => fastest_baseline(block)?,
    };
    let mut decisions = Vec::new();
    for (arm, body) in block.arms.iter().enumerate() {
        if let (Role::Candidate | Role::Head, Some(base)) = (body.role, base) {
            decisions.push(gates::scatter(block, base, arm, protocol)?);
            decisions.push(gates::quarantine(block, base, arm, protocol)?);
        }
    }
    Ok(decisions)
}
