//! Run distributions: each run a dot at its time per call, the middle half a box, the median a line.

use atb_core::quantity::Reading;

use super::axis::{Axis, Percent, Tick};
use crate::report::number::{self, TimeUnit};
use crate::report::{ArmCell, BlockReport, text};

/// Height over which the dots of an arm are spread, in pixels.
const SPREAD: f64 = 18.0;
/// Place of the first dot of an arm, in pixels from its top.
const TOP: f64 = 7.0;

/// The arms of a block in one timed shape.
#[derive(Debug)]
pub(super) struct RunsPlot {
    pub(super) shape: String,
    pub(super) unit: &'static str,
    pub(super) rows: Vec<RunsRow>,
    pub(super) ticks: Vec<Tick>,
    /// One line per pair: the time of each arm.
    pub(super) table: Vec<Vec<String>>,
}

/// An arm.
#[derive(Debug)]
pub(super) struct RunsRow {
    pub(super) role: &'static str,
    pub(super) source: String,
    pub(super) flags: String,
    pub(super) calls: u64,
    pub(super) median: String,
    pub(super) quartiles: String,
    pub(super) cv: String,
    pub(super) dots: Vec<(Percent, String)>,
    pub(super) box_from: Percent,
    pub(super) box_width: Percent,
    pub(super) middle: Percent,
}

/// One plot per timed shape.
pub(super) fn plots(block: &BlockReport) -> Vec<RunsPlot> {
    block.shapes.iter().enumerate().map(|(cell, shape)| plot(block, cell, shape)).collect()
}

fn plot(block: &BlockReport, cell: usize, shape: &str) -> RunsPlot {
    let cells = || block.arms.iter().filter_map(|arm| arm.cells.get(cell));
    let times = || cells().flat_map(|cell| cell.runs.iter().copied());
    let unit = TimeUnit::of(times());
    let axis = Axis::of(times().map(|time| unit.number(time).ln()));
    let rows = block.arms.iter().filter_map(|arm| {
        let cell = arm.cells.get(cell)?;
        let [low, middle, high] = cell.quartiles.map(|time| axis.at(unit.number(time).ln()));
        Some(RunsRow {
            role: arm.role.name(),
            source: arm.source.short(),
            flags: text::clean(&arm.flags, 80),
            calls: cell.calls.get(),
            median: unit.show(cell.median()),
            quartiles: format!("{} to {}", unit.show(cell.quartiles[0]), unit.show(cell.quartiles[2])),
            cv: number::percent(cell.cv.corrected),
            dots: dots(cell, axis, unit),
            box_from: low,
            box_width: low.to(high),
            middle,
        })
    });
    let table = (0..block.pairs).map(|pair| {
        let time = |cell: &ArmCell| cell.runs.get(pair).map_or_else(String::new, |time| unit.show(*time));
        cells().map(time).collect()
    });
    RunsPlot {
        shape: text::clean(shape, 40),
        unit: unit.name,
        rows: rows.collect(),
        ticks: axis.ticks(),
        table: table.collect(),
    }
}

fn dots(cell: &ArmCell, axis: Axis, unit: TimeUnit) -> Vec<(Percent, String)> {
    let step = SPREAD / (cell.runs.len().max(2) - 1) as f64;
    let dot = |(pair, time): (usize, &Reading)| (axis.at(unit.number(*time).ln()), format!("{:.1}", TOP + step * pair as f64));
    cell.runs.iter().enumerate().map(dot).collect()
}
