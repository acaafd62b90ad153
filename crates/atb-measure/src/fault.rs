//! A candidate that ended before a verdict, with its evidence.

use std::fmt::Write as _;

use atb_core::codes;
use atb_core::outcome::Outcome;

use crate::worker::WorkerFault;

/// Longest evidence that is kept.
const DETAIL_MAX: usize = 4096;

/// What a hidden shape is called.
pub(crate) const HIDDEN_SHAPE: &str = "a hidden shape";

/// Why there is no measurement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{outcome}: {detail}")]
pub struct Fault {
    /// What became of the candidate.
    pub outcome: Outcome,
    /// Bounded evidence; control characters of hostile text are escaped.
    pub detail: String,
}

impl Fault {
    /// A fault with its evidence, which may hold hostile text.
    pub fn new(outcome: Outcome, detail: impl Into<String>) -> Self {
        Self { outcome, detail: escape(&detail.into()) }
    }

    /// The harness failed, not the candidate.
    pub fn harness(step: &str, error: &dyn std::error::Error) -> Self {
        Self::new(Outcome::HarnessError(codes::WORKER_START), format!("failed to {step}: {error}"))
    }

    /// Judges how a worker failed. `at` says where, in words that reveal nothing hidden; of a hidden shape the code's own words would.
    pub fn of_worker(fault: &WorkerFault, at: &str) -> Self {
        let unsaid = WorkerFault::Raised("an exception".to_owned());
        let fault = if matches!(fault, WorkerFault::Raised(_)) && at == HIDDEN_SHAPE { &unsaid } else { fault };
        let outcome = match fault {
            WorkerFault::Harness { .. } => Outcome::HarnessError(codes::WORKER_START),
            WorkerFault::Load(_) => Outcome::Rejected(codes::LOAD),
            WorkerFault::NoSymbol => Outcome::Rejected(codes::NO_SYMBOL),
            WorkerFault::Ended(_) | WorkerFault::Raised(_) | WorkerFault::HandOff(_) => {
                Outcome::Crashed(codes::CRASHED)
            }
            WorkerFault::Forbidden(_) => Outcome::Rejected(codes::FORBIDDEN_CALL),
            WorkerFault::Mapped(_) => Outcome::Rejected(codes::MAPPED),
            WorkerFault::Gap { .. } => Outcome::Rejected(codes::GAP),
            WorkerFault::TimedOut(_) => Outcome::CandidateTimeout(codes::CANDIDATE_TIMEOUT),
        };
        Self::new(outcome, format!("{fault} ({at})"))
    }

    /// True if the candidate is not to blame.
    pub fn is_harness(&self) -> bool {
        matches!(self.outcome, Outcome::HarnessError(_) | Outcome::Cancelled | Outcome::NotQuiet)
    }
}

/// Escapes control characters except line feed and tab, and bounds the length.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if out.len() >= DETAIL_MAX {
            out.push_str("\n[truncated]");
            break;
        }
        if c == '\n' || c == '\t' || !(c.is_control() || is_invisible(c)) {
            out.push(c);
        } else {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
    out
}

/// Characters that reorder or hide text in a terminal or page.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_cannot_steer_a_terminal_or_grow() {
        let fault = Fault::new(Outcome::Cancelled, format!("\u{1b}[2J\u{202e}{}", "x".repeat(9000)));
        assert!(!fault.detail.contains('\u{1b}'));
        assert!(fault.detail.starts_with("\\u{1b}[2J\\u{202e}"));
        assert!(fault.detail.len() < 4200);
    }
}
