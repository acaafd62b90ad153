//! Run distributions: each run a dot at its time per call, the middle half a box, the median a line.

use atb_core::quantity::Reading;

use super::axis::{Axis, Percent, Tick};
use crate::report::number::{self, TimeUnit};
use crate::report::{ArmCell, ArmReport, BlockReport, text};

/// Height over which the dots of an arm are spread, in pixels.
const SPREAD: f64 = 18.0;
/// Place of the first dot of an arm, in pixels from its top.
const TOP: f64 = 7.0;

/// Arms slower than the fastest by more than this factor are left out of the closer scale.
const NEAR: f64 = 1.6;
/// A closer scale is drawn if the arms that are near fill less than this share of the whole.
const CROWDED: f64 = 0.5;

/// The arms of a block in one timed shape.
#[derive(Debug)]
pub(super) struct RunsPlot {
    pub(super) shape: String,
    pub(super) unit: &'static str,
    pub(super) rows: Vec<RunsRow>,
    /// All arms, then the near ones again on a closer scale if the first is crowded.
    pub(super) panels: Vec<Panel>,
    /// One line per pair: the time of each arm.
    pub(super) table: Vec<Vec<String>>,
}

/// Arms on one scale.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) rows: Vec<Drawn>,
    pub(super) ticks: Vec<Tick>,
}

/// An arm as drawn.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) role: &'static str,
    pub(super) median: String,
    pub(super) quartiles: String,
    pub(super) cv: String,
    pub(super) dots: Vec<(Percent, String)>,
    pub(super) box_from: Percent,
    pub(super) box_width: Percent,
    pub(super) middle: Percent,
}

/// An arm as listed.
#[derive(Debug)]
pub(super) struct RunsRow {
    pub(super) role: &'static str,
    pub(super) source: String,
    pub(super) flags: String,
    pub(super) calls: u64,
    pub(super) median: String,
    pub(super) quartiles: String,
    pub(super) cv: String,
}

/// One plot per timed shape.
pub(super) fn plots(block: &BlockReport) -> Vec<RunsPlot> {
    block.shapes.iter().enumerate().map(|(cell, shape)| plot(block, cell, shape)).collect()
}

fn plot(block: &BlockReport, cell: usize, shape: &str) -> RunsPlot {
    let arms: Vec<(&ArmReport, &ArmCell)> =
        block.arms.iter().filter_map(|arm| Some((arm, arm.cells.get(cell)?))).collect();
    let unit = TimeUnit::of(arms.iter().flat_map(|(_, cell)| cell.runs.iter().copied()));
    let rows = arms.iter().map(|(arm, cell)| RunsRow {
        role: arm.role.name(),
        source: arm.source.short(),
        flags: text::clean(&arm.flags, 80),
        calls: cell.calls.get(),
        median: unit.show(cell.median()),
        quartiles: quartiles(cell, unit),
        cv: number::percent(cell.cv.corrected),
    });
    let table = (0..block.pairs).map(|pair| {
        let time =
            |(_, cell): &(&ArmReport, &ArmCell)| cell.runs.get(pair).map_or_else(String::new, |time| unit.show(*time));
        arms.iter().map(time).collect()
    });
    let (rows, table) = (rows.collect(), table.collect());
    RunsPlot { shape: text::clean(shape, 40), unit: unit.name, rows, panels: panels(&arms, unit), table }
}

fn panels(arms: &[(&ArmReport, &ArmCell)], unit: TimeUnit) -> Vec<Panel> {
    let axis = |arms: &[(&ArmReport, &ArmCell)]| {
        Axis::of(arms.iter().flat_map(|(_, cell)| &cell.runs).map(|time| unit.number(*time).ln()))
    };
    let panel = |title: String, arms: &[(&ArmReport, &ArmCell)]| {
        let axis = axis(arms);
        Panel { title, rows: arms.iter().map(|arm| drawn(arm, axis, unit)).collect(), ticks: axis.ticks() }
    };
    let mut panels = vec![panel("All arms".to_owned(), arms)];
    let fastest = arms.iter().map(|(_, cell)| cell.median().get()).fold(f64::INFINITY, f64::min);
    let (near, far): (Vec<_>, Vec<_>) = arms.iter().partition(|(_, cell)| cell.median().get() <= NEAR * fastest);
    if !far.is_empty() && near.len() > 1 && axis(&near).span() < CROWDED * axis(arms).span() {
        let far: Vec<&str> = far.iter().map(|(arm, _)| arm.role.name()).collect();
        panels.push(panel(format!("Without {}, closer", far.join(" and ")), &near));
    }
    panels
}

fn drawn((arm, cell): &(&ArmReport, &ArmCell), axis: Axis, unit: TimeUnit) -> Drawn {
    let [low, middle, high] = cell.quartiles.map(|time| axis.at(unit.number(time).ln()));
    Drawn {
        role: arm.role.name(),
        median: unit.show(cell.median()),
        quartiles: quartiles(cell, unit),
        cv: number::percent(cell.cv.corrected),
        dots: dots(cell, axis, unit),
        box_from: low,
        box_width: low.to(high),
        middle,
    }
}

fn quartiles(cell: &ArmCell, unit: TimeUnit) -> String {
    format!("{} to {}", unit.show(cell.quartiles[0]), unit.show(cell.quartiles[2]))
}

fn dots(cell: &ArmCell, axis: Axis, unit: TimeUnit) -> Vec<(Percent, String)> {
    let step = SPREAD / (cell.runs.len().max(2) - 1) as f64;
    let dot = |(pair, time): (usize, &Reading)| {
        (axis.at(unit.number(*time).ln()), format!("{:.1}", TOP + step * pair as f64))
    };
    cell.runs.iter().enumerate().map(dot).collect()
}
