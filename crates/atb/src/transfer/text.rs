//! The result for people: the verdict first, then each machine, then what they say together.

use std::fmt::Write as _;

use atb_core::quantity::Cv;
use atb_core::stats::pooling::{MIN_MACHINES, Pooled, Transfer};

use super::{BlockResult, MachineResult, TransferReport};
use crate::report::number::{self, Rounded, TimeUnit, shown};
use crate::report::text::clean;

/// The report; every line ends with a line feed.
pub fn transfer(report: &TransferReport) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(page, "{}\n", verdict(report));
    for machine in &report.machines {
        let _ = writeln!(page, "{}", machine_line(machine));
        for block in &machine.blocks {
            page.push_str(&block_lines(block));
        }
    }
    for out in &report.left_out {
        let (ledger, campaign) = (clean(&out.ledger, 200), clean(&out.campaign, 40));
        let _ = writeln!(page, "without a result: {ledger}, campaign {campaign}: {}: {}", out.outcome, out.reason);
    }
    if let Some(pooled) = &report.pooled {
        let _ = write!(page, "\n{}", together(report, pooled));
    }
    if !report.one_code() {
        page.push_str(
            "\nThe machines measured different code, so this speaks of what a campaign gains, not of one code.\n",
        );
    }
    if report.exploratory() {
        page.push_str(
            "\nexploratory: a machine was not quiet, or workers were not isolated as asked; never a headline\n",
        );
    }
    page
}

fn verdict(report: &TransferReport) -> String {
    let (task, machines) = (clean(&report.task, 80), report.machines.len());
    let predicted = report.pooled.as_ref().map(|p| number::interval(p.predicted_lo, p.predicted_hi));
    let predicted = predicted.unwrap_or_default();
    match report.verdict {
        Transfer::PerBoxOnly => format!(
            "{task}: per-box only: {machines} of the {MIN_MACHINES} machines that a sentence about other machines needs"
        ),
        Transfer::Transfers => format!("{task}: transfers: on another machine the ratio is expected in {predicted}"),
        Transfer::BoxSpecific => format!(
            "{task}: box-specific: the machines differ by more than their errors, and another may gain or lose, {predicted}"
        ),
        Transfer::Undetermined => match report.left_out.iter().filter(|out| out.is_selective()).count() {
            0 => format!("{task}: undetermined: on another machine the ratio may be anywhere in {predicted}"),
            1 => format!("{task}: undetermined: 1 campaign has no gain to show; the others alone expect {predicted}"),
            n => {
                format!("{task}: undetermined: {n} campaigns have no gain to show; the others alone expect {predicted}")
            }
        },
    }
}

fn machine_line(machine: &MachineResult) -> String {
    let ratio = machine.estimate.log_ratio.ratio().ok().and_then(Rounded::nearest);
    let error = Cv::new(machine.estimate.standard_error.get()).map_or_else(|_| "none".to_owned(), number::percent);
    format!(
        "{}  {}x  standard error {error}  {} pairs  {}",
        machine.fingerprint.short(),
        shown(ratio),
        machine.pairs(),
        clean(&machine.cpu, 60)
    )
}

fn block_lines(block: &BlockResult) -> String {
    let mut lines = format!(
        "    {} of {}, campaign {}: code {} over {}, {}\n",
        block.phase.name().to_uppercase(),
        clean(&block.ledger, 200),
        clean(&block.campaign, 40),
        block.code.short(),
        block.base,
        block.outcome
    );
    let unit = TimeUnit::of(block.times.iter().flat_map(|cell| [cell.base.nanos(), cell.code.nanos()]));
    for cell in &block.times {
        let (base, code) = (unit.show(cell.base.nanos()), unit.show(cell.code.nanos()));
        let (shape, ratio) = (clean(&cell.shape, 40), shown(Rounded::nearest(cell.ratio)));
        let _ = writeln!(lines, "      {shape}: {base} {} to {code} {}, {ratio}x here", unit.name, unit.name);
    }
    lines
}

fn together(report: &TransferReport, pooled: &Pooled) -> String {
    let mut text = String::new();
    let confidence = number::confidence(report.confidence);
    // Where the machines differ too much, a mean would be read as if it held somewhere.
    if report.verdict != Transfer::BoxSpecific {
        let mean = shown(pooled.mean.ratio().ok().and_then(Rounded::nearest));
        let _ = writeln!(text, "mean over machines  {mean}x {}, {confidence}", number::interval(pooled.lo, pooled.hi));
    }
    let predicted = number::interval(pooled.predicted_lo, pooled.predicted_hi);
    let _ = writeln!(text, "another machine     {predicted}, {confidence}");
    let _ = writeln!(
        text,
        "between machines    sd {:.2} %, I2 {:.1} %, Q {:.1} (p {})",
        pooled.tau2.get().sqrt() * 100.0,
        pooled.i2.get() * 100.0,
        pooled.q.get(),
        number::p_value(pooled.q_p)
    );
    text
}
