//! The binomial law, summed term by term: exact ranks and counts need its tails to the last few digits.

/// Number of successes in n independent trials of probability p.
#[derive(Debug, Clone)]
pub(crate) struct Binomial {
    /// P(B <= k) for k = 0..=n.
    below: Vec<f64>,
    /// P(B >= k) for k = 0..=n.
    above: Vec<f64>,
}

impl Binomial {
    /// The law of n trials; p strictly between 0 and 1, which every caller ensures.
    ///
    /// Terms are formed outward from the mode by their ratios and divided by their sum, so that nothing overflows and
    /// no logarithm of a large factorial loses digits: the relative error stays near sqrt(n) roundings. Each tail is
    /// summed from its own end.
    pub(crate) fn new(n: usize, p: f64) -> Self {
        let odds = p / (1.0 - p);
        let mut terms = vec![0.0; n + 1];
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "(n+1)p lies in [0, n+1]")]
        let mode = (((n + 1) as f64 * p) as usize).min(n);
        terms[mode] = 1.0;
        for k in mode..n {
            terms[k + 1] = terms[k] * (n - k) as f64 / (k + 1) as f64 * odds;
        }
        for k in (0..mode).rev() {
            terms[k] = terms[k + 1] * (k + 1) as f64 / (n - k) as f64 / odds;
        }
        let below = running(terms.iter());
        let total = below.last().copied().unwrap_or(1.0);
        let mut above = running(terms.iter().rev());
        above.reverse();
        let share = |sums: Vec<f64>| sums.into_iter().map(|sum| (sum / total).min(1.0)).collect();
        Self { below: share(below), above: share(above) }
    }

    /// P(B <= k); 1 from n on.
    pub(crate) fn at_most(&self, k: usize) -> f64 {
        self.below.get(k).copied().unwrap_or(1.0)
    }

    /// P(B >= k); 0 beyond n.
    pub(crate) fn at_least(&self, k: usize) -> f64 {
        self.above.get(k).copied().unwrap_or(0.0)
    }

    /// P(B < k).
    pub(crate) fn less_than(&self, k: usize) -> f64 {
        k.checked_sub(1).map_or(0.0, |k| self.at_most(k))
    }
}

fn running<'a>(terms: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    let mut sum = 0.0;
    terms
        .map(|term| {
            sum += term;
            sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::distributions::beta_regularised;

    #[test]
    fn the_tails_are_those_of_the_incomplete_beta_function() {
        for (n, p) in [(1, 0.5), (10, 0.1), (100, 0.95), (1000, 0.99)] {
            let law = Binomial::new(n, p);
            for k in 0..n {
                let exact = beta_regularised((n - k) as f64, (k + 1) as f64, 1.0 - p).unwrap();
                assert!((law.at_most(k) - exact).abs() < 1e-12, "n {n}, p {p}, k {k}");
                assert!((law.at_least(k + 1) - (1.0 - exact)).abs() < 1e-12, "n {n}, p {p}, k {k}");
            }
        }
    }

    #[test]
    fn far_tails_keep_their_relative_precision() {
        let law = Binomial::new(60, 0.5);
        let one = (0..60).fold(1.0, |p, _| p / 2.0);
        assert!((law.at_most(0) / one - 1.0).abs() < 1e-13 && (law.at_least(60) / one - 1.0).abs() < 1e-13);
        assert!((law.at_most(1) / (61.0 * one) - 1.0).abs() < 1e-13);
        let none = law.less_than(0) + law.at_least(61) + (1.0 - law.at_most(60));
        assert!(none.abs() < 1e-15);
    }

    #[test]
    fn large_laws_neither_overflow_nor_vanish() {
        let law = Binomial::new(200_000, 0.999);
        let middle = law.at_most(199_800);
        assert!(middle > 0.4 && middle < 0.6);
    }
}
