//! The scatter of an arm and of what it is compared with, recorded beside the cap: the worst cell counts.
//!
//! The database holds every arm to the cap on which a verdict can rest, so what is admitted passes here. In a SCREEN block, which
//! decides nothing, the scatter is recorded and passes.

use super::{Effect, GateDecision, source_of};
use crate::codes;
use crate::comparison::{ComparisonError, times};
use crate::entry::{BlockBody, Phase};
use crate::protocol::Protocol;
use crate::quantity::Reading;
use crate::stats::cv::CrossRunCv;

/// Judges an arm and its base.
pub fn scatter(
    block: &BlockBody,
    base: usize,
    arm: usize,
    protocol: &Protocol,
) -> Result<GateDecision, ComparisonError> {
    let mut worst = 0.0_f64;
    for times in [times(block, arm)?, times(block, base)?] {
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
    let over = worst > limit && block.phase != Phase::Screen;
    Ok(GateDecision {
        gate: "scatter".to_owned(),
        arm,
        effect: if over { Effect::Quarantines(codes::CV_CAP) } else { Effect::Passes },
        observed: worst,
        limit,
        source: source_of(protocol, "noise.cv_cap"),
    })
}
