//! One window with everything around it: fresh inputs, poison, the clock, the scan and the comparison.
//!
//! ```text
//! measuring processor  | window w | compare the sample | scan, poison for w + 1 | fill w + 1 | window w + 1
//! helping processor    |          |                    |      fill the inputs of w + 1       |
//! ```
//! While the clock runs, both processors leave the memory alone: filling meanwhile was tried, saved no time and added scatter.

use atb_core::codes;
use atb_core::outcome::Outcome;
use atb_core::quantity::Nanos;
use atb_core::task::{TaskSpec, Unit};

use crate::compare::{Scanned, Tolerances, rms, scan};
use crate::crew::Crew;
use crate::fault::Fault;
use crate::inputs::{FACTORS, Filling, Place, Poison, Stream, poison_all};
use crate::layout::Layout;
use crate::reference::Reference;
use crate::sample::{Sample, compare_call};
use crate::sys::cpu;
use crate::sys::memory::words_mut;
use crate::worker::{Memory, Worker};

/// Elements from which the scale of an elementwise output is learnt.
pub(crate) const SCALE_COLS: u64 = 16_384;

/// What every window of a task is judged by.
#[derive(Debug)]
pub(crate) struct Judge {
    /// The task.
    pub(crate) spec: TaskSpec,
    /// Tolerances.
    pub(crate) tolerances: Tolerances,
    /// Processors.
    pub(crate) crew: Crew,
    /// The reference process.
    pub(crate) reference: Reference,
    /// Elements or rows compared per window.
    pub(crate) sample: usize,
    /// Root mean square of each output of an elementwise task, per input factor; empty for tasks by row.
    pub(crate) scales: Vec<[f64; FACTORS.len()]>,
}

/// The keyed streams of a run.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    /// Inputs and poison.
    pub(crate) inputs: Stream,
    /// What is checked.
    pub(crate) checks: Stream,
}

/// Counts of what was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Checks {
    /// Windows scanned whole.
    pub(crate) scanned: u64,
    /// Elements or rows compared.
    pub(crate) sampled: u64,
    /// Calls compared in full.
    pub(crate) full: u64,
}

/// How words of a shape may be shown: hidden shapes stay hidden.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'a> {
    /// Name of the shape, or `a hidden shape`.
    pub(crate) shape: &'a str,
    /// True if positions and values may be told.
    pub(crate) open: bool,
}

/// One window of a sequence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'a> {
    /// Placement of its tensors.
    pub(crate) layout: &'a Layout,
    /// Its place in the streams.
    pub(crate) place: Place,
    /// The window after it, prepared once this one is checked.
    pub(crate) next: Option<Place>,
    /// Calls compared in full.
    pub(crate) full: &'a [usize],
    /// How its shape may be shown.
    pub(crate) shown: Shown<'a>,
}

impl Judge {
    /// Prepares the first window of a sequence.
    pub(crate) fn prepare(&self, worker: &mut Worker, layout: &Layout, streams: &Streams, place: Place) {
        worker.place(layout);
        Filling::new(&streams.inputs, &self.spec, layout, place, worker.memory.input.bytes_mut()).work();
        poison_all(Poison::draw(&streams.inputs, place), layout, worker.memory.output.bytes_mut());
    }

    /// Runs a prepared window, checks its outputs, and prepares the next.
    pub(crate) fn window(
        &mut self,
        worker: &mut Worker,
        streams: &Streams,
        window: Window<'_>,
        checks: &mut Checks,
    ) -> Result<Nanos, Fault> {
        let Window { layout, place, next, full, shown } = window;
        let Worker { link, memory: Memory { input, output, .. }, .. } = worker;
        let time = link.window(layout.calls as u64).map_err(|fault| Fault::of_worker(&fault, shown.shape))?;
        let (inputs, outputs) = (input.bytes(), output.bytes());
        let Self { spec, tolerances, scales, reference, .. } = self;
        let sample = Sample::draw(spec, self.sample, layout, streams, place, outputs);
        let compared = sample.compare(tolerances, scales, reference, layout, inputs, shown).and_then(|()| {
            full.iter()
                .try_for_each(|&call| compare_call(spec, tolerances, reference, layout, inputs, (call, outputs), shown))
        });
        let poison = Poison::draw(&streams.inputs, place);
        let next_poison = next.map(|next| Poison::draw(&streams.inputs, next));
        let filling = next.map(|next| Filling::new(&streams.inputs, &self.spec, layout, next, input.bytes_mut()));
        std::thread::scope(|scope| {
            if let (Some(filling), Some(helper)) = (&filling, self.crew.helper) {
                scope.spawn(move || {
                    // Unpinned help is still help.
                    let _ = cpu::restrict(&[helper]);
                    filling.work();
                });
            }
            let scanned = self.scan_all(output.bytes_mut(), layout, poison, next_poison, shown);
            if let Some(filling) = &filling {
                filling.work();
            }
            scanned
        })?;
        // What was never written is also wrong; the scan names the cause.
        compared?;
        checks.scanned += 1;
        checks.sampled += self.sample as u64;
        checks.full += full.len() as u64;
        Ok(time)
    }

    /// Scans all outputs of all calls and leaves the next window's poison behind.
    fn scan_all(
        &self,
        memory: &mut [u8],
        layout: &Layout,
        poison: Poison,
        next: Option<Poison>,
        shown: Shown<'_>,
    ) -> Result<(), Fault> {
        for call in 0..layout.calls {
            for (at, output) in self.spec.outputs.iter().enumerate() {
                let words = words_mut(&mut memory[Layout::range(&layout.outputs, at, call, 4)]);
                let (code, element, what) = match scan(output.dtype, poison, words, next) {
                    Scanned::Clean => continue,
                    Scanned::Poison(element) => (codes::POISON_LEFT, element, "was never written"),
                    Scanned::NotFinite(element) => (codes::NOT_FINITE, element, "is NaN or infinite"),
                };
                let name = &output.name;
                return Err(incorrect(code, shown, &format!("call {call}: {name}[{element}] {what}")));
            }
        }
        let (at, stride) = layout.workspace;
        if let Some(next) = next {
            words_mut(&mut memory[at..at + stride * layout.calls]).fill(next.bits());
        }
        Ok(())
    }

    /// Measures the scale of each output per input factor on calls of their own, for elementwise tasks.
    pub(crate) fn learn_scales(&mut self, stream: &Stream) -> Result<(), Fault> {
        if self.spec.unit != Unit::Element {
            return Ok(());
        }
        let layout = Layout::new(&self.spec, &[1, SCALE_COLS], 1, 4, 0)
            .map_err(|error| Fault::harness("place scales", &error))?;
        let mut scales = vec![[f64::NAN; FACTORS.len()]; self.spec.outputs.len()];
        let mut memory = vec![0_u8; layout.memory.0];
        for window in 0.. {
            if scales.iter().flatten().all(|scale| scale.is_finite()) {
                break;
            }
            let place = Place { cell: u16::MAX, window, call: 0 };
            Filling::new(stream, &self.spec, &layout, place, &mut memory).work();
            let factor = stream.factor(place);
            for (at, output) in self.reference.whole_call(&layout, &memory, 0)?.iter().enumerate() {
                scales[at][factor] = rms(output);
            }
        }
        self.scales = scales;
        Ok(())
    }

    /// Upper bound of the probability, in parts per million, that one wrong unit per timed window goes unseen in all windows.
    pub(crate) fn miss_ppm(&self, layout: &Layout, windows: u64) -> u64 {
        let units = match self.spec.unit {
            Unit::Element => layout.outputs.elements[0],
            Unit::Row => usize::try_from(layout.dims[0]).unwrap_or(1),
        };
        let all = (units * layout.calls) as f64;
        let exponent = i32::try_from(windows).unwrap_or(i32::MAX);
        let miss = (1.0 - (self.sample as f64 / all).min(1.0)).powi(exponent);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a million")]
        let ppm = (miss * 1e6).ceil() as u64;
        ppm.min(1_000_000)
    }
}

/// A wrong output. Of a hidden shape, only that it was one is told.
pub(crate) fn incorrect(code: codes::Code, shown: Shown<'_>, detail: &str) -> Fault {
    let detail = if shown.open { format!("{}: {detail}", shown.shape) } else { shown.shape.to_owned() };
    Fault::new(Outcome::Incorrect(code), detail)
}
