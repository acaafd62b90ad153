//! The breaker: a factor over the limit, in either direction, is far more often a defect or a cheat than a speedup.
//!
//! It reads the median of the pairs. A cheat that claims less than the limit passes it: other gates and checks are for those.

use super::{Effect, GateDecision, source_of};
use crate::codes;
use crate::comparison::{ComparisonError, median_ratio};
use crate::entry::BlockBody;
use crate::protocol::Protocol;
use crate::quantity::Ratio;

/// Judges an arm against the parent, or in REPORT and PROBE against the fastest baseline.
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
        gate: "quarantine".to_owned(),
        arm,
        effect: if over { Effect::Quarantines(codes::QUARANTINE) } else { Effect::Passes },
        observed: Ratio::new(median.exp())?.get(),
        limit,
        source: source_of(protocol, "gates.quarantine_ratio"),
    })
}
