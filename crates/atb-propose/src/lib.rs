//! Proposers: who suggests the next candidates.
//!
//! A proposer is a pure function of the task's space and of what was tried, so a resumed campaign proposes what an uninterrupted
//! one would have. It has no clock, file, process or network, and cannot see a time or a ledger.

#![forbid(unsafe_code)]

pub mod deterministic;
pub mod random;

use std::collections::BTreeSet;

use atb_core::task::{Point, Space};

/// A proposed candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The candidate file's text.
    pub text: String,
    /// The point of the space, in words.
    pub note: String,
    /// The point of the space.
    pub point: Point,
}

/// What a proposer may know: what was tried, and which point leads.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Points that were proposed before.
    pub tried: BTreeSet<Point>,
    /// The point of the last keep, or of the best screened candidate if nothing was kept.
    pub lead: Option<Point>,
}

/// A source of candidates.
pub trait Proposer {
    /// The id that rows carry.
    fn id(&self) -> &'static str;

    /// Up to `count` untried points; fewer if the space is exhausted.
    fn choose(&self, space: &Space, history: &History, count: usize) -> Vec<Point>;

    /// Up to `count` candidates.
    fn propose(&self, space: &Space, history: &History, count: usize) -> Vec<Proposal> {
        let points = self.choose(space, history, count);
        let proposal = |point: Point| Proposal { text: space.source(&point), note: space.describe(&point), point };
        points.into_iter().map(proposal).collect()
    }
}
