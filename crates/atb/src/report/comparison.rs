//! One arm against another: the verdict, and what it rests on.

use atb_core::comparison::{self, ComparisonError};
use atb_core::entry::{BlockBody, Role};
use atb_core::ladder::Verdict;
use atb_core::outcome::Outcome;
use atb_core::protocol::Protocol;
use atb_core::quantity::{LogBound, LogRatio, Ratio};
use atb_core::stats::pairs::{cell_log_ratio, log_spread};
use atb_core::stats::planning::{Design, minimum_detectable_effect};
use atb_core::stats::signed_rank::Walsh;

use super::ReportError;
use super::number::{self, Rounded};

/// A comparison of two arms of a block.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The arm that the ratio speaks of.
    pub judged: Role,
    /// The arm that it is compared with.
    pub base: Role,
    /// The verdict at the protocol's levels.
    pub verdict: Verdict,
    /// One log ratio per pair, in pair order; cells averaged.
    pub pairs: Vec<LogRatio>,
    /// Each timed shape by itself, if there are several. Shown, not judged.
    pub cells: Vec<CellRatio>,
    /// The smallest true effect that so many pairs with this spread show with the protocol's power; none if it cannot be computed.
    pub detectable: Option<LogRatio>,
}

/// The ratio in one timed shape.
#[derive(Debug, Clone)]
pub struct CellRatio {
    /// Name of the shape.
    pub shape: String,
    /// One log ratio per pair, in pair order.
    pub pairs: Vec<LogRatio>,
    /// Hodges & Lehmann's estimate.
    pub estimate: Ratio,
    /// Lower end of the interval.
    pub lo: LogBound,
    /// Upper end of the interval.
    pub hi: LogBound,
}

impl Comparison {
    pub(super) fn of(block: &BlockBody, base: usize, judged: usize, protocol: &Protocol) -> Result<Self, ReportError> {
        let role = |arm: usize| block.arms.get(arm).map(|body| body.role).ok_or(ComparisonError::Arm { arm });
        let pairs = comparison::pair_ratios(block, base, judged)?;
        let design = Design::new(protocol.statistics_confidence(), protocol.statistics_power()).ok();
        let spread = log_spread(&pairs).ok();
        let detectable =
            design.zip(spread).and_then(|(design, sd)| minimum_detectable_effect(sd, pairs.len(), design).ok());
        Ok(Self {
            judged: role(judged)?,
            base: role(base)?,
            verdict: comparison::compare(block, base, judged, protocol)?,
            cells: cell_ratios(block, base, judged, protocol)?,
            pairs,
            detectable,
        })
    }

    /// The measured outcome.
    pub fn outcome(&self) -> Outcome {
        self.verdict.outcome.into()
    }

    /// The estimate as printed.
    pub fn ratio(&self) -> Option<Rounded> {
        Rounded::nearest(self.verdict.estimate)
    }

    /// The lower end as printed, rounded down.
    pub fn lo(&self) -> Option<Rounded> {
        Rounded::down(self.verdict.lo95)
    }

    /// The upper end as printed, rounded up.
    pub fn hi(&self) -> Option<Rounded> {
        Rounded::up(self.verdict.hi95)
    }

    /// The interval as printed, rounded outward.
    pub fn interval(&self) -> String {
        number::interval(self.verdict.lo95, self.verdict.hi95)
    }

    /// `head over compiler`.
    pub fn name(&self) -> String {
        format!("{} over {}", self.judged, self.base)
    }
}

fn cell_ratios(
    block: &BlockBody,
    base: usize,
    judged: usize,
    protocol: &Protocol,
) -> Result<Vec<CellRatio>, ReportError> {
    if block.cells.len() < 2 {
        return Ok(Vec::new());
    }
    let (base_times, judged_times) = (comparison::times(block, base)?, comparison::times(block, judged)?);
    let cells = block.cells.iter().enumerate().map(|(at, cell)| {
        let missing = ComparisonError::Arm { arm: judged };
        let pairs: Option<Vec<LogRatio>> =
            base_times.iter().zip(&judged_times).map(|(b, j)| cell_log_ratio(*b.get(at)?, *j.get(at)?)).collect();
        let pairs = pairs.ok_or(missing)?;
        let walsh = Walsh::of(&pairs)?;
        let interval = walsh.interval(protocol.statistics_confidence())?;
        let estimate = walsh.estimate()?.ratio()?;
        Ok(CellRatio { shape: cell.shape.clone(), pairs, estimate, lo: interval.lo, hi: interval.hi })
    });
    cells.collect()
}
