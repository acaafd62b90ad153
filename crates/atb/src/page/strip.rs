//! Strip plots of paired ratios: each pair a dot, in the order in which the pairs ran, above its interval.

use atb_core::entry::Role;
use atb_core::quantity::{LogBound, LogRatio, Ratio};

use super::axis::{Axis, Percent, Tick};
use super::mark::Mark;
use crate::report::number::{self, Rounded, shown};
use crate::report::{CampaignReport, Comparison, text};

/// Height over which the dots of a row are spread, in pixels.
const SPREAD: f64 = 30.0;
/// Place of the first dot of a row, in pixels from its top.
const TOP: f64 = 8.0;
/// A second scale is drawn if the pairs fill less than this share of the first.
const CROWDED: f64 = 0.12;

/// A plot: rows on one axis.
#[derive(Debug)]
pub(super) struct Strip {
    pub(super) title: &'static str,
    pub(super) rows: Vec<StripRow>,
    pub(super) ticks: Vec<Tick>,
}

/// A comparison, or one of its shapes.
#[derive(Debug)]
pub(super) struct StripRow {
    pub(super) name: String,
    /// None for a single shape, which is shown and not judged.
    pub(super) mark: Option<Mark>,
    pub(super) ratio: String,
    pub(super) interval: String,
    pub(super) n: usize,
    pub(super) dots: Vec<Dot>,
    pub(super) estimate: Percent,
    pub(super) lo: Percent,
    pub(super) hi: Percent,
    /// The position of 1; none where this scale does not reach it.
    pub(super) one: Option<Percent>,
    pub(super) band: Option<(Percent, Percent)>,
}

/// A pair.
#[derive(Debug)]
pub(super) struct Dot {
    pub(super) x: Percent,
    pub(super) y: String,
    pub(super) pair: usize,
    pub(super) ratio: String,
}

/// What a row is made from.
struct Reading<'a> {
    name: String,
    mark: Option<Mark>,
    pairs: &'a [LogRatio],
    estimate: Ratio,
    lo: LogBound,
    hi: LogBound,
}

impl Reading<'_> {
    fn logs(&self) -> impl Iterator<Item = f64> {
        self.pairs.iter().map(|pair| pair.get()).chain([self.lo.get(), self.hi.get()])
    }
}

/// The plots of a campaign: the deciding comparison with its shapes, again on its own scale if crowded, and the controls.
pub(super) fn strips(report: &CampaignReport) -> Vec<Strip> {
    let conclusion = &report.conclusion;
    let margin = report.protocol.statistics_delta().get().ln_1p();
    let mut strips = Vec::new();
    if let Some(deciding) = conclusion.deciding() {
        let mut rows = readings(deciding);
        // A gate or a control may have overruled the verdict: the mark says what counts.
        if let Some(first) = rows.first_mut() {
            first.mark = Some(Mark::of_outcome(conclusion.outcome));
        }
        if let Some(root) = conclusion.root.as_ref().filter(|root| root.base != deciding.base) {
            rows.extend(readings(root).into_iter().take(1));
        }
        let near = Axis::of(rows.iter().take(1).flat_map(Reading::logs));
        let wide = Axis::of(rows.iter().flat_map(Reading::logs).chain([-2.0 * margin, 2.0 * margin]));
        strips.push(strip("Pairs of the deciding block", &rows, wide, margin));
        if near.span() < CROWDED * wide.span() {
            rows.truncate(1);
            strips.push(strip("The same pairs on their own scale", &rows, near, margin));
        }
    }
    let controls: Vec<&Comparison> = conclusion.controls.iter().filter_map(|c| c.comparison.as_ref()).collect();
    let rows: Vec<Reading<'_>> = controls.iter().flat_map(|control| readings(control).into_iter().take(1)).collect();
    if !rows.is_empty() {
        let axis = Axis::of(rows.iter().flat_map(Reading::logs).chain([-2.0 * margin, 2.0 * margin]));
        strips.push(strip("Controls of the same block", &rows, axis, margin));
    }
    strips
}

/// The comparison over all shapes, then each shape.
fn readings(comparison: &Comparison) -> Vec<Reading<'_>> {
    let verdict = &comparison.verdict;
    let base = if comparison.base == Role::Parent { "parent (compiler)" } else { comparison.base.name() };
    let mut rows = vec![Reading {
        name: format!("{} over {base}", comparison.judged),
        mark: Some(Mark::of_outcome(comparison.outcome())),
        pairs: &comparison.pairs,
        estimate: verdict.estimate,
        lo: verdict.lo95,
        hi: verdict.hi95,
    }];
    rows.extend(comparison.cells.iter().map(|cell| Reading {
        name: format!("only {}", text::clean(&cell.shape, 40)),
        mark: None,
        pairs: &cell.pairs,
        estimate: cell.estimate,
        lo: cell.lo,
        hi: cell.hi,
    }));
    rows
}

fn strip(title: &'static str, rows: &[Reading<'_>], axis: Axis, margin: f64) -> Strip {
    let rows = rows.iter().map(|reading| row(reading, axis, margin)).collect();
    Strip { title, rows, ticks: axis.ticks() }
}

fn row(reading: &Reading<'_>, axis: Axis, margin: f64) -> StripRow {
    let n = reading.pairs.len();
    let step = SPREAD / (n.max(2) - 1) as f64;
    let dot = |(pair, log): (usize, &LogRatio)| Dot {
        x: axis.at(log.get()),
        y: format!("{:.1}", TOP + step * pair as f64),
        pair,
        ratio: shown(log.ratio().ok().and_then(Rounded::nearest)),
    };
    let inside = |log: f64| (0.0..1.0).contains(&axis.share(log)) && axis.share(log) > 0.0;
    let (from, to) = (axis.at(-margin), axis.at(margin));
    StripRow {
        name: reading.name.clone(),
        mark: reading.mark.clone(),
        ratio: shown(Rounded::nearest(reading.estimate)),
        interval: number::interval(reading.lo, reading.hi),
        n,
        dots: reading.pairs.iter().enumerate().map(dot).collect(),
        estimate: axis.at(reading.estimate.get().ln()),
        lo: axis.at(reading.lo.get()),
        hi: axis.at(reading.hi.get()),
        one: inside(0.0).then(|| axis.at(0.0)),
        band: (inside(-margin) || inside(margin)).then(|| (from, from.to(to))),
    }
}
