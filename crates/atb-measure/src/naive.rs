//! What a naive harness would believe: the candidate in the process that times it, one input, one check, and a clock within its reach.
//!
//! Never a verdict. `atb zoo` shows it beside what this instrument makes of the same code.

use crate::build::{Source, shared_object};
use crate::fault::Fault;
use crate::inputs::{Filling, Place, Purpose, Stream};
use crate::lab::Lab;
use crate::layout::Layout;
use crate::sys::jail::Layers;
use crate::sys::memory::{Memfd, words};
use crate::worker::{Memory, Operation, Start, Worker, WorkerFault, status};

/// Calls that are timed.
const CALLS: u64 = 40;
/// Relative and absolute tolerance, whatever the scale of the output.
const TOLERANCE: f64 = 0.01;

/// What the harness believes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reading {
    /// The output passed, and a call takes so many ns.
    Timed(f64),
    /// The one output that was compared is wrong.
    Wrong,
    /// The process ended: whatever it printed is the result.
    Ended,
}

impl Lab {
    /// Runs a source in a naive harness at the first timed shape: a process of its own without the filter, so that threads, processes and
    /// timers work, but as another user and under Landlock, so that it harms nobody.
    pub fn naive_harness(&mut self, text: &str, flags: &str) -> Result<Reading, Fault> {
        let task = self.task().clone();
        let source = Source { header: task.file("kernel.h"), text, symbol: &task.spec.symbol, flags, link: &[] };
        let harness = |error: std::io::Error| Fault::harness("make memory for a naive harness", &error);
        let bytes = match self.interpreter() {
            Some(_) => text.as_bytes().to_vec(),
            None => shared_object(self.compiler(), self.protocol(), &source)?.0,
        };
        let code = Memfd::sealed("code", &bytes).map_err(harness)?;
        let layout = self.layout(&self.cells()[0].dims.clone(), 1, 0)?;
        let memory = Memory::new(layout.memory.0, layout.memory.1).map_err(harness)?;
        let start = Start {
            program: self.program(),
            code: Some(&code),
            interpreter: self.interpreter(),
            symbol: &task.spec.symbol,
            operation: Operation::Naive,
            cpu: Some(self.crew().measure),
            env: &[],
            padding: 0,
            timeout_ms: self.protocol().kernel_run_timeout_s() * 1000,
            layers: Layers::HARMLESS,
        };
        let started = Worker::start(&start, memory);
        let read = started.and_then(|mut worker| {
            let stream = Stream::new(self.key(), Purpose::Inputs, "naive");
            let input = worker.memory.input.bytes_mut();
            Filling::new(&stream, &task.spec, &layout, Place::default(), input).work();
            worker.place(&layout);
            worker.window(1)?;
            let checked = (worker.memory.input.bytes().to_vec(), worker.memory.output.bytes().to_vec());
            worker.window(CALLS)?;
            Ok((checked, worker.link.status(status::NAIVE_PS)))
        });
        match read {
            Ok(((input, output), picos)) if self.passes(&layout, &input, &output)? => {
                Ok(Reading::Timed(picos as f64 / 1000.0))
            }
            Ok(_) => Ok(Reading::Wrong),
            Err(fault @ WorkerFault::Harness { .. }) => Err(Fault::harness("run a naive harness", &fault)),
            Err(_) => Ok(Reading::Ended),
        }
    }

    /// The comparison of a careless checker: only what is farther off than the tolerance fails, so that NaN passes.
    fn passes(&mut self, layout: &Layout, input: &[u8], output: &[u8]) -> Result<bool, Fault> {
        let expected = self.judge.reference.whole_call(layout, input, 0)?;
        Ok(expected.iter().enumerate().all(|(at, expected)| {
            let found = words(&output[Layout::range(&layout.outputs, at, 0, 4)]);
            found.iter().zip(expected).all(|(bits, expected)| {
                let far = (f64::from(f32::from_bits(*bits)) - expected).abs() > TOLERANCE + TOLERANCE * expected.abs();
                !far
            })
        }))
    }
}
