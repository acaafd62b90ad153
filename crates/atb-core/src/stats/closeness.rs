//! Element-wise closeness as the field publishes it: |actual - expected| <= atol + rtol |expected|.
//!
//! For readouts that repeat a published rule and for importers. The judge's own comparison is stricter and scale-aware;
//! it lives with the outputs, not here.

use crate::quantity::{QuantityError, Relative, Share, Spread};

/// Which elements are close.
#[derive(Debug, Clone, PartialEq)]
pub struct Closeness {
    /// One answer per element.
    pub mask: Vec<bool>,
    /// True if all are close.
    pub all: bool,
    /// Share of the elements that are close; 1 for none.
    pub matched: Share,
}

/// Why outputs could not be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClosenessError {
    /// The outputs have different sizes.
    #[error("{actual} elements cannot be compared with {expected}")]
    Sizes {
        /// Elements found.
        actual: usize,
        /// Elements expected.
        expected: usize,
    },
    /// A derived number left the range of its quantity.
    #[error("failed to compare outputs")]
    Quantity(#[from] QuantityError),
}

/// Compares raw outputs, which may be NaN or infinite. NaN is never close, infinities only to themselves.
///
/// Source: numpy.isclose, whose tolerance is relative to the expected value and therefore not symmetric.
pub fn closeness(
    actual: &[f64],
    expected: &[f64],
    absolute: Spread,
    relative: Relative,
) -> Result<Closeness, ClosenessError> {
    if actual.len() != expected.len() {
        return Err(ClosenessError::Sizes { actual: actual.len(), expected: expected.len() });
    }
    let close = |(a, e): (&f64, &f64)| {
        let within = e.is_finite() && (a - e).abs() <= absolute.get() + relative.get() * e.abs();
        within || (a.is_infinite() && a.total_cmp(e).is_eq())
    };
    let mask: Vec<bool> = actual.iter().zip(expected).map(close).collect();
    let hits = mask.iter().filter(|hit| **hit).count();
    let matched = if mask.is_empty() { 1.0 } else { hits as f64 / mask.len() as f64 };
    Ok(Closeness { all: hits == mask.len(), matched: Share::new(matched)?, mask })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinities_match_in_sign_only_and_bound_nothing() {
        let inf = f64::INFINITY;
        let (atol, rtol) = (Spread::new(1e9).unwrap(), Relative::new(0.5).unwrap());
        let c = closeness(&[inf, -inf, 1.0, inf], &[inf, inf, inf, 1.0], atol, rtol).unwrap();
        assert_eq!(c.mask, [true, false, false, false]);
        let odd = closeness(&[1.0], &[], atol, rtol);
        assert_eq!(odd, Err(ClosenessError::Sizes { actual: 1, expected: 0 }));
    }

    #[test]
    fn the_tolerance_is_relative_to_the_expected_value() {
        let (atol, rtol) = (Spread::new(0.0).unwrap(), Relative::new(0.1).unwrap());
        let hit = |a, e| closeness(&[a], &[e], atol, rtol).unwrap().all;
        assert!(hit(100.0, 111.0) && !hit(111.0, 100.0));
    }
}
