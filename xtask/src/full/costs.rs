//! What measuring costs beyond the windows, and what a row costs.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use atb_core::entry::{Chain, Row};
use atb_ledger::Ledger;
use rusqlite::Connection;

/// Sums over all campaigns.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    /// Per phase: blocks, seconds in all, seconds of windows.
    pub(crate) phases: BTreeMap<String, (u64, f64, f64)>,
    /// Milliseconds of each durable row, by kind.
    pub(crate) rows: BTreeMap<String, Vec<f64>>,
    /// Rows verified, and the seconds that it took, start of the program included.
    pub(crate) verified: (u64, f64),
}

impl Costs {
    /// The costs of a campaign, from what it said and from its rows, which are appended to a new ledger at `replay` one by one.
    pub(crate) fn of(progress: &str, db: &Path, replay: &Path, verify_s: f64) -> Result<Self> {
        let mut costs = Self::default();
        costs.add_phases(progress);
        let ledger = Ledger::open_read_only(db)?;
        let mut rows = Vec::new();
        for chain in Chain::ALL {
            rows.extend(ledger.rows(chain)?.into_iter().map(|row| (chain, row)));
        }
        costs.verified = (rows.len() as u64, verify_s);
        // Refusals allow second attempts, gates cite blocks, and the close counts both.
        rows.sort_by_key(|(chain, row)| (row.kind == "close", *chain == Chain::Gate, *chain == Chain::Entry, row.seq));
        if replay.exists() {
            std::fs::remove_file(replay)?;
        }
        drop(Ledger::create(replay)?);
        let connection = Connection::open(replay)?;
        connection.execute_batch("PRAGMA synchronous = EXTRA")?;
        for (chain, row) in rows {
            let insert = format!("INSERT INTO {} VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", chain.table());
            let Row { seq, prev, hash, at_ms, kind, key, body } = row;
            let start = Instant::now();
            connection.execute(&insert, (seq, prev, hash, at_ms, &kind, key, body))?;
            costs.rows.entry(kind).or_default().push(start.elapsed().as_secs_f64() * 1e3);
        }
        Ok(costs)
    }

    /// Adds another campaign's.
    pub(crate) fn add(&mut self, other: Self) {
        for (phase, (blocks, wall, windows)) in other.phases {
            let sum = self.phases.entry(phase).or_default();
            *sum = (sum.0 + blocks, sum.1 + wall, sum.2 + windows);
        }
        for (kind, times) in other.rows {
            self.rows.entry(kind).or_default().extend(times);
        }
        self.verified = (self.verified.0 + other.verified.0, self.verified.1 + other.verified.1);
    }

    /// Reads the lines `  PHASE N: 12.3 s, 2.2 times the windows`.
    pub(crate) fn add_phases(&mut self, progress: &str) {
        for line in progress.lines() {
            let Some((phase, rest)) = line.trim().split_once(": ") else { continue };
            let Some((wall, factor)) = rest.strip_suffix(" times the windows").and_then(|rest| rest.split_once(", "))
            else {
                continue;
            };
            let phase = phase.split(' ').next().unwrap_or(phase).to_owned();
            if let (Some(wall), Ok(factor)) = (seconds(wall), factor.parse::<f64>()) {
                let sum = self.phases.entry(phase).or_default();
                *sum = (sum.0 + 1, sum.1 + wall, sum.2 + wall / factor);
            }
        }
    }
}

/// `12.3 s` or `990.12 ms` in seconds.
fn seconds(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let number: f64 = number.parse().ok()?;
    match unit {
        "s" => Some(number),
        "ms" => Some(number / 1e3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_summed_from_the_progress() {
        let mut costs = Costs::default();
        costs.add_phases(
            "building\n  screen 1: 20.0 s, 2.5 times the windows\n  screen 2: 500.00 ms, 2.0 times the windows\nend",
        );
        let (blocks, wall, windows) = costs.phases["screen"];
        assert_eq!(blocks, 2);
        assert!((wall - 20.5).abs() < 1e-9 && (windows - 8.25).abs() < 1e-9, "{wall} {windows}");
    }
}
