//! Parts of bodies.

use serde::{Deserialize, Serialize};

use super::Role;
use crate::canon::Digest;

macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }
        )*
    };
}

parts! {
    /// A file of a task.
    FileBody {
        /// Name relative to the task's folder.
        name: String,
        /// Digest of its bytes.
        digest: Digest,
    }

    /// The machine's fingerprint. Ratios are comparable within one fingerprint only.
    MachineBody {
        /// Digest over the other fields except `boot`.
        fingerprint: Digest,
        /// Processor model.
        cpu: String,
        /// Processors that may be used.
        cpus: u64,
        /// Memory in MiB.
        memory_mib: u64,
        /// Kernel release.
        kernel: String,
        /// Frequency governor, or `none`.
        governor: String,
        /// Hypervisor flag.
        virtual_machine: bool,
        /// Boot id.
        boot: String,
    }

    /// A flag set tried for the compiler baseline.
    TriedBody {
        /// Flags.
        flags: String,
        /// `ok` or the outcome of its check.
        outcome: String,
        /// Time per call of each run, in picoseconds.
        picos: Vec<u64>,
    }

    /// A code that a block compares.
    ArmBody {
        /// Role.
        role: Role,
        /// Digest of the source.
        source: Digest,
        /// Digest of the shared object.
        artefact: Digest,
        /// Compiler flags.
        flags: String,
    }

    /// An arm of a registration.
    RegisteredArmBody {
        /// `control` or `treatment`.
        role: Role,
        /// `file`, or the baseline: `naive`, `compiler` or `vendor`.
        kind: String,
        /// Digest of the source.
        source: Digest,
    }

    /// A timed shape.
    CellBody {
        /// Shape name.
        shape: String,
        /// Dimensions in the task's order.
        dims: Vec<u64>,
    }

    /// One run: one fresh process.
    RunBody {
        /// Pair, from 0.
        pair: u64,
        /// Arm, an index into `arms`.
        arm: u64,
        /// One entry per cell.
        cells: Vec<RunCellBody>,
        /// Output checks of the whole run.
        checks: ChecksBody,
    }

    /// The samples of one run in one cell.
    RunCellBody {
        /// Calls per window.
        k: u64,
        /// Warm-up windows before the timed ones.
        warmup: u64,
        /// Twice the median window time, in ns.
        value: u64,
        /// Window times in ns, in the order in which they ran.
        windows: Vec<u64>,
    }

    /// What was checked in a run.
    ChecksBody {
        /// Windows, warm-up included, whose outputs were scanned whole for poison and non-finite values.
        scanned: u64,
        /// Elements or rows compared with the reference.
        sampled: u64,
        /// Calls compared in full.
        full: u64,
        /// Failed comparisons.
        failed: u64,
        /// Probability, in parts per million rounded up, that one wrong row or element block per window goes unseen.
        miss_ppm: u64,
    }

    /// A revealed session key.
    KeyBody {
        /// Session id.
        session: String,
        /// The key: 64 hexadecimal digits.
        key: String,
    }
}
