//! The machine-readable result: one object. Ratios have four decimals, rounded as in the text.

use atb_core::quantity::LogBound;
use atb_core::stats::pooling::Transfer;
use serde_json::{Value, json};

use super::{BlockResult, MachineResult, TransferReport};
use crate::report::number::{Rounded, json_or_null};

/// The verdict as `per_box_only`, `transfers`, `box_specific` or `undetermined`.
pub fn verdict(verdict: Transfer) -> &'static str {
    match verdict {
        Transfer::PerBoxOnly => "per_box_only",
        Transfer::Transfers => "transfers",
        Transfer::BoxSpecific => "box_specific",
        Transfer::Undetermined => "undetermined",
    }
}

/// The object. `pooled` is null below three machines; its `ratio` is null where the machines differ too much for one.
pub fn transfer(report: &TransferReport) -> Value {
    let left_out = report.left_out.iter().map(|out| {
        json!({ "ledger": out.ledger, "campaign": out.campaign, "outcome": out.outcome.to_string(), "reason": out.reason })
    });
    json!({
        "task": report.task,
        "protocol": report.protocol,
        "verdict": verdict(report.verdict),
        "one_code": report.one_code(),
        "exploratory": report.exploratory(),
        "machines": report.machines.iter().map(machine).collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
        "pooled": pooled(report),
    })
}

fn pooled(report: &TransferReport) -> Value {
    let Some(pooled) = &report.pooled else { return Value::Null };
    let low = |bound: LogBound| json_or_null(Rounded::down(bound));
    let high = |bound: LogBound| json_or_null(Rounded::up(bound));
    let told = report.verdict != Transfer::BoxSpecific;
    let mean = pooled.mean.ratio().ok().and_then(Rounded::nearest).filter(|_| told);
    json!({
        "confidence": report.confidence.get(),
        "ratio": json_or_null(mean),
        "lo": if told { low(pooled.lo) } else { Value::Null },
        "hi": if told { high(pooled.hi) } else { Value::Null },
        "predicted_lo": low(pooled.predicted_lo),
        "predicted_hi": high(pooled.predicted_hi),
        "tau": pooled.tau2.get().sqrt(),
        "i2": pooled.i2.get(),
        "q": pooled.q.get(),
        "q_p": pooled.q_p.get(),
    })
}

fn machine(machine: &MachineResult) -> Value {
    let ratio = machine.estimate.log_ratio.ratio().ok().and_then(Rounded::nearest);
    json!({
        "machine": machine.fingerprint.to_string(),
        "cpu": machine.cpu,
        "ratio": json_or_null(ratio),
        "log_ratio": machine.estimate.log_ratio.get(),
        "standard_error": machine.estimate.standard_error.get(),
        "pairs": machine.pairs(),
        "blocks": machine.blocks.iter().map(block).collect::<Vec<_>>(),
    })
}

fn block(block: &BlockResult) -> Value {
    let times = block.times.iter().map(|cell| {
        json!({
            "shape": cell.shape,
            "base_ns": cell.base.nanos().get(),
            "code_ns": cell.code.nanos().get(),
            "ratio": json_or_null(Rounded::nearest(cell.ratio)),
        })
    });
    json!({
        "ledger": block.ledger,
        "campaign": block.campaign,
        "phase": block.phase.name(),
        "code": block.code.to_string(),
        "baseline": block.base.name(),
        "outcome": block.outcome.to_string(),
        "pairs": block.pairs.len(),
        "exploratory": block.exploratory,
        "times": times.collect::<Vec<_>>(),
    })
}
