//! Where the tensors of a window lie in the shared memory.
//!
//! Each call has slots of its own, so no call sees another's data. All bases are 64-byte aligned, and a random offset per process
//! varies their placement, since placement alone can change a kernel's time (Mytkowicz et al., ASPLOS 2009).

use atb_core::task::{TaskSpec, Tensor};

/// Offsets of one kind of tensors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Slots {
    /// Offset of call 0, per tensor, in bytes.
    pub(crate) at: Vec<usize>,
    /// Distance between calls, per tensor, in bytes.
    pub(crate) stride: Vec<usize>,
    /// Elements, per tensor.
    pub(crate) elements: Vec<usize>,
}

/// A complete placement for one shape and one number of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Dimensions in the task's order.
    pub(crate) dims: Vec<u64>,
    /// Calls per window.
    pub(crate) calls: usize,
    /// Inputs.
    pub(crate) inputs: Slots,
    /// Outputs.
    pub(crate) outputs: Slots,
    /// Offset and stride of the workspace, within the output memory.
    pub(crate) workspace: (usize, usize),
    /// Bytes of input and output memory.
    pub(crate) memory: (usize, usize),
}

/// A shape that does not fit the address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the shape is too large for this machine")]
pub(crate) struct TooLarge;

impl Layout {
    /// Places a task's tensors. `width` is the size of an output element: 4 for a kernel, 8 for the reference.
    pub(crate) fn new(
        spec: &TaskSpec,
        dims: &[u64],
        calls: usize,
        width: usize,
        offset: usize,
    ) -> Result<Self, TooLarge> {
        let (inputs, input_end) = slots(&spec.inputs, dims, calls, 4, offset)?;
        let (outputs, output_end) = slots(&spec.outputs, dims, calls, width, offset)?;
        let workspace = spec.workspace.value(dims).and_then(|bytes| usize::try_from(bytes).ok()).ok_or(TooLarge)?;
        let workspace_stride = align(workspace)?;
        let end =
            workspace_stride.checked_mul(calls).and_then(|bytes| bytes.checked_add(output_end)).ok_or(TooLarge)?;
        Ok(Self {
            dims: dims.to_vec(),
            calls,
            inputs,
            outputs,
            workspace: (output_end, workspace_stride),
            // A spare line lets kernels prefetch one vector past the end.
            memory: (input_end + 64, end + 64),
        })
    }

    /// The byte range of a tensor's call.
    pub(crate) fn range(slots: &Slots, tensor: usize, call: usize, width: usize) -> std::ops::Range<usize> {
        let start = slots.at[tensor] + call * slots.stride[tensor];
        start..start + slots.elements[tensor] * width
    }
}

/// The calls of one tensor, as a piece of the memory that no other piece overlaps.
#[derive(Debug)]
pub(crate) struct Piece<'m> {
    /// Index of the tensor; the workspace comes after the outputs.
    pub(crate) tensor: usize,
    /// Distance between calls in bytes.
    pub(crate) stride: usize,
    /// The bytes of all its calls.
    pub(crate) bytes: &'m mut [u8],
}

/// Splits a memory into the slots of its tensors, all calls each. `extra` is one more region (offset, stride): the workspace.
pub(crate) fn pieces<'m>(
    slots: &Slots,
    calls: usize,
    extra: Option<(usize, usize)>,
    memory: &'m mut [u8],
) -> Vec<Piece<'m>> {
    let regions = slots.at.iter().copied().zip(slots.stride.iter().copied()).chain(extra);
    let (mut rest, mut start) = (memory, 0);
    let mut pieces = Vec::new();
    for (tensor, (at, stride)) in regions.enumerate().filter(|(_, (_, stride))| *stride > 0) {
        let (_, tail) = rest.split_at_mut(at - start);
        let (bytes, tail) = tail.split_at_mut(stride * calls);
        (rest, start) = (tail, at + stride * calls);
        pieces.push(Piece { tensor, stride, bytes });
    }
    pieces
}

fn align(bytes: usize) -> Result<usize, TooLarge> {
    bytes.checked_next_multiple_of(64).ok_or(TooLarge)
}

fn slots(
    tensors: &[Tensor],
    dims: &[u64],
    calls: usize,
    width: usize,
    offset: usize,
) -> Result<(Slots, usize), TooLarge> {
    let mut slots = Slots::default();
    let mut end = align(offset)?;
    for tensor in tensors {
        let elements = tensor.elements(dims).and_then(|n| usize::try_from(n).ok()).ok_or(TooLarge)?;
        let stride = align(elements.checked_mul(width).ok_or(TooLarge)?)?;
        slots.at.push(end);
        slots.stride.push(stride);
        slots.elements.push(elements);
        end = stride.checked_mul(calls).and_then(|bytes| bytes.checked_add(end)).ok_or(TooLarge)?;
    }
    Ok((slots, end))
}
