//! Does a gain carry over to other machines? Campaigns of one task, side by side, from the reports of their ledgers.
//!
//! Per machine one estimate: the mean log ratio of all its pairs, against its own fastest baseline. Only these are pooled, by
//! [`atb_core::stats::pooling`]; times stay with their machine. A machine without a result is never left out silently, since
//! the machines that gained are not a sample of those that were tried.

pub mod json;
pub mod text;

use atb_core::canon::Digest;
use atb_core::codes;
use atb_core::entry::{Phase, Role};
use atb_core::machine_time::{MachineTime, MachineTimeError};
use atb_core::outcome::Outcome;
use atb_core::quantity::{LogRatio, Probability, Ratio};
use atb_core::stats::pooling::{MIN_MACHINES, MachineEstimate, Pooled, PoolingError, Transfer};

use crate::report::{BlockReport, CampaignReport, Comparison};

/// A campaign's report and where it came from.
#[derive(Debug, Clone)]
pub struct Given {
    /// The ledger, as the user named it.
    pub ledger: String,
    /// The campaign.
    pub report: CampaignReport,
}

/// What the machines say together.
#[derive(Debug, Clone)]
pub struct TransferReport {
    /// The task.
    pub task: String,
    /// The protocol.
    pub protocol: String,
    /// Confidence of the intervals.
    pub confidence: Probability,
    /// One entry per machine with a result, in the order given.
    pub machines: Vec<MachineResult>,
    /// Campaigns without one, and why.
    pub left_out: Vec<LeftOut>,
    /// The machines together; none below the least number that a pooled sentence needs.
    pub pooled: Option<Pooled>,
    /// How far the gain carries.
    pub verdict: Transfer,
}

/// One machine.
#[derive(Debug, Clone)]
pub struct MachineResult {
    /// Fingerprint.
    pub fingerprint: Digest,
    /// Its processor.
    pub cpu: String,
    /// Mean log ratio of all its pairs, with its standard error.
    pub estimate: MachineEstimate,
    /// The blocks that it rests on.
    pub blocks: Vec<BlockResult>,
}

/// One REPORT or PROBE.
#[derive(Debug, Clone)]
pub struct BlockResult {
    /// The ledger, as the user named it.
    pub ledger: String,
    /// The campaign.
    pub campaign: String,
    /// REPORT or PROBE.
    pub phase: Phase,
    /// Digest of the measured code.
    pub code: Digest,
    /// The baseline: the fastest of that session.
    pub base: Role,
    /// What the block says by itself.
    pub outcome: Outcome,
    /// One log ratio per pair.
    pub pairs: Vec<LogRatio>,
    /// True if the machine was not quiet, or workers were not isolated as asked.
    pub exploratory: bool,
    /// Median time per call in each timed shape.
    pub times: Vec<CellTimes>,
}

/// Times in one timed shape, on their own machine.
#[derive(Debug, Clone)]
pub struct CellTimes {
    /// The shape.
    pub shape: String,
    /// Of the baseline.
    pub base: MachineTime,
    /// Of the code.
    pub code: MachineTime,
    /// Base over code.
    pub ratio: Ratio,
}

/// A campaign that says nothing of a gain.
#[derive(Debug, Clone)]
pub struct LeftOut {
    /// The ledger, as the user named it.
    pub ledger: String,
    /// The campaign.
    pub campaign: String,
    /// Its outcome.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
}

/// Why machines could not be put side by side.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// No campaign of the task in any ledger.
    #[error("the ledgers hold no campaign of {}", task.as_deref().unwrap_or("any task"))]
    NoCampaign {
        /// The task asked for.
        task: Option<String>,
    },
    /// A campaign differs from the first in what was asked.
    #[error(
        "{}: {ledger}, campaign {campaign}: its {what} is {found}, that of the first campaign ({first}) is {expected}",
        codes::MIXED
    )]
    Mixed {
        /// The ledger.
        ledger: String,
        /// The campaign.
        campaign: String,
        /// Task, shapes or protocol.
        what: &'static str,
        /// As found.
        found: String,
        /// As in the first campaign.
        expected: String,
        /// The ledger of the first campaign.
        first: String,
    },
    /// The same campaign was given twice.
    #[error("{}: campaign {campaign} is in {first} and again in {second}; each counts once", codes::MIXED)]
    Twice {
        /// The campaign.
        campaign: String,
        /// The first ledger.
        first: String,
        /// The second.
        second: String,
    },
    /// A deciding block lacks its session or an arm.
    #[error("{ledger}, campaign {campaign}: the deciding block has no {what}; `atb verify` names the first bad row")]
    Incomplete {
        /// The ledger.
        ledger: String,
        /// The campaign.
        campaign: String,
        /// What is missing.
        what: &'static str,
    },
    /// A machine's pairs do not scatter, or are too few.
    #[error("failed to sum up machine {}", fingerprint.short())]
    Machine {
        /// The machine.
        fingerprint: Digest,
        /// Why.
        source: PoolingError,
    },
    /// The machines could not be pooled.
    #[error("failed to pool the machines")]
    Pooling(#[from] PoolingError),
    /// Times of two machines met.
    #[error("failed to show the times of a block")]
    Time(#[from] MachineTimeError),
}

/// Puts campaigns side by side; only those of `task`, if it is named.
pub fn derive(given: Vec<Given>, task: Option<&str>) -> Result<TransferReport, TransferError> {
    let of_task = |given: &Given| task.is_none_or(|task| given.report.registered.body.task_id == task);
    let given: Vec<Given> = given.into_iter().filter(of_task).collect();
    let Some(first) = given.first() else {
        return Err(TransferError::NoCampaign { task: task.map(str::to_owned) });
    };
    one_question(&given)?;
    let mut machines: Vec<(Digest, String, Vec<BlockResult>)> = Vec::new();
    let mut left_out = Vec::new();
    for given in &given {
        match result(given)? {
            Ok((fingerprint, cpu, block)) => match machines.iter_mut().find(|(known, ..)| *known == fingerprint) {
                Some((_, _, blocks)) => blocks.push(block),
                None => machines.push((fingerprint, cpu, vec![block])),
            },
            Err(reason) => left_out.push(reason),
        }
    }
    let machines: Vec<MachineResult> = machines.into_iter().map(sum_up).collect::<Result<_, _>>()?;
    let confidence = first.report.protocol.statistics_confidence();
    let pooled = match machines.len() {
        0..MIN_MACHINES => None,
        _ => Some(Pooled::of(&machines.iter().map(|m| m.estimate).collect::<Vec<_>>(), confidence)?),
    };
    Ok(TransferReport {
        task: first.report.registered.body.task_id.clone(),
        protocol: first.report.protocol.id().to_owned(),
        confidence,
        verdict: verdict(pooled.as_ref(), &left_out),
        machines,
        left_out,
        pooled,
    })
}

impl TransferReport {
    /// True if all machines measured the same code; else the question is what a campaign gains, not what a code does.
    pub fn one_code(&self) -> bool {
        let mut codes = self.machines.iter().flat_map(|m| &m.blocks).map(|block| block.code);
        let first = codes.next();
        codes.all(|code| Some(code) == first)
    }

    /// True if any result is exploratory.
    pub fn exploratory(&self) -> bool {
        self.machines.iter().flat_map(|m| &m.blocks).any(|block| block.exploratory)
    }
}

impl MachineResult {
    /// Pairs of all its blocks.
    pub fn pairs(&self) -> usize {
        self.blocks.iter().map(|block| block.pairs.len()).sum()
    }
}

impl LeftOut {
    /// True if the campaign ran and had no gain to show; false if the instrument or the user ended it, whatever the gain.
    pub fn is_selective(&self) -> bool {
        let no_answer = matches!(
            self.outcome,
            Outcome::Void(_)
                | Outcome::NotQuiet
                | Outcome::NotDelivered
                | Outcome::HarnessError(_)
                | Outcome::Cancelled
        );
        !no_answer
    }
}

/// The statistic's verdict. Where campaigns without a gain are left out, the others are no sample, and no gain is claimed
/// for machines in general.
fn verdict(pooled: Option<&Pooled>, left_out: &[LeftOut]) -> Transfer {
    match pooled.map_or(Transfer::PerBoxOnly, Pooled::transfer) {
        Transfer::Transfers if left_out.iter().any(LeftOut::is_selective) => Transfer::Undetermined,
        verdict => verdict,
    }
}

/// Refuses campaigns that differ from the first in task, shapes or protocol, and one that comes twice.
fn one_question(given: &[Given]) -> Result<(), TransferError> {
    let asked = |given: &Given| {
        let body = &given.report.registered.body;
        [
            ("task", format!("{} {}", body.task_id, body.task.short())),
            ("list of shapes", body.shapes.join(", ")),
            ("protocol", format!("{} {}", given.report.protocol.id(), given.report.protocol_digest.short())),
        ]
    };
    for (at, later) in given.iter().enumerate().skip(1) {
        let campaign = || later.report.registered.body.id.clone();
        let same = |earlier: &&Given| earlier.report.registered.hash == later.report.registered.hash;
        if let Some(earlier) = given[..at].iter().find(same) {
            let (first, second) = (earlier.ledger.clone(), later.ledger.clone());
            return Err(TransferError::Twice { campaign: campaign(), first, second });
        }
        let differs = asked(later).into_iter().zip(asked(&given[0])).find(|(found, expected)| found != expected);
        if let Some(((what, found), (_, expected))) = differs {
            let (ledger, first) = (later.ledger.clone(), given[0].ledger.clone());
            return Err(TransferError::Mixed { ledger, campaign: campaign(), what, found, expected, first });
        }
    }
    Ok(())
}

/// A machine and the block that it adds.
type Found = (Digest, String, BlockResult);

/// What a campaign adds to its machine, or why it adds nothing.
fn result(given: &Given) -> Result<Result<Found, LeftOut>, TransferError> {
    let report = &given.report;
    let campaign = &report.registered.body.id;
    let outcome = report.outcome();
    let (Some(headline), Some(block), true) =
        (&report.conclusion.headline, report.deciding_block(), outcome.is_measured())
    else {
        let (ledger, campaign) = (given.ledger.clone(), campaign.clone());
        return Ok(Err(LeftOut { ledger, campaign, outcome, reason: report.conclusion.reason.clone() }));
    };
    let incomplete =
        |what| TransferError::Incomplete { ledger: given.ledger.clone(), campaign: campaign.clone(), what };
    let session = report.sessions.iter().find(|session| session.id == block.session);
    let machine = &session.ok_or_else(|| incomplete("session"))?.machine;
    let result = BlockResult {
        ledger: given.ledger.clone(),
        campaign: campaign.clone(),
        phase: block.phase,
        code: block.arm(headline.judged).ok_or_else(|| incomplete("measured arm"))?.source,
        base: headline.base,
        outcome,
        pairs: headline.pairs.clone(),
        exploratory: report.exploratory,
        times: times(block, headline, machine.fingerprint)?.ok_or_else(|| incomplete("baseline"))?,
    };
    Ok(Ok((machine.fingerprint, machine.cpu.clone(), result)))
}

/// Median times of the two arms, shape by shape; none if an arm is missing.
fn times(
    block: &BlockReport,
    headline: &Comparison,
    machine: Digest,
) -> Result<Option<Vec<CellTimes>>, MachineTimeError> {
    let Some((base, code)) = block.arm(headline.base).zip(block.arm(headline.judged)) else { return Ok(None) };
    let cells = block.shapes.iter().zip(base.cells.iter().zip(&code.cells));
    let times = cells.map(|(shape, (base, code))| {
        let (base, code) = (MachineTime::new(machine, base.median()), MachineTime::new(machine, code.median()));
        Ok(CellTimes { shape: shape.clone(), base, code, ratio: base.ratio_over(code)? })
    });
    times.collect::<Result<Vec<_>, _>>().map(Some)
}

fn sum_up((fingerprint, cpu, blocks): (Digest, String, Vec<BlockResult>)) -> Result<MachineResult, TransferError> {
    let pairs: Vec<LogRatio> = blocks.iter().flat_map(|block| &block.pairs).copied().collect();
    let estimate =
        MachineEstimate::of_pairs(&pairs).map_err(|source| TransferError::Machine { fingerprint, source })?;
    Ok(MachineResult { fingerprint, cpu, estimate, blocks })
}

#[cfg(test)]
mod tests;
