//! A block as it ran: arms, runs, scatter, output checks.

use atb_core::canon::Digest;
use atb_core::comparison;
use atb_core::entry::{ChecksBody, Phase, Role};
use atb_core::protocol::Protocol;
use atb_core::quantity::{Iterations, Probability, Reading};
use atb_core::stats::cv::CrossRunCv;
use atb_core::stats::pairs::CellTime;
use atb_core::stats::summary::quantile;

use super::ReportError;
use super::records::StoredBlock;

/// An admitted block.
#[derive(Debug, Clone)]
pub struct BlockReport {
    /// Position in the ledger.
    pub seq: i64,
    /// Wall time in milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// SHA-256 of the row's body as stored.
    pub digest: Digest,
    /// Session id.
    pub session: String,
    /// Why it was measured.
    pub phase: Phase,
    /// Number within campaign and phase, from 1.
    pub index: u64,
    /// 2 if it replaces a block over the noise cap.
    pub attempt: u64,
    /// Pairs: runs per arm.
    pub pairs: usize,
    /// False if the machine was not quiet, or workers were not isolated as asked.
    pub quiet: bool,
    /// Names of the timed shapes, cell by cell.
    pub shapes: Vec<String>,
    /// Arms in the block's order.
    pub arms: Vec<ArmReport>,
    /// Output checks of all runs together; the miss probability is the worst run's.
    pub checks: ChecksBody,
}

/// An arm of a block.
#[derive(Debug, Clone)]
pub struct ArmReport {
    /// Role.
    pub role: Role,
    /// Digest of the source.
    pub source: Digest,
    /// Compiler flags.
    pub flags: String,
    /// One entry per timed shape.
    pub cells: Vec<ArmCell>,
}

/// An arm's runs in one cell.
#[derive(Debug, Clone)]
pub struct ArmCell {
    /// Calls per window in the first run; the ledger refuses runs of an arm that differ.
    pub calls: Iterations,
    /// Time per call of each run in ns, in pair order: the median window, by the calls in it.
    pub runs: Vec<Reading>,
    /// Lower quartile, median and upper quartile of the runs, in ns per call.
    pub quartiles: [Reading; 3],
    /// Scatter of the runs.
    pub cv: CrossRunCv,
}

impl ArmCell {
    /// Median of the runs in ns per call.
    pub fn median(&self) -> Reading {
        self.quartiles[1]
    }
}

impl BlockReport {
    pub(super) fn of(stored: &StoredBlock, protocol: &Protocol) -> Result<Self, ReportError> {
        let body = &stored.body;
        let arms = body.arms.iter().enumerate().map(|(at, arm)| {
            let times = comparison::times(body, at)?;
            let cells = (0..body.cells.len()).map(|cell| arm_cell(&times, cell, at, protocol.statistics_confidence()));
            let cells = cells.collect::<Result<_, ReportError>>()?;
            Ok(ArmReport { role: arm.role, source: arm.source, flags: arm.flags.clone(), cells })
        });
        Ok(Self {
            seq: stored.seq,
            at_ms: stored.at_ms,
            digest: stored.digest,
            session: body.session.clone(),
            phase: body.phase,
            index: body.index,
            attempt: body.attempt,
            pairs: body.seeds.len(),
            quiet: body.quiet,
            shapes: body.cells.iter().map(|cell| cell.shape.clone()).collect(),
            arms: arms.collect::<Result<_, ReportError>>()?,
            checks: total_checks(body.runs.iter().map(|run| &run.checks)),
        })
    }

    /// The first arm with this role.
    pub fn arm(&self, role: Role) -> Option<&ArmReport> {
        self.arms.iter().find(|arm| arm.role == role)
    }

    /// `REPORT`, `CONFIRM 2` and the like.
    pub fn name(&self) -> String {
        phase_name(self.phase, self.index)
    }
}

/// A phase in capitals, numbered where a campaign may have several blocks of it.
pub(crate) fn phase_name(phase: Phase, index: u64) -> String {
    let name = phase.name().to_uppercase();
    match phase {
        Phase::Screen | Phase::Confirm => format!("{name} {index}"),
        Phase::Report | Phase::Probe | Phase::Compare => name,
        Phase::Same => "A/A".to_owned(),
    }
}

fn arm_cell(times: &[Vec<CellTime>], cell: usize, arm: usize, confidence: Probability) -> Result<ArmCell, ReportError> {
    let missing = || comparison::ComparisonError::Arm { arm };
    let times: Option<Vec<CellTime>> = times.iter().map(|run| run.get(cell).copied()).collect();
    let times = times.ok_or_else(missing)?;
    let first = times.first().ok_or_else(missing)?;
    // Twice the median, so half of it.
    let per_call = |time: &CellTime| Reading::new(time.twice_median.get() as f64 / 2.0 / time.calls.get() as f64);
    let runs = times.iter().map(per_call).collect::<Result<Vec<_>, _>>()?;
    let at = |p: f64| quantile(&runs, Probability::saturating(p)).map_err(|_| missing());
    Ok(ArmCell {
        calls: first.calls,
        quartiles: [at(0.25)?, at(0.5)?, at(0.75)?],
        cv: CrossRunCv::of(&runs, confidence)?,
        runs,
    })
}

fn total_checks<'a>(runs: impl Iterator<Item = &'a ChecksBody>) -> ChecksBody {
    let none = ChecksBody { scanned: 0, sampled: 0, full: 0, failed: 0, miss_ppm: 0 };
    runs.fold(none, |sum, run| ChecksBody {
        scanned: sum.scanned.saturating_add(run.scanned),
        sampled: sum.sampled.saturating_add(run.sampled),
        full: sum.full.saturating_add(run.full),
        failed: sum.failed.saturating_add(run.failed),
        miss_ppm: sum.miss_ppm.max(run.miss_ppm),
    })
}
