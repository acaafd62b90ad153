//! The gates of an admitted block: those of its samples, the likeness of sources, and the machine's roofline.

use std::collections::BTreeMap;

use atb_core::canon::Digest;
use atb_core::entry::{BlockBody, Body as _, Chain, Role, SessionBody};
use atb_core::gates::{self, GateDecision, Known};
use atb_core::similarity::Fingerprint;
use atb_core::task::Language;
use atb_ledger::Admitted;
use atb_measure::sys::clock;

use super::Campaign;
use crate::error::Result;
use crate::io;
use crate::report::ReportError;

/// Files of a task that a candidate may be a copy of.
const KNOWN_FILES: [(&str, &str, Option<Role>); 4] = [
    ("reference", "reference.c", None),
    ("naive", "baselines/naive.c", Some(Role::Naive)),
    ("compiler", "baselines/compiler.c", Some(Role::Compiler)),
    ("vendor", "baselines/vendor.c", Some(Role::Vendor)),
];

impl Campaign {
    /// Records the gates of an admitted block for some arms against a base, and returns the first that stops one. Decisions that are on
    /// record already are not recorded again, and what someone has released stops nothing.
    pub fn gates(
        &mut self,
        row: &Admitted,
        block: &BlockBody,
        base: usize,
        arms: &[usize],
    ) -> Result<Option<GateDecision>> {
        let recorded: Vec<String> = self.ledger.rows(Chain::Gate)?.into_iter().map(|row| row.key).collect();
        let seq = u64::try_from(row.seq()).unwrap_or(0);
        let mut stopped = None;
        for &arm in arms {
            let mut decisions = gates::of_samples(block, base, arm, &self.plan.protocol).map_err(ReportError::from)?;
            decisions.extend(self.likeness(block, base, arm)?);
            decisions.extend(self.floor(block, arm)?);
            for decision in decisions {
                let Some(body) = decision.body(seq, block) else { continue };
                // A kill may have come between the decisions of a block, or between them and its keep.
                if !recorded.contains(&body.key()) {
                    self.ledger.record_gate(&body, clock::wall_ms())?;
                }
                if stopped.is_none() && decision.stops().is_some() && !self.is_released(&body.key())? {
                    stopped = Some(decision);
                }
            }
        }
        Ok(stopped)
    }

    fn is_released(&self, key: &str) -> Result<bool> {
        let decisions = self.ledger.decisions()?;
        Ok(decisions.iter().any(|gate| gate.body.key() == key && !gate.standing().stops()))
    }

    /// The roofline, where the peaks of the block's machine were measured.
    fn floor(&self, block: &BlockBody, arm: usize) -> Result<Option<GateDecision>> {
        let sessions = self.mine(|session: &SessionBody| session.campaign.as_str())?;
        let machine =
            sessions.iter().find(|session| session.id == block.session).map(|session| session.machine.fingerprint);
        let Some(peaks) = machine.map(io::load_peaks).transpose()?.flatten() else { return Ok(None) };
        let decision = gates::roofline(block, arm, &self.plan.task.spec, &peaks, &self.plan.protocol);
        Ok(decision.map_err(ReportError::from)?)
    }

    /// How much an arm's source is like the task's own files and, where it is the very same, like its parent or an earlier candidate.
    fn likeness(&mut self, block: &BlockBody, base: usize, arm: usize) -> Result<Option<GateDecision>> {
        // Tokens are those of C.
        if self.plan.task.spec.language != Language::C {
            return Ok(None);
        }
        let (Some(judged), Some(base_arm)) = (block.arms.get(arm), block.arms.get(base)) else { return Ok(None) };
        let (judged, base_source, base_role) = (judged.source, base_arm.source, base_arm.role);
        let mine = self.fingerprint(judged)?;
        let mut known = Vec::new();
        for (name, file, role) in KNOWN_FILES {
            let text = self.plan.task.file(file);
            if !text.is_empty() {
                let is_root = base_role == Role::Parent && Digest::of(text.as_bytes()) == base_source;
                let is_base = is_root || role == Some(base_role);
                known.push(Known { name, fingerprint: self.fingerprint_of(text), is_base });
            }
        }
        let candidates = self.candidates()?;
        for earlier in candidates.iter().take_while(|candidate| candidate.source != judged) {
            // Candidates of one space are all alike, so only the very same counts.
            let fingerprint = self.fingerprint(earlier.source)?;
            let is_base = earlier.source == base_source;
            if fingerprint.is_same(&mine) {
                known.push(Known { name: if is_base { "parent" } else { "candidate" }, fingerprint, is_base });
            }
        }
        let decision = gates::similarity(block, base, arm, &mine, &known, &self.plan.protocol);
        Ok(decision.map_err(ReportError::from)?)
    }

    /// The fingerprint of a candidate's text, taken once.
    fn fingerprint(&mut self, source: Digest) -> Result<Fingerprint> {
        if let Some(known) = self.fingerprints.get(&source) {
            return Ok(known.clone());
        }
        let text = self.plan.folder.read_candidate(source)?;
        let fingerprint = self.fingerprint_of(&text);
        self.fingerprints.insert(source, fingerprint.clone());
        Ok(fingerprint)
    }

    /// Less what the task's header gives to all.
    fn fingerprint_of(&self, text: &str) -> Fingerprint {
        Fingerprint::of(text, self.plan.task.file("kernel.h"))
    }
}

/// Fingerprints by the digest of the source.
pub(super) type Fingerprints = BTreeMap<Digest, Fingerprint>;
