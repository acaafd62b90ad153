//! Statistics: one method per question, each pinned by test vectors.
//!
//! Everything here is a pure function of its arguments: no clock, no threads, no randomness except [`splitmix`], so a
//! verdict can be recomputed bit for bit from ledger rows. A module may not pool runs, drop a reading for its value,
//! or look at more than one question.

pub mod aggregate;
pub mod bootstrap;
pub mod closeness;
pub mod cv;
pub mod e_process;
pub mod early_stopping;
pub mod equivalence;
pub mod multiplicity;
pub mod null_planning;
pub mod pairs;
pub mod parity;
pub mod percentile;
pub mod planning;
pub mod pooling;
pub mod proportion;
pub mod roofline;
pub mod saturation;
pub mod shrinkage;
pub mod signed_rank;
pub mod spending;
pub mod splitmix;
pub mod steady;
pub mod summary;

mod binomial;
mod distributions;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod vectors;

/// Slack of every comparison with a bound: the sum of two opposite log ratios can miss zero by some 1e-17.
pub(crate) const EPSILON: f64 = 1e-12;

/// 1 / Phi^-1(3/4): turns a median absolute deviation into the standard deviation of a normal sample.
pub(crate) const MAD_TO_SD: f64 = 1.482_602_218_505_601_8;

/// Arithmetic mean; NaN for an empty slice, which every caller excludes.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Variance with divisor n-1, in two passes because the one-pass form cancels; NaN below two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    squares / (values.len() as f64 - 1.0)
}

/// A sorted copy.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    copy
}

/// Median of sorted values: the mean of the two middle order statistics; NaN for an empty slice.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let upper = sorted.get(sorted.len() / 2);
    let lower = sorted.get(sorted.len().saturating_sub(1) / 2);
    upper.zip(lower).map_or(f64::NAN, |(u, l)| f64::midpoint(*l, *u))
}

/// Median absolute deviation from the median, unscaled.
pub(crate) fn mad(values: &[f64], median: f64) -> f64 {
    let deviations: Vec<f64> = values.iter().map(|v| (v - median).abs()).collect();
    median_of_sorted(&sorted(&deviations))
}
