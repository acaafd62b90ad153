//! Gate decisions: what was recorded, whether the samples say the same, what people ruled, and what is stopped in the end.

use std::collections::{BTreeMap, BTreeSet};

use atb_core::canon::Digest;
use atb_core::codes::{self, Code};
use atb_core::comparison::fastest_baseline;
use atb_core::entry::{BlockBody, Decision, Phase, Role, Ruling};
use atb_core::gates::{self, GateDecision, Ruled};
use atb_core::outcome::{Inconclusive, Outcome};
use atb_core::protocol::Protocol;

use super::records::{Records, StoredBlock};
use super::{ReportError, text};

/// A recorded gate decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateReport {
    /// The decision as recorded, and the rulings on it.
    pub ruled: Ruled,
    /// The block it judged, such as `CONFIRM 1`.
    pub block: String,
    /// True if the samples give the same decision and number; none if the gate looked at something else than samples.
    pub repeats: Option<bool>,
}

impl GateReport {
    /// The gate's decision in a few words: what, in which block, observed against which limit.
    pub fn words(&self) -> String {
        let body = &self.ruled.body;
        let clean = |text: &str| text::clean(text, 40);
        format!(
            "{} {} {} in {}: observed {}, limit {}",
            clean(&body.code),
            clean(&body.gate),
            body.role,
            self.block,
            clean(&body.observed),
            clean(&body.limit)
        )
    }

    /// The last ruling in words, with author, day and reason.
    pub fn ruling(&self) -> Option<String> {
        let (_, at_ms, ruling) = self.ruled.rulings.last()?;
        let day = jiff::Timestamp::from_millisecond(*at_ms).unwrap_or_default().strftime("%Y-%m-%d");
        let done = match ruling.decision {
            Ruling::Release => "released",
            Ruling::Reject => "rejected",
        };
        let (by, reason) = (text::clean(&ruling.by, 40), text::clean(&ruling.reason, 300));
        Some(format!("{done} by {by} on {day}: {reason}"))
    }
}

/// The recorded decisions of a campaign, each beside what the samples say.
pub(super) fn reports(records: &Records) -> Result<Vec<GateReport>, ReportError> {
    let mut reports = Vec::new();
    for ruled in &records.gates {
        let recorded = &ruled.body;
        let block = records.blocks.iter().find(|block| i64::try_from(recorded.block) == Ok(block.seq));
        let Some(block) = block else { continue };
        let again = decisions(&block.body, &records.protocol)?.into_iter().find_map(|decision| {
            let body = decision.body(recorded.block, &block.body)?;
            let same = (&body.gate, body.role, body.candidate) == (&recorded.gate, recorded.role, recorded.candidate);
            same.then_some(body)
        });
        reports.push(GateReport {
            block: super::block::phase_name(block.body.phase, block.body.index),
            repeats: again.map(|body| body == *recorded),
            ruled: ruled.clone(),
        });
    }
    Ok(reports)
}

/// What gates stop, by block and source, and what people rejected, by source.
#[derive(Debug, Default)]
pub(super) struct Stops {
    stopped: BTreeMap<(i64, Digest), Code>,
    rejected: BTreeMap<Digest, Code>,
}

impl Stops {
    /// Decisions of the samples first, then recorded ones: a stop counts wherever it comes from, unless that gate's own decision was
    /// released.
    pub(super) fn of(records: &Records, recorded: &[GateReport]) -> Result<Self, ReportError> {
        let mut stops = Self::default();
        let ruled: Vec<&Ruled> = recorded.iter().map(|gate| &gate.ruled).collect();
        let released = |block: i64, gate: &str, source: Digest| {
            ruled.iter().any(|ruled| {
                let body = &ruled.body;
                let same = (i64::try_from(body.block), body.gate.as_str(), body.candidate) == (Ok(block), gate, source);
                same && !ruled.rulings.is_empty() && !ruled.standing().stops()
            })
        };
        for StoredBlock { seq, body, .. } in &records.blocks {
            for decision in decisions(body, &records.protocol)? {
                if let (Some(code), Some(arm)) = (decision.stops(), body.arms.get(decision.arm))
                    && !released(*seq, &decision.gate, arm.source)
                {
                    stops.add(*seq, arm.source, code);
                }
            }
        }
        for ruled in ruled.iter().filter(|ruled| ruled.standing().stops()) {
            let code = ruled.body.code.parse().unwrap_or(codes::QUARANTINE);
            stops.add(i64::try_from(ruled.body.block).unwrap_or(0), ruled.body.candidate, code);
            if ruled.standing() == Decision::Reject {
                stops.rejected.insert(ruled.body.candidate, code);
            }
        }
        Ok(stops)
    }

    fn add(&mut self, block: i64, source: Digest, code: Code) {
        let known = self.stopped.entry((block, source)).or_insert(code);
        // A quarantine is the graver of two stops.
        if *known == codes::CV_CAP {
            *known = code;
        }
    }

    /// The outcome that a stop makes of an arm of a block; none if nothing stops it. What was rejected counts in no block.
    pub(super) fn outcome(&self, block: i64, source: Digest) -> Option<Outcome> {
        if let Some(code) = self.rejected.get(&source) {
            return Some(Outcome::Rejected(*code));
        }
        self.stopped.get(&(block, source)).map(|code| match *code {
            codes::CV_CAP => Outcome::Inconclusive(Inconclusive::Noise),
            code => Outcome::Quarantined(code),
        })
    }

    /// Sources that something other than the noise cap stopped, and that nobody has rejected.
    pub(super) fn quarantined(&self) -> BTreeSet<Digest> {
        let graver = self.stopped.iter().filter(|(_, code)| **code != codes::CV_CAP).map(|((_, source), _)| *source);
        graver.filter(|source| !self.rejected.contains_key(source)).collect()
    }

    /// What a source is as a whole: rejected, or quarantined in whichever block.
    pub(super) fn of_source(&self, source: Digest) -> Option<Outcome> {
        let mut mine = self.stopped.iter().filter(|((_, stopped), code)| *stopped == source && **code != codes::CV_CAP);
        let rejected = self.rejected.get(&source).map(|code| Outcome::Rejected(*code));
        rejected.or_else(|| mine.next().map(|(_, code)| Outcome::Quarantined(*code)))
    }
}

/// All gates of a block that look at samples alone, of each judged arm against what its phase compares it with.
fn decisions(block: &BlockBody, protocol: &Protocol) -> Result<Vec<GateDecision>, ReportError> {
    let base = match block.phase {
        Phase::Screen | Phase::Confirm => atb_core::comparison::arm_of(block, Role::Parent),
        Phase::Report | Phase::Probe => fastest_baseline(block)?,
        Phase::Compare => atb_core::comparison::arm_of(block, Role::Control),
        Phase::Same => None,
    };
    let mut decisions = Vec::new();
    for (arm, body) in block.arms.iter().enumerate() {
        if let (Role::Candidate | Role::Head | Role::Treatment, Some(base)) = (body.role, base) {
            decisions.extend(gates::of_samples(block, base, arm, protocol)?);
        }
    }
    Ok(decisions)
}
