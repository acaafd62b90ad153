//! The Merkle tree of RFC 6962 over the rows of a ledger: roots, proofs and their verification.
//!
//! A leaf is the 32 bytes of a row's stored hash, so a proof needs no body, and the row hash binds the row's content. Leaf nodes are
//! SHA-256(0x00, leaf) and inner nodes SHA-256(0x01, left, right). Verifying follows RFC 9162, 2.1.3.2 and 2.1.4.2: a loop over
//! the path, which has at most 64 steps; nothing recurses and nothing is allocated.

use sha2::{Digest as _, Sha256};

use crate::canon::Digest;

/// Longest path that a proof may have: a tree has at most 2^63 leaves, and a consistency proof one node more than its depth.
pub const PATH_MAX: usize = 64;

/// Why a proof does not prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The positions fit no tree.
    #[error("leaf {index} is not in a tree of {size}")]
    Index {
        /// Position of the leaf, from 0.
        index: u64,
        /// Leaves of the tree.
        size: u64,
    },
    /// The older tree is larger than the newer, or empty.
    #[error("a tree of {old} leaves is no beginning of one of {new}")]
    Sizes {
        /// Leaves of the older tree.
        old: u64,
        /// Leaves of the newer tree.
        new: u64,
    },
    /// The path has too few or too many nodes for the sizes.
    #[error("the path does not have the length that the sizes ask for")]
    Length,
    /// The path leads to another root.
    #[error("the path leads to {computed}, not to the root {root}")]
    Root {
        /// Where it leads.
        computed: Digest,
        /// Where it should.
        root: Digest,
    },
}

/// All complete subtrees of a tree: `levels[k][i]` covers the leaves from `i << k` on, `1 << k` of them.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    levels: Vec<Vec<Digest>>,
}

/// The hash of a leaf.
pub fn leaf_hash(leaf: &[u8]) -> Digest {
    Digest::from_bytes(Sha256::new().chain_update([0]).chain_update(leaf).finalize().into())
}

fn node_hash(left: Digest, right: Digest) -> Digest {
    let hasher = Sha256::new().chain_update([1]).chain_update(left.bytes()).chain_update(right.bytes());
    Digest::from_bytes(hasher.finalize().into())
}

/// The root of a tree without leaves: the hash of nothing.
pub fn empty_root() -> Digest {
    Digest::of(b"")
}

impl Tree {
    /// Appends a leaf.
    pub fn push(&mut self, leaf: &[u8]) {
        let mut node = leaf_hash(leaf);
        for level in 0.. {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let nodes = &mut self.levels[level];
            nodes.push(node);
            match nodes.as_slice() {
                [.., left, right] if nodes.len().is_multiple_of(2) => node = node_hash(*left, *right),
                _ => return,
            }
        }
    }

    /// Leaves of the tree.
    pub fn size(&self) -> u64 {
        self.levels.first().map_or(0, |leaves| leaves.len() as u64)
    }

    /// The root over the first `size` leaves; none if the tree has fewer.
    pub fn root(&self, size: u64) -> Option<Digest> {
        if size > self.size() {
            return None;
        }
        Some(self.subtree(0, size).unwrap_or_else(empty_root))
    }

    /// The path from leaf `index`, from 0, to the root over the first `size` leaves, from the leaf upwards.
    pub fn inclusion(&self, index: u64, size: u64) -> Result<Vec<Digest>, ProofError> {
        if index >= size || size > self.size() {
            return Err(ProofError::Index { index, size: size.min(self.size()) });
        }
        let (mut low, mut high, mut path) = (0, size, Vec::new());
        while high - low > 1 {
            let middle = low + split(high - low);
            let sibling = if index < middle { self.subtree(middle, high) } else { self.subtree(low, middle) };
            path.extend(sibling);
            if index < middle { high = middle } else { low = middle }
        }
        path.reverse();
        Ok(path)
    }

    /// The proof that the first `old` leaves are the beginning of the first `new`.
    pub fn consistency(&self, old: u64, new: u64) -> Result<Vec<Digest>, ProofError> {
        if old == 0 || old > new || new > self.size() {
            return Err(ProofError::Sizes { old, new: new.min(self.size()) });
        }
        let (mut low, mut high, mut path) = (0, new, Vec::new());
        while old != high {
            let middle = low + split(high - low);
            if old <= middle {
                path.extend(self.subtree(middle, high));
                high = middle;
            } else {
                path.extend(self.subtree(low, middle));
                low = middle;
            }
        }
        // The verifier knows the old root itself if the old tree is a complete subtree.
        if low != 0 {
            path.extend(self.subtree(low, high));
        }
        path.reverse();
        Ok(path)
    }

    /// The root over leaves `low..high`, where `low` is a multiple of the largest power of two in their number.
    fn subtree(&self, low: u64, high: u64) -> Option<Digest> {
        let (mut at, mut rest, mut whole) = (low, high - low, Vec::new());
        while let Some(level) = rest.checked_ilog2() {
            let nodes = self.levels.get(level as usize)?;
            whole.push(*nodes.get(usize::try_from(at >> level).ok()?)?);
            at += 1 << level;
            rest -= 1 << level;
        }
        whole.into_iter().rev().reduce(|right, left| node_hash(left, right))
    }
}

/// The largest power of two below `count`, which is at least 2.
fn split(count: u64) -> u64 {
    1 << (count - 1).ilog2()
}

/// Verifies that `leaf` is leaf `index`, from 0, of the tree of `size` leaves with this root.
pub fn verify_inclusion(leaf: &[u8], index: u64, size: u64, path: &[Digest], root: Digest) -> Result<(), ProofError> {
    if index >= size {
        return Err(ProofError::Index { index, size });
    }
    let (mut at, mut last, mut node) = (index, size - 1, leaf_hash(leaf));
    for sibling in path.iter().take(PATH_MAX + 1) {
        if last == 0 {
            return Err(ProofError::Length);
        }
        if at % 2 == 1 || at == last {
            node = node_hash(*sibling, node);
            while at % 2 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            node = node_hash(node, *sibling);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    leads_to(node, root).and(if last == 0 { Ok(()) } else { Err(ProofError::Length) })
}

/// Verifies that the tree of `old` leaves is the beginning of that of `new` leaves. Any tree continues the empty one.
pub fn verify_consistency(
    old: u64,
    new: u64,
    path: &[Digest],
    old_root: Digest,
    new_root: Digest,
) -> Result<(), ProofError> {
    if old == 0 || old > new {
        return Err(ProofError::Sizes { old, new });
    }
    if old == new {
        return leads_to(old_root, new_root).and(if path.is_empty() { Ok(()) } else { Err(ProofError::Length) });
    }
    // A complete old tree is its own first node.
    let known = old.is_power_of_two().then_some(old_root);
    let mut nodes = known.into_iter().chain(path.iter().take(PATH_MAX + 1).copied());
    let first = nodes.next().ok_or(ProofError::Length)?;
    let (mut at, mut last) = (old - 1, new - 1);
    while at % 2 == 1 {
        (at, last) = (at >> 1, last >> 1);
    }
    let (mut of_old, mut of_new) = (first, first);
    for node in nodes {
        if last == 0 {
            return Err(ProofError::Length);
        }
        if at % 2 == 1 || at == last {
            (of_old, of_new) = (node_hash(node, of_old), node_hash(node, of_new));
            while at % 2 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            of_new = node_hash(of_new, node);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    leads_to(of_old, old_root).and(leads_to(of_new, new_root))?;
    if last == 0 { Ok(()) } else { Err(ProofError::Length) }
}

fn leads_to(computed: Digest, root: Digest) -> Result<(), ProofError> {
    if computed == root { Ok(()) } else { Err(ProofError::Root { computed, root }) }
}

#[cfg(test)]
mod tests;
