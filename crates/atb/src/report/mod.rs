//! The report of a campaign: a pure function of ledger rows.
//!
//! Every number is computed again from the raw samples, through [`atb_core::comparison`]; nothing here reads a stored verdict,
//! and nothing writes. Terminal, JSON and page show the same model and share [`number`], so they cannot disagree.

mod block;
mod comparison;
mod conclusion;
mod control;
#[cfg(test)]
pub(crate) mod fixture;
mod gate;
pub mod json;
pub mod number;
mod paper;
mod records;
mod registered;
mod search;
pub mod statement;
pub mod terminal;
#[cfg(test)]
mod tests;
pub mod text;

/// All rows of a ledger.
pub use atb_ledger::Chains as LedgerRows;
pub use block::{ArmCell, ArmReport, BlockReport};
pub use comparison::{CellRatio, Comparison};
pub use conclusion::{Check, Conclusion};
pub(crate) use control::failed_clock;
pub use control::{Control, Standing};
pub use gate::GateReport;
pub use paper::PaperReadout;
pub use registered::{RegistrationReport, RegistrationStanding, registrations};
pub use search::{CandidateReport, Confirmation, Fate};

use std::collections::BTreeSet;

use atb_core::anchor_class::{Anchor, Evidence, anchor};
use atb_core::canon::Digest;
use atb_core::comparison::ComparisonError;
use atb_core::document::DocumentError;
use atb_core::entry::{BaselineBody, CampaignBody, MachineBody, RefusalBody, Row, SessionBody};
use atb_core::outcome::Outcome;
use atb_core::protocol::Protocol;
use atb_core::quantity::{Nanos, QuantityError};
use atb_core::stats::cv::CvError;
use atb_core::stats::signed_rank::SignedRankError;

use records::Records;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The ledger has no such campaign.
    #[error("the ledger has no campaign `{id}`; `atb verify` says whether it is whole")]
    UnknownCampaign {
        /// What was asked for.
        id: String,
    },
    /// A row does not parse.
    #[error("row {seq} of table `{table}` does not parse; `atb verify` names the first bad row")]
    Body {
        /// The chain's table.
        table: &'static str,
        /// Position in the chain.
        seq: i64,
        /// The parser's message.
        source: serde_json::Error,
    },
    /// The protocol that the campaign cites is missing.
    #[error("the ledger does not hold the protocol {digest} that the campaign cites")]
    NoProtocol {
        /// Digest of the protocol.
        digest: Digest,
    },
    /// A fault row names an outcome or code that does not exist.
    #[error("the ledger names an unknown outcome `{outcome}` with code `{code}`")]
    UnknownOutcome {
        /// Outcome as written.
        outcome: String,
        /// Code as written.
        code: String,
    },
    /// The protocol row does not parse.
    #[error("failed to read the protocol row")]
    Protocol(#[from] DocumentError),
    /// A block gave no verdict.
    #[error("failed to compare the arms of a block")]
    Comparison(#[from] ComparisonError),
    /// The pairs gave no interval.
    #[error("failed to compute an interval")]
    Interval(#[from] SignedRankError),
    /// The runs gave no scatter.
    #[error("failed to compute a scatter")]
    Scatter(#[from] CvError),
    /// A number left its range.
    #[error("failed to state a quantity")]
    Quantity(#[from] QuantityError),
}

/// A row of the ledger that registered the campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// Position in the ledger.
    pub seq: i64,
    /// Hash of the row.
    pub hash: String,
    /// Wall time in milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// What was registered.
    pub body: CampaignBody,
}

/// A refused row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalReport {
    /// Position in the chain of refusals.
    pub seq: i64,
    /// What was refused, and why.
    pub body: RefusalBody,
}

/// What the campaign measured in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Effort {
    /// Runs in admitted blocks: fresh processes.
    pub runs: u64,
    /// Timed windows in admitted blocks.
    pub windows: u64,
    /// Sum of all timed windows.
    pub time: Nanos,
    /// Runs in blocks that the database refused; they decide nothing.
    pub refused_runs: u64,
}

/// Everything that terminal, JSON and page show of one campaign.
#[derive(Debug, Clone)]
pub struct CampaignReport {
    /// The registration.
    pub registered: Registered,
    /// The protocol.
    pub protocol: Protocol,
    /// Digest of the protocol, computed from the row.
    pub protocol_digest: Digest,
    /// Sessions in order.
    pub sessions: Vec<SessionBody>,
    /// Baselines in order, those of later sessions too.
    pub baselines: Vec<BaselineBody>,
    /// Candidates in the order in which they were proposed.
    pub candidates: Vec<CandidateReport>,
    /// Admitted blocks in order.
    pub blocks: Vec<BlockReport>,
    /// The outcome, and what it rests on.
    pub conclusion: Conclusion,
    /// Gate decisions on this campaign's blocks, passed ones too.
    pub gates: Vec<GateReport>,
    /// Refused rows of this campaign, and those that name no campaign of the ledger.
    pub refusals: Vec<RefusalReport>,
    /// Sources that were kept and not demoted or quarantined since.
    pub kept: Vec<Digest>,
    /// Sources that a gate other than the noise cap stopped.
    pub quarantined: BTreeSet<Digest>,
    /// Runs and windows.
    pub effort: Effort,
    /// How far the conclusion is tied down.
    pub anchor: Anchor,
    /// Who judged, such as `same-uid`; empty if no block was admitted.
    pub judge: String,
    /// Isolation of workers, such as `L1+uid0`; empty if there was no session.
    pub isolation: String,
    /// True if a block was measured although the machine was not quiet, or workers were not isolated as asked.
    pub exploratory: bool,
    /// `complete`, `interrupted`, `void` or `abandoned`; none if the campaign is still open.
    pub closed: Option<String>,
    /// All registrations of the ledger, whichever campaign this is: open and abandoned ones too.
    pub registrations: Vec<RegistrationReport>,
    /// Facts that limit what the result says, in sentences.
    pub notices: Vec<String>,
}

impl CampaignReport {
    /// The campaign's outcome.
    pub fn outcome(&self) -> Outcome {
        self.conclusion.outcome
    }

    /// True for `atb measure`: one candidate, one PROBE block.
    pub fn is_probe(&self) -> bool {
        self.registered.body.command == "measure"
    }

    /// True if two arms were compared in one block, and nothing was searched.
    pub fn is_of_two_arms(&self) -> bool {
        is_of_two_arms(&self.registered.body)
    }

    /// The registration that the campaign runs.
    pub fn registration(&self) -> Option<&RegistrationReport> {
        self.registrations.iter().find(|registration| registration.body.id == self.registered.body.registration)
    }

    /// States the anchor class by a signed checkpoint of the first `size` entries, if it covers all rows of the campaign.
    pub fn anchor_by(&mut self, rows: &LedgerRows, size: u64, evidence: Evidence) {
        let id = Some(self.registered.body.id.as_str());
        let of_campaign = |row: &Row| {
            let body: Result<serde_json::Value, _> = serde_json::from_str(&row.body);
            body.is_ok_and(|body| body["campaign"].as_str() == id)
        };
        let last = rows.entries.iter().rev().find(|row| of_campaign(row)).map_or(self.registered.seq, |row| row.seq);
        if u64::try_from(last).is_ok_and(|last| last <= size) {
            self.anchor = anchor(evidence, self.judge.split(", ").filter(|judge| !judge.is_empty()));
        }
    }

    /// The machine of the deciding block, else of the first session.
    pub fn machine(&self) -> Option<&MachineBody> {
        self.deciding_session().map(|session| &session.machine)
    }

    /// The machine in one line: processor and short fingerprint; `unknown` before the first session.
    pub fn machine_line(&self) -> String {
        self.machine().map_or_else(
            || "unknown".to_owned(),
            |machine| format!("{} ({})", text::clean(&machine.cpu, 80), machine.fingerprint.short()),
        )
    }

    /// The block that decided the outcome: REPORT, else the last CONFIRM; PROBE for `atb measure`.
    pub fn deciding_block(&self) -> Option<&BlockReport> {
        let seq = self.conclusion.block?;
        self.blocks.iter().find(|block| block.seq == seq)
    }

    fn deciding_session(&self) -> Option<&SessionBody> {
        let of_block = self.deciding_block().and_then(|block| self.sessions.iter().find(|s| s.id == block.session));
        of_block.or_else(|| self.sessions.first())
    }
}

fn is_of_two_arms(campaign: &CampaignBody) -> bool {
    matches!(campaign.command.as_str(), "compare" | "self")
}

/// Derives a campaign's report from the ledger.
pub fn derive(rows: &LedgerRows, campaign: &str) -> Result<CampaignReport, ReportError> {
    let records = Records::read(rows, campaign)?;
    let blocks = records.blocks.iter().map(|stored| BlockReport::of(stored, &records.protocol));
    let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
    let gates = gate::reports(&records)?;
    let stops = gate::Stops::of(&records, &gates)?;
    let conclusion = conclusion::conclude(&records, &stops, &gates)?;
    let candidates = search::candidates(&records, &stops, &conclusion)?;
    let fated = |fate: Fate| move |candidate: &&CandidateReport| candidate.fate == fate;
    let kept = candidates.iter().filter(fated(Fate::Kept)).map(|candidate| candidate.body.source).collect();
    let distinct = |texts: &mut dyn Iterator<Item = &str>| {
        texts.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
    };
    let judges: BTreeSet<&str> = records.blocks.iter().map(|stored| stored.body.judge.as_str()).collect();
    Ok(CampaignReport {
        anchor: anchor(Evidence::Chain, judges),
        judge: distinct(&mut records.blocks.iter().map(|stored| stored.body.judge.as_str())),
        isolation: distinct(&mut records.sessions.iter().map(|session| session.isolation.as_str())),
        exploratory: records.blocks.iter().any(|stored| !stored.body.quiet),
        closed: records.close.as_ref().map(|close| close.reason.clone()),
        effort: records.effort(),
        notices: conclusion::notices(&records, &conclusion, &gates),
        protocol_digest: records.protocol.digest(),
        quarantined: stops.quarantined(),
        refusals: records.refusals,
        registrations: records.registrations,
        registered: records.registered,
        protocol: records.protocol,
        sessions: records.sessions,
        baselines: records.baselines,
        candidates,
        blocks,
        conclusion,
        gates,
        kept,
    })
}
