//! Is the candidate faster, and by how much: Wilcoxon's signed ranks of the paired log ratios.
//!
//! Estimate, interval and p all come from one exact null law. It needs no normality: random arm order inside a pair
//! makes each log ratio symmetric about zero when the arms are equal. Nothing here drops a pair.

use crate::quantity::{LogBound, LogRatio, Probability, QuantityError};

use super::{EPSILON, median_of_sorted, sorted};

/// Most pairs accepted: the null law costs O(n^3), and its probabilities stay far above underflow up to here.
pub const MAX_PAIRS: usize = 500;

/// Most pairs whose 2^n sign patterns a u64 counts exactly.
const MAX_COUNTED: usize = 63;

/// Why there is no signed-rank statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignedRankError {
    /// No pairs, or more than [`MAX_PAIRS`].
    #[error("signed ranks need 1 to {MAX_PAIRS} pairs, got {got}")]
    Pairs {
        /// Pairs given.
        got: usize,
    },
    /// A derived number left the range of its quantity.
    #[error("failed to compute a signed-rank statistic")]
    Quantity(#[from] QuantityError),
}

/// The critical rank sum of a confidence level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Critical {
    /// The largest k with P(W+ <= k) <= (1 - conf)/2: so many Walsh averages lie outside the interval on either side.
    pub k: usize,
    /// The coverage that the interval really has, 1 - 2 P(W+ <= k); at least conf.
    pub attained: Probability,
}

/// An interval for the log ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end; minus infinity where n is too small for the confidence.
    pub lo: LogBound,
    /// Upper end; plus infinity where n is too small for the confidence.
    pub hi: LogBound,
    /// The critical rank sum; none where the interval is infinite, which covers with certainty.
    pub critical: Option<Critical>,
}

/// Walsh averages (d_i + d_j)/2, i <= j, sorted: their median is the estimate, their order statistics the interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Walsh {
    n: usize,
    averages: Vec<f64>,
}

impl Walsh {
    /// Forms the n(n+1)/2 averages.
    pub fn of(pairs: &[LogRatio]) -> Result<Self, SignedRankError> {
        let n = checked(pairs.len())?;
        let averages: Vec<f64> = pairs
            .iter()
            .enumerate()
            .flat_map(|(i, a)| pairs[i..].iter().map(|b| f64::midpoint(a.get(), b.get())))
            .collect();
        Ok(Self { n, averages: sorted(&averages) })
    }

    /// Hodges & Lehmann's estimate: the median of the averages.
    pub fn estimate(&self) -> Result<LogRatio, SignedRankError> {
        Ok(LogRatio::new(median_of_sorted(&self.averages))?)
    }

    /// The exact interval [w_(k+1), w_(M-k)], 1-based, M = n(n+1)/2 (Hollander & Wolfe).
    pub fn interval(&self, conf: Probability) -> Result<Interval, SignedRankError> {
        let critical = critical(self.n, conf)?;
        let from_below = |k: usize| self.averages.get(k).copied();
        let from_above = |k: usize| self.averages.iter().rev().nth(k).copied();
        let k = critical.map(|c| c.k);
        Ok(Interval {
            lo: LogBound::new(k.and_then(from_below).unwrap_or(f64::NEG_INFINITY))?,
            hi: LogBound::new(k.and_then(from_above).unwrap_or(f64::INFINITY))?,
            critical,
        })
    }
}

/// Exact signed-rank test of "the log ratios are symmetric about zero".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// Twice the rank sum of the positive pairs; doubled because midranks are halves.
    pub doubled_w_plus: usize,
    /// P(W+ >= observed): evidence that the candidate is faster.
    pub p_greater: Probability,
    /// P(W+ <= observed): evidence that the candidate is slower.
    pub p_less: Probability,
    /// Twice the smaller of the two, at most 1.
    pub p_two: Probability,
}

impl SignedRank {
    /// Ranks |d|, equal ones by midranks; zeros are ranked and then removed (Pratt 1959). The null law is conditional on
    /// the ranks that remain, by dynamic programming on doubled ranks.
    pub fn of(pairs: &[LogRatio]) -> Result<Self, SignedRankError> {
        checked(pairs.len())?;
        let ranked = doubled_ranks(pairs);
        let ranks: Vec<usize> = ranked.iter().map(|(rank, _)| *rank).collect();
        let total: usize = ranks.iter().sum();
        let observed: usize = ranked.iter().filter(|(_, up)| *up).map(|(rank, _)| *rank).sum();
        let below = cumulative(&ranks);
        let at = |sum: usize| below.get(sum).map_or(1.0, |p| p.min(1.0));
        // The null law is symmetric: P(W+ >= w) = P(W+ <= total - w).
        let (p_less, p_greater) = (at(observed), at(total - observed));
        Ok(Self {
            doubled_w_plus: observed,
            p_greater: Probability::new(p_greater)?,
            p_less: Probability::new(p_less)?,
            p_two: Probability::new((2.0 * p_less.min(p_greater)).min(1.0))?,
        })
    }
}

/// The critical rank sum of n pairs; none where even the most extreme sign pattern is too likely for `conf`.
pub fn critical(n: usize, conf: Probability) -> Result<Option<Critical>, SignedRankError> {
    let ranks: Vec<usize> = (1..=checked(n)?).collect();
    let below = cumulative(&ranks);
    let tail = (1.0 - conf.get()) / 2.0 + EPSILON;
    let within = below.iter().take_while(|p| **p <= tail).count();
    let Some(k) = within.checked_sub(1) else { return Ok(None) };
    let tail = below.get(k).copied().unwrap_or(f64::NAN);
    Ok(Some(Critical { k, attained: Probability::new((1.0 - 2.0 * tail).max(0.0))? }))
}

/// How many of n pairs may be gross outliers in one direction without moving the interval's end on that side to an
/// average that holds an outlier: the largest m with mn - m(m-1)/2 <= k.
pub fn outlier_tolerance(n: usize, conf: Probability) -> Result<usize, SignedRankError> {
    let Some(critical) = critical(n, conf)? else { return Ok(0) };
    let touched = |m: usize| m * n - m * m.saturating_sub(1) / 2;
    Ok((1..=n).take_while(|m| touched(*m) <= critical.k).count())
}

/// Number of sign patterns of n pairs with each rank sum 0..=n(n+1)/2, by c_n(s) = c_{n-1}(s) + c_{n-1}(s-n); none above
/// 63 pairs, where a u64 no longer counts all of them.
pub fn null_counts(n: usize) -> Option<Vec<u64>> {
    (n <= MAX_COUNTED).then(|| counts(&(1..=n).collect::<Vec<_>>()))
}

fn checked(n: usize) -> Result<usize, SignedRankError> {
    if (1..=MAX_PAIRS).contains(&n) { Ok(n) } else { Err(SignedRankError::Pairs { got: n }) }
}

/// Doubled midrank and sign (true = positive) of every nonzero pair.
fn doubled_ranks(pairs: &[LogRatio]) -> Vec<(usize, bool)> {
    let mut order: Vec<f64> = pairs.iter().map(|d| d.get()).collect();
    order.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let mut ranked = Vec::with_capacity(order.len());
    let mut before = 0;
    for tied in order.chunk_by(|a, b| a.abs().total_cmp(&b.abs()).is_eq()) {
        // Ranks before+1 ..= before+len share their mean; twice that is the sum of the first and the last.
        let doubled = 2 * before + 1 + tied.len();
        before += tied.len();
        ranked.extend(tied.iter().filter(|d| d.abs() > 0.0).map(|d| (doubled, *d > 0.0)));
    }
    ranked
}

/// P(W+ <= s) for s = 0..=sum of ranks, every sign pattern being equally likely.
fn cumulative(ranks: &[usize]) -> Vec<f64> {
    if ranks.len() > MAX_COUNTED {
        let mut sum = 0.0;
        return probabilities(ranks)
            .iter()
            .map(|p| {
                sum += p;
                sum
            })
            .collect();
    }
    let patterns = (1_u64 << ranks.len()) as f64;
    let mut sum = 0;
    let running = counts(ranks).into_iter().map(|c| {
        sum += c;
        sum
    });
    running.map(|c: u64| c as f64 / patterns).collect()
}

/// Sign patterns per rank sum; their total, 2^n, must fit a u64.
fn counts(ranks: &[usize]) -> Vec<u64> {
    let mut counts = vec![0_u64; ranks.iter().sum::<usize>() + 1];
    counts[0] = 1;
    let mut reach = 0;
    for &rank in ranks {
        reach += rank;
        for s in (rank..=reach).rev() {
            counts[s] += counts[s - rank];
        }
    }
    counts
}

/// The same law in probabilities. Only non-negative terms are added, so the relative error stays near n roundings even
/// in the far tail.
fn probabilities(ranks: &[usize]) -> Vec<f64> {
    let mut law = vec![0.0; ranks.iter().sum::<usize>() + 1];
    law[0] = 1.0;
    let mut reach = 0;
    for &rank in ranks {
        reach += rank;
        for s in (0..=reach).rev() {
            let without = law[s];
            let with = s.checked_sub(rank).map_or(0.0, |rest| law[rest]);
            law[s] = 0.5 * (without + with);
        }
    }
    law
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    #[test]
    fn counts_and_probabilities_agree_where_both_apply() {
        for n in [1, 12, 40, 63] {
            let ranks: Vec<usize> = (1..=n).collect();
            let all = (1_u64 << n) as f64;
            for (count, p) in counts(&ranks).iter().zip(probabilities(&ranks)) {
                assert!((*count as f64 / all - p).abs() <= 1e-14 * p, "n {n}");
            }
        }
        assert_eq!(null_counts(63).unwrap().iter().sum::<u64>(), 1 << 63);
        assert_eq!(null_counts(64), None);
    }

    #[test]
    fn the_law_stays_right_beyond_integer_counts() {
        for n in [64, 100, 200, MAX_PAIRS] {
            let ranks: Vec<usize> = (1..=n).collect();
            let law = probabilities(&ranks);
            let total: f64 = law.iter().sum();
            assert!((total - 1.0).abs() < 1e-12, "n {n}");
            assert!(law.iter().rev().zip(&law).all(|(a, b)| (a - b).abs() <= 1e-12 * b), "n {n}");
            // Each of the sums 0, 1, 2 has one pattern, and 3 has two: {3} and {1, 2}.
            let one = (0..n).fold(1.0, |p, _| p / 2.0);
            for (s, patterns) in [1.0, 1.0, 1.0, 2.0, 2.0, 3.0].into_iter().enumerate() {
                assert!((law[s] / one - patterns).abs() < 1e-12, "n {n}, s {s}");
            }
            let mean: f64 = law.iter().enumerate().map(|(s, p)| s as f64 * p).sum();
            let exact = (n * (n + 1)) as f64 / 4.0;
            assert!((mean / exact - 1.0).abs() < 1e-12, "n {n}");
        }
    }

    #[test]
    fn all_zero_pairs_are_no_evidence() {
        let test = SignedRank::of(&[LogRatio::new(0.0).unwrap(); 5]).unwrap();
        assert_eq!((test.doubled_w_plus, test.p_greater, test.p_less), (0, conf(1.0), conf(1.0)));
    }

    #[test]
    fn the_number_of_pairs_is_bounded() {
        assert_eq!(critical(0, conf(0.95)), Err(SignedRankError::Pairs { got: 0 }));
        assert!(Walsh::of(&[]).is_err() && SignedRank::of(&[]).is_err());
        assert!(critical(MAX_PAIRS + 1, conf(0.95)).is_err());
    }

    #[test]
    fn extreme_confidences_give_a_point_or_everything() {
        let pairs: Vec<LogRatio> = (1..=4).map(|v| LogRatio::new(f64::from(v)).unwrap()).collect();
        let walsh = Walsh::of(&pairs).unwrap();
        let all = walsh.interval(conf(1.0)).unwrap();
        assert!(all.critical.is_none() && all.lo.get() < all.hi.get());
        let point = walsh.interval(conf(0.0)).unwrap();
        assert!(point.lo <= point.hi && point.lo.get() <= walsh.estimate().unwrap().get());
    }
}
