//! What the geometric mean would be over other tasks of the same kind: the corpus, drawn again from itself.
//!
//! Deterministic: the draws come from `splitmix` under a seed that is printed with the result.

use std::num::{NonZeroU32, NonZeroU64};

use crate::quantity::{LogRatio, LogSpread, Probability, QuantityError, Ratio, Seed};

use super::splitmix::SplitMix64;
use super::summary::type_7;
use super::{sorted, variance};

/// Percentile interval of a geometric mean over tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// Lower end.
    pub lo: Ratio,
    /// Upper end.
    pub hi: Ratio,
    /// Standard deviation of the resampled mean log ratios.
    pub standard_error: LogSpread,
}

/// Why nothing could be resampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BootstrapError {
    /// No tasks.
    #[error("nothing to resample")]
    NoTasks,
    /// A spread needs two resamples.
    #[error("a bootstrap needs at least 2 resamples")]
    Resamples,
    /// A derived number left the range of its quantity.
    #[error("failed to resample tasks")]
    Quantity(#[from] QuantityError),
}

/// Mean log ratio of each resample: as many tasks as there are, drawn with replacement, in the order of the draws.
///
/// Indices are (u64 x n) >> 64. Source: Efron (1979). Assumes that the tasks are a sample of those spoken of.
pub fn resampled_means(tasks: &[LogRatio], seed: Seed, resamples: NonZeroU32) -> Result<Vec<LogRatio>, BootstrapError> {
    let size = NonZeroU64::new(tasks.len() as u64).ok_or(BootstrapError::NoTasks)?;
    let mut draws = SplitMix64::new(seed);
    let mut resample = || {
        let picked = (0..tasks.len()).map(|_| usize::try_from(draws.below(size)).unwrap_or(0));
        let sum: f64 = picked.map(|index| tasks[index].get()).sum();
        LogRatio::new(sum / tasks.len() as f64)
    };
    Ok((0..resamples.get()).map(|_| resample()).collect::<Result<_, _>>()?)
}

impl Bootstrap {
    /// The percentile interval: type-7 quantiles (1 - conf)/2 and (1 + conf)/2 of the resampled means, exponentiated.
    pub fn of(
        tasks: &[LogRatio],
        seed: Seed,
        resamples: NonZeroU32,
        conf: Probability,
    ) -> Result<Self, BootstrapError> {
        let means: Vec<f64> = resampled_means(tasks, seed, resamples)?.into_iter().map(LogRatio::get).collect();
        if means.len() < 2 {
            return Err(BootstrapError::Resamples);
        }
        let ordered = sorted(&means);
        let tail = (1.0 - conf.get()) / 2.0;
        Ok(Self {
            lo: Ratio::new(type_7(&ordered, tail).exp())?,
            hi: Ratio::new(type_7(&ordered, 1.0 - tail).exp())?,
            standard_error: LogSpread::new(variance(&means).sqrt())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::mean;

    #[test]
    fn a_seed_gives_the_same_interval_to_the_bit() {
        let tasks: Vec<LogRatio> = (0..20).map(|i| LogRatio::new(f64::from(i * i % 17) / 100.0).unwrap()).collect();
        let run = |seed| {
            let resamples = NonZeroU32::new(999).unwrap();
            Bootstrap::of(&tasks, Seed::new(seed), resamples, Probability::new(0.95).unwrap()).unwrap()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
        let centre = mean(&tasks.iter().map(|t| t.get()).collect::<Vec<_>>()).exp();
        assert!(run(7).lo.get() < centre && centre < run(7).hi.get());
    }

    #[test]
    fn nothing_is_not_resampled() {
        let (one, conf) = (NonZeroU32::MIN, Probability::new(0.95).unwrap());
        assert_eq!(Bootstrap::of(&[], Seed::new(1), one, conf), Err(BootstrapError::NoTasks));
        let task = [LogRatio::new(0.1).unwrap()];
        assert_eq!(Bootstrap::of(&task, Seed::new(1), one, conf), Err(BootstrapError::Resamples));
    }
}
