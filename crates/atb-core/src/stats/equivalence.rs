//! The evidence for a null: two one-sided signed-rank tests against the ends of the band of equal arms.
//!
//! The verdict comes from the 90 % interval of `signed_rank`, which says the same; these are its probabilities, for print.

use crate::quantity::{LogRatio, Probability, QuantityError, Relative};

use super::signed_rank::{SignedRank, SignedRankError};

/// Probabilities of the two one-sided tests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Equivalence {
    /// Against "the log ratio is at most -ln(1 + delta)".
    pub p_lower: Probability,
    /// Against "the log ratio is at least ln(1 + delta)".
    pub p_upper: Probability,
    /// The larger of the two: the arms are equivalent at level alpha if it is at most alpha.
    pub p: Probability,
}

impl Equivalence {
    /// Source: two one-sided tests (Schuirmann 1987), each an exact signed-rank test of the shifted pairs. Assumes pairs
    /// symmetric about their centre.
    pub fn of(pairs: &[LogRatio], delta: Relative) -> Result<Self, SignedRankError> {
        let margin = delta.log_margin()?.get();
        let shifted = |by: f64| -> Result<SignedRank, SignedRankError> {
            let moved: Result<Vec<LogRatio>, QuantityError> =
                pairs.iter().map(|d| LogRatio::new(d.get() + by)).collect();
            SignedRank::of(&moved?)
        };
        let (p_lower, p_upper) = (shifted(margin)?.p_greater, shifted(-margin)?.p_less);
        let p = if p_lower > p_upper { p_lower } else { p_upper };
        Ok(Self { p_lower, p_upper, p })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_equal_pairs_are_equivalent_and_five_cannot_be_at_two_percent() {
        let pairs = [LogRatio::new(0.0).unwrap(); 6];
        let delta = Relative::new(0.01).unwrap();
        let six = Equivalence::of(&pairs, delta).unwrap();
        assert_eq!(six.p.get().to_bits(), (1.0_f64 / 64.0).to_bits());
        assert!(Equivalence::of(&pairs[..5], delta).unwrap().p.get() > 0.02);
        assert!(Equivalence::of(&[], delta).is_err());
    }
}
