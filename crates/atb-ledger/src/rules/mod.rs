//! The second implementation of the rules of `schema/{003_rules,005_registration}.sql`, in the same order, so that a row with several faults gets the
//! same code from both. Nothing here reads the database: [`State`] is what the rows so far have established.

mod block;
mod citations;
mod form;
mod registration;
mod state;

pub use state::State;

use atb_core::canon::Digest;
use atb_core::codes::{self, Code};
use atb_core::entry::{Chain, ENTRY_KINDS, Row};
use serde_json::Value;

/// A rule holds, or its code.
type Rule = Result<(), Code>;

fn hold(condition: bool, code: Code) -> Rule {
    if condition { Ok(()) } else { Err(code) }
}

impl State {
    /// Checks whether a row may come next in its chain. `hashes` also recomputes the row's hash, which SQL cannot.
    pub fn check(&self, chain: Chain, row: &Row, hashes: bool) -> Result<(), Code> {
        let head = self.head(chain);
        hold(row.seq == head.seq + 1, codes::SEQUENCE)?;
        hold(row.prev == head.hash, codes::CHAIN)?;
        hold(Digest::parse(&row.hash).is_some(), codes::HASH)?;
        hold(!hashes || row.compute_hash(chain).to_string() == row.hash, codes::HASH)?;
        hold(row.at_ms > 0 && row.at_ms >= head.at_ms, codes::CLOCK_BACK)?;
        let kinds: &[&str] = match chain {
            Chain::Entry => ENTRY_KINDS,
            Chain::Gate => &["decision", "ruling"],
            Chain::Refusal => &["refused"],
        };
        hold(kinds.contains(&row.kind.as_str()), codes::KIND)?;
        let body = form::parse(&row.kind, &row.body).ok_or(codes::SHAPE)?;
        hold(row.key == key_of(&row.kind, &body), codes::KEY)?;
        hold(!self.has(chain, &row.kind, &row.key), codes::COPIED_ROW)?;
        match chain {
            Chain::Entry => {
                citations::check(self, row, &body)?;
                if row.kind == "block" { block::check(self, row, &body) } else { Ok(()) }
            }
            Chain::Gate if row.kind == "ruling" => citations::check_ruling(self, &body),
            Chain::Gate => citations::check_gate(self, &body),
            Chain::Refusal => {
                let late = state::noisy_block(&body).is_some_and(|key| self.has(Chain::Entry, "block", key));
                hold(!late, codes::BLOCK_ORDER)
            }
        }
    }
}

/// The key that a body has; the form has been checked.
fn key_of(kind: &str, body: &Value) -> String {
    let text = |name: &str| match &body[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let joined = |names: &[&str]| names.iter().map(|name| text(name)).collect::<Vec<_>>().join("/");
    match kind {
        "protocol" | "task" => text("digest"),
        "campaign" | "session" | "registration" => text("id"),
        "abandon" => text("registration"),
        "baseline" => joined(&["session", "role"]),
        "candidate" => joined(&["campaign", "source"]),
        "fault" | "keep" => joined(&["campaign", "candidate"]),
        "block" => joined(&["campaign", "phase", "index"]),
        "decision" => joined(&["block", "gate", "candidate"]),
        "ruling" => joined(&["gate", "number"]),
        "refused" => joined(&["code", "digest"]),
        _ => text("campaign"),
    }
}

/// A text field; the form has been checked.
fn text<'v>(body: &'v Value, name: &str) -> &'v str {
    body[name].as_str().unwrap_or("")
}

/// A list; empty if it is none.
fn list<'v>(body: &'v Value, name: &str) -> &'v [Value] {
    body[name].as_array().map_or(&[], Vec::as_slice)
}
