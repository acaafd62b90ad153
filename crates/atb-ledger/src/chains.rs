//! The rows of a ledger, the tree over its entries, and what a checkpoint says of them.

use std::collections::BTreeSet;

use atb_core::canon::Digest;
use atb_core::codes;
use atb_core::entry::{BlockBody, Body as _, Chain, Row};
use atb_core::merkle::Tree;
use atb_core::note::Checkpoint;

use crate::error::{CheckError, OpenError};
use crate::open::Ledger;

/// All rows of the three chains, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chains {
    /// The ledger proper.
    pub entries: Vec<Row>,
    /// Gate decisions.
    pub gates: Vec<Row>,
    /// Refused rows.
    pub refusals: Vec<Row>,
}

impl Chains {
    /// Reads a ledger.
    pub fn of(ledger: &Ledger) -> Result<Self, OpenError> {
        let [entries, gates, refusals] = [Chain::Entry, Chain::Gate, Chain::Refusal].map(|chain| ledger.rows(chain));
        Ok(Self { entries: entries?, gates: gates?, refusals: refusals? })
    }

    /// The rows of a chain.
    pub fn rows(&self, chain: Chain) -> &[Row] {
        match chain {
            Chain::Entry => &self.entries,
            Chain::Gate => &self.gates,
            Chain::Refusal => &self.refusals,
        }
    }

    /// The tree over the entries: leaf `i` holds the 32 bytes of the hash of row `i + 1`.
    pub fn tree(&self, subject: &str) -> Result<Tree, CheckError> {
        let mut tree = Tree::default();
        for row in &self.entries {
            let cause = || format!("the hash of row {} is not 64 lower-case hexadecimal digits", row.seq);
            tree.push(Digest::parse(&row.hash).ok_or_else(|| CheckError::new(codes::HASH, subject, cause()))?.bytes());
        }
        Ok(tree)
    }

    /// What may be signed of these rows. The other chains are not in the tree; extension lines hold their sizes and heads.
    pub fn checkpoint(&self, origin: &str, tree: &Tree) -> Checkpoint {
        let root = tree.root(tree.size()).unwrap_or_else(atb_core::merkle::empty_root);
        let extensions = [Chain::Gate, Chain::Refusal].map(|chain| {
            let rows = self.rows(chain);
            let head = rows.last().map_or_else(|| Digest::GENESIS.to_string(), |row| row.hash.clone());
            format!("atb-{} {} {head}", chain.table(), rows.len())
        });
        Checkpoint { origin: origin.to_owned(), size: tree.size(), root, extensions: extensions.into() }
    }

    /// Refuses rows that do not begin with those of a checkpoint.
    pub fn extend(&self, subject: &str, tree: &Tree, checkpoint: &Checkpoint) -> Result<(), CheckError> {
        let Checkpoint { size, root, .. } = checkpoint;
        extends(subject, tree, *size, *root)?;
        for line in &checkpoint.extensions {
            let Some((chain, size, head)) = extension(line) else { continue };
            let (table, rows) = (chain.table(), self.rows(chain));
            let Some(last) = size.checked_sub(1) else { continue };
            let Some(row) = rows.get(last) else {
                let cause = format!("it has {} rows in `{table}`, and {size} were signed", rows.len());
                return Err(CheckError::new(codes::ROLLED_BACK, subject, cause));
            };
            if row.hash != head {
                let cause = format!("row {size} of `{table}` has the hash {}, and {head} was signed", row.hash);
                return Err(CheckError::new(codes::OTHER_TREE, subject, cause));
            }
        }
        Ok(())
    }

    /// Who judged, from the blocks.
    pub fn judges(&self) -> BTreeSet<String> {
        let blocks = self.entries.iter().filter(|row| row.kind == BlockBody::KIND);
        blocks
            .map(|row| serde_json::from_str(&row.body).map_or_else(|_| String::new(), |b: BlockBody| b.judge))
            .collect()
    }
}

/// Refuses a tree that does not begin with `size` leaves under `root`.
pub(crate) fn extends(subject: &str, tree: &Tree, size: u64, root: Digest) -> Result<(), CheckError> {
    match tree.root(size) {
        None => {
            let cause = format!("it has {} entries, and {size} were signed or proved", tree.size());
            Err(CheckError::new(codes::ROLLED_BACK, subject, cause))
        }
        Some(own) if own != root => {
            let cause = format!("its first {size} entries have the root {own}, and {root} was signed or proved");
            Err(CheckError::new(codes::OTHER_TREE, subject, cause))
        }
        Some(_) => Ok(()),
    }
}

/// Reads `atb-TABLE SIZE HASH`; other lines are not ours.
fn extension(line: &str) -> Option<(Chain, usize, &str)> {
    let mut words = line.strip_prefix("atb-")?.split(' ');
    let (table, size, head) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
    let chain = Chain::ALL.into_iter().find(|chain| chain.table() == table)?;
    words.next().is_none().then_some((chain, size, head))
}
