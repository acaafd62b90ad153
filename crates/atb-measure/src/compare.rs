//! Comparing outputs with the double-precision reference.
//!
//! The tolerance is scale-aware: the absolute part is a share of the root mean square of the reference row, so that a task with
//! small outputs does not accept zeros. A candidate must meet the wide published tolerance and the class's own one.

use std::cmp::Ordering;

use atb_core::protocol::Protocol;
use atb_core::task::{Dtype, TaskSpec, Tolerance};

use crate::inputs::Poison;

/// Tolerances of a task under a protocol: (relative, absolute in units of the row's scale), all to be met.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tolerances(Vec<(f64, f64)>);

impl Tolerances {
    /// The published tolerance and that of the task's class.
    pub(crate) fn new(protocol: &Protocol, spec: &TaskSpec) -> Self {
        let class = match spec.tolerance {
            Tolerance::Elementwise => {
                (protocol.correctness_elementwise_rtol(), protocol.correctness_elementwise_atol())
            }
            Tolerance::Reduction => (protocol.correctness_reduction_rtol(), protocol.correctness_reduction_atol()),
        };
        let compat = (protocol.correctness_compat_rtol(), protocol.correctness_compat_atol());
        Self([compat, class].map(|(rtol, atol)| (rtol.get(), atol.get())).to_vec())
    }

    /// The greatest allowed distance from a reference value.
    fn bound(&self, reference: f64, scale: f64) -> f64 {
        self.0.iter().map(|(rtol, atol)| rtol * reference.abs() + atol * scale).fold(f64::INFINITY, f64::min)
    }
}

/// An output element that failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mismatch {
    /// Element within the compared slice.
    pub(crate) element: usize,
    /// Bit pattern found.
    pub(crate) found: u32,
    /// Reference value.
    pub(crate) reference: f64,
    /// Allowed distance.
    pub(crate) bound: f64,
}

/// Root mean square of a row; 0 for an empty one.
pub(crate) fn rms(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    (values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64).sqrt()
}

/// Compares one row. `scale` replaces the row's own root mean square where the slice is not a whole row.
pub(crate) fn compare_row(
    tolerances: &Tolerances,
    dtype: Dtype,
    reference: &[f64],
    found: &[u32],
    scale: Option<f64>,
) -> Result<(), Mismatch> {
    let scale = scale.unwrap_or_else(|| rms(reference));
    for (element, (&reference, &bits)) in reference.iter().zip(found).enumerate() {
        let (value, bound) = match dtype {
            Dtype::F32 => (f64::from(f32::from_bits(bits)), tolerances.bound(reference, scale)),
            Dtype::I32 => (f64::from(bits.cast_signed()), 0.0),
        };
        // A NaN on either side gives no ordering, and so fails.
        let distance = (value - reference).abs();
        if !matches!(distance.partial_cmp(&bound), Some(Ordering::Less | Ordering::Equal)) {
            return Err(Mismatch { element, found: bits, reference, bound });
        }
    }
    Ok(())
}

/// What a scan of raw outputs found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scanned {
    /// Nothing wrong.
    Clean,
    /// An element was never written.
    Poison(usize),
    /// An element is NaN or infinite.
    NotFinite(usize),
}

/// Scans outputs for poison and non-finite values, and leaves `next` poison behind, piece by piece while it is in the cache.
pub(crate) fn scan(dtype: Dtype, poison: Poison, words: &mut [u32], next: Option<Poison>) -> Scanned {
    const EXPONENT: u32 = 0x7f80_0000;
    let poison = poison.bits();
    let bad = |bits: u32| match dtype {
        Dtype::F32 => bits & EXPONENT == EXPONENT,
        Dtype::I32 => bits == poison,
    };
    // A first pass without branches runs at memory speed; the place is looked for only when something is wrong.
    for (chunk_at, chunk) in words.chunks_mut(4096).enumerate() {
        if chunk.iter().fold(false, |any, &bits| any | bad(bits)) {
            let element = chunk.iter().position(|&bits| bad(bits)).unwrap_or(0);
            let at = chunk_at * 4096 + element;
            return if chunk[element] == poison { Scanned::Poison(at) } else { Scanned::NotFinite(at) };
        }
        if let Some(next) = next {
            chunk.fill(next.bits());
        }
    }
    Scanned::Clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::{Place, Purpose, Stream};

    fn poison() -> Poison {
        Poison::draw(&Stream::new(&[1; 32], Purpose::Inputs, ""), Place::default())
    }

    #[test]
    fn zeros_fail_however_small_the_outputs_are() {
        let tolerances = Tolerances(vec![(1e-2, 1e-2), (1e-4, 1e-4)]);
        let reference = vec![2.4e-4; 64];
        let zeros = vec![0_u32; 64];
        assert!(compare_row(&tolerances, Dtype::F32, &reference, &zeros, None).is_err());
        let exact = vec![2.4e-4_f32.to_bits(); 64];
        assert!(compare_row(&tolerances, Dtype::F32, &reference, &exact, None).is_ok());
    }

    #[test]
    fn nan_never_passes() {
        let tolerances = Tolerances(vec![(1.0, 1.0)]);
        assert!(compare_row(&tolerances, Dtype::F32, &[1.0], &[f32::NAN.to_bits()], None).is_err());
        assert!(compare_row(&tolerances, Dtype::F32, &[f64::NAN], &[0], None).is_err());
    }

    #[test]
    fn a_scan_tells_poison_from_other_non_finite_values() {
        let poison = poison();
        let mut words = vec![1.0_f32.to_bits(); 10_000];
        assert_eq!(scan(Dtype::F32, poison, &mut words, None), Scanned::Clean);
        words[9_000] = f32::INFINITY.to_bits();
        assert_eq!(scan(Dtype::F32, poison, &mut words, None), Scanned::NotFinite(9_000));
        words[77] = poison.bits();
        assert_eq!(scan(Dtype::F32, poison, &mut words, None), Scanned::Poison(77));
        assert_eq!(scan(Dtype::I32, poison, &mut [0, poison.bits()], None), Scanned::Poison(1));
    }
}
