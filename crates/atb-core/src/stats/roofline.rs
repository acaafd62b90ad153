//! How fast the machine could be at best: the least time that a task's bytes and operations need at measured peaks.
//!
//! The peaks must be measured on the machine itself; a data sheet's peak gives a bound that nothing reaches. A time below
//! the bound is impossible, and is quarantined elsewhere.

use crate::quantity::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, QuantityError, Ratio, Relative, Seconds, Share};

use super::EPSILON;

/// What a call must do, and what the machine can do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roofline {
    /// Time that moving the bytes takes at peak bandwidth.
    pub memory: Seconds,
    /// Time that the operations take at peak rate for their type.
    pub arithmetic: Seconds,
    /// The larger of the two, above zero: no call can be faster.
    pub bound: Seconds,
}

/// A time beside its bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Time / bound; 1 is the limit of the machine.
    pub headroom: Ratio,
    /// Bound / time.
    pub utilisation: Ratio,
    /// Below the bound by more than its tolerance: the measurement or the count of work is wrong.
    pub impossible: bool,
    /// Possible, and within the saturation headroom: nothing is left to find.
    pub at_wall: bool,
}

/// Why there is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RooflineError {
    /// Neither bytes nor operations: the bound would be zero.
    #[error("a bound needs bytes or operations")]
    NoWork,
    /// A time of zero has no headroom.
    #[error("a time is zero")]
    ZeroTime,
    /// The score's baseline is no slower than the bound, or the time is below the bound.
    #[error("a score needs a baseline slower than the bound and a time not below it")]
    Baseline,
    /// A derived number left the range of its quantity.
    #[error("failed to compute a bound")]
    Quantity(#[from] QuantityError),
}

impl Roofline {
    /// T_SOL = max(bytes / bandwidth, operations / rate).
    ///
    /// Source: roofline model (Williams, Waterman & Patterson 2009); bounds as targets after SOL-ExecBench
    /// (arXiv 2603.19173). Assumes that memory and arithmetic can overlap fully and that `bytes` counts each byte once.
    pub fn of(
        bytes: Bytes,
        flops: Flops,
        bandwidth: BytesPerSecond,
        rate: FlopsPerSecond,
    ) -> Result<Self, RooflineError> {
        let memory = Seconds::new(bytes.get() / bandwidth.get())?;
        let arithmetic = Seconds::new(flops.get() / rate.get())?;
        let bound = if memory > arithmetic { memory } else { arithmetic };
        if bound.get() > 0.0 { Ok(Self { memory, arithmetic, bound }) } else { Err(RooflineError::NoWork) }
    }

    /// Where a time stands: impossible below (1 - tolerance) x bound, at the wall up to `headroom` x bound.
    ///
    /// Source: limits after SOL-ExecBench (0.02 and 1.10). The time must be per call, of the machine whose peaks were measured.
    pub fn standing(&self, time: Seconds, tolerance: Relative, headroom: Ratio) -> Result<Standing, RooflineError> {
        let (time, bound) = (time.get(), self.bound.get());
        if time <= 0.0 {
            return Err(RooflineError::ZeroTime);
        }
        let ratio = time / bound;
        let impossible = ratio < 1.0 - tolerance.get() - EPSILON;
        Ok(Standing {
            headroom: Ratio::new(ratio)?,
            utilisation: Ratio::new(bound / time)?,
            impossible,
            at_wall: !impossible && ratio <= headroom.get() + EPSILON,
        })
    }
}

/// 1 / (1 + (t - bound) / (baseline - bound)): 1 at the bound, 1/2 at the baseline.
///
/// Source: SOL-ExecBench, sol_score.py. For display; no verdict reads it. All three in the same unit.
pub fn sol_score(time: Seconds, baseline: Seconds, bound: Seconds) -> Result<Share, RooflineError> {
    let (above, scale) = (time.get() - bound.get(), baseline.get() - bound.get());
    if scale <= 0.0 || above < 0.0 {
        return Err(RooflineError::Baseline);
    }
    Ok(Share::new(1.0 / (1.0 + above / scale))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(value: f64) -> Seconds {
        Seconds::new(value).unwrap()
    }

    fn roofline(bytes: f64, flops: f64) -> Result<Roofline, RooflineError> {
        let (bytes, flops) = (Bytes::new(bytes).unwrap(), Flops::new(flops).unwrap());
        Roofline::of(bytes, flops, BytesPerSecond::new(10.0).unwrap(), FlopsPerSecond::new(100.0).unwrap())
    }

    #[test]
    fn the_slower_of_memory_and_arithmetic_binds() {
        assert_eq!(roofline(20.0, 100.0).unwrap().bound, seconds(2.0));
        assert_eq!(roofline(20.0, 500.0).unwrap().bound, seconds(5.0));
        assert_eq!(roofline(0.0, 0.0), Err(RooflineError::NoWork));
    }

    #[test]
    fn the_wall_begins_where_the_impossible_ends() {
        let roof = roofline(10.0, 0.0).unwrap();
        let standing = |t| {
            let s = roof.standing(seconds(t), Relative::new(0.02).unwrap(), Ratio::new(1.1).unwrap()).unwrap();
            (s.impossible, s.at_wall)
        };
        assert_eq!(standing(0.979), (true, false));
        assert_eq!([0.98, 1.0, 1.1].map(standing), [(false, true); 3]);
        assert_eq!(standing(1.11), (false, false));
        let zero = roof.standing(seconds(0.0), Relative::new(0.02).unwrap(), Ratio::new(1.1).unwrap());
        assert_eq!(zero, Err(RooflineError::ZeroTime));
    }

    #[test]
    fn a_score_beyond_the_bound_is_refused() {
        assert_eq!(sol_score(seconds(0.4), seconds(2.0), seconds(0.5)), Err(RooflineError::Baseline));
        assert_eq!(sol_score(seconds(1.0), seconds(0.5), seconds(0.5)), Err(RooflineError::Baseline));
    }
}
