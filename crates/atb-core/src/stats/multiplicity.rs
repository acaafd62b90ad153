//! Several comparisons at once: which of them may be called wins.
//!
//! Holm's for a family of headlines (no false win in the family), e-BH for an exploratory list (few false ones among the
//! wins). Neither may be given a part of the family: what was tried counts, not what was liked.

use crate::quantity::{EValue, Probability, QuantityError};

use super::EPSILON;

/// Holm's adjusted probabilities, in the order given: max over k <= i of (m-k+1) p_(k), at most 1.
///
/// A comparison is a win at family level alpha if its adjusted probability is at most alpha ([`is_win`]). Valid under
/// any dependence. Source: Holm (1979).
pub fn holm(p: &[Probability]) -> Result<Vec<Probability>, QuantityError> {
    let order = ascending(&p.iter().map(|p| p.get()).collect::<Vec<_>>());
    let mut adjusted = vec![Probability::saturating(1.0); p.len()];
    let mut greatest: f64 = 0.0;
    for (rank, index) in order.into_iter().enumerate() {
        greatest = greatest.max((p.len() - rank) as f64 * p[index].get()).min(1.0);
        adjusted[index] = Probability::new(greatest)?;
    }
    Ok(adjusted)
}

/// True if an adjusted probability is within the family's level.
pub fn is_win(adjusted: Probability, alpha: Probability) -> bool {
    adjusted.get() <= alpha.get() + EPSILON
}

/// The wins among e-values, in the order given: the k* largest, k* = max{k: e_(k) >= m / (alpha k)}.
///
/// The expected share of false ones among the wins is at most alpha, under any dependence. Source: e-BH, Wang & Ramdas
/// (arXiv 2009.02824).
pub fn e_bh(e: &[EValue], alpha: Probability) -> Vec<bool> {
    let values: Vec<f64> = e.iter().map(|e| e.get()).collect();
    let order: Vec<usize> = ascending(&values).into_iter().rev().collect();
    let m = e.len() as f64;
    let enough = |k: usize| values[order[k - 1]] * alpha.get() * k as f64 >= m * (1.0 - EPSILON);
    let wins = (1..=e.len()).rev().find(|k| enough(*k)).unwrap_or(0);
    let mut won = vec![false; e.len()];
    for index in order.into_iter().take(wins) {
        won[index] = true;
    }
    won
}

fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_family_has_no_wins() {
        assert_eq!(holm(&[]), Ok(vec![]));
        assert_eq!(e_bh(&[], Probability::new(0.05).unwrap()), Vec::<bool>::new());
    }

    #[test]
    fn a_family_of_one_is_not_adjusted() {
        let p = Probability::new(0.03).unwrap();
        assert_eq!(holm(&[p]), Ok(vec![p]));
        let alpha = Probability::new(0.05).unwrap();
        let e = |value: f64| EValue::new(value).unwrap();
        assert_eq!((e_bh(&[e(20.0)], alpha), e_bh(&[e(19.9)], alpha)), (vec![true], vec![false]));
    }

    #[test]
    fn a_level_of_zero_gives_no_win() {
        let zero = Probability::new(0.0).unwrap();
        assert_eq!(e_bh(&[EValue::new(1e300).unwrap()], zero), vec![false]);
    }
}
