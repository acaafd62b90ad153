//! Task admission: outputs of code that does not compute the task must fail at the task's own tolerance.
//!
//! A task whose answer hardly depends on its inputs, or whose tolerance hides a shortcut, lets constants and lower precision win
//! (KernelBench accepts zeros on 4 of 60 level-1 tasks at an absolute tolerance of 0.01). So each probe takes the place of a
//! kernel's outputs, and the comparison that judges kernels must refuse it.

use atb_core::task::{Dtype, Shape, TaskSpec};

use crate::fault::Fault;
use crate::inputs::{FACTORS, Filling, Place, Purpose, Stream};
use crate::judge::Shown;
use crate::lab::Lab;
use crate::layout::Layout;
use crate::sample::compare_call;
use crate::sys::memory::{words, words_mut};

/// What a probe came to at one timed shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    /// The probe.
    pub probe: &'static str,
    /// The shape.
    pub shape: String,
    /// How the comparison refused it; none if it passed, which a task must not allow.
    pub refusal: Option<String>,
}

/// The calls of a shape, one of each scale, with what the reference makes of them.
struct Calls<'c> {
    spec: &'c TaskSpec,
    layout: Layout,
    inputs: Vec<u8>,
    /// By call and output.
    expected: Vec<Vec<Vec<f64>>>,
}

/// Values of the outputs of one call.
type Outputs = Vec<Vec<f64>>;
/// Makes an output out of the call's number, what is expected, and the output's number.
type Make<'m> = &'m dyn Fn(usize, &[f64], usize) -> Vec<f64>;
/// Edits a word of an input by its place.
type Edit = fn(usize, u32) -> u32;

impl Lab {
    /// Tries all probes at all timed shapes of this lab.
    pub fn admission(&mut self) -> Result<Vec<Probed>, Fault> {
        let spec = self.task().spec.clone();
        let mut all = Vec::new();
        for shape in self.cells().to_vec() {
            let calls = self.calls(&spec, &shape)?;
            for (name, outputs) in self.probes(&calls)? {
                let refusal = self.refusal(&calls, &shape, &outputs)?;
                all.push(Probed { probe: name, shape: shape.name.clone(), refusal });
            }
        }
        Ok(all)
    }

    fn calls<'c>(&mut self, spec: &'c TaskSpec, shape: &Shape) -> Result<Calls<'c>, Fault> {
        let layout = self.layout(&shape.dims, FACTORS.len(), 0)?;
        let mut inputs = vec![0; layout.memory.0];
        let stream = Stream::new(self.key(), Purpose::Inputs, "admission");
        Filling::new(&stream, spec, &layout, Place::default(), &mut inputs).work();
        let expected = self.answers(&layout, &inputs)?;
        Ok(Calls { spec, layout, inputs, expected })
    }

    /// What the reference makes of inputs, by call.
    fn answers(&mut self, layout: &Layout, inputs: &[u8]) -> Result<Vec<Outputs>, Fault> {
        (0..layout.calls).map(|call| self.judge.reference.whole_call(layout, inputs, call)).collect()
    }

    /// All probes: outputs by call.
    fn probes(&mut self, calls: &Calls<'_>) -> Result<Vec<(&'static str, Vec<Outputs>)>, Fault> {
        let each = |make: Make<'_>| -> Vec<Outputs> {
            let of_call = |(call, outputs): (usize, &Outputs)| {
                outputs.iter().enumerate().map(|(at, expected)| make(call, expected, at)).collect()
            };
            calls.expected.iter().enumerate().map(of_call).collect()
        };
        let last = calls.layout.calls - 1;
        let rows = usize::try_from(calls.layout.dims[0]).unwrap_or(1).max(1);
        let mut probes = vec![
            ("zeros", each(&|_, expected, _| vec![0.0; expected.len()])),
            ("ones", each(&|_, expected, _| vec![1.0; expected.len()])),
            ("the mean of the output", each(&|_, expected, _| vec![mean(expected); expected.len()])),
            ("the first input", each(&|call, expected, _| calls.input(call, expected.len()))),
            (
                "a straight line through the first input",
                each(&|call, expected, _| fitted(&calls.input(call, expected.len()), expected)),
            ),
            ("the output of another row", each(&|_, expected, _| rotated(expected, (expected.len() / rows).max(1)))),
            (
                "the output of the call before",
                each(&|call, _, at| calls.expected[if call == 0 { last } else { call - 1 }][at].clone()),
            ),
            ("the first half", each(&|_, expected, _| prefix(expected))),
        ];
        let edits: [(&'static str, Edit); 3] = [
            ("one input in 160 left out", |at, word| if at % 160 == 7 { 0 } else { word }),
            ("inputs cut to bfloat16", |_, word| word & 0xffff_0000),
            ("inputs cut to TF32", |_, word| word & 0xffff_e000),
        ];
        for (name, edit) in edits {
            let inputs = calls.edited(edit);
            probes.push((name, self.answers(&calls.layout, &inputs)?));
        }
        probes.push((
            "outputs cut to bfloat16",
            each(&|_, expected, _| expected.iter().map(|value| cut(*value)).collect()),
        ));
        Ok(probes)
    }

    /// How the comparison refuses outputs, if it refuses any call.
    fn refusal(&mut self, calls: &Calls<'_>, shape: &Shape, outputs: &[Outputs]) -> Result<Option<String>, Fault> {
        let layout = &calls.layout;
        let mut memory = vec![0; layout.memory.1];
        for (call, outputs) in outputs.iter().enumerate() {
            for (at, values) in outputs.iter().enumerate() {
                let dtype = calls.spec.outputs[at].dtype;
                let found = words_mut(&mut memory[Layout::range(&layout.outputs, at, call, 4)]);
                found.iter_mut().zip(values).for_each(|(word, value)| *word = bits(dtype, *value));
            }
        }
        let shown = Shown { shape: &shape.name, open: true };
        for call in 0..layout.calls {
            let (spec, judge) = (calls.spec, &mut self.judge);
            let compared = compare_call(
                spec,
                &judge.tolerances,
                &mut judge.reference,
                layout,
                &calls.inputs,
                (call, &memory),
                shown,
            );
            match compared {
                Ok(()) => {}
                Err(fault) if fault.is_harness() => return Err(fault),
                Err(fault) => return Ok(Some(fault.detail)),
            }
        }
        Ok(None)
    }
}

impl Calls<'_> {
    /// The first input of a call as so many values, repeated if it is shorter.
    fn input(&self, call: usize, len: usize) -> Vec<f64> {
        let found = words(&self.inputs[Layout::range(&self.layout.inputs, 0, call, 4)]);
        let float = self.spec.inputs[0].dtype == Dtype::F32;
        let value = |word: &u32| if float { f64::from(f32::from_bits(*word)) } else { f64::from(word.cast_signed()) };
        found.iter().map(value).cycle().take(len).collect()
    }

    /// The inputs with every word of a float tensor edited, by its place in its tensor.
    fn edited(&self, edit: Edit) -> Vec<u8> {
        let mut inputs = self.inputs.clone();
        for (tensor, _) in self.spec.inputs.iter().enumerate().filter(|(_, spec)| spec.dtype == Dtype::F32) {
            for call in 0..self.layout.calls {
                let range = Layout::range(&self.layout.inputs, tensor, call, 4);
                words_mut(&mut inputs[range]).iter_mut().enumerate().for_each(|(at, word)| *word = edit(at, *word));
            }
        }
        inputs
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The least-squares line through (input, expected), at each input.
fn fitted(input: &[f64], expected: &[f64]) -> Vec<f64> {
    let (x, y) = (mean(input), mean(expected));
    let products: f64 = input.iter().zip(expected).map(|(a, b)| (a - x) * (b - y)).sum();
    let squares: f64 = input.iter().map(|a| (a - x) * (a - x)).sum();
    let slope = if squares > 0.0 { products / squares } else { 0.0 };
    input.iter().map(|a| y + slope * (a - x)).collect()
}

/// The values moved on by a row; by one if there is but one row.
fn rotated(values: &[f64], row: usize) -> Vec<f64> {
    let mut moved = values.to_vec();
    let by = if row < values.len() { row } else { 1.min(values.len().saturating_sub(1)) };
    moved.rotate_left(by);
    moved
}

fn prefix(values: &[f64]) -> Vec<f64> {
    let half = values.len() / 2;
    values.iter().enumerate().map(|(at, value)| if at < half { *value } else { 0.0 }).collect()
}

/// A value cut to the upper 16 bits of its single.
#[expect(clippy::cast_possible_truncation, reason = "outputs are singles")]
fn cut(value: f64) -> f64 {
    f64::from(f32::from_bits((value as f32).to_bits() & 0xffff_0000))
}

#[expect(clippy::cast_possible_truncation, reason = "outputs are singles or 32-bit integers")]
fn bits(dtype: Dtype, value: f64) -> u32 {
    match dtype {
        Dtype::F32 => (value as f32).to_bits(),
        Dtype::I32 => (value as i32).cast_unsigned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_fitted_and_rows_are_moved() {
        let line = fitted(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0]);
        assert!(line.iter().zip([3.0, 5.0, 7.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{line:?}");
        assert_eq!(rotated(&[1.0, 2.0, 3.0, 4.0], 2), [3.0, 4.0, 1.0, 2.0]);
        assert_eq!(rotated(&[1.0, 2.0], 2), [2.0, 1.0]);
        assert_eq!(prefix(&[1.0, 2.0, 3.0]), [1.0, 0.0, 0.0]);
        assert!((cut(1.003) - 1.0).abs() < 1e-12);
        assert_eq!(bits(Dtype::I32, -2.0), u32::MAX - 1);
    }
}
