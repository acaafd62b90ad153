//! The search: generations of candidates through SCREEN and CONFIRM, then the REPORT.
//!
//! Each step first looks in the ledger whether it was done, so resuming is the same code as starting.

use std::collections::{BTreeMap, BTreeSet};

use atb_core::canon::Digest;
use atb_core::comparison::{arm_of, fastest_baseline, screen_ranking};
use atb_core::entry::{BlockBody, Body, CandidateBody, FORMAT, FaultBody, KeepBody, Phase, Role};
use atb_core::task::{Point, Space};
use atb_ledger::{Admitted, RatchetDecision};
use atb_measure::correctness::Checked;
use atb_measure::fault::Fault;
use atb_measure::sys::clock;
use atb_measure::timing::Arm;
use atb_propose::{History, Proposal, Proposer};

use super::{Arms, BlockEnd, Campaign, usage};
use crate::error::Result;

/// A generation's candidates that are still in the race.
type Field = Vec<(CandidateBody, Checked)>;

impl Campaign {
    /// Runs generations until the proposals are used up.
    pub fn search(&mut self, proposer: &dyn Proposer, arms: &mut Arms) -> Result<()> {
        let space = self.space()?.clone();
        for generation in 1.. {
            if self.head_failed()? {
                break;
            }
            self.renew_session(arms)?;
            let candidates = self.generation(generation, proposer, &space)?;
            if candidates.is_empty() {
                break;
            }
            self.run_generation(generation, candidates, arms)?;
        }
        Ok(())
    }

    fn space(&self) -> Result<&Space> {
        self.plan.task.space.as_ref().ok_or_else(|| {
            usage(
                format!("task {} has no search space", self.plan.task.spec.id),
                "add space.toml and space.c, or measure a file with `atb measure`",
            )
        })
    }

    /// The candidates of a generation: those of the ledger, completed by new proposals within the budget.
    fn generation(&mut self, generation: u64, proposer: &dyn Proposer, space: &Space) -> Result<Vec<CandidateBody>> {
        let all = self.candidates()?;
        let mut mine: Vec<CandidateBody> =
            all.iter().filter(|candidate| candidate.generation == generation).cloned().collect();
        let later = all.iter().any(|candidate| candidate.generation > generation);
        let decided = later || !self.blocks_of(&mine)?.is_empty();
        let room = self.body.iterations.saturating_sub(all.len() as u64);
        let wanted = self.plan.protocol.replication_generation().saturating_sub(mine.len() as u64).min(room);
        if decided || wanted == 0 {
            return Ok(mine);
        }
        let history = self.history(space, &all)?;
        let (_, parent) = self.parent_digest()?;
        let proposals = proposer.propose(space, &history, usize::try_from(wanted).unwrap_or(0));
        for (iteration, Proposal { text, note, point: _ }) in (all.len() as u64 + 1..).zip(proposals) {
            let body = CandidateBody {
                format: FORMAT,
                campaign: self.body.id.clone(),
                iteration,
                generation,
                source: Digest::of(text.as_bytes()),
                parent,
                proposer: proposer.id().to_owned(),
                note,
                cost: "0".to_owned(),
            };
            self.record_candidate(&text, &body)?;
            mine.push(body);
        }
        Ok(mine)
    }

    /// What the proposer may know.
    fn history(&self, space: &Space, all: &[CandidateBody]) -> Result<History> {
        let points: BTreeMap<String, Point> =
            (0..space.size()).map(|number| space.point(number)).map(|point| (space.describe(&point), point)).collect();
        let tried: BTreeSet<Point> = all.iter().filter_map(|candidate| points.get(&candidate.note).cloned()).collect();
        let lead = match self.mine(|keep: &KeepBody| keep.campaign.as_str())?.pop() {
            Some(keep) => Some(keep.candidate),
            None => self.best_screened()?,
        };
        let lead = all
            .iter()
            .find(|candidate| Some(candidate.source) == lead)
            .and_then(|candidate| points.get(&candidate.note));
        Ok(History { tried, lead: lead.cloned() })
    }

    /// The candidate with the best screen of the campaign so far.
    fn best_screened(&self) -> Result<Option<Digest>> {
        let mut best: Option<(f64, Digest)> = None;
        for block in
            self.mine(|block: &BlockBody| block.campaign.as_str())?.iter().filter(|block| block.phase == Phase::Screen)
        {
            let ranking = screen_ranking(block).map_err(crate::report::ReportError::from)?;
            if let Some((arm, ratio)) = ranking.first()
                && best.is_none_or(|(score, _)| ratio.get() > score)
            {
                best = Some((ratio.get(), block.arms[*arm].source));
            }
        }
        Ok(best.map(|(_, source)| source))
    }

    /// Screen and confirm blocks that hold a candidate of a generation.
    fn blocks_of(&self, candidates: &[CandidateBody]) -> Result<Vec<BlockBody>> {
        let sources: BTreeSet<Digest> = candidates.iter().map(|candidate| candidate.source).collect();
        let mut blocks = self.mine(|block: &BlockBody| block.campaign.as_str())?;
        blocks.retain(|block| {
            matches!(block.phase, Phase::Screen | Phase::Confirm)
                && block.arms.iter().any(|arm| arm.role == Role::Candidate && sources.contains(&arm.source))
        });
        Ok(blocks)
    }

    /// Takes a generation through what the ledger does not hold yet.
    fn run_generation(&mut self, generation: u64, candidates: Vec<CandidateBody>, arms: &Arms) -> Result<()> {
        let blocks = self.blocks_of(&candidates)?;
        if let Some((row, confirm)) = self.confirm_row(&blocks)? {
            // A crash may have come between the block and its keep.
            return self.decide(&row, &confirm, generation);
        }
        let screened = blocks.into_iter().find(|block| block.phase == Phase::Screen);
        let phase = if screened.is_none() { Phase::Screen } else { Phase::Confirm };
        if (screened.is_none() && self.later_work(generation)?) || self.over_the_cap(phase, &candidates)? {
            return Ok(());
        }
        self.console.line(&format!("generation {generation}: {} candidates", candidates.len()));
        let mut field = match &screened {
            None => self.check_all(candidates)?,
            Some(block) => {
                // A kill may have come between the block and its gates.
                if let Some(row) = self.ledger.admitted::<BlockBody>(&block.key())? {
                    self.screen_gates(&row, block)?;
                }
                let best = best_of(block)?;
                self.check_all(candidates.into_iter().filter(|candidate| Some(candidate.source) == best).collect())?
            }
        };
        let kept = match self.parent_digest()? {
            (false, _) => None,
            (true, digest) => match self.checked_keep(digest)? {
                Some(checked) => Some(checked),
                None => return Ok(()),
            },
        };
        let parent = kept.as_ref().unwrap_or(&arms.compiler);
        let screened = match screened {
            Some(block) => Some(block),
            None => self.screen(&mut field, parent, generation)?,
        };
        let Some(best) = screened.as_ref().map(best_of).transpose()?.flatten() else {
            self.console.line("  no candidate is ahead of the parent");
            return Ok(());
        };
        let Some(at) = field.iter().position(|(candidate, _)| candidate.source == best) else { return Ok(()) };
        let (candidate, checked) = field.swap_remove(at);
        self.confirm(&candidate, &checked, parent, generation)
    }

    /// True if a later generation was begun, so that an earlier one without a block is over.
    fn later_work(&self, generation: u64) -> Result<bool> {
        Ok(self.candidates()?.iter().any(|candidate| candidate.generation > generation))
    }

    /// Builds and checks candidates; faults are recorded and leave the race.
    fn check_all(&mut self, candidates: Vec<CandidateBody>) -> Result<Field> {
        let flags = self.compiler_flags()?;
        let known = self.mine(|fault: &FaultBody| fault.campaign.as_str())?;
        let mut field = Field::new();
        for candidate in candidates {
            if known.iter().any(|fault| fault.candidate == candidate.source) {
                continue;
            }
            let text = self.plan.folder.read_candidate(candidate.source)?;
            match self.build_and_check(&text, &flags, &[], &[])? {
                Ok(checked) => field.push((candidate, checked)),
                Err(fault) => {
                    self.console.line(&format!("  candidate {}: {}", candidate.iteration, fault.outcome));
                    self.record_fault(candidate.source, &fault)?;
                }
            }
        }
        Ok(field)
    }

    fn compiler_flags(&self) -> Result<String> {
        let baselines = self.mine(|baseline: &atb_core::entry::BaselineBody| baseline.campaign.as_str())?;
        let compiler = baselines.into_iter().find(|baseline| baseline.role == Role::Compiler);
        compiler
            .map(|baseline| baseline.flags)
            .ok_or_else(|| usage("no compiler baseline is recorded".into(), "report this"))
    }

    /// SCREEN: all candidates against the parent. A candidate that fails in a timed run leaves, and the others run again.
    fn screen(&mut self, field: &mut Field, parent: &Checked, generation: u64) -> Result<Option<BlockBody>> {
        let pairs = self.plan.protocol.replication_pairs_screen();
        while !field.is_empty() {
            let arms: Vec<Arm<'_>> = std::iter::once(arm(Role::Parent, parent))
                .chain(field.iter().map(|(_, checked)| arm(Role::Candidate, checked)))
                .collect();
            let end = self.block(Phase::Screen, pairs, &arms, &format!("screen {generation}"))?;
            drop(arms);
            match end {
                BlockEnd::Admitted(row, block) => {
                    self.screen_gates(&row, &block)?;
                    return Ok(Some(*block));
                }
                BlockEnd::Noise => return Ok(None),
                BlockEnd::Failed(0, fault) => {
                    self.parent_failed(parent.built().source(), fault)?;
                    return Ok(None);
                }
                BlockEnd::Failed(at, fault) => {
                    let (candidate, _) = field.remove(at - 1);
                    self.console.line(&format!("  candidate {}: {}", candidate.iteration, fault.outcome));
                    self.record_fault(candidate.source, &fault)?;
                }
            }
        }
        Ok(None)
    }

    fn screen_gates(&mut self, row: &Admitted, block: &BlockBody) -> Result<()> {
        self.gates(row, block, 0, &(1..block.arms.len()).collect::<Vec<_>>()).map(drop)
    }

    /// CONFIRM: the best candidate against the parent on fresh inputs, at the alpha that is left.
    fn confirm(
        &mut self,
        candidate: &CandidateBody,
        checked: &Checked,
        parent: &Checked,
        generation: u64,
    ) -> Result<()> {
        let arms = [arm(Role::Parent, parent), arm(Role::Candidate, checked)];
        let (index, _) = self.next_attempt(Phase::Confirm, &arms)?;
        let pairs = self.confirm_pairs(index);
        match self.block(Phase::Confirm, pairs, &arms, &format!("confirm {generation}"))? {
            BlockEnd::Admitted(row, block) => self.decide(&row, &block, generation),
            BlockEnd::Noise => {
                self.console.line("  inconclusive(noise): refused twice");
                Ok(())
            }
            BlockEnd::Failed(0, fault) => self.parent_failed(parent.built().source(), fault),
            BlockEnd::Failed(_, fault) => self.record_fault(candidate.source, &fault),
        }
    }

    /// A parent that fails after its keep is a candidate with a fault, which ends the search; a root that fails is the task's fault.
    fn parent_failed(&mut self, parent: Digest, fault: Fault) -> Result<()> {
        if self.parent_digest()? == (true, parent) {
            self.console.line(&format!("  the parent failed after its keep: {}", fault.outcome));
            return self.record_fault(parent, &fault);
        }
        Err(crate::error::Error::Fault { context: "the root failed in a timed run".into(), fault })
    }

    /// True if the kept candidate has failed since.
    fn head_failed(&self) -> Result<bool> {
        let (kept, head) = self.parent_digest()?;
        let faults = self.mine(|fault: &FaultBody| fault.campaign.as_str())?;
        Ok(kept && faults.iter().any(|fault| fault.candidate == head))
    }

    /// True if a block of this phase with one of these candidates was refused for noise as often as it may be measured.
    fn over_the_cap(&self, phase: Phase, candidates: &[CandidateBody]) -> Result<bool> {
        let attempts = 1 + self.plan.protocol.noise_remeasures();
        let of_these = |block: &BlockBody| {
            let mut arms = block.arms.iter().filter(|arm| arm.role == Role::Candidate);
            arms.any(|arm| candidates.iter().any(|candidate| candidate.source == arm.source))
        };
        let noisy = self.noisy_blocks(phase)?;
        Ok(noisy.iter().any(|block| block.attempt >= attempts && of_these(block)))
    }

    fn confirm_pairs(&self, index: u64) -> u64 {
        let protocol = &self.plan.protocol;
        match index {
            0..=1 => protocol.replication_pairs_confirm(),
            2..=4 => protocol.replication_pairs_confirm_2(),
            5..=9 => protocol.replication_pairs_confirm_5(),
            _ => protocol.replication_pairs_confirm_10(),
        }
    }

    /// Gates and ratchet of a CONFIRM block. Does nothing if its keep is recorded.
    fn decide(&mut self, row: &Admitted, block: &BlockBody, generation: u64) -> Result<()> {
        let keeps = self.mine(|keep: &KeepBody| keep.campaign.as_str())?;
        if keeps.iter().any(|keep| i64::try_from(keep.block) == Ok(row.seq())) {
            return Ok(());
        }
        let stopped = self.gates(row, block, 0, &[1])?;
        let verdict = atb_core::comparison::compare(block, 0, 1, &self.plan.protocol)
            .map_err(crate::report::ReportError::from)?;
        let summary = crate::report::terminal::verdict_line(&verdict);
        if let Some(gate) = stopped {
            self.console.line(&format!("  confirm {generation}: {summary}; stopped by gate {}", gate.gate));
            return Ok(());
        }
        match self.ledger.ratchet(row, clock::wall_ms())? {
            RatchetDecision::Kept(_) => self.console.line(&format!("  confirm {generation}: {summary}; kept")),
            RatchetDecision::NotKept => self.console.line(&format!("  confirm {generation}: {summary}; not kept")),
        }
        Ok(())
    }

    fn confirm_row(&self, blocks: &[BlockBody]) -> Result<Option<(Admitted, BlockBody)>> {
        let Some(confirm) = blocks.iter().find(|block| block.phase == Phase::Confirm) else { return Ok(None) };
        let row = self.ledger.admitted::<BlockBody>(&confirm.key())?;
        Ok(row.map(|row| (row, confirm.clone())))
    }

    /// The digest of the current parent, and whether it is a keep.
    fn parent_digest(&self) -> Result<(bool, Digest)> {
        match self.mine(|keep: &KeepBody| keep.campaign.as_str())?.pop() {
            Some(keep) => Ok((true, keep.candidate)),
            None => Ok((false, Digest::of(self.plan.task.baseline("compiler").as_bytes()))),
        }
    }

    /// Builds and checks a kept candidate again, as the parent or the head. None if it no longer passes, which is recorded.
    fn checked_keep(&mut self, digest: Digest) -> Result<Option<Checked>> {
        let flags = self.compiler_flags()?;
        let text = self.plan.folder.read_candidate(digest)?;
        match self.build_and_check(&text, &flags, &[], &[])? {
            Ok(checked) => Ok(Some(checked)),
            Err(fault) => self.parent_failed(digest, fault).map(|()| None),
        }
    }

    /// REPORT: head, controls and baselines on fresh inputs, once, if something was kept.
    pub fn report(&mut self, arms: &mut Arms) -> Result<()> {
        let blocks = self.mine(|block: &BlockBody| block.campaign.as_str())?;
        if let Some(block) = blocks.into_iter().find(|block| block.phase == Phase::Report) {
            let row = self.ledger.admitted::<BlockBody>(&block.key())?;
            // A kill may have come between the block and its gates.
            return row.map_or(Ok(()), |row| self.report_gates(&row, &block));
        }
        let (kept, digest) = self.parent_digest()?;
        let last = 1 + self.plan.protocol.noise_remeasures();
        let too_noisy = self.noisy_blocks(Phase::Report)?.iter().any(|block| block.attempt >= last);
        if !kept || too_noisy || self.head_failed()? {
            return Ok(());
        }
        self.renew_session(arms)?;
        let Some(head) = self.checked_keep(digest)? else { return Ok(()) };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share between 0.01 and 0.1")]
        let slow_ppm = (self.plan.protocol.session_slowdown().get() * 1e6).round() as u64;
        let mut list = vec![
            arm(Role::Head, &head),
            arm(Role::HeadAgain, &head),
            Arm { slow_ppm, ..arm(Role::HeadSlow, &head) },
            arm(Role::Compiler, &arms.compiler),
            arm(Role::Naive, &arms.naive),
        ];
        if let Some(vendor) = &arms.vendor {
            list.push(Arm { env: &arms.vendor_env, ..arm(Role::Vendor, vendor) });
        }
        let pairs = self.plan.protocol.replication_pairs_report();
        match self.block(Phase::Report, pairs, &list, "report")? {
            BlockEnd::Admitted(row, block) => self.report_gates(&row, &block),
            BlockEnd::Noise => {
                self.console.line("  report: inconclusive(noise), refused twice");
                Ok(())
            }
            // Head, head again, and the head slowed down.
            BlockEnd::Failed(0..=2, fault) => self.parent_failed(digest, fault),
            BlockEnd::Failed(_, fault) => {
                Err(crate::error::Error::Fault { context: "a baseline failed in a timed run".into(), fault })
            }
        }
    }

    fn report_gates(&mut self, row: &Admitted, block: &BlockBody) -> Result<()> {
        let base = fastest_baseline(block).map_err(crate::report::ReportError::from)?;
        if let (Some(base), Some(head)) = (base, arm_of(block, Role::Head)) {
            self.gates(row, block, base, &[head])?;
        }
        Ok(())
    }

    /// One CONFIRM block of a given text against the root, without a screen: the demo's honest null.
    pub fn confirm_only(&mut self, text: &str, note: &str, arms: &Arms) -> Result<()> {
        let candidate = CandidateBody {
            format: FORMAT,
            campaign: self.body.id.clone(),
            iteration: 1,
            generation: 1,
            source: Digest::of(text.as_bytes()),
            parent: arms.root(),
            proposer: self.body.proposer.clone(),
            note: note.to_owned(),
            cost: "0".to_owned(),
        };
        self.record_candidate(text, &candidate)?;
        let Some((candidate, checked)) = self.check_all(vec![candidate])?.pop() else { return Ok(()) };
        self.confirm(&candidate, &checked, &arms.compiler, 1)
    }
}

/// An arm without slowdown or environment.
pub(super) fn arm(role: Role, checked: &Checked) -> Arm<'_> {
    Arm { role, checked, slow_ppm: 0, env: &[] }
}

/// The source of the best candidate of a SCREEN block, if it is ahead of the parent.
fn best_of(block: &BlockBody) -> Result<Option<Digest>> {
    let ranking = screen_ranking(block).map_err(crate::report::ReportError::from)?;
    Ok(ranking.first().filter(|(_, ratio)| ratio.get() > 0.0).map(|(arm, _)| block.arms[*arm].source))
}
