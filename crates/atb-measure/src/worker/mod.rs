//! The worker: a process that holds one candidate and nothing else, and the parent's handle on it.
//!
//! ```text
//! parent                                   worker (atb __run, sys::serve)
//!   fill inputs, poison outputs
//!   write control words
//!   t0 -> go  ---------------------------> K calls
//!   t1 <- done <--------------------------
//!   check outputs                          waits for go
//! ```
//! The worker has no result channel: what it leaves in the output memory when it signals `done` is what is judged. The control
//! words are read-only for it. The status page carries the loader's message and is never part of a verdict.

mod link;
mod parent;

use crate::sys::memory::Mapping;

pub use link::Link;
pub use parent::{Memory, Start, Worker, WorkerFault};

/// Descriptors in the worker, in the order in which the parent passes them.
pub(crate) mod fd {
    pub(crate) const CONTROL: i32 = 3;
    pub(crate) const INPUT: i32 = 4;
    pub(crate) const OUTPUT: i32 = 5;
    pub(crate) const STATUS: i32 = 6;
    pub(crate) const GO: i32 = 7;
    pub(crate) const DONE: i32 = 8;
    pub(crate) const CODE: i32 = 9;
}

/// Indices of 64-bit control words.
pub(crate) mod word {
    pub(crate) const OPERATION: usize = 0;
    pub(crate) const CALLS: usize = 1;
    pub(crate) const INPUTS: usize = 2;
    pub(crate) const OUTPUTS: usize = 3;
    pub(crate) const DIMS: usize = 4;
    pub(crate) const DELAY_NS: usize = 5;
    pub(crate) const WORKSPACE: usize = 6;
    pub(crate) const WORKSPACE_STRIDE: usize = 7;
    /// Layers of the jail.
    pub(crate) const LAYERS: usize = 8;
    /// Eight dimensions.
    pub(crate) const DIM: usize = 16;
    /// Eight offsets of inputs, then of outputs, each followed by eight slot strides.
    pub(crate) const INPUT_AT: usize = 24;
    pub(crate) const INPUT_STRIDE: usize = 32;
    pub(crate) const OUTPUT_AT: usize = 40;
    pub(crate) const OUTPUT_STRIDE: usize = 48;
    /// Elements of eight tensors, inputs before outputs; for languages whose tensors have a length.
    pub(crate) const ELEMENTS: usize = 56;
    /// The symbol's text, NUL-terminated, at this word.
    pub(crate) const SYMBOL: usize = 64;
}

/// Size of the control and status pages.
pub(crate) const PAGE: usize = 4096;

/// Descriptors of a worker: those that it is given, the code's file while it is loaded, and the libraries'.
pub(crate) const DESCRIPTORS: u64 = 64;

/// What a worker does when told to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Calls the kernel K times.
    Kernel,
    /// Calls the reference K times.
    Reference,
    /// Nothing: measures the hand-off.
    Null,
    /// Spins for a known time.
    Delay,
    /// Asks, inside the jail, for what a kernel must not get.
    Canary,
    /// Times the kernel with a clock of its own on the same buffers, as a naive harness does. For showing what that would believe.
    Naive,
}

/// All operations, each known to a worker by its place.
const OPERATIONS: [Operation; 6] =
    [Operation::Kernel, Operation::Reference, Operation::Null, Operation::Delay, Operation::Canary, Operation::Naive];

impl Operation {
    pub(crate) fn number(self) -> u64 {
        OPERATIONS.iter().position(|operation| *operation == self).map_or(0, |at| at as u64 + 1)
    }

    pub(crate) fn from_number(number: u64) -> Option<Self> {
        OPERATIONS.into_iter().find(|operation| operation.number() == number)
    }
}

/// Words of the status page. Word 0 is the state; the message follows at byte 64. Nothing on it is part of a verdict: once the code runs,
/// it can write there.
pub(crate) mod status {
    /// Before the code is loaded.
    pub(crate) const JAILED: u64 = 5;
    pub(crate) const JAIL_FAILED: u64 = 4;
    /// Words: how far Landlock is enforced, a refused call's number and 1, the canary's vectors.
    pub(crate) const LANDLOCK: usize = 1;
    pub(crate) const REFUSED_CALL: usize = 2;
    pub(crate) const CANARY_LOADING: usize = 3;
    pub(crate) const CANARY_RUNNING: usize = 4;
    /// Picoseconds per call that a naive harness read.
    pub(crate) const NAIVE_PS: usize = 5;
    pub(crate) const LOADED: u64 = 1;
    pub(crate) const LOAD_FAILED: u64 = 2;
    pub(crate) const NO_SYMBOL: u64 = 3;
    pub(crate) const MESSAGE_AT: usize = 64;
    pub(crate) const MESSAGE_MAX: usize = 2048;
    /// Exit status of an interpreter whose code raised an exception, which is the message.
    pub(crate) const RAISED: i32 = 70;
}

/// Writes a state, or a failure with its message, on the status page. True if it is a failure.
pub(crate) fn report(status_page: &mut Mapping, state: Result<u64, (u64, String)>) -> bool {
    let failed = state.is_err();
    let (state, message) = state.map_or_else(|failure| failure, |state| (state, String::new()));
    let bytes = message.as_bytes();
    let len = bytes.len().min(status::MESSAGE_MAX);
    status_page.bytes_mut()[status::MESSAGE_AT..][..len].copy_from_slice(&bytes[..len]);
    status_page.store(0, state);
    failed
}

/// The message on a status page. Once code runs that can write there, it is evidence for a person and nothing more.
pub(crate) fn message(status_page: &Mapping) -> String {
    let message = &status_page.bytes()[status::MESSAGE_AT..][..status::MESSAGE_MAX];
    let message = message.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(message).into_owned()
}
