//! Gates: pure functions from a measurement to a decision, all recorded, passed ones too.

use crate::codes::{self, Code};
use crate::comparison::{ComparisonError, median_ratio};
use crate::entry::{BlockBody, FORMAT, GateBody, Phase};
use crate::protocol::Protocol;
use crate::quantity::{Ratio, Reading};
use crate::stats::cv::CrossRunCv;

/// A gate's decision about one arm of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct GateDecision {
    /// Gate id.
    pub gate: &'static str,
    /// Index of the judged arm.
    pub arm: usize,
    /// None if it passed.
    pub code: Option<Code>,
    /// Observed value.
    pub observed: f64,
    /// Limit.
    pub limit: f64,
    /// Source of the limit.
    pub source: String,
}

impl GateDecision {
    /// The row to record.
    pub fn body(&self, block_seq: u64, block: &BlockBody) -> Option<GateBody> {
        let arm = block.arms.get(self.arm)?;
        Some(GateBody {
            format: FORMAT,
            block: block_seq,
            gate: self.gate.to_owned(),
            role: arm.role,
            candidate: arm.source,
            decision: if self.code.is_none() { "pass" } else { "quarantine" }.to_owned(),
            code: self.code.map(|code| code.to_string()).unwrap_or_default(),
            observed: format!("{:.6}", self.observed),
            limit: format!("{:.6}", self.limit),
            source: self.source.clone(),
        })
    }
}

fn source_of(protocol: &Protocol, key: &str) -> String {
    let cited = protocol.cited().into_iter().find(|(field, _)| field.key == key);
    cited.map(|(_, cited)| format!("{}: {}", cited.source(), cited.locator())).unwrap_or_default()
}

/// Quarantines a ratio over the limit in either direction: it is far more often a defect or a cheat than a speedup.
pub fn quarantine(
    block: &BlockBody,
    base: usize,
    arm: usize,
    protocol: &Protocol,
) -> Result<GateDecision, ComparisonError> {
    let median = median_ratio(block, base, arm)?.get();
    let limit = protocol.gates_quarantine_ratio().get();
    let over = median.abs() > limit.ln();
    Ok(GateDecision {
        gate: "quarantine",
        arm,
        code: over.then_some(codes::QUARANTINE),
        observed: Ratio::new(median.exp())?.get(),
        limit,
        source: source_of(protocol, "gates.quarantine_ratio"),
    })
}

/// Records the scatter of an arm and of what it is compared with beside the cap: the worst cell counts.
///
/// The database holds every arm to the cap on which a verdict can rest, so what is admitted passes here. In a SCREEN block, which decides nothing, the scatter is recorded and passes.
pub fn scatter(
    block: &BlockBody,
    base: usize,
    arm: usize,
    protocol: &Protocol,
) -> Result<GateDecision, ComparisonError> {
    let mut worst = 0.0_f64;
    for times in [crate::comparison::times(block, arm)?, crate::comparison::times(block, base)?] {
        for cell in 0..block.cells.len() {
            let readings: Result<Vec<Reading>, _> = times
                .iter()
                .filter_map(|run| run.get(cell))
                .map(|time| Reading::new(time.twice_median.get() as f64))
                .collect();
            if let Ok(cv) = CrossRunCv::of(&readings?, protocol.statistics_confidence()) {
                worst = worst.max(cv.corrected.get());
            }
        }
    }
    let limit = protocol.noise_cv_cap().get();
    let code = (worst > limit && block.phase != Phase::Screen).then_some(codes::CV_CAP);
    Ok(GateDecision { gate: "scatter", arm, code, observed: worst, limit, source: source_of(protocol, "noise.cv_cap") })
}
