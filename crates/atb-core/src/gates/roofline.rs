//! The roofline: no kernel moves its bytes faster than memory, or computes faster than the arithmetic units, as measured here.
//!
//! Bytes and operations are those that the task declares, the peaks those of one core of this machine in the same worker under the
//! same clock. A time below the floor is a defect, a cheat, a wrong declaration, or an algorithm that needs less: someone has to look.
//! Source: Williams, Waterman and Patterson, Roofline, doi:10.1145/1498765.1498785.

use serde::{Deserialize, Serialize};

use super::{Effect, GateDecision, source_of};
use crate::canon::Digest;
use crate::codes;
use crate::comparison::{ComparisonError, times};
use crate::entry::BlockBody;
use crate::protocol::Protocol;
use crate::task::TaskSpec;

/// What one core of a machine was seen to reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peaks {
    /// Format of the file.
    pub format: u64,
    /// The machine.
    pub fingerprint: Digest,
    /// Wall time of the last measurement in milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// Bytes copied, read and written alike, in 10^6 per second.
    pub copy_mb_s: u64,
    /// Bytes read, in 10^6 per second.
    pub read_mb_s: u64,
    /// Bytes written, in 10^6 per second.
    pub write_mb_s: u64,
    /// Operations on f32 in fused multiply-adds, two each, in 10^6 per second.
    pub fma_mflop_s: u64,
}

impl Peaks {
    /// The greater of each: noise only ever lowers a peak.
    #[must_use]
    pub fn or_more(self, other: Self) -> Self {
        Self {
            copy_mb_s: self.copy_mb_s.max(other.copy_mb_s),
            read_mb_s: self.read_mb_s.max(other.read_mb_s),
            write_mb_s: self.write_mb_s.max(other.write_mb_s),
            fma_mflop_s: self.fma_mflop_s.max(other.fma_mflop_s),
            ..self
        }
    }

    /// Least time for these bytes and operations, in ns: whatever takes longer alone.
    fn floor_ns(&self, bytes: u64, flops: u64) -> f64 {
        let bandwidth = self.copy_mb_s.max(self.read_mb_s).max(self.write_mb_s);
        let of = |amount: u64, peak: u64| amount as f64 * 1e3 / peak as f64;
        of(bytes, bandwidth).max(of(flops, self.fma_mflop_s))
    }
}

/// Judges an arm by its shape that comes closest to the floor; none if the task declares no work there.
pub fn roofline(
    block: &BlockBody,
    arm: usize,
    spec: &TaskSpec,
    peaks: &Peaks,
    protocol: &Protocol,
) -> Result<Option<GateDecision>, ComparisonError> {
    let runs = times(block, arm)?;
    let mut least: Option<f64> = None;
    for (at, cell) in block.cells.iter().enumerate() {
        let (Some(bytes), Some(flops)) = (spec.bytes.value(&cell.dims), spec.flops.value(&cell.dims)) else { continue };
        let per_call = |run: &Vec<crate::stats::pairs::CellTime>| {
            run.get(at).map(|time| time.twice_median.get() as f64 / 2.0 / time.calls.get() as f64)
        };
        let mut times: Vec<f64> = runs.iter().filter_map(per_call).collect();
        times.sort_by(f64::total_cmp);
        let share = times.get(times.len() / 2).map(|median| median / peaks.floor_ns(bytes, flops));
        least = least.into_iter().chain(share.filter(|share| share.is_finite())).reduce(f64::min);
    }
    let limit = 1.0 - protocol.gates_roofline_tolerance().get();
    let source = format!(
        "{}; peaks of {}: {} MB/s copied, {} read, {} written, {} MFLOP/s",
        source_of(protocol, "gates.roofline_tolerance"),
        peaks.fingerprint.short(),
        peaks.copy_mb_s,
        peaks.read_mb_s,
        peaks.write_mb_s,
        peaks.fma_mflop_s
    );
    Ok(least.map(|observed| GateDecision {
        gate: "roofline".to_owned(),
        arm,
        effect: if observed < limit { Effect::Quarantines(codes::ROOFLINE) } else { Effect::Passes },
        observed,
        limit,
        source,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peaks(copy_mb_s: u64, fma_mflop_s: u64) -> Peaks {
        let fingerprint = Digest::GENESIS;
        Peaks { format: 1, fingerprint, at_ms: 1, copy_mb_s, read_mb_s: 1, write_mb_s: 1, fma_mflop_s }
    }

    #[test]
    fn the_floor_is_what_takes_longer() {
        // 10 GB/s is 10 bytes per ns, 100 GFLOP/s 100 operations per ns.
        let peaks = peaks(10_000, 100_000);
        assert!((peaks.floor_ns(1000, 100) - 100.0).abs() < 1e-9);
        assert!((peaks.floor_ns(10, 100_000) - 1000.0).abs() < 1e-9);
    }

    #[test]
    fn peaks_only_rise() {
        let risen = peaks(10, 7).or_more(peaks(5, 9));
        assert_eq!((risen.copy_mb_s, risen.fma_mflop_s), (10, 9));
    }
}
