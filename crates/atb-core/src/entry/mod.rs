//! What a ledger holds: kinds of rows, their bodies and keys, and the hash that chains them.
//!
//! Bodies hold raw samples and facts, never a verdict, ratio or bound: those are derived on reading, by
//! [`crate::ladder`] and [`crate::stats`]. Bodies are canonical JSON, so integers and texts only.

mod bodies;
mod parts;

pub use bodies::*;
pub use parts::*;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::canon::Digest;

/// The format number of row bodies.
pub const FORMAT: u64 = 1;

/// The three append-only tables; each is a chain of its own with the same columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chain {
    /// The ledger proper.
    Entry,
    /// Every gate decision, passed ones too.
    Gate,
    /// Every refused row, with its body, so that no attempt is lost.
    Refusal,
}

impl Chain {
    /// All chains.
    pub const ALL: [Self; 3] = [Self::Entry, Self::Gate, Self::Refusal];

    /// The SQL table.
    pub fn table(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Gate => "gate",
            Self::Refusal => "refusal",
        }
    }
}

/// A row of any chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Position in the chain, from 1.
    pub seq: i64,
    /// Hash of the row before; zeros for the first.
    pub prev: String,
    /// Hash of this row.
    pub hash: String,
    /// Wall time in milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// Kind of row.
    pub kind: String,
    /// Natural key within the kind; a copied row collides here.
    pub key: String,
    /// Canonical JSON.
    pub body: String,
}

impl Row {
    /// SHA-256 over table, seq, prev, at, kind, key and body, each followed by a line feed, so `sha256sum` can check it.
    pub fn compute_hash(&self, chain: Chain) -> Digest {
        let Self { seq, prev, hash: _, at_ms, kind, key, body } = self;
        Digest::of(format!("{}\n{seq}\n{prev}\n{at_ms}\n{kind}\n{key}\n{body}\n", chain.table()).as_bytes())
    }
}

/// Phases of measurement; their seeds are disjoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Selects the most promising candidate of a generation.
    Screen,
    /// Decides whether it is kept.
    Confirm,
    /// Estimates the campaign's result, once, when it closes.
    Report,
    /// `atb measure`: never a keep, never a headline.
    Probe,
    /// A registered comparison.
    Compare,
    /// The same code in both arms, for the minimum detectable effect of a registration.
    Same,
}

impl Phase {
    /// All phases.
    pub const ALL: [Self; 6] = [Self::Screen, Self::Confirm, Self::Report, Self::Probe, Self::Compare, Self::Same];

    /// The name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Screen => "screen",
            Self::Confirm => "confirm",
            Self::Report => "report",
            Self::Probe => "probe",
            Self::Compare => "compare",
            Self::Same => "same",
        }
    }
}

/// What an arm is in its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The current parent: the last keep, or the root.
    Parent,
    /// A candidate; a SCREEN block has several.
    Candidate,
    /// The last keep, in a REPORT.
    Head,
    /// The same code again: the A/A control.
    HeadAgain,
    /// The same code slowed by a known share: the positive control.
    HeadSlow,
    /// The baseline as a careless author writes it.
    Naive,
    /// The baseline that the compiler optimises; the root of every campaign.
    Compiler,
    /// The library's implementation.
    Vendor,
    /// What a registered comparison compares with.
    Control,
    /// The control's code again, in the second arm.
    ControlAgain,
    /// What a registered comparison asks about.
    Treatment,
}

impl Role {
    /// The name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parent => "parent",
            Self::Candidate => "candidate",
            Self::Head => "head",
            Self::HeadAgain => "head_again",
            Self::HeadSlow => "head_slow",
            Self::Naive => "naive",
            Self::Compiler => "compiler",
            Self::Vendor => "vendor",
            Self::Control => "control",
            Self::ControlAgain => "control_again",
            Self::Treatment => "treatment",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a gate decided about an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Nothing against it.
    Pass,
    /// It counts, with the flag beside it, until someone rules on it.
    Flag,
    /// It does not count until someone releases it.
    Quarantine,
    /// It does not count.
    Reject,
}

impl Decision {
    /// The name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Flag => "flag",
            Self::Quarantine => "quarantine",
            Self::Reject => "reject",
        }
    }

    /// True if what was judged does not count.
    pub fn stops(self) -> bool {
        matches!(self, Self::Quarantine | Self::Reject)
    }
}

/// What a person decided about a gate's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ruling {
    /// It counts, with the reason beside it.
    Release,
    /// It does not count.
    Reject,
}

impl Ruling {
    /// The name in rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Reject => "reject",
        }
    }
}

/// The public seed of a pair: 32 hexadecimal digits derived from the session key.
///
/// `SHA-256(len-prefixed: "atb-seed-1", key, campaign, phase, index, attempt, pair)`, first 16 bytes. The input stream's key is
/// derived from the session key and this seed, so a published seed reveals no input.
pub fn pair_seed(key: &[u8; 32], campaign: &str, phase: Phase, index: u64, attempt: u64, pair: u64) -> String {
    let digest = Digest::of_parts(&[
        b"atb-seed-1",
        key,
        campaign.as_bytes(),
        phase.name().as_bytes(),
        &index.to_le_bytes(),
        &attempt.to_le_bytes(),
        &pair.to_le_bytes(),
    ]);
    digest.to_string()[..32].to_owned()
}

/// The commitment to a session key that is published before the first run.
pub fn key_commitment(key: &[u8; 32]) -> Digest {
    Digest::of_parts(&[b"atb-key-1", key])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_hash_is_that_of_plain_lines() {
        let row = Row {
            seq: 1,
            prev: Digest::GENESIS.to_string(),
            hash: String::new(),
            at_ms: 5,
            kind: "task".into(),
            key: "k".into(),
            body: "{}".into(),
        };
        let lines = format!("entry\n1\n{}\n5\ntask\nk\n{{}}\n", "0".repeat(64));
        assert_eq!(row.compute_hash(Chain::Entry), Digest::of(lines.as_bytes()));
        assert_ne!(row.compute_hash(Chain::Entry), row.compute_hash(Chain::Gate));
    }

    #[test]
    fn seeds_of_phases_indices_attempts_and_pairs_are_disjoint() {
        let mut seen = std::collections::BTreeSet::new();
        for phase in Phase::ALL {
            for (index, attempt, pair) in [(1, 1, 0), (1, 1, 1), (1, 2, 0), (2, 1, 0)] {
                assert!(seen.insert(pair_seed(&[7; 32], "c", phase, index, attempt, pair)));
            }
        }
    }
}
