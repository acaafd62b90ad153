//! Timing: blocks of paired runs, each run a fresh process.

use atb_core::canon::Digest;
use atb_core::codes;
use atb_core::entry::{ArmBody, BlockBody, CellBody, ChecksBody, FORMAT, Phase, Role, RunBody, RunCellBody, pair_seed};
use atb_core::outcome::Outcome;
use atb_core::quantity::Nanos;
use atb_core::stats::splitmix::SplitMix64;
use atb_core::stats::summary::twice_median;

use crate::correctness::Checked;
use crate::fault::Fault;
use crate::inputs::{Place, Purpose, Stream};
use crate::judge::{Checks, Shown, Streams, Window};
use crate::lab::Lab;
use crate::layout::Layout;
use crate::preflight::Quiet;
use crate::sys::jail::Layers;

/// A block to be measured.
#[derive(Debug, Clone)]
pub struct BlockPlan {
    /// Campaign id.
    pub campaign: String,
    /// Session id.
    pub session: String,
    /// Task digest.
    pub task: Digest,
    /// Protocol digest.
    pub protocol: Digest,
    /// Phase.
    pub phase: Phase,
    /// Number within campaign and phase.
    pub index: u64,
    /// 1, or 2 for the re-measure.
    pub attempt: u64,
    /// Pairs.
    pub pairs: u64,
}

/// One arm of a block.
#[derive(Debug, Clone)]
pub struct Arm<'a> {
    /// Role.
    pub role: Role,
    /// The checked code.
    pub checked: &'a Checked,
    /// Injected slowdown in parts per million; for the control arm.
    pub slow_ppm: u64,
    /// Environment of its workers.
    pub env: &'a [(String, String)],
}

/// A measured block: raw samples, no verdict. Made by [`Lab::measure`] only.
#[derive(Debug, Clone)]
pub struct Measured {
    body: BlockBody,
    windows_ns: u64,
    wall_ns: u64,
}

impl Measured {
    /// The row to submit.
    pub fn body(&self) -> &BlockBody {
        &self.body
    }

    /// Sum of all windows, warm-up included, and wall time of the block.
    pub fn cost(&self) -> (Nanos, Nanos) {
        (Nanos::new(self.windows_ns), Nanos::new(self.wall_ns))
    }
}

/// Why a block was not measured: which arm failed, and how.
#[derive(Debug, Clone, thiserror::Error)]
#[error("arm {arm}: {fault}")]
pub struct BlockFault {
    /// Index of the arm.
    pub arm: usize,
    /// The fault.
    pub fault: Fault,
}

/// A run's place in its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Runs done.
    pub done: u64,
    /// Runs in all.
    pub total: u64,
}

impl Lab {
    /// Measures a block: every arm once per pair, in random order, each run in a fresh process.
    ///
    /// A failed run voids the block: no run is dropped or repeated for its time.
    pub fn measure(
        &mut self,
        plan: &BlockPlan,
        arms: &[Arm<'_>],
        quiet: &Quiet,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, BlockFault> {
        let started = crate::sys::clock::now();
        let isolation = self.isolation().map_err(|fault| BlockFault { arm: 0, fault })?;
        let mut windows_ns = 0;
        let mut runs = Vec::new();
        let mut seeds = Vec::new();
        let total = plan.pairs * arms.len() as u64;
        let calls = shared_calls(&arms.iter().map(|arm| arm.checked.calls()).collect::<Vec<_>>());
        for pair in 0..plan.pairs {
            let seed = pair_seed(self.key(), &plan.campaign, plan.phase, plan.index, plan.attempt, pair);
            let order = SplitMix64::new(self.plan_seed(&seed, "order")).permutation(arms.len());
            for arm in order {
                progress(Progress { done: runs.len() as u64, total });
                let run = self.run(&seed, &arms[arm], &calls[arm], &mut windows_ns);
                let (cells, checks) = run.map_err(|fault| BlockFault { arm, fault })?;
                runs.push(RunBody { pair, arm: arm as u64, cells, checks });
            }
            seeds.push(seed);
        }
        progress(Progress { done: total, total });
        let body = BlockBody {
            format: FORMAT,
            campaign: plan.campaign.clone(),
            session: plan.session.clone(),
            task: plan.task,
            protocol: plan.protocol,
            phase: plan.phase,
            index: plan.index,
            attempt: plan.attempt,
            quiet: quiet.is_quiet()
                && isolation.level() >= self.protocol().isolation_level_min()
                && isolation.layers == Layers::ALL,
            isolation: isolation.to_string(),
            canary: isolation.canary(),
            judge: "same-uid".to_owned(),
            arms: arms.iter().map(arm_body).collect(),
            cells: self
                .cells()
                .iter()
                .map(|shape| CellBody { shape: shape.name.clone(), dims: shape.dims.clone() })
                .collect(),
            seeds,
            runs,
        };
        let wall_ns = crate::sys::clock::now().get() - started.get();
        Ok(Measured { body, windows_ns, wall_ns })
    }

    /// Times each code, with the environment of its workers, briefly in interleaved fresh processes, for choosing among the
    /// variants of a baseline: picoseconds per call,
    /// summed over cells, per code and round. Never a verdict.
    pub fn compare_briefly(
        &mut self,
        codes: &[(&Checked, &[(String, String)])],
        rounds: u64,
    ) -> Result<Vec<Vec<u64>>, Fault> {
        const WINDOWS: u32 = 15;
        let mut picos = vec![Vec::new(); codes.len()];
        let calls = shared_calls(&codes.iter().map(|(code, _)| code.calls()).collect::<Vec<_>>());
        for round in 0..rounds {
            let context = format!("brief/{round}/{}", crate::sys::clock::now().get());
            for at in SplitMix64::new(self.plan_seed(&context, "order")).permutation(codes.len()) {
                picos[at].push(self.brief_run(codes[at].0, &calls[at], &context, WINDOWS, codes[at].1)?);
            }
        }
        Ok(picos)
    }

    fn brief_run(
        &mut self,
        code: &Checked,
        calls: &[usize],
        context: &str,
        windows: u32,
        env: &[(String, String)],
    ) -> Result<u64, Fault> {
        let streams = Streams {
            inputs: Stream::new(self.key(), Purpose::Inputs, context),
            checks: Stream::new(self.key(), Purpose::Checks, context),
        };
        let cells = self.cells().to_vec();
        let mut total = 0;
        for (cell, (shape, &calls)) in (0_u16..).zip(cells.iter().zip(calls)) {
            let place = format!("layout/{}/{cell}", code.built().source());
            let (offset, padding) = Self::placement(&mut SplitMix64::new(self.plan_seed(context, &place)));
            let layout = self.layout(&shape.dims, calls, offset)?;
            let _pin = self.crew().pin().map_err(|error| Fault::harness("pin a thread", &error))?;
            let mut worker = self.kernel_worker(code.built(), layout.memory, padding, env)?;
            let shown = Shown { shape: &shape.name, open: true };
            let mut times = Vec::new();
            let place = |window| Place { cell, window, call: 0 };
            self.judge.prepare(&mut worker, &layout, &streams, place(0));
            for window in 0..windows {
                self.cancelled()?;
                let next = (window + 1 < windows).then(|| place(window + 1));
                let window_of = Window { layout: &layout, place: place(window), next, full: &[], shown };
                let time = self.judge.window(&mut worker, &streams, window_of, &mut Checks::default())?;
                // The first third warms up.
                if window >= windows / 3 {
                    times.push(time);
                }
            }
            self.end(worker)?;
            let twice = twice_median(&times).map_or(0, Nanos::get);
            total += twice * 500 / calls as u64;
        }
        Ok(total)
    }

    /// One run: a fresh process, all cells, every window checked.
    fn run(
        &mut self,
        seed: &str,
        arm: &Arm<'_>,
        calls: &[usize],
        windows_ns: &mut u64,
    ) -> Result<(Vec<RunCellBody>, ChecksBody), Fault> {
        let streams = Streams {
            inputs: Stream::new(self.key(), Purpose::Inputs, seed),
            checks: Stream::new(self.key(), Purpose::Checks, &format!("{seed}/{}", arm.role)),
        };
        let role = arm.role.name();
        let source = arm.checked.built().source();
        let mut random = SplitMix64::new(self.plan_seed(seed, &format!("layout/{role}/{source}")));
        let cells: Vec<_> = self.cells().to_vec();
        let mut layouts = Vec::new();
        let mut memory = (64, 64);
        let (offset, padding) = Self::placement(&mut random);
        for (shape, &calls) in cells.iter().zip(calls) {
            let layout = self.layout(&shape.dims, calls, offset)?;
            memory = (layout.memory.0.max(memory.0), layout.memory.1.max(memory.1));
            layouts.push(layout);
        }
        let pin = self.crew().pin().map_err(|error| Fault::harness("pin a thread", &error))?;
        let mut worker = self.kernel_worker(arm.checked.built(), memory, padding, arm.env)?;
        worker.link.slow_by(arm.slow_ppm);
        let mut checks = Checks::default();
        let mut bodies = Vec::new();
        let mut miss_ppm = 0;
        for (cell, (shape, layout)) in (0_u16..).zip(cells.iter().zip(&layouts)) {
            let shown = Shown { shape: &shape.name, open: true };
            let body =
                self.run_cell(&mut worker, layout, &streams, cell, shown, &mut random, &mut checks, windows_ns)?;
            miss_ppm = self.judge.miss_ppm(layout, body.windows.len() as u64).max(miss_ppm);
            bodies.push(body);
        }
        drop(pin);
        self.end(worker)?;
        let Checks { scanned, sampled, full } = checks;
        Ok((bodies, ChecksBody { scanned, sampled, full, failed: 0, miss_ppm }))
    }

    /// The windows of one cell: warm-up of a drawn length, then the timed ones, indistinguishable to the candidate.
    #[expect(clippy::too_many_arguments, reason = "the parts of one run, used once")]
    fn run_cell(
        &mut self,
        worker: &mut crate::worker::Worker,
        layout: &Layout,
        streams: &Streams,
        cell: u16,
        shown: Shown<'_>,
        random: &mut SplitMix64,
        checks: &mut Checks,
        windows_ns: &mut u64,
    ) -> Result<RunCellBody, Fault> {
        let (low, high) = (self.protocol().kernel_warmup_min(), self.protocol().kernel_warmup_max());
        let warmup = low + below(random, high - low + 1);
        let timed = self.protocol().kernel_windows();
        // Which window and call are compared in full is drawn apart from everything the worker can see.
        let drawn =
            streams.checks.draw(Place { cell, window: u32::MAX, call: 0 }, &[warmup + timed, layout.calls as u64]);
        let mut windows = Vec::new();
        let whole = drawn.get(1).map_or(0, |&call| usize::try_from(call).unwrap_or(0));
        let place = |window| Place { cell, window: u32::try_from(window).unwrap_or(u32::MAX), call: 0 };
        self.judge.prepare(worker, layout, streams, place(0));
        worker.link.forget_windows();
        for window in 0..warmup + timed {
            self.cancelled()?;
            let next = (window + 1 < warmup + timed).then(|| place(window + 1));
            let full: &[usize] = if drawn.first() == Some(&window) { &[whole] } else { &[] };
            let window_of = Window { layout, place: place(window), next, full, shown };
            let time = self.judge.window(worker, streams, window_of, checks)?;
            *windows_ns += time.get();
            if window >= warmup {
                windows.push(time);
            }
        }
        self.judge_gaps(worker, shown)?;
        let value = twice_median(&windows)
            .ok_or_else(|| Fault::new(Outcome::HarnessError(codes::WORKER_START), "a run without windows"))?;
        Ok(RunCellBody {
            k: layout.calls as u64,
            warmup,
            value: value.get(),
            windows: windows.into_iter().map(Nanos::get).collect(),
        })
    }
}

/// A number in [0, bound); 0 for a bound of 0. Order and layout only, never input bytes.
fn below(random: &mut SplitMix64, bound: u64) -> u64 {
    std::num::NonZeroU64::new(bound).map_or(0, |bound| random.below(bound))
}

/// Calls per window of arms that are compared, per arm and cell: the most of any arm whose own pilot chose at most twice as many.
///
/// Each call of a window has tensors of its own, so that arms with unlike numbers of calls meet unlike caches, for a whole block. Two
/// pilots of the same code can disagree by half. Arms further apart keep their own numbers: a window of the slower would take too long.
fn shared_calls(own: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let shared = |cell: usize, calls: usize| {
        own.iter().filter_map(|arm| arm.get(cell).copied()).filter(|&other| other <= 2 * calls).fold(calls, usize::max)
    };
    own.iter().map(|arm| arm.iter().enumerate().map(|(cell, &calls)| shared(cell, calls)).collect()).collect()
}

fn arm_body(arm: &Arm<'_>) -> ArmBody {
    let built = arm.checked.built();
    ArmBody { role: arm.role, source: built.source(), artefact: built.artefact(), flags: built.flags().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_that_are_close_have_the_same_number_of_calls() {
        let shared = |own: &[&[usize]]| shared_calls(&own.iter().map(|arm| arm.to_vec()).collect::<Vec<_>>());
        assert_eq!(shared(&[&[6], &[9]]), [[9], [9]]);
        assert_eq!(shared(&[&[6], &[12], &[3]]), [[12], [12], [6]]);
        assert_eq!(shared(&[&[3], &[240], &[1]]), [[3], [240], [1]], "forty times slower is not close");
        assert_eq!(shared(&[&[3, 9], &[6, 9]]), [[6, 9], [6, 9]], "cell by cell");
    }
}
