//! The campaign's outcome: from REPORT if something was kept, else from the last CONFIRM; from PROBE for `atb measure`.
//!
//! A ratio stands only beside a keep. Without one the outcome is that of the last comparison, and never `faster`.

use atb_core::canon::Digest;
use atb_core::codes;
use atb_core::comparison::{ComparisonError, arm_of, fastest_baseline};
use atb_core::entry::{BlockBody, Decision, Phase, Role};
use atb_core::outcome::{Inconclusive, Outcome};

use super::comparison::Comparison;
use super::control::{self, Control, Standing, failed_clock};
use super::gate::{GateReport, Stops};
use super::paper::PaperReadout;
use super::records::{Records, StoredBlock};
use super::search::{Confirmation, outcome_of};
use super::{ReportError, number, registered, text};

/// The outcome, and what it rests on.
#[derive(Debug, Clone)]
pub struct Conclusion {
    /// The outcome.
    pub outcome: Outcome,
    /// Why, in one sentence.
    pub reason: String,
    /// Position of the block that decided; none if no block did.
    pub block: Option<i64>,
    /// Head, or the probed candidate, over the fastest baseline of the block, whatever its kind. None without a keep.
    pub headline: Option<Comparison>,
    /// The same over the naive baseline. Stands beside the headline, labelled, and decides nothing.
    pub naive: Option<Comparison>,
    /// The same over the root, the compiler baseline.
    pub root: Option<Comparison>,
    /// Without a keep: the last CONFIRM, candidate over parent.
    pub confirm: Option<Confirmation>,
    /// What the paper's rules say of the same comparison.
    pub paper: Option<PaperReadout>,
    /// Controls of the deciding block and its session.
    pub controls: Vec<Control>,
    /// What was checked on the way to the outcome.
    pub checks: Vec<Check>,
}

/// A check and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// True if it passed.
    pub passed: bool,
    /// The code, if it did not pass.
    pub code: Option<String>,
    /// What was found.
    pub detail: String,
}

impl Conclusion {
    pub(super) fn without_block(outcome: Outcome, reason: String) -> Self {
        Self {
            outcome,
            reason,
            block: None,
            headline: None,
            naive: None,
            root: None,
            confirm: None,
            paper: None,
            controls: Vec::new(),
            checks: Vec::new(),
        }
    }

    /// The comparison that the outcome speaks of.
    pub fn deciding(&self) -> Option<&Comparison> {
        self.headline.as_ref().or(self.confirm.as_ref().map(|confirm| &confirm.comparison))
    }

    /// The baseline that the outcome speaks of. The parent of a campaign without a keep is its root, the compiler baseline.
    pub fn baseline(&self) -> Option<Role> {
        self.deciding().map(|comparison| if comparison.base == Role::Parent { Role::Compiler } else { comparison.base })
    }

    /// Pairs of the deciding block.
    pub fn pairs(&self) -> Option<usize> {
        self.deciding().map(|comparison| comparison.pairs.len())
    }

    /// The worst standing of the controls.
    pub fn standing(&self) -> Standing {
        let any = |standing| self.controls.iter().any(|control| control.standing == standing);
        match () {
            () if any(Standing::Failed) => Standing::Failed,
            () if any(Standing::Coarse) => Standing::Coarse,
            () => Standing::Holds,
        }
    }
}

pub(super) fn conclude(records: &Records, stops: &Stops, gates: &[GateReport]) -> Result<Conclusion, ReportError> {
    let mut conclusion = match records.keeps.last() {
        _ if records.is_of_two_arms() => registered::conclude(records, stops)?,
        _ if records.registered.body.command == "measure" => of_probe(records, stops)?,
        Some(keep) => of_report(records, stops, keep.candidate)?,
        None => of_confirm(records, stops)?,
    };
    let block = records.blocks.iter().find(|stored| Some(stored.seq) == conclusion.block);
    // A campaign that a void session ended has decided nothing, but in its last phase or by the fault of a candidate.
    let is_last = block.is_some_and(|stored| !matches!(stored.body.phase, Phase::Screen | Phase::Confirm));
    let failed = records.sessions.last().and_then(|session| failed_clock(session, &records.protocol));
    if let (Some(failure), false, true) = (failed, is_last, conclusion.outcome.is_measured()) {
        let reason = format!("{failure}: the session is void, and nothing was measured in it");
        return Ok(Conclusion::without_block(Outcome::Void(codes::CONTROL), reason));
    }
    let Some(block) = block else { return Ok(conclusion) };
    conclusion.controls = control::controls(records, &block.body)?;
    conclusion.checks.extend(checks_of(block));
    conclusion
        .checks
        .extend(gates.iter().filter(|gate| i64::try_from(gate.ruled.body.block) == Ok(block.seq)).map(of_gate));
    let failed = conclusion.controls.iter().find(|control| control.standing == Standing::Failed);
    if let (Some(control), false) = (failed, matches!(conclusion.outcome, Outcome::Quarantined(_))) {
        conclusion.reason = format!("{}: the session is void, so this is no verdict", control.failure());
        conclusion.outcome = Outcome::Void(codes::CONTROL);
    }
    conclusion.paper = paper_of(&conclusion, &block.body)?;
    Ok(conclusion)
}

/// The paper's readout of the comparison that the outcome speaks of.
fn paper_of(conclusion: &Conclusion, block: &BlockBody) -> Result<Option<PaperReadout>, ReportError> {
    let arms = conclusion.deciding().and_then(|of| Some((arm_of(block, of.base)?, arm_of(block, of.judged)?)));
    arms.map(|(base, judged)| PaperReadout::of(block, base, judged, conclusion.outcome)).transpose()
}

/// The head over the baselines, from the REPORT block.
fn of_report(records: &Records, stops: &Stops, head: Digest) -> Result<Conclusion, ReportError> {
    if let Some(fault) = records.faults.iter().find(|fault| fault.candidate == head) {
        let (code, detail) = (text::clean(&fault.code, 8), text::clean(&fault.detail, 400));
        let reason = format!("candidate {} failed after its keep: {code}: {detail}", head.short());
        return Ok(Conclusion::without_block(outcome_of(&fault.outcome, &fault.code)?, reason));
    }
    if let Some(stored) = records.phase(Phase::Report).last() {
        return of_baselines(records, stops, stored, Role::Head);
    }
    let noisy = records.too_noisy(Phase::Report).count();
    let (why, reason) = match noisy {
        0 => (Inconclusive::N, format!("candidate {} was kept, and there is no REPORT block yet", head.short())),
        _ => (Inconclusive::Noise, format!("the REPORT block was refused for noise, {}", times(noisy))),
    };
    Ok(Conclusion::without_block(Outcome::Inconclusive(why), reason))
}

pub(super) fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

/// The candidate over the baselines, from the PROBE block.
fn of_probe(records: &Records, stops: &Stops) -> Result<Conclusion, ReportError> {
    if let Some(stored) = records.phase(Phase::Probe).last() {
        let mut conclusion = of_baselines(records, stops, stored, Role::Candidate)?;
        conclusion.checks.insert(0, built(None));
        return Ok(conclusion);
    }
    if let Some(fault) = records.faults.last() {
        let outcome = outcome_of(&fault.outcome, &fault.code)?;
        let (code, detail) = (text::clean(&fault.code, 8), text::clean(&fault.detail, 400));
        let reason = format!("the candidate ended before it was measured: {code}: {detail}");
        let mut conclusion = Conclusion::without_block(outcome, reason);
        conclusion.checks.push(built(Some((fault.code.clone(), text::clean(&fault.detail, 400)))));
        return Ok(conclusion);
    }
    let (why, reason) = match records.too_noisy(Phase::Probe).count() {
        0 => (Inconclusive::N, "the candidate was not measured".to_owned()),
        noisy => (Inconclusive::Noise, format!("the PROBE block was refused for noise, {}", times(noisy))),
    };
    Ok(Conclusion::without_block(Outcome::Inconclusive(why), reason))
}

/// One arm over the fastest, the naive and the compiler baseline of a block.
fn of_baselines(
    records: &Records,
    stops: &Stops,
    stored: &StoredBlock,
    judged: Role,
) -> Result<Conclusion, ReportError> {
    let block = &stored.body;
    let arm = arm_of(block, judged).ok_or(ComparisonError::Arm { arm: 0 })?;
    let fastest = fastest_baseline(block)?.ok_or(ComparisonError::Arm { arm: block.arms.len() })?;
    let over = |base: usize| Comparison::of(block, base, arm, &records.protocol);
    let beside = |role: Role| arm_of(block, role).map(over).transpose();
    let headline = over(fastest)?;
    let stopped = block.arms.get(arm).and_then(|body| stops.outcome(stored.seq, body.source));
    let outcome = stopped.unwrap_or(headline.outcome());
    Ok(Conclusion {
        outcome,
        reason: reason_of(outcome, &headline, records),
        block: Some(stored.seq),
        naive: beside(Role::Naive)?,
        root: beside(Role::Compiler)?,
        headline: Some(headline),
        confirm: None,
        paper: None,
        controls: Vec::new(),
        checks: Vec::new(),
    })
}

/// Without a keep: the last CONFIRM's outcome against the parent.
fn of_confirm(records: &Records, stops: &Stops) -> Result<Conclusion, ReportError> {
    let last = records.phase(Phase::Confirm).last();
    let admitted = last.map_or(0, |stored| stored.body.index);
    if let Some(noisy) = records.too_noisy(Phase::Confirm).filter(|block| block.index > admitted).last() {
        let attempts = records.too_noisy(Phase::Confirm).filter(|block| block.index == noisy.index).count();
        let reason = format!("CONFIRM {} was refused for noise, {}", noisy.index, times(attempts));
        return Ok(Conclusion::without_block(Outcome::Inconclusive(Inconclusive::Noise), reason));
    }
    let confirmed = last.map(|stored| Confirmation::of(stored, records)).transpose()?.flatten();
    let (Some(stored), Some(confirm)) = (last, confirmed) else {
        let refused = match records.refused_blocks.len() {
            0 => String::new(),
            blocks => format!("; the database refused {}", number::count(blocks, "block")),
        };
        let reason = format!("no candidate was confirmed{refused}");
        return Ok(Conclusion::without_block(Outcome::Inconclusive(Inconclusive::N), reason));
    };
    let (outcome, reason) = outcome_of_confirm(&stored.body, stops, &confirm, records);
    Ok(Conclusion { block: Some(stored.seq), confirm: Some(confirm), ..Conclusion::without_block(outcome, reason) })
}

fn outcome_of_confirm(
    block: &BlockBody,
    stops: &Stops,
    confirm: &Confirmation,
    records: &Records,
) -> (Outcome, String) {
    let source = block.arms.iter().find(|arm| arm.role == Role::Candidate).map(|arm| arm.source);
    let verdict = &confirm.comparison.verdict;
    let outcome = source.and_then(|source| stops.outcome(confirm.block, source));
    let outcome = outcome.unwrap_or(confirm.comparison.outcome());
    match outcome {
        Outcome::Faster if confirm.keeps => {
            let reason = "CONFIRM supports a keep, and the ledger holds none: the campaign did not come to its end";
            (Outcome::Inconclusive(Inconclusive::N), reason.to_owned())
        }
        Outcome::Faster => {
            let (p, level) = (number::p_value(verdict.p_greater), number::p_value(confirm.level));
            let reason =
                format!("ahead in CONFIRM, but p = {p} is above the level {level} that was left, so nothing was kept");
            (Outcome::Inconclusive(Inconclusive::Precision), reason)
        }
        outcome => (outcome, reason_of(outcome, &confirm.comparison, records)),
    }
}

/// One sentence on why a comparison has its outcome.
pub(super) fn reason_of(outcome: Outcome, comparison: &Comparison, records: &Records) -> String {
    let protocol = &records.protocol;
    let delta = number::size(protocol.statistics_delta());
    let confidence = number::confidence(protocol.statistics_confidence());
    let equivalence = number::confidence(protocol.statistics_confidence_equivalence());
    match outcome {
        Outcome::Faster => format!("the {confidence} interval lies above 1 and the estimate reaches 1 + {delta}"),
        Outcome::Slower => format!("the {confidence} interval lies below 1 and the estimate reaches 1 - {delta}"),
        Outcome::Equivalent => format!("the {equivalence} interval lies within 1 +- {delta}: an honest null"),
        Outcome::Inconclusive(Inconclusive::Precision) => {
            let needed = comparison.verdict.pairs_needed;
            let advice = needed.map_or_else(
                || "; more pairs are no remedy".to_owned(),
                |pairs| format!("; about {pairs} pairs would show a difference of {delta}"),
            );
            format!("{} pairs leave the interval too wide for a verdict{advice}", comparison.pairs.len())
        }
        Outcome::Inconclusive(Inconclusive::Noise) => {
            format!("the runs scatter beyond the cap of {}", number::size(protocol.noise_cv_cap()))
        }
        Outcome::Inconclusive(Inconclusive::N) => {
            let least = protocol.replication_min_usable_pairs();
            format!("{} pairs are too few: the protocol asks for {least}", comparison.pairs.len())
        }
        Outcome::Quarantined(codes::QUARANTINE) => format!(
            "a gate stopped it: a factor beyond {} is far more often a defect than a speedup",
            protocol.gates_quarantine_ratio().get()
        ),
        Outcome::Quarantined(code) => {
            format!("a gate stopped it: {}", code.entry().map_or("unknown code", |entry| entry.title))
        }
        Outcome::Rejected(_) => "someone looked at what a gate had found, and rejected it".to_owned(),
        other => other.to_string(),
    }
}

fn built(fault: Option<(String, String)>) -> Check {
    let name = "build and correctness".to_owned();
    match fault {
        None => {
            Check { name, passed: true, code: None, detail: "built, loaded, and correct at every shape".to_owned() }
        }
        Some((code, detail)) => Check { name, passed: false, code: Some(code), detail },
    }
}

/// The output checks and the quiet of a block.
fn checks_of(stored: &StoredBlock) -> Vec<Check> {
    let sum = |count: fn(&atb_core::entry::ChecksBody) -> u64| -> u64 {
        stored.body.runs.iter().map(|run| count(&run.checks)).sum()
    };
    let failed = sum(|checks| checks.failed);
    let missed = stored.body.runs.iter().map(|run| run.checks.miss_ppm).max().unwrap_or(0);
    let outputs = Check {
        name: "outputs".to_owned(),
        passed: failed == 0,
        code: (failed > 0).then(|| codes::CHECKS_SHORT.to_string()),
        detail: format!(
            "{} windows scanned whole, {} elements or rows compared, {} calls compared in full, {failed} failed; one wrong row \
             per window goes unseen with a chance of at most {missed} in a million",
            sum(|checks| checks.scanned),
            sum(|checks| checks.sampled),
            sum(|checks| checks.full),
        ),
    };
    let quiet = stored.body.quiet;
    let detail = if quiet {
        "the machine was quiet"
    } else {
        "the machine was not quiet, or workers not isolated as asked: exploratory"
    };
    let code = (!quiet).then(|| codes::NOT_QUIET.to_string());
    vec![outputs, Check { name: "quiet".to_owned(), passed: quiet, code, detail: detail.to_owned() }]
}

fn of_gate(gate: &GateReport) -> Check {
    let body = &gate.ruled.body;
    let standing = gate.ruled.standing();
    let (observed, limit) = (text::clean(&body.observed, 24), text::clean(&body.limit, 24));
    let ruling = gate.ruling().map_or_else(String::new, |ruling| format!("; {ruling}"));
    Check {
        name: format!("gate {}", text::clean(&body.gate, 24)),
        passed: !standing.stops(),
        code: (standing != Decision::Pass).then(|| text::clean(&body.code, 8)),
        detail: format!("{} observed {observed}, limit {limit}{ruling}", body.role),
    }
}

/// What limits the result, in sentences.
pub(super) fn notices(records: &Records, conclusion: &Conclusion, gates: &[GateReport]) -> Vec<String> {
    let mut notices = Vec::new();
    let mut say = |applies: bool, notice: String| notices.extend(applies.then_some(notice));
    let busy = records.blocks.iter().filter(|stored| !stored.body.quiet).count();
    let blocks = records.blocks.len();
    say(
        busy > 0,
        format!(
            "exploratory: in {busy} of {blocks} blocks the machine was not quiet, or workers were not isolated as the protocol asks, so \
             this is no headline"
        ),
    );
    let id = records.protocol.id();
    say(!id.starts_with("certified-"), format!("protocol {id} is not a certified one, so this is no headline"));
    say(id.contains("-draft."), format!("protocol {id} is a draft: its values may still change"));
    let probe = records.registered.body.command == "measure";
    say(probe, "a PROBE answers about one file: it is never a keep and never a headline".to_owned());
    let same = records.registered.body.command == "self";
    say(
        same,
        "an A/A block compares code with itself: it tells the machine's scatter, and nothing about the code".to_owned(),
    );
    if let Some(registration) = records.registration() {
        let body = &registration.body;
        let (mde, delta, accepted) = (&body.mde, &body.delta, text::clean(&body.underpowered, 300));
        say(
            !accepted.is_empty(),
            format!("registered although effects below {mde} may go unseen (delta {delta}): {accepted}"),
        );
    }
    let coarse = conclusion.controls.iter().filter(|control| control.standing == Standing::Coarse);
    let coarse: Vec<&str> = coarse.map(|control| control.name).collect();
    let detectable = conclusion.deciding().and_then(|comparison| comparison.detectable).map(number::change);
    let least = detectable.map_or_else(String::new, |change| format!("; effects below {change} may go unseen"));
    say(!coarse.is_empty(), format!("coarse: the control {} is undecided{least}", coarse.join(" and ")));
    let void: Vec<String> =
        records.sessions.iter().filter_map(|session| failed_clock(session, &records.protocol)).collect();
    if let Some(failure) = void.last() {
        let (void, sessions) = (void.len(), number::count(records.sessions.len(), "session"));
        say(true, format!("{void} of {sessions} void: {failure}"));
    }
    let machines: std::collections::BTreeSet<_> = records.sessions.iter().map(|s| s.machine.fingerprint).collect();
    say(machines.len() > 1, format!("the campaign ran on {} machines; ratios hold within one", machines.len()));
    let corrected: usize = records.blocks.iter().map(|stored| stored.corrected).sum();
    say(
        corrected > 0,
        format!(
            "{corrected} stated values are not twice the median of their windows ({}): the ledger was edited; run `atb verify`",
            codes::MEDIAN
        ),
    );
    let of_block = |gate: &&GateReport| i64::try_from(gate.ruled.body.block).ok() == conclusion.block;
    let bounded = gates.iter().filter(of_block).any(|gate| gate.ruled.body.gate == "roofline");
    say(
        conclusion.block.is_some() && !bounded,
        "no roofline: the peaks of this machine were not measured (`atb doctor --peaks`)".to_owned(),
    );
    for gate in gates.iter().filter(|gate| gate.ruled.body.decision != Decision::Pass) {
        let flagged = gate.ruled.is_open() && gate.ruled.body.decision == Decision::Flag;
        say(flagged, format!("flagged, and nobody has ruled on it: {}", gate.words()));
        let ruling = gate.ruling();
        say(ruling.is_some(), format!("{}; {}", gate.words(), ruling.unwrap_or_default()));
    }
    say(records.close.is_none(), "the campaign is not closed: it was interrupted, or it still runs".to_owned());
    if let Some(close) = records.close.as_ref().filter(|close| close.reason != "complete") {
        say(true, format!("the campaign ended early: {}", text::clean(&close.reason, 40)));
    }
    notices
}
