//! Two processors: one that parent and worker share while the clock runs, one that helps between windows.
//!
//! Parent and worker hand over on the same processor: with both asleep in between, that costs 6 us instead of 33 us across
//! processors, and no one spins. The helper only works while the clock is off.

use std::io;

use crate::sys::cpu::{self, Pinned};

/// The processors of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crew {
    /// Where parent and worker hand over.
    pub measure: usize,
    /// Where preparation and the reference run; None on a machine with one processor.
    pub helper: Option<usize>,
}

impl Crew {
    /// Takes the last allowed processor for measuring, since low numbers serve interrupts, and the one before as helper.
    pub fn choose() -> io::Result<Self> {
        let allowed = cpu::allowed()?;
        let mut from_last = allowed.iter().rev().copied();
        let measure = from_last.next().ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { measure, helper: from_last.next() })
    }

    /// Pins the calling thread to the measuring processor until the guard is dropped.
    pub fn pin(self) -> io::Result<Pinned> {
        Pinned::to(self.measure)
    }
}
