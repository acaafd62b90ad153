//! Inputs from a keyed stream, and the poison that outputs start with.
//!
//! The stream is AES-128 in counter mode. Its key comes from the session key, which never leaves this process, and the pair's
//! public seed. The counter's high words name tensor, cell, window and call, so both arms of a pair read the same stream, each
//! taking its prefix, and no input is repeated within a run.

use std::sync::{Mutex, PoisonError};

use aes::Aes128;
use atb_core::canon::Digest;
use atb_core::task::{Fill, TaskSpec};
use ctr::Ctr32BE;
use ctr::cipher::{KeyIvInit, StreamCipher};

use crate::layout::{Layout, pieces};
use crate::sys::memory::{bytes_mut, words_mut};

/// One element in this many is an outlier.
const OUTLIER_EVERY: usize = 1000;
/// Bytes of stream that are made and converted at a time: a piece of the first-level cache.
const CHUNK: usize = 8192;

/// A keyed stream.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    key: [u8; 16],
}

/// The place of a call in a stream.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    /// Cell, or shape in the correctness step.
    pub(crate) cell: u16,
    /// Window, warm-up included.
    pub(crate) window: u32,
    /// Call within the window.
    pub(crate) call: u32,
}

/// Purposes of streams under one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Input bytes.
    Inputs,
    /// Choice of what is checked, drawn after a window ends.
    Checks,
    /// Hidden shapes, warm-up lengths, layout: fixed before a run starts.
    Plan,
}

impl Purpose {
    fn label(self) -> &'static [u8] {
        match self {
            Self::Inputs => b"atb-inputs-1",
            Self::Checks => b"atb-checks-1",
            Self::Plan => b"atb-plan-1",
        }
    }
}

impl Stream {
    /// The stream of a purpose under a session key and a seed or other context.
    pub(crate) fn new(session_key: &[u8; 32], purpose: Purpose, context: &str) -> Self {
        let digest = Digest::of_parts(&[purpose.label(), session_key, context.as_bytes()]);
        let mut key = [0; 16];
        key.copy_from_slice(&digest.bytes()[..16]);
        Self { key }
    }

    fn cipher(&self, tensor: u16, place: Place) -> Ctr32BE<Aes128> {
        let mut iv = [0_u8; 16];
        iv[0..2].copy_from_slice(&tensor.to_be_bytes());
        iv[2..4].copy_from_slice(&place.cell.to_be_bytes());
        iv[4..8].copy_from_slice(&place.window.to_be_bytes());
        iv[8..12].copy_from_slice(&place.call.to_be_bytes());
        Ctr32BE::<Aes128>::new(&self.key.into(), &iv.into())
    }

    /// Draws numbers uniform in [0, bound) each; a bound of 0 gives 0.
    pub(crate) fn draw(&self, place: Place, bounds: &[u64]) -> Vec<u64> {
        let mut bytes = vec![0; bounds.len() * 8];
        self.cipher(u16::MAX, place).apply_keystream(&mut bytes);
        bytes
            .chunks_exact(8)
            .zip(bounds)
            .map(|(chunk, &bound)| {
                let mut word = [0; 8];
                word.copy_from_slice(chunk);
                // Multiply-shift; the bias is below bound / 2^64.
                u64::try_from((u128::from(u64::from_le_bytes(word)) * u128::from(bound)) >> 64).unwrap_or(0)
            })
            .collect()
    }

    /// The factor that scales a call's signed inputs, as an index into [`FACTORS`].
    ///
    /// Each group of calls of a window takes all factors in a drawn order. Were they drawn one by one, a window's time would vary with
    /// its share of small or large inputs, where a kernel is faster for some: softmax_rows scattered by 5 to 10 % from that alone.
    pub(crate) fn factor(&self, place: Place) -> usize {
        let at = place.call % GROUP;
        let drawn = self.draw(Place { call: place.call - at, ..place }, &[ORDERS.len() as u64]);
        let order = drawn.first().and_then(|&order| usize::try_from(order).ok()).unwrap_or(0);
        ORDERS[order][at as usize]
    }
}

/// Calls that take all scales once.
pub(crate) const GROUP: u32 = 3;
/// Scales of calls: nominal, small and large inputs.
pub(crate) const FACTORS: [f32; GROUP as usize] = [1.0, 1.0 / 64.0, 8.0];
/// The orders of the scales.
const ORDERS: [[usize; FACTORS.len()]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// The inputs of a window being filled, by as many threads as help: each takes the next slot that no one has taken.
#[derive(Debug)]
pub(crate) struct Filling<'f> {
    stream: &'f Stream,
    spec: &'f TaskSpec,
    layout: &'f Layout,
    place: Place,
    slots: Mutex<Vec<Slot<'f>>>,
}

/// One tensor of one call.
#[derive(Debug)]
struct Slot<'m> {
    tensor: usize,
    call: u32,
    bytes: &'m mut [u8],
}

impl<'f> Filling<'f> {
    /// Lists the slots of a window's inputs in `memory`.
    pub(crate) fn new(
        stream: &'f Stream,
        spec: &'f TaskSpec,
        layout: &'f Layout,
        place: Place,
        memory: &'f mut [u8],
    ) -> Self {
        let slots = pieces(&layout.inputs, layout.calls, None, memory).into_iter().flat_map(|piece| {
            let (tensor, stride) = (piece.tensor, piece.stride);
            let calls = (0_u32..).zip(piece.bytes.chunks_exact_mut(stride));
            calls.map(move |(call, bytes)| Slot { tensor, call, bytes })
        });
        Self { stream, spec, layout, place, slots: Mutex::new(slots.collect()) }
    }

    /// Fills slots until none is left.
    pub(crate) fn work(&self) {
        while let Some(slot) = self.take() {
            let Some(fill) = self.spec.inputs.get(slot.tensor).and_then(|input| input.fill.as_ref()) else { continue };
            let place = Place { call: slot.call, ..self.place };
            let factor = FACTORS[self.stream.factor(place)];
            let tensor = u16::try_from(slot.tensor).unwrap_or(u16::MAX);
            let words = words_mut(&mut slot.bytes[..self.layout.inputs.elements[slot.tensor] * 4]);
            fill_tensor(self.stream, fill, &self.layout.dims, factor, tensor, place, words);
        }
    }

    fn take(&self) -> Option<Slot<'f>> {
        // A panic of another thread surfaces when it is joined.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

/// Fills one tensor of one call.
fn fill_tensor(stream: &Stream, fill: &Fill, dims: &[u64], factor: f32, tensor: u16, place: Place, out: &mut [u32]) {
    let mut cipher = stream.cipher(tensor, place);
    match fill {
        Fill::Signed { scale, outlier } => {
            signed(&mut cipher, narrow(scale.value()) * factor, out);
            let outlier = narrow(outlier.value()) * factor;
            if outlier > 0.0 {
                outliers(&mut cipher, outlier, out);
            }
        }
        Fill::Positive { scale } => positive(&mut cipher, narrow(scale.value()), out),
        Fill::Index { bound } => {
            let bound = bound.value(dims).unwrap_or(1);
            each_chunk(&mut cipher, out, |word| u32::try_from((u64::from(word) * bound) >> 32).unwrap_or(0));
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "scales are small decimals; f32 is the tensor's type")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// A word as a float in [1, 2): its top 23 bits become the mantissa.
fn unit(word: u32) -> f32 {
    f32::from_bits(0x3f80_0000 | (word >> 9))
}

fn signed(cipher: &mut Ctr32BE<Aes128>, scale: f32, out: &mut [u32]) {
    each_chunk(cipher, out, |word| ((unit(word) * 2.0 - 3.0) * scale).to_bits());
}

fn positive(cipher: &mut Ctr32BE<Aes128>, scale: f32, out: &mut [u32]) {
    each_chunk(cipher, out, |word| (scale * ((unit(word) - 1.0) * (15.0 / 16.0) + 1.0 / 16.0)).to_bits());
}

fn each_chunk(cipher: &mut Ctr32BE<Aes128>, out: &mut [u32], map: impl Fn(u32) -> u32) {
    for piece in out.chunks_mut(CHUNK / 4) {
        cipher.write_keystream(bytes_mut(piece));
        for word in piece {
            *word = map(u32::from_le(*word));
        }
    }
}

/// Replaces about one element in [`OUTLIER_EVERY`] by an outlier of either sign.
fn outliers(cipher: &mut Ctr32BE<Aes128>, outlier: f32, out: &mut [u32]) {
    let len = out.len();
    for _ in 0..len.div_ceil(OUTLIER_EVERY) {
        let mut bytes = [0; 8];
        cipher.apply_keystream(&mut bytes);
        let word = u64::from_le_bytes(bytes);
        let at = usize::try_from(((word >> 32) * len as u64) >> 32).unwrap_or(0);
        let value = if word & 1 == 0 { outlier } else { -outlier };
        if let Some(slot) = out.get_mut(at) {
            *slot = value.to_bits();
        }
    }
}

/// The poison of a window: a NaN with a random payload for f32, a negative number for i32 indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Poison(u32);

impl Poison {
    /// Draws a window's poison.
    pub(crate) fn draw(stream: &Stream, place: Place) -> Self {
        let payload = stream.draw(Place { call: u32::MAX, ..place }, &[1 << 22]);
        // Sign set, exponent all ones, quiet: a NaN as f32, and far below zero as i32.
        Self(0xffc0_0000 | u32::try_from(payload.first().copied().unwrap_or(0)).unwrap_or(0))
    }

    /// The bit pattern.
    pub(crate) fn bits(self) -> u32 {
        self.0
    }
}

/// Fills all outputs and workspaces with poison.
pub(crate) fn poison_all(poison: Poison, layout: &Layout, memory: &mut [u8]) {
    for piece in pieces(&layout.outputs, layout.calls, Some(layout.workspace), memory) {
        words_mut(piece.bytes).fill(poison.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Stream::new(&[3; 32], Purpose::Inputs, "seed")
    }

    #[test]
    fn streams_differ_by_key_purpose_context_and_place() {
        let draw = |stream: &Stream, window| stream.draw(Place { window, ..Place::default() }, &[u64::MAX])[0];
        let base = draw(&stream(), 0);
        assert_eq!(base, draw(&stream(), 0));
        assert_ne!(base, draw(&stream(), 1));
        assert_ne!(base, draw(&Stream::new(&[4; 32], Purpose::Inputs, "seed"), 0));
        assert_ne!(base, draw(&Stream::new(&[3; 32], Purpose::Checks, "seed"), 0));
        assert_ne!(base, draw(&Stream::new(&[3; 32], Purpose::Inputs, "other"), 0));
    }

    #[test]
    fn each_three_calls_take_the_three_factors_in_every_order() {
        let mut orders = std::collections::BTreeSet::new();
        for window in 0..60 {
            for group in [0, 3, 252] {
                let factors = [0, 1, 2].map(|at| stream().factor(Place { window, call: group + at, cell: 1 }));
                let mut sorted = factors;
                sorted.sort_unstable();
                assert_eq!(sorted, [0, 1, 2]);
                orders.insert(factors);
            }
        }
        assert_eq!(orders.len(), ORDERS.len());
    }

    #[test]
    fn signed_inputs_have_both_signs_their_scale_and_outliers() {
        let mut out = vec![0_u32; 100_000];
        let mut cipher = stream().cipher(0, Place::default());
        signed(&mut cipher, 3.0, &mut out);
        outliers(&mut cipher, 40.0, &mut out);
        let values: Vec<f32> = out.iter().map(|bits| f32::from_bits(*bits)).collect();
        let outliers = values.iter().filter(|value| value.abs() > 39.0).count();
        assert!((80..=100).contains(&outliers), "{outliers}");
        let mean = values.iter().sum::<f32>() / 1e5;
        assert!(mean.abs() < 0.05, "{mean}");
        assert!(values.iter().all(|value| value.abs() < 3.0 || value.abs() > 39.0));
    }

    #[test]
    fn poison_is_a_nan_and_a_negative_index() {
        let poison = Poison::draw(&stream(), Place::default());
        assert!(f32::from_bits(poison.bits()).is_nan());
        assert!(poison.bits().cast_signed() < 0);
    }
}
