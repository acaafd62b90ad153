//! Rules of registered comparisons: of their own rows, and of the campaigns, sessions and blocks that run them.

use atb_core::codes;
use atb_core::entry::{Chain, Row};
use atb_core::registration::{ACCEPT, DELIVERY, LADDER, PAIRS_MAX, READOUT, SAME_MAX_MS, STOP, reachable};
use serde_json::Value;

use super::state::Campaign;
use super::{Rule, State, hold, list, text};

/// What an arm may be made from.
const KINDS: [&str; 4] = ["file", "naive", "compiler", "vendor"];

/// A registration can be answered, rests on an A/A block of its machine, and is the only open one of its question.
pub(super) fn check(state: &State, row: &Row, body: &Value) -> Rule {
    let protocol = text(body, "protocol");
    hold(state.protocols.contains_key(protocol), codes::UNKNOWN_PROTOCOL)?;
    hold(state.has(Chain::Entry, "task", text(body, "task")), codes::CITATION)?;
    let fixed = [("readout", READOUT), ("ladder", LADDER), ("delivery", DELIVERY), ("stop_rule", STOP)];
    let known = fixed.iter().all(|(key, value)| text(body, key) == *value) && !list(body, "shapes").is_empty();
    hold(known && arms_fit(list(body, "arms")), codes::REGISTRATION)?;
    hold(ladder_fits(state, protocol, body), codes::REGISTRATION)?;
    hold(rests_on_same(state, row, body), codes::SAME_BLOCK)?;
    hold(has_power(body), codes::UNDERPOWERED)?;
    let twin = |(id, other): (&String, &Value)| question(other) == question(body) && is_open(state, id);
    hold(!state.registrations.iter().any(twin), codes::OPEN_QUESTION)
}

fn arms_fit(arms: &[Value]) -> bool {
    let [control, treatment] = arms else { return false };
    text(control, "role") == "control"
        && text(treatment, "role") == "treatment"
        && [control, treatment].iter().all(|arm| KINDS.contains(&text(arm, "kind")))
        && text(control, "source") != text(treatment, "source")
}

/// Pairs within range, levels as the protocol writes them, and a confidence that the least pairs can reach.
fn ladder_fits(state: &State, protocol: &str, body: &Value) -> bool {
    let fields = state.protocols.get(protocol).map_or(&Value::Null, |protocol| &protocol["fields"]);
    let same = |key: &str| fields[format!("statistics.{key}")]["value"].as_str() == Some(text(body, key));
    let number = |key: &str| body[key].as_i64().unwrap_or(0);
    let (pairs, least) = (number("pairs"), number("min_pairs"));
    let floor = fields["replication.min_usable_pairs"]["value"].as_i64();
    let confidence = text(body, "confidence").parse::<f64>();
    ["delta", "confidence", "confidence_equivalence"].iter().all(|key| same(key))
        && floor.is_some_and(|floor| least >= floor)
        && (least..=i64::try_from(PAIRS_MAX).unwrap_or(0)).contains(&pairs)
        && confidence.is_ok_and(|confidence| reachable(u64::try_from(least).unwrap_or(0), confidence))
}

fn rests_on_same(state: &State, row: &Row, body: &Value) -> bool {
    let Some(block) = body["same"].as_i64().and_then(|seq| state.blocks.get(&seq)) else { return false };
    let campaign = state.campaigns.get(&block.campaign);
    let session = state.sessions.get(&block.session);
    block.phase == "same"
        && session.is_some_and(|session| session.fingerprint == text(body, "machine"))
        && campaign.is_some_and(|campaign| {
            campaign.task == text(body, "task")
                && campaign.protocol == text(body, "protocol")
                && campaign.shapes == body["shapes"]
        })
        && row.at_ms - block.at_ms <= SAME_MAX_MS
}

fn has_power(body: &Value) -> bool {
    let mde = text(body, "mde");
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    // One point, a digit first and one after it.
    let plain = mde
        .split_once('.')
        .is_some_and(|(whole, rest)| !whole.is_empty() && !rest.is_empty() && digits(whole) && digits(rest));
    let within = mde.parse::<f64>().ok().zip(text(body, "delta").parse::<f64>().ok());
    let accepted = text(body, "underpowered").strip_prefix(ACCEPT).is_some_and(|reason| !reason.is_empty());
    plain && (within.is_some_and(|(mde, delta)| mde <= delta) || accepted)
}

/// What two registrations share if they ask the same: task, protocol, shapes and both sources.
fn question(body: &Value) -> (&str, &str, &Value, Vec<&str>) {
    let sources = list(body, "arms").iter().map(|arm| text(arm, "source")).collect();
    (text(body, "task"), text(body, "protocol"), &body["shapes"], sources)
}

fn is_finished(state: &State, id: &str) -> bool {
    state.campaigns.values().any(|campaign| campaign.registration == id && campaign.closed)
}

fn is_open(state: &State, id: &str) -> bool {
    !state.has(Chain::Entry, "abandon", id) && !is_finished(state, id)
}

pub(super) fn check_abandon(state: &State, id: &str) -> Rule {
    hold(state.registrations.contains_key(id), codes::CITATION)?;
    hold(!is_finished(state, id), codes::REGISTRATION_SPENT)
}

/// A comparison, and nothing else, cites a registration before it, once, and is what was registered.
pub(super) fn check_campaign(state: &State, body: &Value) -> Rule {
    let id = text(body, "registration");
    if text(body, "command") != "compare" {
        return hold(id.is_empty(), codes::UNREGISTERED);
    }
    let registered = state.registrations.get(id).ok_or(codes::UNREGISTERED)?;
    let used = state.campaigns.values().any(|campaign| campaign.registration == id);
    hold(!used && !state.has(Chain::Entry, "abandon", id), codes::REGISTRATION_SPENT)?;
    let same = ["task", "protocol", "shapes"].iter().all(|key| registered[*key] == body[*key]);
    hold(same && registered["pairs"] == body["iterations"], codes::NOT_AS_REGISTERED)
}

pub(super) fn check_session(state: &State, registration: &str, body: &Value) -> Rule {
    let Some(registered) = state.registrations.get(registration) else { return Ok(()) };
    let fits = registered["machine"] == body["machine"]["fingerprint"] && registered["harness"] == body["harness"];
    hold(fits, codes::NOT_AS_REGISTERED)
}

/// The phase is that of the campaign's command, and the registration still stands.
pub(super) fn check_block(state: &State, campaign: &Campaign, body: &Value) -> Rule {
    let phase = text(body, "phase");
    let fits =
        (phase == "same") == (campaign.command == "self") && (phase == "compare") == (campaign.command == "compare");
    hold(fits && (phase != "compare" || registered(state, campaign).is_some()), codes::UNREGISTERED)?;
    let abandoned = phase == "compare" && state.has(Chain::Entry, "abandon", &campaign.registration);
    hold(!abandoned, codes::REGISTRATION_SPENT)
}

/// The arms are the registered sources, and their machine code differs.
pub(super) fn check_arms(state: &State, campaign: &Campaign, body: &Value) -> Rule {
    if text(body, "phase") != "compare" {
        return Ok(());
    }
    let sources = |value: &Value| -> Vec<String> {
        list(value, "arms").iter().map(|arm| text(arm, "source").to_owned()).collect()
    };
    let fits = registered(state, campaign).is_some_and(|registered| sources(registered) == sources(body));
    hold(fits, codes::NOT_AS_REGISTERED)?;
    let arms = list(body, "arms");
    hold(matches!(arms, [a, b] if text(a, "artefact") != text(b, "artefact")), codes::NOT_DELIVERED)
}

/// The registered number of pairs of a campaign's comparison.
pub(super) fn pairs(state: &State, campaign: &Campaign, body: &Value) -> Option<f64> {
    let registered = registered(state, campaign).filter(|_| text(body, "phase") == "compare")?;
    registered["pairs"].as_f64()
}

fn registered<'s>(state: &'s State, campaign: &Campaign) -> Option<&'s Value> {
    state.registrations.get(&campaign.registration)
}
