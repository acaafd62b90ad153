//! The reference: the task's double-precision code in a process of its own, never the candidate's.

use atb_core::task::{TaskSpec, Tensor, Unit};

use crate::build::Built;
use crate::fault::Fault;
use crate::judge::SCALE_COLS;
use crate::layout::{Layout, Slots};
use crate::sys::jail::Layers;
use crate::sys::memory::doubles;
use crate::worker::{Memory, Operation, Start, Worker};

/// The function that a task's reference.c defines.
pub(crate) const SYMBOL: &str = "atb_reference";

/// A running reference.
#[derive(Debug)]
pub(crate) struct Reference {
    worker: Worker,
    spec: TaskSpec,
}

impl Reference {
    /// Starts the reference of a task, with memory for one call at any of its shapes.
    pub(crate) fn start(
        program: &std::path::Path,
        spec: &TaskSpec,
        built: &Built,
        cpu: Option<usize>,
        timeout_s: u64,
        layers: Layers,
    ) -> Result<Self, Fault> {
        let largest: Vec<u64> = spec.hidden.iter().map(|range| range.1).collect();
        // Scales are learnt on a shape of their own, which may be larger than the task's.
        let scales = (spec.unit == Unit::Element).then(|| vec![1, SCALE_COLS]);
        let shapes = spec.shapes.iter().map(|shape| &shape.dims).chain([&largest]).chain(&scales);
        let mut memory = (64, 64);
        for dims in shapes {
            let layout =
                Layout::new(spec, dims, 1, 8, 0).map_err(|error| Fault::harness("place the reference", &error))?;
            memory = (memory.0.max(layout.memory.0), memory.1.max(layout.memory.1));
        }
        let start = Start {
            program,
            code: Some(&built.code),
            interpreter: None,
            symbol: SYMBOL,
            operation: Operation::Reference,
            cpu,
            env: &[],
            padding: 0,
            timeout_ms: timeout_s * 1000,
            layers,
        };
        let memory =
            Memory::new(memory.0, memory.1).map_err(|error| Fault::harness("make the reference's memory", &error))?;
        let worker = Worker::start(&start, memory).map_err(|fault| Fault::harness("start the reference", &fault))?;
        Ok(Self { worker, spec: spec.clone() })
    }

    /// Computes one call. `write` fills each input (tensor index, bytes); the result has one list per output.
    pub(crate) fn call(
        &mut self,
        dims: &[u64],
        mut write: impl FnMut(usize, &mut [u8]),
    ) -> Result<Vec<Vec<f64>>, Fault> {
        let layout =
            Layout::new(&self.spec, dims, 1, 8, 0).map_err(|error| Fault::harness("place the reference", &error))?;
        self.worker.place(&layout);
        let memory = self.worker.memory.input.bytes_mut();
        for tensor in 0..layout.inputs.at.len() {
            write(tensor, &mut memory[Layout::range(&layout.inputs, tensor, 0, 4)]);
        }
        self.worker.window(1).map_err(|fault| Fault::harness("run the reference", &fault))?;
        let memory = self.worker.memory.output.bytes();
        Ok((0..layout.outputs.at.len())
            .map(|tensor| doubles(&memory[Layout::range(&layout.outputs, tensor, 0, 8)]).to_vec())
            .collect())
    }

    /// Computes a whole call of a window from the inputs that the candidate had.
    pub(crate) fn whole_call(&mut self, layout: &Layout, input: &[u8], call: usize) -> Result<Vec<Vec<f64>>, Fault> {
        self.call(&layout.dims, |tensor, out| {
            out.copy_from_slice(&input[Layout::range(&layout.inputs, tensor, call, 4)]);
        })
    }

    /// Computes one row of a call.
    pub(crate) fn row(
        &mut self,
        layout: &Layout,
        input: &[u8],
        call: usize,
        row: usize,
    ) -> Result<Vec<Vec<f64>>, Fault> {
        let mut dims = layout.dims.clone();
        dims[0] = 1;
        let tensors = self.spec.inputs.clone();
        self.call(&dims, |tensor, out| {
            let from = row_range(&tensors[tensor], &layout.inputs, layout, tensor, call, row);
            out.copy_from_slice(&input[from]);
        })
    }

    /// Computes gathered elements of an elementwise task: (call, element) each.
    pub(crate) fn elements(
        &mut self,
        layout: &Layout,
        input: &[u8],
        picks: &[(usize, usize)],
    ) -> Result<Vec<Vec<f64>>, Fault> {
        self.call(&[1, picks.len() as u64], |tensor, out| {
            // An elementwise input has one or more elements per output element, in equal blocks along the row.
            let outputs = layout.outputs.elements[0];
            let rows = usize::try_from(layout.dims[0]).unwrap_or(1);
            let (cols, blocks) = (outputs / rows, layout.inputs.elements[tensor] / outputs);
            let start = layout.inputs.at[tensor];
            for (at, &(call, element)) in picks.iter().enumerate() {
                let (row, col) = (element / cols, element % cols);
                for block in 0..blocks {
                    let from = start + call * layout.inputs.stride[tensor] + ((row * blocks + block) * cols + col) * 4;
                    let to = (block * picks.len() + at) * 4;
                    out[to..to + 4].copy_from_slice(&input[from..from + 4]);
                }
            }
        })
    }
}

/// Bytes of a row of a tensor's call; the whole tensor if all rows share it.
pub(crate) fn row_range(
    tensor: &Tensor,
    slots: &Slots,
    layout: &Layout,
    at: usize,
    call: usize,
    row: usize,
) -> std::ops::Range<usize> {
    let whole = Layout::range(slots, at, call, 4);
    if !tensor.per_row {
        return whole;
    }
    let rows = usize::try_from(layout.dims[0]).unwrap_or(1).max(1);
    let bytes = slots.elements[at] / rows * 4;
    whole.start + row * bytes..whole.start + (row + 1) * bytes
}
