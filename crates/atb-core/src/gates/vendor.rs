//! The review: a kernel far ahead of the vendor's own is believed only after someone has looked at it.
//!
//! Below the breaker's factor of ten nothing else looks at size. It flags and does not stop: a small library may well be slow.

use super::{Effect, GateDecision, source_of};
use crate::codes;
use crate::comparison::{ComparisonError, arm_of, median_ratio};
use crate::entry::{BlockBody, Role};
use crate::protocol::Protocol;
use crate::quantity::Ratio;

/// Judges an arm against the vendor's, in blocks that have one.
pub fn vendor(block: &BlockBody, arm: usize, protocol: &Protocol) -> Result<Option<GateDecision>, ComparisonError> {
    let Some(vendor) = arm_of(block, Role::Vendor) else { return Ok(None) };
    let observed = Ratio::new(median_ratio(block, vendor, arm)?.get().exp())?.get();
    let limit = protocol.gates_review_ratio().get();
    Ok(Some(GateDecision {
        gate: "vendor".to_owned(),
        arm,
        effect: if observed > limit { Effect::Flags(codes::REVIEW) } else { Effect::Passes },
        observed,
        limit,
        source: source_of(protocol, "gates.review_ratio"),
    }))
}
