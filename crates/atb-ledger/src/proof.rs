//! Proof files: one line of JSON that a stranger verifies without the ledger.

use atb_core::anchor_class::Evidence;
use atb_core::canon::{Digest, canonical};
use atb_core::codes;
use atb_core::entry::{Chain, FORMAT, Row};
use atb_core::merkle::{PATH_MAX, ProofError, Tree, verify_consistency, verify_inclusion};
use serde::{Deserialize, Serialize};

use crate::error::CheckError;
use crate::trust::{Trust, Vouched};

/// A row as files hold it: with its body as text, so that its hash can be computed again byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowLine {
    seq: i64,
    prev: String,
    hash: String,
    at_ms: i64,
    kind: String,
    key: String,
    body: String,
}

impl From<Row> for RowLine {
    fn from(row: Row) -> Self {
        let Row { seq, prev, hash, at_ms, kind, key, body } = row;
        Self { seq, prev, hash, at_ms, kind, key, body }
    }
}

impl From<RowLine> for Row {
    fn from(row: RowLine) -> Self {
        let RowLine { seq, prev, hash, at_ms, kind, key, body } = row;
        Self { seq, prev, hash, at_ms, kind, key, body }
    }
}

/// A tree: its size and root, and the signed note that states them, if there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    pub(crate) size: u64,
    pub(crate) root: Digest,
    pub(crate) checkpoint: Option<String>,
}

/// What one line of a proof or bundle holds, beside rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Proof {
    /// A row is in a tree.
    Inclusion(Inclusion),
    /// A tree is the beginning of another.
    Consistency(Consistency),
}

/// That a row is in a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inclusion {
    format: u64,
    row: RowLine,
    pub(crate) tree: Head,
    path: Vec<Digest>,
}

/// That a tree is the beginning of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consistency {
    format: u64,
    pub(crate) old: Head,
    pub(crate) new: Head,
    path: Vec<Digest>,
}

/// What a proof proves, once verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proved {
    /// The row of an inclusion proof.
    pub row: Option<Row>,
    /// Entries of the older tree of a consistency proof.
    pub old: Option<u64>,
    /// Entries of the tree.
    pub size: u64,
    /// Its root.
    pub root: Digest,
    /// What supports the root.
    pub evidence: Evidence,
}

fn failed(error: ProofError) -> CheckError {
    CheckError::new(codes::PROOF, "the proof", error.to_string())
}

impl Head {
    /// The tree that a checkpoint states, or the whole tree.
    pub(crate) fn of(tree: &Tree, checkpoint: Option<&Vouched>) -> Self {
        if let Some(Vouched { checkpoint, note, .. }) = checkpoint {
            return Self { size: checkpoint.size, root: checkpoint.root, checkpoint: Some(note.clone()) };
        }
        let root = tree.root(tree.size()).unwrap_or_else(atb_core::merkle::empty_root);
        Self { size: tree.size(), root, checkpoint: None }
    }

    /// Verifies the note, and that it states this size and root. A named key must have signed it.
    fn vouch(&self, subject: &str, trust: &Trust) -> Result<Evidence, CheckError> {
        let Some(note) = &self.checkpoint else {
            if trust.log.is_some() || !trust.witnesses.is_empty() {
                let cause = "a key was named, and the proof holds no signed checkpoint";
                return Err(CheckError::new(codes::SIGNATURE, subject, cause));
            }
            return Ok(Evidence::Tree);
        };
        let vouched = trust.vouch(subject, note)?;
        let Self { size, root, .. } = self;
        if vouched.checkpoint.size == *size && vouched.checkpoint.root == *root {
            return Ok(vouched.evidence);
        }
        let cause = format!("its checkpoint is of another tree than that of {size} entries with the root {root}");
        Err(CheckError::new(codes::OTHER_TREE, subject, cause))
    }
}

impl Proof {
    /// Proves a row, by its sequence number, in the tree of a checkpoint or in the whole tree.
    pub fn inclusion(entries: &[Row], tree: &Tree, seq: u64, checkpoint: Option<&Vouched>) -> Result<Self, CheckError> {
        let head = Head::of(tree, checkpoint);
        let index = seq.checked_sub(1).ok_or_else(|| failed(ProofError::Index { index: 0, size: 0 }))?;
        let path = tree.inclusion(index, head.size).map_err(failed)?;
        let row = usize::try_from(index).ok().and_then(|index| entries.get(index));
        let row = row.ok_or_else(|| failed(ProofError::Index { index, size: head.size }))?;
        Ok(Self::Inclusion(Inclusion { format: FORMAT, row: row.clone().into(), tree: head, path }))
    }

    /// Proves that the tree of a checkpoint is the beginning of a later one's, or of the whole tree.
    pub fn consistency(tree: &Tree, from: &Vouched, to: Option<&Vouched>) -> Result<Self, CheckError> {
        let (old, new) = (Head::of(tree, Some(from)), Head::of(tree, to));
        let path = tree.consistency(old.size, new.size).map_err(failed)?;
        Ok(Self::Consistency(Consistency { format: FORMAT, old, new, path }))
    }

    /// The line, with its line feed.
    pub fn to_line(&self) -> Result<String, CheckError> {
        let text = canonical(self);
        text.map(|text| text + "\n").map_err(|error| CheckError::new(codes::PROOF_FORM, "the proof", error.to_string()))
    }

    /// Reads a line.
    pub fn parse(subject: &str, text: &str) -> Result<Self, CheckError> {
        let malformed = |cause: String| CheckError::new(codes::PROOF_FORM, subject, cause);
        let proof: Self = serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
        let (format, path) = match &proof {
            Self::Inclusion(proof) => (proof.format, &proof.path),
            Self::Consistency(proof) => (proof.format, &proof.path),
        };
        if format != FORMAT {
            return Err(malformed(format!("it has format {format}, this program reads {FORMAT}")));
        }
        if path.len() > PATH_MAX {
            return Err(malformed(format!("its path has {} nodes, more than {PATH_MAX}", path.len())));
        }
        Ok(proof)
    }

    /// The trees that the proof speaks of.
    pub(crate) fn heads(&self) -> Vec<&Head> {
        match self {
            Self::Inclusion(proof) => vec![&proof.tree],
            Self::Consistency(proof) => vec![&proof.old, &proof.new],
        }
    }

    /// Verifies the proof: the row's hash, the path, and the signatures on its checkpoints.
    pub fn verify(&self, subject: &str, trust: &Trust) -> Result<Proved, CheckError> {
        let wrong = |error: ProofError| CheckError::new(codes::PROOF, subject, error.to_string());
        match self {
            Self::Inclusion(Inclusion { row, tree, path, .. }) => {
                let row = Row::from(row.clone());
                let hash = row.compute_hash(Chain::Entry);
                if hash.to_string() != row.hash {
                    let cause = format!("its row has the hash {hash}, and states {}", row.hash);
                    return Err(CheckError::new(codes::HASH, subject, cause));
                }
                let index = u64::try_from(row.seq).ok().and_then(|seq| seq.checked_sub(1)).unwrap_or(u64::MAX);
                verify_inclusion(hash.bytes(), index, tree.size, path, tree.root).map_err(wrong)?;
                let evidence = tree.vouch(subject, trust)?;
                Ok(Proved { row: Some(row), old: None, size: tree.size, root: tree.root, evidence })
            }
            Self::Consistency(Consistency { old, new, path, .. }) => {
                verify_consistency(old.size, new.size, path, old.root, new.root).map_err(wrong)?;
                old.vouch(subject, trust)?;
                // Without a note the newer tree is a bare claim, which the older one's signature does not cover.
                let evidence = match new.checkpoint {
                    Some(_) => new.vouch(subject, trust)?,
                    None => Evidence::Tree,
                };
                Ok(Proved { row: None, old: Some(old.size), size: new.size, root: new.root, evidence })
            }
        }
    }
}
