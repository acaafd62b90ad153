//! The hand-off with a worker: the clock, and the audit of what the worker does while the clock is off.
//!
//! ```text
//! parent   prepares | t0 CONT |                | t1 STOP | checks, prepares
//! worker   stopped            | K calls | done |           stopped
//! ```
//! A worker is one thread on the parent's processor, so that when the parent runs the worker does not, and what it was about to do after its
//! signal waits for the next window. Its processor time between windows, as the kernel counts it, shows whether that held.

use std::io;

use atb_core::quantity::Nanos;
use atb_core::stats::summary::twice_median;

use super::parent::{Start, WorkerFault, harness};
use super::{status, word};
use crate::layout::Layout;
use crate::sys::clock::{self, ProcessClock};
use crate::sys::event::{Event, Waited, wait_either};
use crate::sys::jail::{self, Layers};
use crate::sys::memory::Mapping;
use crate::sys::process::{Group, describe, is_refusal};

/// The process of a worker and the hand-off with it.
#[derive(Debug)]
pub struct Link {
    group: Group,
    control: Mapping,
    status_page: Mapping,
    go: Event,
    done: Event,
    timeout_ms: u64,
    /// Slowdown of every window, in parts per million; for the control arm.
    slow_ppm: u64,
    layers: Layers,
    processor: ProcessClock,
    audit: Audit,
}

/// Processor time of a worker while the clock is off.
#[derive(Debug, Clone, Default)]
struct Audit {
    /// Processor time when the last window ended; none before the first one.
    at_end: Option<Nanos>,
    /// Processor time before each window, from the second one.
    gaps: Vec<Nanos>,
    /// The times of these windows.
    windows: Vec<Nanos>,
}

impl Link {
    pub(super) fn new(
        group: Group,
        control: Mapping,
        (go, done): (Event, Event),
        status_page: Mapping,
        start: &Start<'_>,
    ) -> io::Result<Self> {
        let processor = ProcessClock::of(group.pid())?;
        let (timeout_ms, layers) = (start.timeout_ms, start.layers);
        Ok(Self {
            group,
            control,
            status_page,
            go,
            done,
            timeout_ms,
            slow_ppm: 0,
            layers,
            processor,
            audit: Audit::default(),
        })
    }

    /// A word of the status page.
    pub(crate) fn status(&self, at: usize) -> u64 {
        self.status_page.load(at)
    }

    /// The worker's process.
    pub(crate) fn pid(&self) -> u32 {
        self.group.pid()
    }

    /// The message on the status page.
    pub(super) fn message(&self) -> String {
        super::message(&self.status_page)
    }

    /// Tells the worker to load its code, and waits until it is in the second stage of the jail.
    pub(super) fn load(&mut self) -> Result<(), WorkerFault> {
        self.go.set().map_err(harness("tell a worker to load"))?;
        self.wait()?;
        match self.status(0) {
            status::LOADED => Ok(()),
            status::NO_SYMBOL => Err(WorkerFault::NoSymbol),
            status::JAIL_FAILED => Err(harness("jail a worker")(io::Error::other(self.message()))),
            _ => Err(WorkerFault::Load(self.message())),
        }
    }

    /// Tells the worker where the tensors of the next window lie.
    pub(crate) fn place(&mut self, layout: &Layout) {
        let words = |base: usize, values: &[usize]| {
            for (at, &value) in values.iter().enumerate() {
                self.control.store(base + at, value as u64);
            }
        };
        words(word::INPUT_AT, &layout.inputs.at);
        words(word::INPUT_STRIDE, &layout.inputs.stride);
        words(word::OUTPUT_AT, &layout.outputs.at);
        words(word::OUTPUT_STRIDE, &layout.outputs.stride);
        words(word::ELEMENTS, &[&layout.inputs.elements[..], &layout.outputs.elements].concat());
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

    /// Sets the length of the delay of a worker that spins for a known time.
    pub fn delay(&mut self, delay: Nanos) {
        self.control.store(word::DELAY_NS, delay.get());
    }

    /// Runs one window of this many calls and returns its time. Afterwards the worker is stopped.
    pub fn window(&mut self, calls: u64) -> Result<Nanos, WorkerFault> {
        self.control.store(word::CALLS, calls);
        // Both descriptors are the worker's, too. What it did to them must neither block this process nor pass for its fault.
        let (go, done) = (self.go.state(), self.done.state());
        let (go, done) = go.and_then(|go| Ok((go, done?))).map_err(harness("look at the hand-off"))?;
        if go != (false, false) || done.0 {
            return Err(WorkerFault::HandOff("it signalled between windows"));
        }
        let frozen = self.layers.has(Layers::FREEZE) && self.audit.at_end.is_some();
        let processor = self.processor.read();
        // What is stopped cannot go yet.
        let start = if frozen {
            self.go.set().map_err(|_| WorkerFault::HandOff("it cannot be told to go"))?;
            let start = clock::now();
            self.group.go_on().map_err(harness("let a worker go on"))?;
            start
        } else {
            let start = clock::now();
            self.go.set().map_err(|_| WorkerFault::HandOff("it cannot be told to go"))?;
            start
        };
        let waited = wait_either(&self.done, self.group.pidfd(), self.timeout_ms);
        let mut end = clock::now();
        let at_end = self.processor.read();
        if self.layers.has(Layers::FREEZE) {
            // One that has ended is found below.
            let _ = self.group.stop();
        }
        if self.slow_ppm > 0 {
            let elapsed = end.get() - start.get();
            clock::spin_until(Nanos::new(end.get() + elapsed * self.slow_ppm / 1_000_000));
            end = clock::now();
        }
        self.after(waited)?;
        let time = Nanos::new(end.get() - start.get());
        if let Some(last) = self.audit.at_end.replace(at_end) {
            self.audit.gaps.push(Nanos::new(processor.get().saturating_sub(last.get())));
            self.audit.windows.push(time);
        }
        Ok(time)
    }

    /// Forgets the windows so far; the next judgement is about those to come.
    pub(crate) fn forget_windows(&mut self) {
        self.audit.gaps.clear();
        self.audit.windows.clear();
    }

    /// Judges the processor time that the worker used between the windows since the last call: its median, as a share of the median window.
    ///
    /// A single gap may hold anything, for the host takes the processor away now and then. Work that shortens the median window needs half of
    /// the gaps.
    pub(crate) fn judge_gaps(&mut self, most: f64) -> Result<(), WorkerFault> {
        let twice = |times: &[Nanos]| twice_median(times).map_or(0, Nanos::get);
        let (gap, window) = (twice(&self.audit.gaps), twice(&self.audit.windows));
        self.forget_windows();
        if self.layers.has(Layers::GAP) && gap as f64 > window as f64 * most {
            return Err(WorkerFault::Gap { gap: Nanos::new(gap / 2), window: Nanos::new(window / 2) });
        }
        Ok(())
    }

    /// Waits for the worker's signal.
    pub(super) fn wait(&mut self) -> Result<(), WorkerFault> {
        let waited = wait_either(&self.done, self.group.pidfd(), self.timeout_ms);
        self.after(waited)
    }

    /// The call that was refused, as the worker's side noted it, in words.
    fn refused_call(&self) -> String {
        let number = i64::try_from(self.status(status::REFUSED_CALL)).unwrap_or(0) - 1;
        match jail::name_of(number) {
            Some(name) => format!(" ({name})"),
            None if number >= 0 => format!(" (number {number})"),
            None => String::new(),
        }
    }

    fn after(&mut self, waited: io::Result<Waited>) -> Result<(), WorkerFault> {
        match waited.map_err(harness("wait for a worker"))? {
            Waited::Set => match self.done.wait() {
                Ok(1) => Ok(()),
                Ok(_) => Err(WorkerFault::HandOff("it signalled more than once")),
                Err(_) => Err(WorkerFault::HandOff("it took its signal back")),
            },
            Waited::Ended => {
                let ended = self.group.kill().map_err(harness("reap a worker"))?;
                if is_refusal(ended) {
                    return Err(WorkerFault::Forbidden(self.refused_call()));
                }
                if ended.code() == Some(status::RAISED) {
                    return Err(WorkerFault::Raised(self.message()));
                }
                Err(WorkerFault::Ended(describe(ended)))
            }
            Waited::TimedOut => {
                self.group.kill().map_err(harness("kill a worker"))?;
                Err(WorkerFault::TimedOut(self.timeout_ms))
            }
        }
    }
}
