//! What a share of tasks says beyond the tasks that were tried.

use crate::quantity::{Probability, QuantityError, Share};

use super::binomial::Binomial;
use super::distributions::two_sided_z;

/// Successes among trials; at least one trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proportion {
    successes: usize,
    trials: usize,
}

/// Why a share was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProportionError {
    /// No trials, or more successes than trials.
    #[error("{successes} successes of {trials} trials are no share")]
    Counts {
        /// Successes given.
        successes: usize,
        /// Trials given.
        trials: usize,
    },
    /// The confidence is 0 or 1, where no interval exists.
    #[error("the confidence must lie strictly between 0 and 1")]
    Confidence,
    /// A derived number left the range of its quantity.
    #[error("failed to bound a share")]
    Quantity(#[from] QuantityError),
}

impl Proportion {
    /// Accepts counts of which the first is at most the second.
    pub fn new(successes: usize, trials: usize) -> Result<Self, ProportionError> {
        let ok = trials > 0 && successes <= trials;
        ok.then_some(Self { successes, trials }).ok_or(ProportionError::Counts { successes, trials })
    }

    /// Wilson's score interval: covers `conf` on average over shares. The one to print.
    ///
    /// Source: Wilson (1927). Assumes independent trials.
    pub fn wilson(self, conf: Probability) -> Result<(Share, Share), ProportionError> {
        let z = two_sided_z(open(conf)?);
        let (n, share) = (self.trials as f64, self.successes as f64 / self.trials as f64);
        let centre = share + z * z / (2.0 * n);
        let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
        let end = |value: f64| Share::new((value / (1.0 + z * z / n)).clamp(0.0, 1.0));
        Ok((end(centre - half)?, end(centre + half)?))
    }

    /// Clopper & Pearson's interval: covers at least `conf` for every share, so it is wider. Where a promise is needed.
    ///
    /// Source: Clopper & Pearson (1934). The ends are found by bisection, since both tails are monotone in the share.
    pub fn clopper_pearson(self, conf: Probability) -> Result<(Share, Share), ProportionError> {
        let tail = (1.0 - open(conf)?) / 2.0;
        let law = |share: f64| Binomial::new(self.trials, share);
        let lower = if self.successes == 0 { 0.0 } else { bisect(|share| law(share).at_least(self.successes) < tail) };
        let upper =
            if self.successes == self.trials { 1.0 } else { bisect(|share| law(share).at_most(self.successes) > tail) };
        Ok((Share::new(lower)?, Share::new(upper)?))
    }

    /// Exact one-sided probability of so many successes if the true share were `bar`: a bar is established only if this is
    /// small. 51 of 100 meet a bar of 50 % in the sample and establish nothing (0.46).
    pub fn p_at_least(self, bar: Share) -> Result<Probability, ProportionError> {
        let p = match bar.get() {
            zero if zero <= 0.0 => f64::from(u8::from(self.successes == 0)),
            one if one >= 1.0 => 1.0,
            share => Binomial::new(self.trials, share).at_least(self.successes),
        };
        Ok(Probability::new(p)?)
    }
}

fn open(conf: Probability) -> Result<f64, ProportionError> {
    Some(conf.get()).filter(|conf| *conf > 0.0 && *conf < 1.0).ok_or(ProportionError::Confidence)
}

/// The share below which `holds` holds, to the last bits.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meeting_a_bar_is_not_establishing_it() {
        let half = Share::new(0.5).unwrap();
        let p = Proportion::new(51, 100).unwrap().p_at_least(half).unwrap();
        assert!((p.get() - 0.460_2).abs() < 1e-4);
        let sure = Proportion::new(70, 100).unwrap().p_at_least(half).unwrap();
        assert!(sure.get() < 1e-4);
        let none = Proportion::new(0, 5).unwrap();
        let ends = [0.0, 1.0].map(|bar| none.p_at_least(Share::new(bar).unwrap()).unwrap().get());
        assert_eq!(ends.map(f64::to_bits), [1.0_f64; 2].map(f64::to_bits));
    }

    #[test]
    fn impossible_counts_and_certainty_are_refused() {
        assert_eq!(Proportion::new(3, 2), Err(ProportionError::Counts { successes: 3, trials: 2 }));
        assert_eq!(Proportion::new(0, 0), Err(ProportionError::Counts { successes: 0, trials: 0 }));
        let one = Proportion::new(1, 2).unwrap();
        let certain = Probability::new(1.0).unwrap();
        assert_eq!(one.wilson(certain), Err(ProportionError::Confidence));
        assert_eq!(one.clopper_pearson(certain), Err(ProportionError::Confidence));
    }

    #[test]
    fn the_exact_interval_holds_its_promise_at_every_share() {
        let conf = Probability::new(0.9).unwrap();
        let intervals: Vec<_> =
            (0..=12).map(|k| Proportion::new(k, 12).unwrap().clopper_pearson(conf).unwrap()).collect();
        for percent in 1..100 {
            let share = f64::from(percent) / 100.0;
            let law = Binomial::new(12, share);
            let inside = |k: &usize| intervals[*k].0.get() <= share && share <= intervals[*k].1.get();
            let covered: f64 = (0..=12).filter(inside).map(|k| law.at_most(k) - law.less_than(k)).sum();
            assert!(covered >= 0.9, "{percent} %: {covered}");
        }
    }
}
