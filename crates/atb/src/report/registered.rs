//! Registered comparisons: all registrations of the ledger, and the outcome of the one that a campaign runs.

use std::collections::BTreeMap;

use atb_core::entry::{AbandonBody, CampaignBody, CloseBody, Phase, RegistrationBody};
use atb_core::outcome::{Inconclusive, Outcome};

use super::comparison::Comparison;
use super::conclusion::{Conclusion, reason_of, times};
use super::gate::Stops;
use super::records::{Records, of_kind};
use super::search::outcome_of;
use super::{LedgerRows, ReportError, text};

/// What became of a registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistrationStanding {
    /// Nothing has run.
    Open,
    /// This campaign runs it, or was interrupted.
    Running(String),
    /// This campaign ran it to its end.
    Finished(String),
    /// It was ended without a result, for this reason.
    Abandoned(String),
}

impl RegistrationStanding {
    /// One word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Running(_) => "running",
            Self::Finished(_) => "finished",
            Self::Abandoned(_) => "abandoned",
        }
    }

    /// With the campaign, or the reason.
    pub fn words(&self) -> String {
        match self {
            Self::Open => self.name().to_owned(),
            Self::Running(campaign) | Self::Finished(campaign) => {
                format!("{}, campaign {}", self.name(), text::clean(campaign, 20))
            }
            Self::Abandoned(reason) => format!("abandoned: {}", text::clean(reason, 120)),
        }
    }
}

/// A registration of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrationReport {
    /// Position in the ledger.
    pub seq: i64,
    /// Hash of the row.
    pub hash: String,
    /// What was registered. Its texts are whoever wrote the file's: show them cleaned.
    pub body: RegistrationBody,
    /// What became of it.
    pub standing: RegistrationStanding,
}

impl RegistrationReport {
    /// Id, standing, task and hypothesis in one line.
    pub fn line(&self) -> String {
        let body = &self.body;
        let (task, hypothesis) = (text::clean(&body.task_id, 40), text::clean(&body.hypothesis, 160));
        format!("{}  {}; {task}: {hypothesis}", text::clean(&body.id, 20), self.standing.words())
    }
}

/// All registrations of a ledger in order: none can be left out of a report.
pub fn registrations(rows: &LedgerRows) -> Result<Vec<RegistrationReport>, ReportError> {
    let mut abandoned = BTreeMap::new();
    for read in of_kind::<AbandonBody>(rows) {
        let (_, body) = read?;
        abandoned.insert(body.registration, body.reason);
    }
    let mut closed = Vec::new();
    for read in of_kind::<CloseBody>(rows) {
        closed.push(read?.1.campaign);
    }
    let mut campaigns = BTreeMap::new();
    for read in of_kind::<CampaignBody>(rows) {
        let (_, body) = read?;
        campaigns.insert(body.registration, body.id);
    }
    let read = of_kind::<RegistrationBody>(rows).map(|read| {
        let (row, body) = read?;
        let standing = match (abandoned.get(&body.id), campaigns.get(&body.id)) {
            (Some(reason), _) => RegistrationStanding::Abandoned(reason.clone()),
            (None, None) => RegistrationStanding::Open,
            (None, Some(campaign)) if closed.contains(campaign) => RegistrationStanding::Finished(campaign.clone()),
            (None, Some(campaign)) => RegistrationStanding::Running(campaign.clone()),
        };
        Ok(RegistrationReport { seq: row.seq, hash: row.hash.clone(), body, standing })
    });
    read.collect()
}

/// The second arm over the first, from the one block of a registered comparison or of an A/A campaign.
pub(super) fn conclude(records: &Records, stops: &Stops) -> Result<Conclusion, ReportError> {
    let phase = if records.is_comparison() { Phase::Compare } else { Phase::Same };
    if let Some(fault) = records.faults.last() {
        let outcome = outcome_of(&fault.outcome, &fault.code)?;
        let arm = records.candidates.iter().find(|candidate| candidate.source == fault.candidate);
        let arm = arm.map_or("an arm", |candidate| candidate.note.as_str());
        let (code, detail) = (text::clean(&fault.code, 8), text::clean(&fault.detail, 400));
        let reason = format!("the {} ended before it was measured: {code}: {detail}", text::clean(arm, 20));
        return Ok(Conclusion::without_block(outcome, reason));
    }
    let Some(stored) = records.phase(phase).last() else {
        let (why, reason) = match records.too_noisy(phase).count() {
            0 => (Inconclusive::N, "nothing was measured".to_owned()),
            noisy => (Inconclusive::Noise, format!("the block was refused for noise, {}", times(noisy))),
        };
        return Ok(Conclusion::without_block(Outcome::Inconclusive(why), reason));
    };
    let comparison = Comparison::of(&stored.body, 0, 1, &records.protocol)?;
    let least = records.registration().map_or(0, |registration| registration.body.min_pairs);
    let stopped = stored.body.arms.get(1).and_then(|arm| stops.outcome(stored.seq, arm.source));
    let (outcome, reason) = if (comparison.pairs.len() as u64) < least {
        let reason =
            format!("{} usable pairs are too few: {least} were registered as the least", comparison.pairs.len());
        (Outcome::Inconclusive(Inconclusive::N), reason)
    } else {
        let outcome = stopped.unwrap_or(comparison.outcome());
        (outcome, reason_of(outcome, &comparison, records))
    };
    let block = Some(stored.seq);
    Ok(Conclusion { block, headline: Some(comparison), ..Conclusion::without_block(outcome, reason) })
}
