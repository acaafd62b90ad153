//! The parent's handle on a worker.

use std::io;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use atb_core::quantity::Nanos;

use super::{Operation, PAGE, status, word};
use crate::layout::Layout;
use crate::sys::event::{Event, Waited, wait_either};
use crate::sys::memory::{Mapping, Memfd};
use crate::sys::process::{Group, Limits, describe};
use crate::sys::{clock, process};

/// Address space of a worker beyond its shared memory: room for the program, a vendor library's buffers, and what a kernel allocates.
const ADDRESS_SPACE: u64 = 8 << 30;
/// Descriptors of a worker: those that it is given, the code's file while it is loaded, and the libraries'.
const DESCRIPTORS: u64 = 64;

/// What a worker needs to start.
#[derive(Debug)]
pub struct Start<'a> {
    /// The program to execute: this one.
    pub program: &'a std::path::Path,
    /// The code, or None for operations without code.
    pub code: Option<&'a Memfd>,
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
}

/// Why a worker did not answer.
#[derive(Debug, thiserror::Error)]
pub enum WorkerFault {
    /// The harness failed to start or talk to it.
    #[error("failed to {step}")]
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
    /// The worker signalled out of turn, or made the signals unusable.
    #[error("the worker broke the hand-off: {0}")]
    HandOff(&'static str),
    /// The process was killed at its time limit.
    #[error("the worker was killed at its limit of {0} ms")]
    TimedOut(u64),
}

fn harness(step: &'static str) -> impl FnOnce(io::Error) -> WorkerFault {
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
}

/// The process of a worker and the hand-off with it.
#[derive(Debug)]
pub struct Link {
    group: Group,
    control: Mapping,
    go: Event,
    done: Event,
    timeout_ms: u64,
    /// Slowdown of every window, in parts per million; for the control arm.
    slow_ppm: u64,
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
        let link = Link { group, control, go, done, timeout_ms: start.timeout_ms, slow_ppm: 0 };
        let mut worker = Self { link, memory };
        // The first signal comes before the code is loaded.
        worker.link.wait().map_err(|fault| harness("start a worker")(io::Error::other(fault.to_string())))?;
        worker.link.go.set().map_err(harness("tell a worker to load"))?;
        worker.link.wait()?;
        match status_page.load(0) {
            status::LOADED => Ok(worker),
            status::NO_SYMBOL => Err(WorkerFault::NoSymbol),
            _ => {
                let message = &status_page.bytes()[status::MESSAGE_AT..][..status::MESSAGE_MAX];
                let message = message.split(|&byte| byte == 0).next().unwrap_or_default();
                Err(WorkerFault::Load(String::from_utf8_lossy(message).into_owned()))
            }
        }
    }

    /// Ends the worker and returns its memory.
    pub fn end(self) -> Memory {
        self.memory
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

impl Link {
    fn place(&mut self, layout: &Layout) {
        let words = |base: usize, values: &[usize]| {
            for (at, &value) in values.iter().enumerate() {
                self.control.store(base + at, value as u64);
            }
        };
        words(word::INPUT_AT, &layout.inputs.at);
        words(word::INPUT_STRIDE, &layout.inputs.stride);
        words(word::OUTPUT_AT, &layout.outputs.at);
        words(word::OUTPUT_STRIDE, &layout.outputs.stride);
        words(word::WORKSPACE, &[layout.workspace.0]);
        words(word::WORKSPACE_STRIDE, &[layout.workspace.1]);
        for (at, &dim) in layout.dims.iter().enumerate() {
            self.control.store(word::DIM + at, dim);
        }
        self.control.store(word::INPUTS, layout.inputs.at.len() as u64);
        self.control.store(word::OUTPUTS, layout.outputs.at.len() as u64);
        self.control.store(word::DIMS, layout.dims.len() as u64);
    }

    /// Slows every window by this share, in parts per million. The time is spent on this side, so that the code cannot tell which arm
    /// it is.
    pub fn slow_by(&mut self, ppm: u64) {
        self.slow_ppm = ppm;
    }

    /// Sets the length of the delay of a [`Operation::Delay`] worker.
    pub fn delay(&mut self, delay: Nanos) {
        self.control.store(word::DELAY_NS, delay.get());
    }

    /// Runs one window of this many calls and returns its time.
    pub fn window(&mut self, calls: u64) -> Result<Nanos, WorkerFault> {
        self.control.store(word::CALLS, calls);
        // Both descriptors are the worker's, too. What it did to them must neither block this process nor pass for its fault.
        let (go, done) = (self.go.state(), self.done.state());
        let (go, done) = go.and_then(|go| Ok((go, done?))).map_err(harness("look at the hand-off"))?;
        if go != (false, false) || done.0 {
            return Err(WorkerFault::HandOff("it signalled between windows"));
        }
        let start = clock::now();
        self.go.set().map_err(|_| WorkerFault::HandOff("it cannot be told to go"))?;
        let waited = wait_either(&self.done, self.group.pidfd(), self.timeout_ms);
        let mut end = clock::now();
        if self.slow_ppm > 0 {
            let elapsed = end.get() - start.get();
            clock::spin_until(Nanos::new(end.get() + elapsed * self.slow_ppm / 1_000_000));
            end = clock::now();
        }
        self.after(waited)?;
        Ok(Nanos::new(end.get() - start.get()))
    }

    fn wait(&mut self) -> Result<(), WorkerFault> {
        let waited = wait_either(&self.done, self.group.pidfd(), self.timeout_ms);
        self.after(waited)
    }

    fn after(&mut self, waited: io::Result<Waited>) -> Result<(), WorkerFault> {
        match waited.map_err(harness("wait for a worker"))? {
            Waited::Set => match self.done.wait() {
                Ok(1) => Ok(()),
                Ok(_) => Err(WorkerFault::HandOff("it signalled more than once")),
                Err(_) => Err(WorkerFault::HandOff("it took its signal back")),
            },
            Waited::Ended => {
                let status = self.group.kill().map_err(harness("reap a worker"))?;
                Err(WorkerFault::Ended(describe(status)))
            }
            Waited::TimedOut => {
                self.group.kill().map_err(harness("kill a worker"))?;
                Err(WorkerFault::TimedOut(self.timeout_ms))
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "workers are processes; this is where they start")]
fn command(start: &Start<'_>) -> Command {
    let mut command = Command::new(start.program);
    command.arg("__run").env_clear().current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("ATB_PADDING", "x".repeat(start.padding));
    command.envs(start.env.iter().map(|(key, value)| (key, value)));
    command
}

/// Isolation of workers on this machine, as rows state it.
pub fn isolation() -> String {
    let root = if process::is_root() { "+uid0" } else { "" };
    format!("L1{root}")
}
