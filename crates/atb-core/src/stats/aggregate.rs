//! Several tasks in one line: geometric mean, median, and the share of tasks with a gain.
//!
//! The denominator is every task that was tried. A mean over the tasks that worked is not offered.

use crate::quantity::{LogRatio, LogSpread, Probability, QuantityError, Ratio, Share};

use super::distributions::two_sided_z;
use super::{EPSILON, mean, median_of_sorted, sorted};

/// One task's result: its log ratio over the fastest baseline, with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskResult {
    /// Log ratio from REPORT.
    pub log_ratio: LogRatio,
    /// Standard error of the log ratio.
    pub standard_error: LogSpread,
}

/// Geometric mean of the tasks of one corpus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aggregate {
    /// exp(mean log ratio).
    pub geometric_mean: Ratio,
    /// Lower end of its interval from the errors of measurement: this corpus, measured again.
    pub lo: Ratio,
    /// Upper end of that interval.
    pub hi: Ratio,
    /// Median of the ratios, printed beside the mean.
    pub median: Ratio,
}

/// Share of tasks whose ratio exceeds a bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FastShare {
    /// By the estimates.
    pub point: Share,
    /// By the lower ends of the intervals.
    pub certified: Share,
}

/// Why tasks could not be aggregated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AggregateError {
    /// No tasks.
    #[error("nothing to aggregate")]
    NoTasks,
    /// The confidence is 0 or 1, where no interval exists.
    #[error("the confidence must lie strictly between 0 and 1")]
    Confidence,
    /// A derived number left the range of its quantity.
    #[error("failed to aggregate tasks")]
    Quantity(#[from] QuantityError),
}

impl Aggregate {
    /// Geometric mean with standard error sqrt(sum s^2) / N on the log scale.
    ///
    /// Source: propagation of independent errors; the interval speaks of this corpus only. For other tasks see
    /// `bootstrap`. Assumes a result for every task: a task without one has no ratio and forbids the mean.
    pub fn of(tasks: &[TaskResult], conf: Probability) -> Result<Self, AggregateError> {
        let z = checked(tasks.len(), conf)?;
        let logs: Vec<f64> = tasks.iter().map(|t| t.log_ratio.get()).collect();
        let ratios: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        let squares: f64 = tasks.iter().map(|t| t.standard_error.get() * t.standard_error.get()).sum();
        let (centre, half) = (mean(&logs), z * squares.sqrt() / tasks.len() as f64);
        Ok(Self {
            geometric_mean: Ratio::new(centre.exp())?,
            lo: Ratio::new((centre - half).exp())?,
            hi: Ratio::new((centre + half).exp())?,
            median: Ratio::new(median_of_sorted(&sorted(&ratios)))?,
        })
    }
}

/// fast_p: the share of all tasks with a ratio above `bar`; none stands for a task that failed, and counts as not above.
///
/// Source: KernelBench's fast_p, with the certified form (lower end of the interval above the bar) added.
pub fn fast_share(tasks: &[Option<TaskResult>], bar: Ratio, conf: Probability) -> Result<FastShare, AggregateError> {
    let z = checked(tasks.len(), conf)?;
    let above = |margin: f64| {
        let clears = |t: &&TaskResult| t.log_ratio.get() - margin * t.standard_error.get() > bar.get().ln() + EPSILON;
        Share::new(tasks.iter().flatten().filter(clears).count() as f64 / tasks.len() as f64)
    };
    Ok(FastShare { point: above(0.0)?, certified: above(z)? })
}

fn checked(tasks: usize, conf: Probability) -> Result<f64, AggregateError> {
    if tasks == 0 {
        return Err(AggregateError::NoTasks);
    }
    let open = conf.get() > 0.0 && conf.get() < 1.0;
    if open { Ok(two_sided_z(conf.get())) } else { Err(AggregateError::Confidence) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(ratio: f64, error: f64) -> TaskResult {
        TaskResult { log_ratio: LogRatio::new(ratio.ln()).unwrap(), standard_error: LogSpread::new(error).unwrap() }
    }

    #[test]
    fn a_failed_task_stays_in_the_denominator() {
        let conf = Probability::new(0.95).unwrap();
        let bar = Ratio::new(1.0).unwrap();
        let tasks = [Some(task(1.2, 0.01)), Some(task(1.01, 0.01)), None, None];
        let share = fast_share(&tasks, bar, conf).unwrap();
        assert!((share.point.get() - 0.5).abs() < 1e-15 && (share.certified.get() - 0.25).abs() < 1e-15);
    }

    #[test]
    fn nothing_and_certainty_are_refused() {
        let (conf, certain) = (Probability::new(0.95).unwrap(), Probability::new(1.0).unwrap());
        assert_eq!(Aggregate::of(&[], conf), Err(AggregateError::NoTasks));
        assert_eq!(Aggregate::of(&[task(1.0, 0.1)], certain), Err(AggregateError::Confidence));
        assert_eq!(fast_share(&[], Ratio::new(1.0).unwrap(), conf), Err(AggregateError::NoTasks));
    }
}
