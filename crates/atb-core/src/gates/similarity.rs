//! Source similarity: a candidate that is the reference, a baseline or an earlier candidate again, under other names.
//!
//! Being alike is recorded, and flagged above the limit. It is no fault: a null is what a copy should read. A copy that claims a gain
//! over the very code that it copies does not count, since equal code is equally fast: flags, layout, luck or a defect made the gain.

use super::{Effect, GateDecision, source_of};
use crate::codes;
use crate::comparison::{ComparisonError, compare};
use crate::entry::BlockBody;
use crate::ladder::MeasuredOutcome;
use crate::protocol::Protocol;
use crate::similarity::Fingerprint;

/// A known source beside a candidate.
#[derive(Debug, Clone)]
pub struct Known {
    /// What it is, such as `compiler`; the gate's id in the row carries it.
    pub name: &'static str,
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// True if the arm is compared with it.
    pub is_base: bool,
}

/// Judges an arm by the known source that it resembles most; none if nothing is known.
pub fn similarity(
    block: &BlockBody,
    base: usize,
    arm: usize,
    candidate: &Fingerprint,
    known: &[Known],
    protocol: &Protocol,
) -> Result<Option<GateDecision>, ComparisonError> {
    let alike = |known: &Known| candidate.resemblance(&known.fingerprint).get();
    // Of several that are equally alike, the one that it is compared with.
    let closest = known.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)).then(a.is_base.cmp(&b.is_base)));
    let Some(closest) = closest else { return Ok(None) };
    let observed = alike(closest);
    let limit = protocol.gates_similarity().get();
    let copies = closest.is_base && candidate.is_same(&closest.fingerprint);
    let effect = if copies && compare(block, base, arm, protocol)?.outcome == MeasuredOutcome::Faster {
        Effect::Quarantines(codes::COPY_GAINS)
    } else if observed >= limit {
        Effect::Flags(codes::COPY)
    } else {
        Effect::Passes
    };
    let source = source_of(protocol, "gates.similarity");
    Ok(Some(GateDecision { gate: format!("similarity.{}", closest.name), arm, effect, observed, limit, source }))
}
