//! What rows cite must be there, and fit.

use std::collections::BTreeSet;

use atb_core::codes;
use atb_core::entry::{Chain, Row};
use serde_json::Value;

use super::{Rule, State, hold, list, registration, text};

/// Citations of a row of the chain `entry`.
pub(super) fn check(state: &State, row: &Row, body: &Value) -> Rule {
    let kind = row.kind.as_str();
    if kind == "protocol" {
        return hold(!state.protocol_ids.contains(text(body, "id")), codes::FROZEN_PROTOCOL);
    }
    if kind == "campaign" {
        hold(state.protocols.contains_key(text(body, "protocol")), codes::UNKNOWN_PROTOCOL)?;
        hold(state.has(Chain::Entry, "task", text(body, "task")), codes::CITATION)?;
        return registration::check_campaign(state, body);
    }
    match kind {
        "task" => return Ok(()),
        "registration" => return registration::check(state, row, body),
        "abandon" => return registration::check_abandon(state, &row.key),
        _ => {}
    }
    let campaign_id = text(body, "campaign");
    let campaign = state.campaigns.get(campaign_id).ok_or(codes::CITATION)?;
    hold(kind == "close" || !campaign.closed, codes::CLOSED)?;
    if matches!(kind, "baseline" | "block") {
        let session = state.sessions.get(text(body, "session"));
        hold(session.is_some_and(|session| session.campaign == campaign_id), codes::CITATION)?;
    }
    match kind {
        "fault" => hold(state.has(Chain::Entry, "candidate", &row.key), codes::CITATION),
        "candidate" => hold(campaign.parent() == Some(text(body, "parent")), codes::CITATION),
        "keep" => {
            hold(campaign.parent() == Some(text(body, "parent")), codes::CITATION)?;
            check_keep(state, body)
        }
        "close" => check_close(state, body),
        "session" => registration::check_session(state, &campaign.registration, body),
        _ => Ok(()),
    }
}

fn check_keep(state: &State, body: &Value) -> Rule {
    let block = body["block"].as_i64().and_then(|seq| state.blocks.get(&seq)).ok_or(codes::CITATION)?;
    let has = |role: &str, source: &str| block.arms.iter().any(|(r, s)| r == role && s == source);
    hold(
        block.phase == "confirm"
            && block.campaign == text(body, "campaign")
            && has("parent", text(body, "parent"))
            && has("candidate", text(body, "candidate")),
        codes::CITATION,
    )
}

fn check_close(state: &State, body: &Value) -> Rule {
    for (chain, count, head) in [(Chain::Gate, "gates", "gates_head"), (Chain::Refusal, "refusals", "refusals_head")] {
        let hashes = &state.head(chain).hashes;
        let stated = body[count].as_u64().and_then(|count| usize::try_from(count).ok()).ok_or(codes::CITATION)?;
        let fits = if state.replay { stated <= hashes.len() } else { stated == hashes.len() };
        let hash = match stated.checked_sub(1) {
            None => Some("0".repeat(64)),
            Some(last) => hashes.get(last).cloned(),
        };
        hold(fits && hash.as_deref() == Some(text(body, head)), codes::CITATION)?;
    }
    let revealed: Vec<&str> = list(body, "keys").iter().map(|key| text(key, "session")).collect();
    let distinct: BTreeSet<&str> = revealed.iter().copied().collect();
    let campaign = text(body, "campaign");
    let mine = state.sessions.iter().filter(|(_, session)| session.campaign == campaign);
    let sessions: BTreeSet<&str> = mine.map(|(id, _)| id.as_str()).collect();
    hold(distinct.len() == revealed.len() && distinct == sessions, codes::CITATION)
}

/// A ruling cites a decision that a gate did not pass, and says who and why. Noise is measured again, never released.
pub(super) fn check_ruling(state: &State, body: &Value) -> Rule {
    let gate = body["gate"].as_i64().unwrap_or(0);
    let decided = state.decisions.get(&gate).ok_or(codes::CITATION)?;
    let open = matches!(decided.decision.as_str(), "flag" | "quarantine") && decided.code != codes::CV_CAP.to_string();
    let said = |name: &str| !text(body, name).trim_matches(' ').is_empty();
    hold(open && said("by") && said("reason") && body["number"].as_i64() == Some(1 + decided.rulings), codes::RULING)
}

/// A gate decision cites an arm of a block.
pub(super) fn check_gate(state: &State, body: &Value) -> Rule {
    // In a replay the entries come after the gates; verify checks them once all blocks are known.
    let block = body["block"].as_i64().and_then(|seq| state.blocks.get(&seq));
    let cites = |block: &super::state::Block| {
        block.arms.iter().any(|(role, source)| role == text(body, "role") && source == text(body, "candidate"))
    };
    hold(state.replay || block.is_some_and(cites), codes::CITATION)
}
