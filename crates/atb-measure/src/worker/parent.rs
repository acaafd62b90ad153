//! The parent's handle on a worker.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use atb_core::quantity::Nanos;

use super::{DESCRIPTORS, Link, Operation, PAGE, status, word};
use crate::layout::Layout;
use crate::python::Interpreter;
use crate::sys::event::Event;
use crate::sys::jail::Layers;
use crate::sys::memory::{Mapping, Memfd};
use crate::sys::process::{Group, Limits, code_of};

/// Address space of a worker beyond its shared memory: room for the program, a vendor library's buffers, and what a kernel allocates.
const ADDRESS_SPACE: u64 = 8 << 30;

/// What a worker needs to start.
#[derive(Debug)]
pub struct Start<'a> {
    /// The program to execute: this one.
    pub program: &'a std::path::Path,
    /// The code, or None for operations without code.
    pub code: Option<&'a Memfd>,
    /// What runs the code, if the processor does not.
    pub interpreter: Option<&'a Interpreter>,
    /// The symbol to call.
    pub symbol: &'a str,
    /// What the worker does.
    pub operation: Operation,
    /// Processor on which it runs; None leaves it to the kernel.
    pub cpu: Option<usize>,
    /// Environment, which is otherwise empty.
    pub env: &'a [(String, String)],
    /// Length of an environment value that shifts the stack.
    pub padding: usize,
    /// Time limit of each wait.
    pub timeout_ms: u64,
    /// Layers of its jail.
    pub layers: Layers,
}

/// Why a worker did not answer.
#[derive(Debug, thiserror::Error)]
pub enum WorkerFault {
    /// The harness failed to start or talk to it.
    #[error("failed to {step}: {source}")]
    Harness {
        /// What was being done.
        step: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The loader refused the code.
    #[error("the loader refused the code: {0}")]
    Load(String),
    /// The code lacks the symbol.
    #[error("the code has no symbol of that name")]
    NoSymbol,
    /// The process ended by itself.
    #[error("the worker ended: {0}")]
    Ended(String),
    /// The code raised an exception, in its words.
    #[error("the code raised {0}")]
    Raised(String),
    /// The worker signalled out of turn, or made the signals unusable.
    #[error("the worker broke the hand-off: {0}")]
    HandOff(&'static str),
    /// The process asked the kernel for something that the jail refuses.
    #[error("the code made a system call that the jail refuses{0}")]
    Forbidden(String),
    /// The process has executable memory that it did not have when its code was loaded.
    #[error("executable memory appeared while the code ran: {0}")]
    Mapped(String),
    /// The process used processor time while the clock was off.
    #[error("the code ran for {gap} between windows of {window}")]
    Gap {
        /// Median processor time between windows.
        gap: Nanos,
        /// Median window.
        window: Nanos,
    },
    /// The process was killed at its time limit.
    #[error("the worker was killed at its limit of {0} ms")]
    TimedOut(u64),
}

pub(super) fn harness(step: &'static str) -> impl FnOnce(io::Error) -> WorkerFault {
    move |source| WorkerFault::Harness { step, source }
}

/// The memory through which inputs and outputs pass.
///
/// That of the inputs outlives its worker and serves the next, cleared, so that fewer pages are made in each run. That of the outputs
/// does not: who may write to memory may also choose its pages, for the worker after.
#[derive(Debug)]
pub struct Memory {
    /// The inputs: sealed, so that workers can only read them.
    pub input: Mapping,
    /// The outputs: shared with the worker.
    pub output: Mapping,
    input_fd: Memfd,
    output_fd: Memfd,
}

impl Memory {
    /// Memory for inputs and outputs, in bytes each.
    pub fn new(inputs: usize, outputs: usize) -> io::Result<Self> {
        let input_fd = Memfd::new("input", inputs)?;
        let input = Mapping::new(input_fd.as_fd(), input_fd.len(), true, false)?;
        input_fd.seal_for_reader()?;
        let (output, output_fd) = shared_outputs(outputs)?;
        Ok(Self { input, output, input_fd, output_fd })
    }

    /// The same inputs, if they are large enough, with new outputs.
    pub fn renew(self, inputs: usize, outputs: usize) -> io::Result<Self> {
        if self.input.len() < inputs {
            return Self::new(inputs, outputs);
        }
        let Self { mut input, input_fd, .. } = self;
        input.bytes_mut().fill(0);
        let (output, output_fd) = shared_outputs(outputs)?;
        Ok(Self { input, output, input_fd, output_fd })
    }
}

fn shared_outputs(bytes: usize) -> io::Result<(Mapping, Memfd)> {
    let memory = Memfd::new("output", bytes)?;
    let mapping = Mapping::new(memory.as_fd(), memory.len(), true, false)?;
    memory.seal_size()?;
    Ok((mapping, memory))
}

/// A running worker; killed with its process group when dropped.
#[derive(Debug)]
pub struct Worker {
    /// The process and the hand-off.
    pub link: Link,
    /// Its inputs and outputs.
    pub memory: Memory,
    /// Its executable memory before the code has run; none where the kernel does not show it.
    code: Option<BTreeSet<String>>,
}

impl Worker {
    /// Starts a worker and waits until its code is loaded.
    pub fn start(start: &Start<'_>, memory: Memory) -> Result<Self, WorkerFault> {
        let control_fd = Memfd::new("control", PAGE).map_err(harness("make control memory"))?;
        let status_fd = Memfd::new("status", PAGE).map_err(harness("make status memory"))?;
        let map = |memory: &Memfd, writable| {
            Mapping::new(memory.as_fd(), memory.len(), writable, false).map_err(harness("map memory"))
        };
        let mut control = map(&control_fd, true)?;
        let status_page = map(&status_fd, false)?;
        control_fd.seal_for_reader().and_then(|()| status_fd.seal_size()).map_err(harness("seal memory"))?;
        let (go, done) =
            Event::new(false).and_then(|go| Ok((go, Event::new(true)?))).map_err(harness("make the hand-off"))?;

        control.store(word::OPERATION, start.operation.number());
        control.store(word::LAYERS, start.layers.bits());
        let name = start.symbol.as_bytes();
        control.bytes_mut()[word::SYMBOL * 8..][..name.len()].copy_from_slice(name);

        let no_code = Memfd::sealed("none", &[]).map_err(harness("make code memory"))?;
        let code = start.code.unwrap_or(&no_code);
        let fds = [
            control_fd.as_fd(),
            memory.input_fd.as_fd(),
            memory.output_fd.as_fd(),
            status_fd.as_fd(),
            go.as_fd(),
            done.as_fd(),
            code.as_fd(),
        ];
        let mapped = memory.input.len() + memory.output.len();
        let limits = Limits {
            cpu_s: None,
            address_space: Some(mapped as u64 + ADDRESS_SPACE),
            // Workers write no files; memory that they share is no file in this sense.
            file_size: Some(0),
            descriptors: Some(DESCRIPTORS),
            cpus: start.cpu.into_iter().collect(),
        };
        let group = Group::spawn(command(start), &limits, &fds).map_err(harness("start a worker"))?;
        let link = Link::new(group, control, (go, done), status_page, start).map_err(harness("start a worker"))?;
        let mut worker = Self { link, memory, code: None };
        // The first signal comes from inside the jail, and before the code is loaded.
        let started = worker.link.wait();
        started.map_err(|fault| harness("start a worker")(io::Error::other(fault.to_string())))?;
        let jailed = worker.link.status(0) == status::JAILED;
        if !jailed {
            return Err(harness("jail a worker")(io::Error::other(worker.link.message())));
        }
        worker.link.load()?;
        worker.code = code_of(worker.link.pid()).ok();
        Ok(worker)
    }

    /// Ends the worker and returns its memory. Executable memory that was not there when the code was loaded is a fallback to code that
    /// nobody has inspected: another library, or machine code made on the way.
    pub fn end(self) -> Result<Memory, WorkerFault> {
        let now = code_of(self.link.pid()).unwrap_or_default();
        let new = self.code.as_ref().and_then(|before| now.difference(before).next());
        match new {
            Some(line) => Err(WorkerFault::Mapped(line.split_whitespace().collect::<Vec<_>>().join(" "))),
            None => Ok(self.memory),
        }
    }

    /// Tells the worker where the tensors of the next window lie.
    pub(crate) fn place(&mut self, layout: &Layout) {
        self.link.place(layout);
    }

    /// Runs one window of this many calls and returns its time.
    pub fn window(&mut self, calls: u64) -> Result<Nanos, WorkerFault> {
        self.link.window(calls)
    }
}

#[expect(clippy::disallowed_methods, reason = "workers are processes; this is where they start")]
fn command(start: &Start<'_>) -> Command {
    let mut command = Command::new(start.program);
    command.arg("__run");
    if let Some(interpreter) = start.interpreter {
        command.args(interpreter.arguments());
    }
    command.env_clear().current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("ATB_PADDING", "x".repeat(start.padding));
    command.envs(start.env.iter().map(|(key, value)| (key, value)));
    command
}
