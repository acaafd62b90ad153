//! Measuring a block and submitting it: preflight, runs, admission, one re-measure.

use atb_core::codes;
use atb_core::entry::{BlockBody, Chain, Phase, RefusalBody};
use atb_ledger::{Admitted, IngestError};
use atb_measure::fault::Fault;
use atb_measure::preflight::preflight;
use atb_measure::sys::clock;
use atb_measure::timing::{Arm, BlockPlan, Measured};

use super::Campaign;
use crate::error::{Error, Result};
use crate::io::crash_point;

/// How a block ended.
#[derive(Debug)]
pub enum BlockEnd {
    /// Admitted: the row and what it holds.
    Admitted(Admitted, Box<BlockBody>),
    /// Refused for noise twice: scatter over the cap, or windows too short.
    Noise,
    /// A run of this arm failed; the block is void.
    Failed(usize, Fault),
}

impl Campaign {
    /// The number of the next block of a phase: above every admitted, refused and voided one.
    fn next_index(&self, phase: Phase) -> Result<u64> {
        let admitted = self.mine(|block: &BlockBody| block.campaign.as_str())?;
        let admitted = admitted.into_iter().filter(|block| block.phase == phase).map(|block| block.index);
        let prefix = format!("{}/{}/", self.body.id, phase.name());
        let refused = self.refusals()?;
        let refused = refused.iter().filter_map(|refusal| refusal.key.strip_prefix(&prefix)?.parse().ok());
        let used = self.used_index[phase as usize];
        Ok(admitted.chain(refused).chain([used]).max().unwrap_or(0) + 1)
    }

    /// Refused rows of the ledger.
    pub fn refusals(&self) -> Result<Vec<RefusalBody>> {
        let rows = self.ledger.rows(Chain::Refusal)?;
        // A refusal row that does not parse is the business of `atb verify`.
        Ok(rows.iter().filter_map(|row| serde_json::from_str(&row.body).ok()).collect())
    }

    /// Blocks of a phase that were refused for noise: scatter over the cap, or windows too short.
    pub(super) fn noisy_blocks(&self, phase: Phase) -> Result<Vec<BlockBody>> {
        let noise = [codes::CV_CAP, codes::WINDOW_FLOOR].map(|code| code.to_string());
        let refused = self.refusals()?.into_iter().filter(|refusal| noise.contains(&refusal.code));
        let blocks = refused.filter_map(|refusal| serde_json::from_str::<BlockBody>(&refusal.refused).ok());
        Ok(blocks.filter(|block| block.campaign == self.body.id && block.phase == phase).collect())
    }

    /// Index and attempt of the next block with these arms: the next index, unless a kill came after the first of two attempts.
    pub(super) fn next_attempt(&self, phase: Phase, arms: &[Arm<'_>]) -> Result<(u64, u64)> {
        let next = self.next_index(phase)?;
        let last = self.noisy_blocks(phase)?.into_iter().next_back();
        let sources = || arms.iter().map(|arm| (arm.role, arm.checked.built().source()));
        Ok(match last {
            Some(block)
                if block.index + 1 == next
                    && block.attempt <= self.plan.protocol.noise_remeasures()
                    && block.arms.iter().map(|arm| (arm.role, arm.source)).eq(sources()) =>
            {
                (block.index, block.attempt + 1)
            }
            _ => (next, 1),
        })
    }

    /// Measures a block, submits it, and measures it again once as a whole if its scatter is over the cap, or if its windows are
    /// too short because the machine is faster than when K was chosen.
    pub fn block(&mut self, phase: Phase, pairs: u64, arms: &[Arm<'_>], what: &str) -> Result<BlockEnd> {
        let (index, first) = self.next_attempt(phase, arms)?;
        // A void block leaves no row, and its seeds may not be used again.
        self.used_index[phase as usize] = index;
        for attempt in first..=1 + self.plan.protocol.noise_remeasures() {
            let measured = match self.measure(phase, index, attempt, pairs, arms, what)? {
                Ok(measured) => measured,
                Err((arm, fault)) => return Ok(BlockEnd::Failed(arm, fault)),
            };
            match self.ledger.append(measured.body(), clock::wall_ms()) {
                Ok(admitted) => {
                    crash_point("campaign.after-block");
                    return Ok(BlockEnd::Admitted(admitted, Box::new(measured.body().clone())));
                }
                Err(IngestError::Refused { code, .. }) if code == codes::CV_CAP => {
                    self.console.line(&format!("  {what}: scatter over the cap ({code}), attempt {attempt}"));
                }
                Err(IngestError::Refused { code, .. }) if code == codes::WINDOW_FLOOR => {
                    self.console.line(&format!("  {what}: windows too short ({code}), K is chosen anew"));
                    let lab = self.lab()?;
                    for (at, arm) in arms.iter().enumerate() {
                        match lab.recalibrate(arm.checked, arm.env) {
                            Ok(()) => {}
                            Err(fault) if fault.is_harness() => {
                                return Err(Error::Fault { context: "failed to choose K anew".into(), fault });
                            }
                            Err(fault) => return Ok(BlockEnd::Failed(at, fault)),
                        }
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(BlockEnd::Noise)
    }

    /// Waits for a quiet machine and measures. The inner error names the arm that failed.
    fn measure(
        &mut self,
        phase: Phase,
        index: u64,
        attempt: u64,
        pairs: u64,
        arms: &[Arm<'_>],
        what: &str,
    ) -> Result<std::result::Result<Measured, (usize, Fault)>> {
        let plan = BlockPlan {
            campaign: self.body.id.clone(),
            session: self.session_id(),
            task: self.body.task,
            protocol: self.body.protocol,
            phase,
            index,
            attempt,
            pairs,
        };
        let (wait_s, if_busy) = (self.plan.quiet_wait_s, self.plan.if_busy);
        self.console.start(what);
        let mut said = false;
        let quiet = preflight(&self.plan.protocol, wait_s, if_busy, &mut |load| {
            if !said {
                self.console.line(&format!("  waiting for a quiet machine ({:.0} % busy)", load.busy * 100.0));
                said = true;
            }
        })?;
        if !quiet.is_quiet() {
            self.console.line("  the machine stays busy: going on, rows are exploratory");
        }
        let console = &self.console;
        let lab = self.lab.as_mut().ok_or_else(|| super::usage("no session is open".into(), "report this"))?;
        let measured = lab.measure(&plan, arms, &quiet, &mut |progress| {
            crash_point("campaign.after-run");
            console.step(progress);
        });
        self.console.done();
        match measured {
            Ok(measured) => {
                let (windows, wall) = measured.cost();
                let share = wall.get() as f64 / windows.get().max(1) as f64;
                self.console.line(&format!("  {what}: {wall}, {share:.1} times the windows"));
                Ok(Ok(measured))
            }
            Err(error) if error.fault.is_harness() => {
                Err(Error::Fault { context: format!("failed to measure {what}"), fault: error.fault })
            }
            Err(error) => Ok(Err((error.arm, error.fault))),
        }
    }
}
