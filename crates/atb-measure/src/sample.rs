//! The sample of a window: what is compared with the reference, drawn after the window ended.

use atb_core::codes;
use atb_core::task::{TaskSpec, Unit};

use crate::compare::{Mismatch, Tolerances, compare_row};
use crate::fault::Fault;
use crate::inputs::{FACTORS, Place};
use crate::judge::{Shown, Streams, incorrect};
use crate::layout::Layout;
use crate::reference::{Reference, row_range};
use crate::sys::memory::words;

/// One drawn unit: an element or a row of a call.
#[derive(Debug, Clone, Copy)]
struct Pick {
    call: usize,
    unit: usize,
    factor: usize,
}

/// Drawn units with the outputs that the worker left for them.
#[derive(Debug)]
pub(crate) struct Sample<'s> {
    spec: &'s TaskSpec,
    picks: Vec<Pick>,
    /// Per pick and output.
    found: Vec<Vec<Vec<u32>>>,
}

impl<'s> Sample<'s> {
    /// Draws the units and copies their outputs.
    pub(crate) fn draw(
        spec: &'s TaskSpec,
        count: usize,
        layout: &Layout,
        streams: &Streams,
        place: Place,
        memory: &[u8],
    ) -> Self {
        let units = match spec.unit {
            Unit::Element => layout.outputs.elements[0] as u64,
            Unit::Row => layout.dims[0],
        };
        let bounds: Vec<u64> = std::iter::repeat_n([layout.calls as u64, units], count).flatten().collect();
        let index = |word: u64| usize::try_from(word).unwrap_or(0);
        let picks: Vec<Pick> = streams
            .checks
            .draw(place, &bounds)
            .chunks_exact(2)
            .map(|pair| {
                let call = index(pair[0]);
                let at = Place { call: u32::try_from(call).unwrap_or(u32::MAX), ..place };
                Pick { call, unit: index(pair[1]), factor: streams.inputs.factor(at) }
            })
            .collect();
        let copy = |pick: &Pick| {
            let of = |(at, output)| {
                let whole = Layout::range(&layout.outputs, at, pick.call, 4);
                match spec.unit {
                    Unit::Element => vec![words(&memory[whole])[pick.unit]],
                    Unit::Row => {
                        words(&memory[row_range(output, &layout.outputs, layout, at, pick.call, pick.unit)]).to_vec()
                    }
                }
            };
            spec.outputs.iter().enumerate().map(of).collect()
        };
        let found = picks.iter().map(copy).collect();
        Self { spec, picks, found }
    }

    /// Compares the sample with the reference.
    pub(crate) fn compare(
        &self,
        tolerances: &Tolerances,
        scales: &[[f64; FACTORS.len()]],
        reference: &mut Reference,
        layout: &Layout,
        inputs: &[u8],
        shown: Shown<'_>,
    ) -> Result<(), Fault> {
        if self.spec.unit == Unit::Element {
            let picks: Vec<(usize, usize)> = self.picks.iter().map(|pick| (pick.call, pick.unit)).collect();
            let expected = reference.elements(layout, inputs, &picks)?;
            for (at, output) in self.spec.outputs.iter().enumerate() {
                for ((pick, found), &reference) in self.picks.iter().zip(&self.found).zip(&expected[at]) {
                    let scale = scales.get(at).map(|scales| scales[pick.factor]);
                    compare_row(tolerances, output.dtype, &[reference], &found[at], scale)
                        .map_err(|mismatch| wrong(&output.name, pick.call, pick.unit, &mismatch, shown))?;
                }
            }
            return Ok(());
        }
        for (pick, found) in self.picks.iter().zip(&self.found) {
            let expected = reference.row(layout, inputs, pick.call, pick.unit)?;
            for (at, output) in self.spec.outputs.iter().enumerate() {
                compare_row(tolerances, output.dtype, &expected[at], &found[at], None).map_err(|mismatch| {
                    let element = pick.unit * expected[at].len() + mismatch.element;
                    wrong(&output.name, pick.call, element, &mismatch, shown)
                })?;
            }
        }
        Ok(())
    }
}

/// Compares all outputs of a call, given with the memory that holds them, with the reference.
pub(crate) fn compare_call(
    spec: &TaskSpec,
    tolerances: &Tolerances,
    reference: &mut Reference,
    layout: &Layout,
    inputs: &[u8],
    (call, memory): (usize, &[u8]),
    shown: Shown<'_>,
) -> Result<(), Fault> {
    let expected = reference.whole_call(layout, inputs, call)?;
    let rows = usize::try_from(layout.dims[0]).unwrap_or(1).max(1);
    for (at, output) in spec.outputs.iter().enumerate() {
        let elements = (expected[at].len() / rows).max(1);
        let found = words(&memory[Layout::range(&layout.outputs, at, call, 4)]);
        for (row, (reference, found_row)) in
            expected[at].chunks_exact(elements).zip(found.chunks_exact(elements)).enumerate()
        {
            compare_row(tolerances, output.dtype, reference, found_row, None)
                .map_err(|mismatch| wrong(&output.name, call, row * elements + mismatch.element, &mismatch, shown))?;
        }
    }
    Ok(())
}

fn wrong(name: &str, call: usize, element: usize, mismatch: &Mismatch, shown: Shown<'_>) -> Fault {
    let Mismatch { element: _, found, reference, bound } = *mismatch;
    let (float, integer) = (f32::from_bits(found), found.cast_signed());
    let detail = format!(
        "call {call}: {name}[{element}] = {float:e} (as integer {integer}), reference {reference:e}, \
         allowed distance {bound:e}"
    );
    incorrect(codes::WRONG_OUTPUT, shown, &detail)
}
