//! Does a gain carry over to other machines? One log ratio per machine, pooled with the scatter between machines.
//!
//! Ratios only: each machine is compared with its own incumbent. Nothing here may see a time, and below three machines
//! the answer is `per-box only`, whatever the numbers are.

use crate::quantity::{ChiSquare, LogBound, LogRatio, LogSpread, LogVariance, Probability, QuantityError, Share};

use super::distributions::{chi_square_tail, student_quantile};
use super::pairs::{PairsError, log_spread};
use super::{EPSILON, mean};

/// Machines from which on a pooled number may be stated.
pub const MIN_MACHINES: usize = 3;

/// Level of the test for scatter between machines.
const HETEROGENEITY_LEVEL: f64 = 0.05;

/// What one machine says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineEstimate {
    /// Mean log ratio of its pairs, against its own incumbent.
    pub log_ratio: LogRatio,
    /// Standard error of that mean, above zero.
    pub standard_error: LogSpread,
}

/// The machines together. Logarithms are natural.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pooled {
    /// Machines.
    pub machines: usize,
    /// Mean weighted by precision, as if all machines had the same gain.
    pub fixed_mean: LogRatio,
    /// Cochran's Q: the scatter between machines, in units of what their errors explain.
    pub q: ChiSquare,
    /// Probability of so large a Q if all machines had the same gain.
    pub q_p: Probability,
    /// I2: the share of the scatter that errors do not explain.
    pub i2: Share,
    /// tau2: variance of the true gains between machines (Paule & Mandel).
    pub tau2: LogVariance,
    /// Mean over machines, weighted with tau2.
    pub mean: LogRatio,
    /// Knapp & Hartung's q, before it is raised to at least 1.
    pub inflation: ChiSquare,
    /// Standard error of the mean, modified Knapp & Hartung.
    pub standard_error: LogSpread,
    /// Lower end of the interval of the mean.
    pub lo: LogBound,
    /// Upper end of the interval of the mean.
    pub hi: LogBound,
    /// Lower end of the interval for a machine that was not measured.
    pub predicted_lo: LogBound,
    /// Upper end of the interval for a machine that was not measured.
    pub predicted_hi: LogBound,
}

/// How far a gain carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// Fewer than three machines: each speaks for itself.
    PerBoxOnly,
    /// The prediction interval lies above no gain.
    Transfers,
    /// The machines differ by more than their errors, and the prediction interval holds no gain.
    BoxSpecific,
    /// Neither is shown.
    Undetermined,
}

/// Why machines could not be pooled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PoolingError {
    /// Scatter needs two machines.
    #[error("pooling needs at least 2 machines, got {got}")]
    TooFew {
        /// Machines given.
        got: usize,
    },
    /// A machine without error would take all the weight.
    #[error("machine {machine} has a standard error of zero")]
    Certain {
        /// The machine, counted from 0.
        machine: usize,
    },
    /// The confidence is 0 or 1, where no interval exists.
    #[error("the confidence must lie strictly between 0 and 1")]
    Confidence,
    /// A machine's pairs have no spread.
    #[error("failed to find the standard error of a machine")]
    Pairs(#[from] PairsError),
    /// A derived number left the range of its quantity.
    #[error("failed to pool machines")]
    Quantity(#[from] QuantityError),
}

impl MachineEstimate {
    /// y = mean of the log ratios, s = sd / sqrt(n).
    pub fn of_pairs(pairs: &[LogRatio]) -> Result<Self, PoolingError> {
        let spread = log_spread(pairs)?.get();
        let values: Vec<f64> = pairs.iter().map(|d| d.get()).collect();
        let standard_error = LogSpread::new(spread / (values.len() as f64).sqrt())?;
        Ok(Self { log_ratio: LogRatio::new(mean(&values))?, standard_error })
    }
}

impl Pooled {
    /// Pools at least two machines at a two-sided confidence.
    ///
    /// Sources: Cochran (1954) for Q, Higgins & Thompson (2002) for I2, Paule & Mandel (1982) for tau2, the modified
    /// interval of Knapp & Hartung after Rover, Knapp & Friede (PMC4647507), which is to be preferred for few machines of
    /// unequal precision, Higgins, Thompson & Spiegelhalter (2009) for the prediction interval, here with k-1 degrees of
    /// freedom. Assumes that the machines' true gains scatter normally and that their errors are independent.
    pub fn of(machines: &[MachineEstimate], conf: Probability) -> Result<Self, PoolingError> {
        let sample = Sample::of(machines)?;
        let df = machines.len() as f64 - 1.0;
        let (fixed_mean, q) = (sample.mean(0.0), sample.q(0.0));
        let tau2 = sample.paule_mandel();
        let (mean, inflation) = (sample.mean(tau2), sample.q(tau2) / df);
        let error = (inflation.max(1.0) / sample.total_weight(tau2)).sqrt();
        let confidence = Some(conf.get()).filter(|conf| *conf > 0.0 && *conf < 1.0).ok_or(PoolingError::Confidence)?;
        let t = student_quantile(f64::midpoint(1.0, confidence), df).ok_or(PoolingError::Confidence)?;
        let (half, predicted) = (t * error, t * (tau2 + error * error).sqrt());
        Ok(Self {
            machines: machines.len(),
            fixed_mean: LogRatio::new(fixed_mean)?,
            q: ChiSquare::new(q)?,
            q_p: Probability::new(chi_square_tail(q, df).ok_or(PoolingError::Confidence)?)?,
            i2: Share::new(if q > 0.0 { ((q - df) / q).max(0.0) } else { 0.0 })?,
            tau2: LogVariance::new(tau2)?,
            mean: LogRatio::new(mean)?,
            inflation: ChiSquare::new(inflation)?,
            standard_error: LogSpread::new(error)?,
            lo: LogBound::new(mean - half)?,
            hi: LogBound::new(mean + half)?,
            predicted_lo: LogBound::new(mean - predicted)?,
            predicted_hi: LogBound::new(mean + predicted)?,
        })
    }

    /// How far the gain carries; the first that applies.
    pub fn transfer(&self) -> Transfer {
        let above = self.predicted_lo.get() > EPSILON;
        let spans = self.predicted_lo.get() <= EPSILON && self.predicted_hi.get() >= -EPSILON;
        if self.machines < MIN_MACHINES {
            Transfer::PerBoxOnly
        } else if above {
            Transfer::Transfers
        } else if self.q_p.get() < HETEROGENEITY_LEVEL - EPSILON && spans {
            Transfer::BoxSpecific
        } else {
            Transfer::Undetermined
        }
    }
}

/// Values and error variances of at least two machines, every variance above zero.
pub(crate) struct Sample(Vec<(f64, f64)>);

impl Sample {
    pub(crate) fn of(machines: &[MachineEstimate]) -> Result<Self, PoolingError> {
        let got = machines.len();
        if got < 2 {
            return Err(PoolingError::TooFew { got });
        }
        let variance = |m: &MachineEstimate| m.standard_error.get() * m.standard_error.get();
        match machines.iter().position(|m| variance(m) <= 0.0) {
            Some(machine) => Err(PoolingError::Certain { machine }),
            None => Ok(Self(machines.iter().map(|m| (m.log_ratio.get(), variance(m))).collect())),
        }
    }

    pub(crate) fn total_weight(&self, tau2: f64) -> f64 {
        self.0.iter().map(|(_, s2)| 1.0 / (s2 + tau2)).sum()
    }

    pub(crate) fn mean(&self, tau2: f64) -> f64 {
        self.0.iter().map(|(y, s2)| y / (s2 + tau2)).sum::<f64>() / self.total_weight(tau2)
    }

    fn q(&self, tau2: f64) -> f64 {
        let mean = self.mean(tau2);
        self.0.iter().map(|(y, s2)| (y - mean) * (y - mean) / (s2 + tau2)).sum()
    }

    /// The tau2 at which Q has its expectation k-1, by bisection, since Q falls with tau2; 0 if it is below already.
    pub(crate) fn paule_mandel(&self) -> f64 {
        let df = self.0.len() as f64 - 1.0;
        if self.q(0.0) <= df {
            return 0.0;
        }
        // Q(tau2) <= sum (y - mean)^2 / tau2, so that at this bound it is at most k-1.
        let mean = mean(&self.0.iter().map(|(y, _)| *y).collect::<Vec<_>>());
        let squares: f64 = self.0.iter().map(|(y, _)| (y - mean) * (y - mean)).sum();
        let (mut low, mut high) = (0.0, squares / df);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if self.q(middle) > df {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machines(values: &[(f64, f64)]) -> Vec<MachineEstimate> {
        let estimate = |(y, s): &(f64, f64)| MachineEstimate {
            log_ratio: LogRatio::new(*y).unwrap(),
            standard_error: LogSpread::new(*s).unwrap(),
        };
        values.iter().map(estimate).collect()
    }

    fn transfer(values: &[(f64, f64)]) -> Transfer {
        Pooled::of(&machines(values), Probability::new(0.95).unwrap()).unwrap().transfer()
    }

    #[test]
    fn every_rung_is_reached() {
        assert_eq!(transfer(&[(0.1, 0.001), (0.1, 0.001)]), Transfer::PerBoxOnly);
        assert_eq!(transfer(&[(0.051, 0.006), (0.048, 0.005), (0.055, 0.007), (0.044, 0.006)]), Transfer::Transfers);
        assert_eq!(transfer(&[(0.16, 0.006), (0.005, 0.004), (0.08, 0.01)]), Transfer::BoxSpecific);
        assert_eq!(transfer(&[(0.02, 0.01), (0.021, 0.01), (0.019, 0.01)]), Transfer::Undetermined);
        // The same loss everywhere is no gain that transfers.
        assert_eq!(transfer(&[(-0.05, 0.001), (-0.05, 0.001), (-0.05, 0.001)]), Transfer::Undetermined);
    }

    #[test]
    fn one_machine_and_certain_machines_are_refused() {
        let conf = Probability::new(0.95).unwrap();
        assert_eq!(Pooled::of(&machines(&[(0.1, 0.1)]), conf), Err(PoolingError::TooFew { got: 1 }));
        let certain = machines(&[(0.1, 0.1), (0.1, 0.0)]);
        assert_eq!(Pooled::of(&certain, conf), Err(PoolingError::Certain { machine: 1 }));
        let all = Pooled::of(&machines(&[(0.1, 0.1), (0.1, 0.1)]), Probability::new(1.0).unwrap());
        assert_eq!(all, Err(PoolingError::Confidence));
    }

    #[test]
    fn a_machine_is_the_mean_of_its_pairs() {
        let pairs = [0.01, 0.03].map(|d| LogRatio::new(d).unwrap());
        let machine = MachineEstimate::of_pairs(&pairs).unwrap();
        assert!((machine.log_ratio.get() - 0.02).abs() < 1e-15);
        assert!((machine.standard_error.get() - 0.01).abs() < 1e-15);
        let one = MachineEstimate::of_pairs(&pairs[..1]);
        assert_eq!(one, Err(PoolingError::Pairs(PairsError::TooFew { got: 1 })));
    }
}
