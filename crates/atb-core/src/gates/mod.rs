//! Gates: pure functions from a measurement to a decision, one file each. All decisions are recorded, passed ones too.
//!
//! A gate that reads samples alone is decided again from them by whoever reads the ledger ([`of_samples`]).

mod quarantine;
mod roofline;
mod ruled;
mod scatter;
mod similarity;
mod vendor;

pub use quarantine::quarantine;
pub use roofline::{Peaks, roofline};
pub use ruled::Ruled;
pub use scatter::scatter;
pub use similarity::{Known, similarity};
pub use vendor::vendor;

use crate::codes::Code;
use crate::comparison::ComparisonError;
use crate::entry::{BlockBody, Decision, FORMAT, GateBody};
use crate::protocol::Protocol;

/// What a gate does to the arm that it judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Passes,
    /// It counts, and the code stands beside every number that derives from it until someone has ruled on it.
    Flags(Code),
    /// It does not count, and is no parent, until someone releases it.
    Quarantines(Code),
}

/// A gate's decision about one arm of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct GateDecision {
    /// Gate id.
    pub gate: String,
    /// Index of the judged arm.
    pub arm: usize,
    /// What follows.
    pub effect: Effect,
    /// Observed value.
    pub observed: f64,
    /// Limit.
    pub limit: f64,
    /// Source of the limit.
    pub source: String,
}

impl GateDecision {
    /// The code, if the arm does not count.
    pub fn stops(&self) -> Option<Code> {
        match self.effect {
            Effect::Quarantines(code) => Some(code),
            Effect::Passes | Effect::Flags(_) => None,
        }
    }

    /// The row to record.
    pub fn body(&self, block_seq: u64, block: &BlockBody) -> Option<GateBody> {
        let arm = block.arms.get(self.arm)?;
        let (decision, code) = match self.effect {
            Effect::Passes => (Decision::Pass, String::new()),
            Effect::Flags(code) => (Decision::Flag, code.to_string()),
            Effect::Quarantines(code) => (Decision::Quarantine, code.to_string()),
        };
        Some(GateBody {
            format: FORMAT,
            block: block_seq,
            gate: self.gate.clone(),
            role: arm.role,
            candidate: arm.source,
            decision,
            code,
            observed: format!("{:.6}", self.observed),
            limit: format!("{:.6}", self.limit),
            source: self.source.clone(),
        })
    }
}

/// All gates that need nothing but the samples of a block, for one arm against a base.
pub fn of_samples(
    block: &BlockBody,
    base: usize,
    arm: usize,
    protocol: &Protocol,
) -> Result<Vec<GateDecision>, ComparisonError> {
    let mut decisions = vec![scatter(block, base, arm, protocol)?, quarantine(block, base, arm, protocol)?];
    decisions.extend(vendor(block, arm, protocol)?);
    Ok(decisions)
}

fn source_of(protocol: &Protocol, key: &str) -> String {
    let cited = protocol.cited().into_iter().find(|(field, _)| field.key == key);
    cited.map(|(_, cited)| format!("{}: {}", cited.source(), cited.locator())).unwrap_or_default()
}
