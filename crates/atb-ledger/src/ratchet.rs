//! The ratchet: a keep becomes the parent only if its CONFIRM block, read again from the ledger, says so.

use atb_core::codes;
use atb_core::comparison::{ComparisonError, compare, confirm_level};
use atb_core::entry::{BlockBody, Body as _, FORMAT, KeepBody, Phase, ProtocolBody, Role};
use atb_core::gates::Ruled;
use atb_core::ladder;
use atb_core::protocol::Protocol;

use crate::append::Admitted;
use crate::error::{IngestError, OpenError};
use crate::open::Ledger;

/// The new parent of a campaign. Only the ratchet makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    keep: Admitted,
}

impl Parent {
    /// The keep's row.
    pub fn row(&self) -> &Admitted {
        &self.keep
    }
}

/// What the ratchet did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RatchetDecision {
    /// The candidate is the new parent.
    Kept(Parent),
    /// It is not: no `faster` at the spent alpha, or a gate stopped it.
    NotKept,
}

/// True if the block is a CONFIRM whose verdict keeps its candidate at the alpha that is left.
pub(crate) fn supports_keep(block: &BlockBody, protocol: &Protocol) -> Result<bool, ComparisonError> {
    if block.phase != Phase::Confirm {
        return Ok(false);
    }
    let verdict = compare(block, 0, 1, protocol)?;
    Ok(ladder::kept(&verdict, confirm_level(block, protocol)))
}

impl Ledger {
    /// Decides on a CONFIRM block and appends the keep if it is one.
    pub fn ratchet(&mut self, confirm: &Admitted, at_ms: i64) -> Result<RatchetDecision, IngestError> {
        let corrupt = |path: &std::path::Path, what: &str| OpenError::new(codes::CORRUPT, path, what);
        let blocks = self.bodies::<BlockBody>()?;
        let Some(stored) = blocks.into_iter().find(|stored| stored.seq == confirm.seq()) else {
            return Err(corrupt(&self.path, "the block is not in the ledger").into());
        };
        let block = stored.body;
        let protocols = self.bodies::<ProtocolBody>()?;
        let Some(protocol) = protocols.into_iter().find(|protocol| protocol.body.digest == block.protocol) else {
            return Err(corrupt(&self.path, "the block's protocol is not in the ledger").into());
        };
        let protocol = Protocol::from_json("ledger", &protocol.body.protocol)
            .map_err(|error| corrupt(&self.path, &error.to_string()))?;
        let supported = supports_keep(&block, &protocol).map_err(|error| corrupt(&self.path, &error.to_string()))?;
        if !supported || self.is_stopped(confirm.seq())? {
            return Ok(RatchetDecision::NotKept);
        }
        let source = |role| block.arms.iter().find(|arm| arm.role == role).map(|arm| arm.source);
        let (Some(candidate), Some(parent)) = (source(Role::Candidate), source(Role::Parent)) else {
            return Ok(RatchetDecision::NotKept);
        };
        let seq = u64::try_from(confirm.seq()).unwrap_or(0);
        let keep = KeepBody { format: FORMAT, campaign: block.campaign, candidate, parent, block: seq };
        let keep = match self.admitted::<KeepBody>(&keep.key())? {
            Some(kept) => kept,
            None => self.append(&keep, at_ms)?,
        };
        Ok(RatchetDecision::Kept(Parent { keep }))
    }

    /// True if a gate stopped the block, and nobody has released it.
    fn is_stopped(&self, block: i64) -> Result<bool, OpenError> {
        // A decision that does not parse is an error, and stops too.
        let stops = |gate: &Ruled| i64::try_from(gate.body.block) == Ok(block) && gate.standing().stops();
        Ok(self.decisions()?.iter().any(stops))
    }
}
