//! The search path: candidates from left to right, ratio over the parent upwards.

use std::fmt::Write as _;

use super::axis::{Axis, Percent};
use super::mark::Mark;
use crate::report::number::{Rounded, shown};
use crate::report::{CampaignReport, CandidateReport};

/// Candidates that are drawn and listed at most; the ledger has them all.
pub(super) const SHOWN: usize = 240;
/// Height of the plot, in pixels.
const HEIGHT: f64 = 252.0;
/// Where the largest ratio stands, in pixels from the top.
const TOP: f64 = 26.0;
/// Where the smallest ratio stands.
const BOTTOM: f64 = 184.0;
/// The lane of candidates without a ratio.
const LANE: f64 = 214.0;
/// Above so many generations, or candidates, their numbers are left out.
const NUMBERED: usize = 24;

/// The plot.
#[derive(Debug)]
pub(super) struct PathPlot {
    pub(super) height: String,
    pub(super) lane: String,
    pub(super) points: Vec<Point>,
    pub(super) rounds: Vec<(String, String)>,
    pub(super) one: String,
    pub(super) band: (String, String),
    /// Position and number of each generation's first candidate.
    pub(super) generations: Vec<(Percent, String)>,
    /// Marks in use with their words.
    pub(super) legend: Vec<Mark>,
    /// True if there is room for each candidate's number below the plot.
    pub(super) numbered: bool,
    /// True if a candidate has no ratio.
    pub(super) without_ratio: bool,
}

/// A candidate.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) x: Percent,
    pub(super) iteration: u64,
    pub(super) mark: Mark,
    /// Height of the mark: the CONFIRM's estimate, else the SCREEN's median, else the lane.
    pub(super) y: String,
    /// Height of the SCREEN's median, if there is a CONFIRM too.
    pub(super) screen: Option<String>,
    /// Heights of the CONFIRM's interval.
    pub(super) interval: Option<(String, String)>,
    pub(super) label: String,
}

/// The plot of all candidates, or none if there are fewer than two: a single one is told in words.
pub(super) fn plot(report: &CampaignReport) -> Option<PathPlot> {
    let candidates = report.candidates.get(..report.candidates.len().min(SHOWN)).unwrap_or_default();
    if candidates.len() < 2 {
        return None;
    }
    let margin = report.protocol.statistics_delta().get().ln_1p();
    let axis = Axis::of(candidates.iter().flat_map(logs).chain([-2.0 * margin, 2.0 * margin]));
    let y = |log: f64| format!("{:.1}", BOTTOM - axis.share(log) * (BOTTOM - TOP));
    let points: Vec<Point> = candidates
        .iter()
        .enumerate()
        .map(|(at, candidate)| point(candidate, place(at, candidates.len()), &y))
        .collect();
    let mut legend: Vec<Mark> = Vec::new();
    for point in &points {
        if !legend.contains(&point.mark) {
            legend.push(point.mark.clone());
        }
    }
    let band = axis.share(margin) - axis.share(-margin);
    Some(PathPlot {
        height: format!("{HEIGHT:.0}"),
        lane: format!("{LANE:.1}"),
        rounds: axis.rounds().into_iter().map(|(log, label)| (y(log), label)).collect(),
        one: y(0.0),
        band: (y(margin), format!("{:.1}", band * (BOTTOM - TOP))),
        generations: generations(candidates),
        numbered: candidates.len() <= NUMBERED,
        without_ratio: candidates.iter().any(|candidate| logs(candidate).is_empty()),
        legend,
        points,
    })
}

fn place(at: usize, of: usize) -> Percent {
    Percent::of(at as f64 + 0.5, of as f64)
}

fn logs(candidate: &CandidateReport) -> Vec<f64> {
    let screen = candidate.screen.map(|ratio| ratio.get().ln());
    let confirm = candidate.confirm.iter().flat_map(|confirm| {
        let verdict = &confirm.comparison.verdict;
        [verdict.estimate_log.get(), verdict.lo95.get(), verdict.hi95.get()]
    });
    screen.into_iter().chain(confirm).collect()
}

fn point(candidate: &CandidateReport, x: Percent, y: &dyn Fn(f64) -> String) -> Point {
    let screen = candidate.screen.map(|ratio| ratio.get().ln());
    let confirm = candidate.confirm.as_ref().map(|confirm| &confirm.comparison);
    let estimate = confirm.map(|comparison| comparison.verdict.estimate_log.get());
    let mut label = format!("candidate {}: {}", candidate.body.iteration, candidate.fate.words());
    if let Some(ratio) = candidate.screen {
        let _ = write!(label, ", SCREEN {}", shown(Rounded::nearest(ratio)));
    }
    if let Some(comparison) = confirm {
        let _ = write!(label, ", CONFIRM {} {}", shown(comparison.ratio()), comparison.interval());
    }
    Point {
        x,
        iteration: candidate.body.iteration,
        mark: Mark::of_fate(candidate.fate),
        y: estimate.or(screen).map_or_else(|| format!("{LANE:.1}"), y),
        screen: estimate.and(screen).map(y),
        interval: confirm.map(|comparison| (y(comparison.verdict.hi95.get()), y(comparison.verdict.lo95.get()))),
        label,
    }
}

fn generations(candidates: &[CandidateReport]) -> Vec<(Percent, String)> {
    let mut starts: Vec<(usize, u64)> = Vec::new();
    for (at, candidate) in candidates.iter().enumerate() {
        if starts.last().is_none_or(|(_, generation)| *generation != candidate.body.generation) {
            starts.push((at, candidate.body.generation));
        }
    }
    let numbered = starts.len() <= NUMBERED;
    let label = |generation: u64| if numbered { generation.to_string() } else { String::new() };
    let of = candidates.len() as f64;
    starts.into_iter().map(|(at, generation)| (Percent::of(at as f64, of), label(generation))).collect()
}
