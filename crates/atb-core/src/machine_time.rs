//! A time that knows its machine: two of them meet only on the same one.
//!
//! Nothing absolute crosses machines. Ratios do, and they are pooled by [`crate::stats::pooling`], which is given no times.

use crate::canon::Digest;
use crate::quantity::{QuantityError, Ratio, Reading};

/// A time in nanoseconds on one machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineTime {
    machine: Digest,
    nanos: Reading,
}

/// Why two times have no ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MachineTimeError {
    /// The times are from different machines.
    #[error(
        "a time of machine {} has no ratio to one of machine {}; measure both on one machine, and compare ratios",
        ours.short(), theirs.short()
    )]
    Foreign {
        /// Fingerprint of the machine of the first time.
        ours: Digest,
        /// Fingerprint of the machine of the other.
        theirs: Digest,
    },
    /// The ratio left its range.
    #[error("failed to compute a ratio of times")]
    Quantity(#[from] QuantityError),
}

impl MachineTime {
    /// A time measured on the machine of this fingerprint.
    pub const fn new(machine: Digest, nanos: Reading) -> Self {
        Self { machine, nanos }
    }

    /// The fingerprint of the machine.
    pub const fn machine(self) -> Digest {
        self.machine
    }

    /// The time for display beside its machine, in nanoseconds.
    pub const fn nanos(self) -> Reading {
        self.nanos
    }

    /// How many times as long as `other` this time is; an error unless both are of one machine.
    pub fn ratio_over(self, other: Self) -> Result<Ratio, MachineTimeError> {
        if self.machine != other.machine {
            return Err(MachineTimeError::Foreign { ours: self.machine, theirs: other.machine });
        }
        Ok(Ratio::new(self.nanos.get() / other.nanos.get())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(machine: &str, nanos: f64) -> MachineTime {
        MachineTime::new(Digest::of(machine.as_bytes()), Reading::new(nanos).unwrap())
    }

    #[test]
    fn times_of_one_machine_have_a_ratio() {
        let ratio = time("a", 300.0).ratio_over(time("a", 200.0)).unwrap();
        assert!((ratio.get() - 1.5).abs() < 1e-15);
    }

    #[test]
    fn times_of_two_machines_have_none() {
        let (ours, theirs) = (time("a", 300.0), time("b", 200.0));
        let foreign = MachineTimeError::Foreign { ours: ours.machine(), theirs: theirs.machine() };
        assert_eq!(ours.ratio_over(theirs), Err(foreign));
        assert!(foreign.to_string().contains("measure both on one machine"));
    }
}
