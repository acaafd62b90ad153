//! The search path: what became of each candidate.

use atb_core::codes::Code;
use atb_core::comparison::{arm_of, confirm_level, screen_ranking, screen_shrunk};
use atb_core::entry::{CandidateBody, FaultBody, Phase, Role};
use atb_core::ladder::{self, MeasuredOutcome};
use atb_core::outcome::{Inconclusive, Outcome};
use atb_core::quantity::{Probability, Ratio};

use super::ReportError;
use super::comparison::Comparison;
use super::conclusion::Conclusion;
use super::gate::Stops;
use super::records::{Records, StoredBlock};

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It ended before it was measured.
    Fault(Outcome),
    /// No admitted block holds it: the campaign ended before, or its blocks were refused.
    NotMeasured,
    /// Another candidate of its generation was ahead, or none was ahead of the parent.
    ScreenedOut,
    /// Ahead in its SCREEN, and no CONFIRM was admitted.
    Unconfirmed,
    /// CONFIRM did not keep it: its outcome there. `faster` means that its p was above the level that was left.
    NotKept(Outcome),
    /// PROBE measured it: the outcome. A PROBE keeps nothing.
    Probed(Outcome),
    /// It was an arm of a comparison, whose outcome is the campaign's.
    Compared,
    /// It became the parent.
    Kept,
    /// It was kept, and REPORT contradicts: the head reads equivalent to the root, or slower.
    Demoted,
    /// A gate stopped it: too good, or too bad, to be believed without a mechanism.
    Quarantined(Code),
}

impl Fate {
    /// In words.
    pub fn words(self) -> String {
        match self {
            Self::NotMeasured => "not measured".to_owned(),
            Self::ScreenedOut => "screened out".to_owned(),
            Self::Unconfirmed => "not confirmed".to_owned(),
            Self::NotKept(Outcome::Faster) => "faster, level spent".to_owned(),
            Self::Fault(outcome) | Self::NotKept(outcome) | Self::Probed(outcome) => outcome.to_string(),
            Self::Compared => "compared".to_owned(),
            Self::Kept => "kept".to_owned(),
            Self::Demoted => "demoted".to_owned(),
            Self::Quarantined(code) => format!("quarantined({code})"),
        }
    }
}

/// A candidate on the search path.
#[derive(Debug, Clone)]
pub struct CandidateReport {
    /// The proposal as recorded. Its note is text that the proposer wrote: show it cleaned.
    pub body: CandidateBody,
    /// Median ratio over the parent in its SCREEN. It selects, and decides nothing.
    pub screen: Option<Ratio>,
    /// The same, shrunk towards the mean of its SCREEN: what is to be expected of it, selection considered.
    pub shrunk: Option<Ratio>,
    /// Its CONFIRM, if one was admitted.
    pub confirm: Option<Confirmation>,
    /// Its fault, with bounded evidence.
    pub fault: Option<FaultBody>,
    /// What became of it.
    pub fate: Fate,
}

/// A CONFIRM block's answer.
#[derive(Debug, Clone)]
pub struct Confirmation {
    /// Position of the block in the ledger.
    pub block: i64,
    /// Number of the CONFIRM.
    pub index: u64,
    /// Candidate against parent.
    pub comparison: Comparison,
    /// The level that this CONFIRM may spend.
    pub level: Probability,
    /// True if verdict and level keep the candidate.
    pub keeps: bool,
}

impl Confirmation {
    pub(super) fn of(stored: &StoredBlock, records: &Records) -> Result<Option<Self>, ReportError> {
        let block = &stored.body;
        let arms = arm_of(block, Role::Parent).zip(arm_of(block, Role::Candidate));
        let Some((parent, candidate)) = arms else { return Ok(None) };
        let comparison = Comparison::of(block, parent, candidate, &records.protocol)?;
        let level = confirm_level(block, &records.protocol);
        let keeps = ladder::kept(&comparison.verdict, level);
        Ok(Some(Self { block: stored.seq, index: block.index, comparison, level, keeps }))
    }
}

/// All candidates in the order in which they were proposed.
pub(super) fn candidates(
    records: &Records,
    stops: &Stops,
    conclusion: &Conclusion,
) -> Result<Vec<CandidateReport>, ReportError> {
    let mut reports = Vec::new();
    for body in &records.candidates {
        let (screen, leads) = screen(body, records)?;
        let shrunk = shrunk(body, records)?;
        let confirm = confirmation(body, records)?;
        let fault = records.faults.iter().find(|fault| fault.candidate == body.source).cloned();
        let mut report =
            CandidateReport { body: body.clone(), screen, shrunk, confirm, fault, fate: Fate::NotMeasured };
        report.fate = fate(&report, leads, records, stops, conclusion)?;
        reports.push(report);
    }
    Ok(reports)
}

/// The last SCREEN's median ratio, and whether the candidate led there and was ahead of the parent.
fn screen(body: &CandidateBody, records: &Records) -> Result<(Option<Ratio>, bool), ReportError> {
    let mut last = (None, false);
    for stored in records.phase(Phase::Screen) {
        for (place, (arm, log)) in screen_ranking(&stored.body)?.into_iter().enumerate() {
            if stored.body.arms.get(arm).is_some_and(|arm| arm.source == body.source) {
                last = (Some(log.ratio()?), place == 0 && log.get() > 0.0);
            }
        }
    }
    Ok(last)
}

/// The last SCREEN's ratio, shrunk.
fn shrunk(body: &CandidateBody, records: &Records) -> Result<Option<Ratio>, ReportError> {
    let mut last = None;
    for stored in records.phase(Phase::Screen) {
        for (arm, log) in screen_shrunk(&stored.body)? {
            if stored.body.arms.get(arm).is_some_and(|arm| arm.source == body.source) {
                last = Some(log.ratio()?);
            }
        }
    }
    Ok(last)
}

fn confirmation(body: &CandidateBody, records: &Records) -> Result<Option<Confirmation>, ReportError> {
    let holds = |stored: &&StoredBlock| holds_candidate(&stored.body.arms, body);
    let last = records.phase(Phase::Confirm).filter(holds).last();
    last.map_or(Ok(None), |stored| Confirmation::of(stored, records))
}

fn holds_candidate(arms: &[atb_core::entry::ArmBody], body: &CandidateBody) -> bool {
    arms.iter().any(|arm| arm.role == Role::Candidate && arm.source == body.source)
}

fn fate(
    report: &CandidateReport,
    leads: bool,
    records: &Records,
    stops: &Stops,
    conclusion: &Conclusion,
) -> Result<Fate, ReportError> {
    let source = report.body.source;
    if let Some(fault) = &report.fault {
        return Ok(Fate::Fault(outcome_of(&fault.outcome, &fault.code)?));
    }
    match stops.of_source(source) {
        Some(Outcome::Quarantined(code)) => return Ok(Fate::Quarantined(code)),
        Some(rejected) => return Ok(Fate::NotKept(rejected)),
        None => {}
    }
    if records.keeps.iter().any(|keep| keep.candidate == source) {
        let is_head = records.keeps.last().is_some_and(|keep| keep.candidate == source);
        return Ok(if is_head && contradicted(conclusion) { Fate::Demoted } else { Fate::Kept });
    }
    if records.is_of_two_arms() {
        return Ok(if conclusion.block.is_some() { Fate::Compared } else { unadmitted(report, records) });
    }
    if records.registered.body.command == "measure" {
        let measured = conclusion.block.is_some();
        return Ok(if measured { Fate::Probed(conclusion.outcome) } else { unadmitted(report, records) });
    }
    Ok(match &report.confirm {
        Some(confirm) => Fate::NotKept(stops.outcome(confirm.block, source).unwrap_or(confirm.comparison.outcome())),
        None if report.screen.is_none() || leads => unadmitted(report, records),
        None => Fate::ScreenedOut,
    })
}

/// Without a deciding block: over the noise cap, if a refused block says so.
fn unadmitted(report: &CandidateReport, records: &Records) -> Fate {
    let mut noisy = [Phase::Confirm, Phase::Probe].into_iter().flat_map(|phase| records.too_noisy(phase));
    match report.screen {
        _ if noisy.any(|block| holds_candidate(&block.arms, &report.body)) => {
            Fate::NotKept(Outcome::Inconclusive(Inconclusive::Noise))
        }
        Some(_) => Fate::Unconfirmed,
        None => Fate::NotMeasured,
    }
}

/// True if REPORT says that the head is no gain over the root.
fn contradicted(conclusion: &Conclusion) -> bool {
    let outcome = conclusion.root.as_ref().map(|root| root.verdict.outcome);
    matches!(outcome, Some(MeasuredOutcome::Equivalent | MeasuredOutcome::Slower))
}

/// The outcome that a fault row names.
pub(super) fn outcome_of(name: &str, code: &str) -> Result<Outcome, ReportError> {
    let unknown = || ReportError::UnknownOutcome { outcome: name.to_owned(), code: code.to_owned() };
    let with = |make: fn(Code) -> Outcome| code.parse().map(make).map_err(|_| unknown());
    match name {
        "build_error" => with(Outcome::BuildError),
        "incorrect" => with(Outcome::Incorrect),
        "crashed" => with(Outcome::Crashed),
        "candidate_timeout" => with(Outcome::CandidateTimeout),
        "rejected" => with(Outcome::Rejected),
        "refused(surface)" => with(Outcome::RefusedSurface),
        "void" => with(Outcome::Void),
        "quarantined" => with(Outcome::Quarantined),
        "harness_error" => with(Outcome::HarnessError),
        "not_quiet" => Ok(Outcome::NotQuiet),
        "not_delivered" => Ok(Outcome::NotDelivered),
        "cancelled" => Ok(Outcome::Cancelled),
        _ => Err(unknown()),
    }
}
