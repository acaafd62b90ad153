//! Deterministic draws for run order, memory layout and the bootstrap.
//!
//! Never for input bytes: this sequence is public and invertible, so a candidate that saw one output could predict the
//! rest. Inputs come from a keyed stream whose key never leaves the parent.

use std::num::NonZeroU64;

use crate::quantity::Seed;

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014; constants of the reference C code by Vigna).
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// Starts the sequence of a seed.
    pub const fn new(seed: Seed) -> Self {
        Self { state: seed.get() }
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A draw from 0..n by multiply-shift, (u64 x n) >> 64, one output per draw.
    ///
    /// The bias is at most n / 2^64 per value, far below anything that an order or a bootstrap can show; no output is
    /// rejected, so the number of outputs consumed is known beforehand.
    pub fn below(&mut self, n: NonZeroU64) -> u64 {
        let product = u128::from(self.next_u64()) * u128::from(n.get());
        (product >> 64) as u64
    }

    /// A fair coin.
    pub const fn coin(&mut self) -> bool {
        self.next_u64() >> 63 == 1
    }

    /// A uniformly random order of 0..n (Fisher-Yates, Durstenfeld's form).
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            let choices = NonZeroU64::MIN.saturating_add(last as u64);
            let drawn = self.below(choices);
            order.swap(last, usize::try_from(drawn).unwrap_or(last));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_holds_every_index_once() {
        let mut draws = SplitMix64::new(Seed::new(7));
        for n in 0..50 {
            let mut order = draws.permutation(n);
            order.sort_unstable();
            assert_eq!(order, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_order_of_three_is_about_equally_likely() {
        let mut draws = SplitMix64::new(Seed::new(20_260_918));
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..60_000 {
            *seen.entry(draws.permutation(3)).or_insert(0_i32) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|c| (c - 10_000).abs() < 500)); // over 5 standard errors
    }

    #[test]
    fn draws_stay_below_their_bound() {
        let mut draws = SplitMix64::new(Seed::new(1));
        let bound = NonZeroU64::new(3).unwrap();
        assert!((0..10_000).all(|_| draws.below(bound) < 3));
        assert_eq!(draws.below(NonZeroU64::MIN), 0);
    }
}
