//! The rows of one campaign as typed bodies. Medians are computed again from the windows, so a stated value cannot speak for them.

use std::collections::BTreeSet;

use atb_core::canon::Digest;
use atb_core::entry::{
    BaselineBody, BlockBody, Body, CampaignBody, CandidateBody, Chain, CloseBody, FaultBody, KeepBody, Phase,
    ProtocolBody, RefusalBody, Row, SessionBody,
};
use atb_core::gates::Ruled;
use atb_core::protocol::Protocol;
use atb_core::quantity::Nanos;
use atb_core::stats::summary::twice_median;

use super::{Effort, LedgerRows, RefusalReport, Registered, RegistrationReport, ReportError};

/// A block with its place.
#[derive(Debug, Clone)]
pub(super) struct StoredBlock {
    pub(super) seq: i64,
    pub(super) at_ms: i64,
    /// SHA-256 of the body as stored.
    pub(super) digest: Digest,
    /// The body, its values recomputed from its windows.
    pub(super) body: BlockBody,
    /// Values in the row that were not twice the median of their windows.
    pub(super) corrected: usize,
}

/// All rows of a campaign.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) registered: Registered,
    /// All registrations of the ledger.
    pub(super) registrations: Vec<RegistrationReport>,
    pub(super) protocol: Protocol,
    pub(super) sessions: Vec<SessionBody>,
    pub(super) baselines: Vec<BaselineBody>,
    pub(super) candidates: Vec<CandidateBody>,
    pub(super) faults: Vec<FaultBody>,
    pub(super) blocks: Vec<StoredBlock>,
    pub(super) keeps: Vec<KeepBody>,
    pub(super) close: Option<CloseBody>,
    pub(super) gates: Vec<Ruled>,
    pub(super) refusals: Vec<RefusalReport>,
    /// Refused blocks of this campaign that still parse, with the code that refused them.
    pub(super) refused_blocks: Vec<(String, BlockBody)>,
}

impl Records {
    pub(super) fn read(rows: &LedgerRows, id: &str) -> Result<Self, ReportError> {
        let registered = registered(rows, id)?;
        let blocks = stored_blocks(rows, id)?;
        let seqs: BTreeSet<i64> = blocks.iter().map(|stored| stored.seq).collect();
        let refusals = refusals(rows, id)?;
        let refused_blocks = refusals.iter().filter_map(|refusal| refused_block(&refusal.body)).collect();
        Ok(Self {
            protocol: protocol(rows, registered.body.protocol)?,
            sessions: of_campaign(rows, |body: &SessionBody| body.campaign == id)?,
            baselines: of_campaign(rows, |body: &BaselineBody| body.campaign == id)?,
            candidates: of_campaign(rows, |body: &CandidateBody| body.campaign == id)?,
            faults: of_campaign(rows, |body: &FaultBody| body.campaign == id)?,
            keeps: of_campaign(rows, |body: &KeepBody| body.campaign == id)?,
            close: of_campaign(rows, |body: &CloseBody| body.campaign == id)?.pop(),
            gates: stored_gates(rows, &seqs)?,
            registrations: super::registrations(rows)?,
            registered,
            blocks,
            refusals,
            refused_blocks,
        })
    }

    /// True for the campaign of a registered comparison.
    pub(super) fn is_comparison(&self) -> bool {
        self.registered.body.command == "compare"
    }

    /// The registration that the campaign runs.
    pub(super) fn registration(&self) -> Option<&RegistrationReport> {
        let id = &self.registered.body.registration;
        self.registrations.iter().find(|registration| registration.body.id == *id)
    }

    /// True if the campaign compares two arms in one block, and searches nothing.
    pub(super) fn is_of_two_arms(&self) -> bool {
        super::is_of_two_arms(&self.registered.body)
    }

    /// Admitted blocks of a phase in order.
    pub(super) fn phase(&self, phase: Phase) -> impl Iterator<Item = &StoredBlock> {
        self.blocks.iter().filter(move |stored| stored.body.phase == phase)
    }

    /// Blocks of a phase that were refused for noise, in order: scatter over the cap, or windows too short.
    pub(super) fn too_noisy(&self, phase: Phase) -> impl Iterator<Item = &BlockBody> {
        let noise = [atb_core::codes::CV_CAP, atb_core::codes::WINDOW_FLOOR].map(|code| code.to_string());
        let refused = self.refused_blocks.iter();
        refused.filter(move |(code, body)| noise.contains(code) && body.phase == phase).map(|(_, body)| body)
    }

    pub(super) fn session(&self, id: &str) -> Option<&SessionBody> {
        self.sessions.iter().find(|session| session.id == id)
    }

    pub(super) fn effort(&self) -> Effort {
        let mut effort = Effort::default();
        for run in self.blocks.iter().flat_map(|stored| &stored.body.runs) {
            effort.runs += 1;
            for cell in &run.cells {
                effort.windows += cell.windows.len() as u64;
                let time = cell.windows.iter().fold(effort.time.get(), |sum, window| sum.saturating_add(*window));
                effort.time = Nanos::new(time);
            }
        }
        effort.refused_runs = self.refused_blocks.iter().map(|(_, body)| body.runs.len() as u64).sum();
        effort
    }
}

fn parse<B: Body>(chain: Chain, row: &Row) -> Result<B, ReportError> {
    let table = chain.table();
    serde_json::from_str(&row.body).map_err(|source| ReportError::Body { table, seq: row.seq, source })
}

pub(super) fn of_kind<B: Body>(rows: &LedgerRows) -> impl Iterator<Item = Result<(&Row, B), ReportError>> {
    let rows = rows.entries.iter().filter(|row| row.kind == B::KIND);
    rows.map(|row| Ok((row, parse::<B>(Chain::Entry, row)?)))
}

fn of_campaign<B: Body>(rows: &LedgerRows, mine: impl Fn(&B) -> bool) -> Result<Vec<B>, ReportError> {
    let bodies: Result<Vec<B>, ReportError> = of_kind::<B>(rows).map(|read| read.map(|(_, body)| body)).collect();
    Ok(bodies?.into_iter().filter(mine).collect())
}

fn registered(rows: &LedgerRows, id: &str) -> Result<Registered, ReportError> {
    for read in of_kind::<CampaignBody>(rows) {
        let (row, body) = read?;
        if body.id == id {
            return Ok(Registered { seq: row.seq, hash: row.hash.clone(), at_ms: row.at_ms, body });
        }
    }
    Err(ReportError::UnknownCampaign { id: id.to_owned() })
}

fn protocol(rows: &LedgerRows, digest: Digest) -> Result<Protocol, ReportError> {
    for read in of_kind::<ProtocolBody>(rows) {
        let (row, body) = read?;
        if body.digest == digest {
            return Ok(Protocol::from_json(&format!("entry {}", row.seq), &body.protocol)?);
        }
    }
    Err(ReportError::NoProtocol { digest })
}

fn stored_blocks(rows: &LedgerRows, id: &str) -> Result<Vec<StoredBlock>, ReportError> {
    let mut blocks = Vec::new();
    for read in of_kind::<BlockBody>(rows) {
        let (row, mut body) = read?;
        if body.campaign == id {
            let corrected = recompute_medians(&mut body);
            let digest = Digest::of(row.body.as_bytes());
            blocks.push(StoredBlock { seq: row.seq, at_ms: row.at_ms, digest, body, corrected });
        }
    }
    Ok(blocks)
}

/// Replaces each value by twice the median of its windows; returns how many differed.
fn recompute_medians(block: &mut BlockBody) -> usize {
    let mut differing = 0;
    for cell in block.runs.iter_mut().flat_map(|run| &mut run.cells) {
        let windows: Vec<Nanos> = cell.windows.iter().copied().map(Nanos::new).collect();
        let value = twice_median(&windows).map_or(0, Nanos::get);
        differing += usize::from(value != cell.value);
        cell.value = value;
    }
    differing
}

fn stored_gates(rows: &LedgerRows, blocks: &BTreeSet<i64>) -> Result<Vec<Ruled>, ReportError> {
    let table = Chain::Gate.table();
    let mut gates = Ruled::read(&rows.gates).map_err(|(seq, source)| ReportError::Body { table, seq, source })?;
    gates.retain(|gate| i64::try_from(gate.body.block).is_ok_and(|block| blocks.contains(&block)));
    Ok(gates)
}

/// Refusals of this campaign. One that names no campaign of the ledger belongs to all, so that none is hidden.
fn refusals(rows: &LedgerRows, id: &str) -> Result<Vec<RefusalReport>, ReportError> {
    let campaigns: Vec<CampaignBody> = of_campaign(rows, |_: &CampaignBody| true)?;
    let mut refusals = Vec::new();
    for row in &rows.refusals {
        let body: RefusalBody = parse(Chain::Refusal, row)?;
        let named = campaign_of(&body);
        let known = campaigns.iter().any(|campaign| Some(&campaign.id) == named.as_ref());
        if named.as_deref() == Some(id) || !known {
            refusals.push(RefusalReport { seq: row.seq, body });
        }
    }
    Ok(refusals)
}

fn campaign_of(refusal: &RefusalBody) -> Option<String> {
    let refused: serde_json::Value = serde_json::from_str(&refusal.refused).ok()?;
    let field = if refusal.kind == CampaignBody::KIND { "id" } else { "campaign" };
    refused[field].as_str().map(str::to_owned)
}

fn refused_block(refusal: &RefusalBody) -> Option<(String, BlockBody)> {
    if refusal.kind != BlockBody::KIND {
        return None;
    }
    // A refused row may be anything; one that is no block only shows in the table of refusals.
    let body = serde_json::from_str(&refusal.refused).ok()?;
    Some((refusal.code.clone(), body))
}
