//! Rules of blocks: arms, pairs, runs, windows, checks and scatter, all from the raw samples.

use std::collections::{BTreeMap, BTreeSet};

use atb_core::codes;
use atb_core::control::{CANARY_RUNNING, delay_holds, handoff_holds};
use atb_core::entry::{Chain, Row};
use serde_json::Value;

use super::state::Session;
use super::{Rule, State, hold, list, registration, text};

/// Longest window that is believed, in ns.
const WINDOW_MAX_NS: i64 = 1_000_000_000_000;

pub(super) fn check(state: &State, row: &Row, body: &Value) -> Rule {
    let protocol = text(body, "protocol");
    hold(state.protocols.contains_key(protocol), codes::UNKNOWN_PROTOCOL)?;
    let campaign = state.campaigns.get(text(body, "campaign")).ok_or(codes::CITATION)?;
    hold(campaign.task == text(body, "task") && campaign.protocol == protocol, codes::CITATION)?;
    let limit = |field: &str| state.limit(protocol, field);
    let session = state.sessions.get(text(body, "session")).ok_or(codes::SESSION_EXPIRED)?;
    let minutes = limit("session.minutes_max").ok_or(codes::SESSION_EXPIRED)?;
    hold((row.at_ms - session.at_ms) as f64 <= 60_000.0 * minutes, codes::SESSION_EXPIRED)?;
    check_controls(session, &limit)?;
    check_isolation(session, body, &limit)?;
    check_order(state, row, body)?;
    registration::check_block(state, campaign, body)?;
    check_arms(state, body)?;
    registration::check_arms(state, campaign, body)?;
    check_pairs(body, &limit, registration::pairs(state, campaign, body))?;
    check_runs(body)?;
    check_cells(body, &limit)?;
    check_windows(body, &limit)?;
    check_checks(state, body, &limit)?;
    check_scatter(body, &limit)?;
    let fresh = list(body, "seeds").iter().all(|seed| seed.as_str().is_some_and(|seed| !state.seeds.contains(seed)));
    hold(fresh, codes::SEED_REUSED)
}

type Limit<'l> = &'l dyn Fn(&str) -> Option<f64>;

/// The clock's own controls, as the session states them.
fn check_controls(session: &Session, limit: Limit<'_>) -> Rule {
    let share = |field: &str| limit(field).ok_or(codes::CONTROL);
    let floor_us = share("kernel.window_floor_us")?;
    let handoff = handoff_holds(session.handoff_ns as f64, floor_us, share("session.handoff_max")?);
    let delay = delay_holds(session.delay_ns as f64, share("session.delay_tolerance")?);
    hold(handoff && delay, codes::CONTROL)
}

/// Of the jail that the session's canary saw, and of the protocol's level unless the row is exploratory.
fn check_isolation(session: &Session, body: &Value, limit: Limit<'_>) -> Rule {
    let least = limit("isolation.level_min").ok_or(codes::ISOLATION)?;
    let (isolation, canary) = (text(body, "isolation"), text(body, "canary"));
    let level = match isolation.as_bytes() {
        [b'L', level @ b'0'..=b'5'] | [b'L', level @ b'0'..=b'5', b'+', ..] => Some(f64::from(level - b'0')),
        _ => None,
    };
    let is_vector = canary.len() == 32 && canary.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let seen = isolation == session.isolation && canary == session.canary && is_vector;
    let enough = level.is_some_and(|level| body["quiet"] == false || level >= least);
    // The level is what was refused, and layers that were left out on purpose make a row exploratory.
    let earned = level.is_some_and(|level| level < 2.0 || canary.get(16..) == Some(CANARY_RUNNING));
    let whole = body["quiet"] == false || !(isolation.contains("+unfrozen") || isolation.contains("+no-gap-audit"));
    hold(seen && enough && earned && whole, codes::ISOLATION)
}

fn check_order(state: &State, row: &Row, body: &Value) -> Rule {
    let (campaign, phase) = (text(body, "campaign"), text(body, "phase"));
    let number = body["index"].as_i64().unwrap_or(0);
    let known = ["screen", "confirm", "report", "probe", "compare", "same"].contains(&phase) && number >= 1;
    let follows = state.blocks.values().all(|block| {
        let once = ["report", "compare", "same"].contains(&phase);
        block.campaign != campaign || block.phase != phase || (block.number < number && !once)
    });
    let refused = state.noisy.get(&row.key).copied().unwrap_or(0);
    let attempt = refused <= 1 && body["attempt"].as_i64() == Some(1 + refused);
    hold(known && follows && attempt, codes::BLOCK_ORDER)
}

fn check_arms(state: &State, body: &Value) -> Rule {
    let arms: Vec<(&str, &str)> =
        list(body, "arms").iter().map(|arm| (text(arm, "role"), text(arm, "source"))).collect();
    let roles = arms.iter().map(|(role, _)| *role).collect::<Vec<_>>().join(" ");
    let fits = match text(body, "phase") {
        "screen" => roles.starts_with("parent candidate") && roles.replace(" candidate", "") == "parent",
        "confirm" => roles == "parent candidate",
        "report" => {
            roles == "head head_again head_slow compiler naive"
                || roles == "head head_again head_slow compiler naive vendor"
        }
        "compare" => roles == "control treatment",
        "same" => roles == "control control_again",
        "probe" => roles == "candidate compiler naive" || roles == "candidate compiler naive vendor",
        _ => false,
    };
    let sources = |of: &[&str]| -> Vec<&str> {
        arms.iter().filter(|(role, _)| of.contains(role)).map(|(_, source)| *source).collect()
    };
    let candidates = sources(&["candidate"]);
    let distinct = candidates.iter().collect::<BTreeSet<_>>().len() == candidates.len();
    let heads: BTreeSet<&str> = sources(&["head", "head_again", "head_slow"]).into_iter().collect();
    let controls: BTreeSet<&str> = sources(&["control", "control_again"]).into_iter().collect();
    // A role with a space could pass for two arms.
    let fits = fits && arms.iter().all(|(role, _)| !role.contains(' '));
    let alike = heads.len() <= 1 && controls.len() <= 1;
    hold(fits && distinct && alike && !list(body, "cells").is_empty(), codes::ARMS)?;
    let (campaign, session) = (text(body, "campaign"), text(body, "session"));
    let parent = state.campaigns.get(campaign).and_then(super::state::Campaign::parent);
    let belongs = |(role, source): &(&str, &str)| match *role {
        "candidate" | "control" | "control_again" | "treatment" => {
            state.has(Chain::Entry, "candidate", &format!("{campaign}/{source}"))
        }
        "compiler" | "naive" | "vendor" => {
            state.baselines.get(&format!("{session}/{role}")).is_some_and(|known| known == source)
        }
        _ => parent == Some(*source),
    };
    hold(arms.iter().all(belongs), codes::CITATION)
}

fn check_pairs(body: &Value, limit: Limit<'_>, registered: Option<f64>) -> Rule {
    let number = body["index"].as_i64().unwrap_or(0);
    let field = match (text(body, "phase"), number) {
        ("screen", _) => "replication.pairs_screen",
        ("report" | "same", _) => "replication.pairs_report",
        ("probe", _) => "replication.pairs_probe",
        (_, ..=1) => "replication.pairs_confirm",
        (_, 2..=4) => "replication.pairs_confirm_2",
        (_, 5..=9) => "replication.pairs_confirm_5",
        _ => "replication.pairs_confirm_10",
    };
    let seeds = list(body, "seeds");
    let planned = if text(body, "phase") == "compare" { registered } else { limit(field) };
    hold(equals(planned, seeds.len() as f64), codes::PAIR_COUNT)?;
    let texts: BTreeSet<&str> = seeds.iter().filter_map(Value::as_str).collect();
    let hex = |seed: &&str| seed.len() == 32 && seed.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    hold(texts.len() == seeds.len() && texts.iter().all(hex), codes::SEED_COUNT)
}

/// Equality of a limit with a count; both are integers.
fn equals(limit: Option<f64>, count: f64) -> bool {
    limit.is_some_and(|limit| (limit - count).abs() < 0.5)
}

fn check_runs(body: &Value) -> Rule {
    let (runs, arms) = (list(body, "runs"), list(body, "arms").len());
    let pairs = list(body, "seeds").len();
    let mut seen = BTreeSet::new();
    let in_order = runs.iter().enumerate().all(|(at, run)| {
        let (pair, arm) = (run["pair"].as_u64(), run["arm"].as_u64());
        let in_range = arm.is_some_and(|arm| arm < arms as u64) && pair == Some((at / arms.max(1)) as u64);
        in_range && seen.insert((pair, arm))
    });
    hold(runs.len() == pairs * arms && in_order, codes::ARM_COVER)
}

/// All (arm, cell index, cell) of a block.
fn cells(body: &Value) -> impl Iterator<Item = (u64, usize, &Value)> {
    list(body, "runs").iter().flat_map(|run| {
        let arm = run["arm"].as_u64().unwrap_or(u64::MAX);
        list(run, "cells").iter().enumerate().map(move |(cell, value)| (arm, cell, value))
    })
}

fn check_cells(body: &Value, limit: Limit<'_>) -> Rule {
    let expected = list(body, "cells").len();
    let complete = list(body, "runs").iter().all(|run| list(run, "cells").len() == expected);
    let most = limit("kernel.calls_max").ok_or(codes::CALLS)?;
    let mut chosen = BTreeMap::new();
    let constant = cells(body).all(|(arm, cell, value)| {
        let k = value["k"].as_i64();
        let in_range = k.is_some_and(|k| k >= 1 && k as f64 <= most);
        in_range && *chosen.entry((arm, cell)).or_insert(k) == k
    });
    hold(complete && constant, codes::CALLS)?;
    let range = limit("kernel.warmup_min").zip(limit("kernel.warmup_max")).ok_or(codes::WARMUP)?;
    let warm = |value: &Value| value["warmup"].as_i64().is_some_and(|n| n as f64 >= range.0 && n as f64 <= range.1);
    hold(cells(body).all(|(_, _, value)| warm(value)), codes::WARMUP)
}

fn check_windows(body: &Value, limit: Limit<'_>) -> Rule {
    let windows = limit("kernel.windows");
    let counted = |value: &Value| equals(windows, list(value, "windows").len() as f64);
    hold(cells(body).all(|(_, _, value)| counted(value)), codes::WINDOW_COUNT)?;
    let timed = |time: &Value| time.as_i64().is_some_and(|ns| (1..=WINDOW_MAX_NS).contains(&ns));
    hold(cells(body).all(|(_, _, value)| list(value, "windows").iter().all(timed)), codes::WINDOW_TIME)?;
    let stated = |value: &Value| value["value"].as_i64() == Some(twice_median(list(value, "windows")));
    hold(cells(body).all(|(_, _, value)| stated(value)), codes::MEDIAN)?;
    let floor = limit("kernel.window_floor_us").ok_or(codes::WINDOW_FLOOR)? * 2000.0;
    let long = |value: &Value| value["value"].as_i64().is_some_and(|value| value as f64 >= floor);
    hold(cells(body).all(|(_, _, value)| long(value)), codes::WINDOW_FLOOR)
}

fn twice_median(windows: &[Value]) -> i64 {
    let mut times: Vec<i64> = windows.iter().filter_map(Value::as_i64).collect();
    times.sort_unstable();
    match times.len() {
        0 => 0,
        n if n % 2 == 1 => 2 * times[n / 2],
        n => times[n / 2 - 1] + times[n / 2],
    }
}

fn check_checks(state: &State, body: &Value, limit: Limit<'_>) -> Rule {
    let unit = state.units.get(text(body, "task")).ok_or(codes::CHECKS_SHORT)?;
    let sampled = limit(&format!("correctness.sampled_{unit}s"));
    let (windows, sampled) = limit("kernel.windows").zip(sampled).ok_or(codes::CHECKS_SHORT)?;
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let checked = |run: &Value| {
        let ran: f64 = list(run, "cells").iter().map(|cell| number(&cell["warmup"]) + windows).sum();
        let checks = &run["checks"];
        (number(&checks["scanned"]) - ran).abs() < 0.5
            && number(&checks["sampled"]) >= number(&checks["scanned"]) * sampled
            && number(&checks["full"]) >= list(run, "cells").len() as f64
            && checks["failed"] == 0
    };
    hold(list(body, "runs").iter().all(checked), codes::CHECKS_SHORT)
}

/// var / mean^2 * (1 + 1 / (4 n))^2 <= cap^2 per arm and cell, the form that SQL computes too.
///
/// It caps the arms that a verdict can rest on: a SCREEN ranks by medians and decides nothing, the control arms of a REPORT judge the
/// session, and a naive baseline that is behind is not the fastest baseline however it scatters.
fn check_scatter(body: &Value, limit: Limit<'_>) -> Rule {
    let cap = limit("noise.cv_cap").ok_or(codes::CV_CAP)?;
    if text(body, "phase") == "screen" {
        return Ok(());
    }
    let naive_is_beside = is_naive_behind(body);
    let beside = |arm: &Value| match text(arm, "role") {
        "head_again" | "head_slow" => true,
        "naive" => naive_is_beside,
        _ => false,
    };
    let beside: Vec<bool> = list(body, "arms").iter().map(beside).collect();
    let is_beside = |arm: u64| usize::try_from(arm).ok().and_then(|arm| beside.get(arm)) == Some(&true);
    let mut groups: BTreeMap<(u64, usize), Vec<f64>> = BTreeMap::new();
    for (arm, cell, value) in cells(body).filter(|(arm, _, _)| !is_beside(*arm)) {
        groups.entry((arm, cell)).or_default().push(value["value"].as_f64().unwrap_or(f64::NAN));
    }
    let steady = |values: &Vec<f64>| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0);
        let correction = 1.0 + 1.0 / (4.0 * n);
        variance / (mean * mean) * correction * correction <= cap * cap
    };
    hold(groups.values().all(steady), codes::CV_CAP)
}

/// True if the fastest run of the naive baseline is slower, per call, than the slowest run of the compiler baseline, in every cell.
fn is_naive_behind(body: &Value) -> bool {
    let per_call = |role: &str, at: usize| -> Vec<f64> {
        let arm = list(body, "arms").iter().position(|arm| text(arm, "role") == role);
        let of_arm = cells(body).filter(|(of, cell, _)| usize::try_from(*of).ok() == arm && *cell == at);
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        of_arm.map(|(_, _, value)| number(&value["value"]) / number(&value["k"])).collect()
    };
    (0..list(body, "cells").len()).all(|at| {
        let naive = per_call("naive", at).into_iter().reduce(f64::min);
        let compiler = per_call("compiler", at).into_iter().reduce(f64::max);
        naive.zip(compiler).is_some_and(|(naive, compiler)| naive > compiler)
    })
}
