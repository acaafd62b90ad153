//! A lab: one task, one protocol, one session key, the reference process and the processors of this machine.

use std::io;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use atb_core::control::DELAY_NS;
use atb_core::outcome::Outcome;
use atb_core::protocol::Protocol;
use atb_core::quantity::{Nanos, Seed};
use atb_core::stats::splitmix::SplitMix64;
use atb_core::task::{Shape, Task, Unit};

use crate::build::{Built, Compiler, Source, build, script};
use crate::compare::Tolerances;
use crate::crew::Crew;
use crate::fault::Fault;
use crate::inputs::{Place, Purpose, Stream};
use crate::isolation::{self, Isolation};
use crate::judge::{Judge, Shown};
use crate::layout::Layout;
use crate::python::Interpreter;
use crate::reference::{self, Reference};
use crate::sys::jail::Layers;
use crate::worker::{Memory, Operation, Start, Worker};

/// Cache lines among which the first tensor's place is drawn: a page of them.
const LINES: NonZeroU64 = NonZeroU64::new(64).unwrap();
/// Bytes by which the stack of a worker may be shifted.
const PADDING: NonZeroU64 = NonZeroU64::new(4096).unwrap();

/// A secret session key, revealed only when the campaign closes.
#[derive(Clone)]
pub struct SessionKey([u8; 32]);

impl SessionKey {
    /// A fresh key from the kernel's random source.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; 32];
        crate::sys::clock::random_bytes(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The bytes; for the commitment and the reveal.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl std::fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionKey(secret)")
    }
}

/// Everything that measuring a task needs.
#[derive(Debug)]
pub struct Lab {
    program: PathBuf,
    task: Task,
    protocol: Protocol,
    key: SessionKey,
    compiler: Compiler,
    interpreter: Option<Interpreter>,
    crew: Crew,
    cells: Vec<Shape>,
    cancel: Arc<AtomicBool>,
    layers: Layers,
    isolation: Isolation,
    spare: Option<Memory>,
    pub(crate) judge: Judge,
}

/// What opens a lab.
#[derive(Debug)]
pub struct LabSetup {
    /// This program, which workers execute.
    pub program: PathBuf,
    /// The task.
    pub task: Task,
    /// The protocol.
    pub protocol: Protocol,
    /// The session key.
    pub key: SessionKey,
    /// The compiler.
    pub compiler: Compiler,
    /// The interpreter, for tasks of its language.
    pub interpreter: Option<Interpreter>,
    /// Timed shapes to use; all timed shapes of the task if empty.
    pub cells: Vec<Shape>,
    /// Set by Ctrl-C.
    pub cancel: Arc<AtomicBool>,
    /// Layers of the workers' jail and its audits.
    pub layers: Layers,
}

impl Lab {
    /// Tries the jail, then builds and starts the reference.
    pub fn open(setup: LabSetup) -> Result<Self, Fault> {
        let LabSetup { program, task, protocol, key, compiler, interpreter, cells, cancel, layers } = setup;
        let interpreter = interpreter.map(|interpreter| interpreter.of_task(&task.spec));
        let isolation = isolation::probe(&program, layers)?;
        let compiler = compiler.jailed(&program, layers);
        let crew = Crew::choose().map_err(|error| Fault::harness("choose processors", &error))?;
        let (header, text) = (task.file("kernel.h"), task.file("reference.c"));
        let source = Source { header, text, symbol: reference::SYMBOL, flags: "-O2", link: &[] };
        let built = build(&compiler, &protocol, &source)?;
        let timeout_s = protocol.kernel_run_timeout_s();
        let reference = Reference::start(&program, &task.spec, &built, crew.helper, timeout_s, layers)?;
        let sample = match task.spec.unit {
            Unit::Element => protocol.correctness_sampled_elements(),
            Unit::Row => protocol.correctness_sampled_rows(),
        };
        let mut judge = Judge {
            spec: task.spec.clone(),
            tolerances: Tolerances::new(&protocol, &task.spec),
            crew,
            reference,
            sample: usize::try_from(sample).unwrap_or(64),
            scales: Vec::new(),
        };
        judge.learn_scales(&Stream::new(key.bytes(), Purpose::Inputs, "scales"))?;
        let cells = if cells.is_empty() { task.spec.timed().cloned().collect() } else { cells };
        Ok(Self {
            program,
            task,
            protocol,
            key,
            compiler,
            interpreter,
            crew,
            cells,
            cancel,
            layers,
            isolation,
            spare: None,
            judge,
        })
    }

    /// The task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The protocol.
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// This program.
    pub(crate) fn program(&self) -> &std::path::Path {
        &self.program
    }

    /// The compiler.
    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// The timed shapes of this lab.
    pub fn cells(&self) -> &[Shape] {
        &self.cells
    }

    /// The session key's bytes.
    pub fn key(&self) -> &[u8; 32] {
        self.key.bytes()
    }

    /// The processors.
    pub fn crew(&self) -> Crew {
        self.crew
    }

    /// What runs the task's code, if the processor does not.
    pub fn interpreter(&self) -> Option<&Interpreter> {
        self.interpreter.as_ref()
    }

    /// Builds a source of the task with these flags, of which an interpreter knows none.
    pub fn build(&self, text: &str, flags: &str, link: &[String]) -> Result<Built, Fault> {
        let source = Source { header: self.task.file("kernel.h"), text, symbol: &self.task.spec.symbol, flags, link };
        match &self.interpreter {
            Some(interpreter) => script(interpreter, &self.compiler, &self.protocol, &source),
            None => build(&self.compiler, &self.protocol, &source),
        }
    }

    /// Median time of a window without calls: the cost of the hand-off.
    pub fn handoff(&self) -> Result<Nanos, Fault> {
        self.control(Operation::Null, 200, None)
    }

    /// Median reading of a delay of exactly 1 ms.
    pub fn delay_reading(&self) -> Result<Nanos, Fault> {
        self.control(Operation::Delay, 25, Some(Nanos::new(DELAY_NS)))
    }

    fn control(&self, operation: Operation, windows: usize, delay: Option<Nanos>) -> Result<Nanos, Fault> {
        let start = Start {
            program: &self.program,
            code: None,
            interpreter: None,
            symbol: "",
            operation,
            cpu: Some(self.crew.measure),
            env: &[],
            padding: 0,
            timeout_ms: 10_000,
            layers: self.layers,
        };
        let _pin = self.crew.pin().map_err(|error| Fault::harness("pin a thread", &error))?;
        let memory = Memory::new(64, 64).map_err(|error| Fault::harness("make a control worker's memory", &error))?;
        let mut worker =
            Worker::start(&start, memory).map_err(|fault| Fault::harness("start a control worker", &fault))?;
        if let Some(delay) = delay {
            worker.link.delay(delay);
        }
        let mut times = Vec::with_capacity(windows);
        for _ in 0..windows {
            times.push(worker.window(1).map_err(|fault| Fault::harness("run a control window", &fault))?);
        }
        times.sort_unstable();
        Ok(times[windows / 2])
    }

    /// What the canary is refused in a worker's jail, now and here, which must be what it was refused when the lab was opened.
    pub fn isolation(&self) -> Result<Isolation, Fault> {
        let now = isolation::probe(&self.program, self.layers)?;
        if now != self.isolation {
            let changed = io::Error::other(format!("the canary sees {now}, and saw {} before", self.isolation));
            return Err(Fault::harness("jail workers as before", &changed));
        }
        Ok(now)
    }

    /// Judges what a worker did between the windows since the last judgement.
    pub(crate) fn judge_gaps(&self, worker: &mut Worker, shown: Shown<'_>) -> Result<(), Fault> {
        let most = self.protocol.isolation_gap_max().get();
        worker.link.judge_gaps(most).map_err(|fault| Fault::of_worker(&fault, shown.shape))
    }

    /// A seed for order and layout, from the session key, a pair's seed and a purpose.
    pub(crate) fn plan_seed(&self, seed: &str, purpose: &str) -> Seed {
        let stream = Stream::new(self.key(), Purpose::Plan, &format!("{seed}/{purpose}"));
        Seed::new(stream.draw(Place::default(), &[u64::MAX]).first().copied().unwrap_or(0))
    }

    /// Draws where the tensors and the stack of a process begin: an offset into the shared memory in bytes, and a length by which
    /// the environment grows. Drawn for every worker, so that no step can be told from another by its placement.
    pub(crate) fn placement(random: &mut SplitMix64) -> (usize, usize) {
        let mut below = |bound| usize::try_from(random.below(bound)).unwrap_or(0);
        (below(LINES) * 64, below(PADDING))
    }

    pub(crate) fn layout(&self, dims: &[u64], calls: usize, offset: usize) -> Result<Layout, Fault> {
        Layout::new(&self.task.spec, dims, calls, 4, offset).map_err(|error| Fault::harness("place tensors", &error))
    }

    /// Starts a worker for a kernel, in memory that [`Lab::end`] left behind if it is large enough.
    pub(crate) fn kernel_worker(
        &mut self,
        built: &Built,
        memory: (usize, usize),
        padding: usize,
        env: &[(String, String)],
    ) -> Result<Worker, Fault> {
        let start = Start {
            program: &self.program,
            code: Some(&built.code),
            interpreter: self.interpreter.as_ref().filter(|_| built.script),
            symbol: &self.task.spec.symbol,
            operation: Operation::Kernel,
            cpu: Some(self.crew.measure),
            env,
            padding,
            timeout_ms: self.protocol.kernel_run_timeout_s() * 1000,
            layers: self.layers,
        };
        let memory = match self.spare.take() {
            Some(spare) => spare.renew(memory.0, memory.1),
            None => Memory::new(memory.0, memory.1),
        };
        let memory = memory.map_err(|error| Fault::harness("make a worker's memory", &error))?;
        let worker = Worker::start(&start, memory).map_err(|fault| Fault::of_worker(&fault, "while loading"))?;
        // Its code has not run yet, so what the kernel says of it is what the canary's process had.
        let state = isolation::state_of(&worker).map_err(|error| Fault::harness("read a worker's state", &error))?;
        // Without the filter the canary has made itself a namespace, with rights in it.
        if self.layers.has(Layers::FILTER) && state != self.isolation.state {
            let differs = io::Error::other(format!("{state:?} is not what the canary had"));
            return Err(Fault::harness("jail a worker as the canary", &differs));
        }
        Ok(worker)
    }

    /// Ends a worker, looks at what it has mapped, and keeps its memory for the next.
    pub(crate) fn end(&mut self, worker: Worker) -> Result<(), Fault> {
        let memory = worker.end().map_err(|fault| Fault::of_worker(&fault, "after the last window"))?;
        self.spare = Some(memory);
        Ok(())
    }

    pub(crate) fn cancelled(&self) -> Result<(), Fault> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Fault::new(Outcome::Cancelled, "ended by the user"));
        }
        Ok(())
    }
}
