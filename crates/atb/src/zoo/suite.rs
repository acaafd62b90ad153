//! Judging what became of an entry.

use atb_core::codes::Code;
use atb_core::outcome::{Inconclusive, Outcome};

use super::{Entry, Expected};
use crate::campaign::ProbeEnd;

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A cheat was refused by a check that it is for.
    Caught,
    /// A cheat was measured, and is not faster than its honest twin.
    Neutralised,
    /// A cheat read faster than its honest twin, or was refused by a check that it is not for.
    Missed,
    /// This machine does not tell: its block was refused for noise twice, or there is no interpreter.
    Skipped,
    /// Honest code was measured.
    Admitted,
    /// Honest code was refused.
    Rejected,
}

impl Standing {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Caught => "caught",
            Self::Neutralised => "neutralised",
            Self::Missed => "missed",
            Self::Skipped => "skipped",
            Self::Admitted => "admitted",
            Self::Rejected => "rejected",
        }
    }

    /// True if the instrument did what it must.
    pub fn holds(self) -> bool {
        !matches!(self, Self::Missed | Self::Rejected)
    }
}

/// An entry with what became of it.
#[derive(Debug, Clone)]
pub struct Judged {
    /// What became of it.
    pub standing: Standing,
    /// Its outcome against its honest twin.
    pub outcome: Outcome,
    /// Bounded evidence.
    pub detail: String,
}

/// Judges how the probe of an entry ended.
pub fn judge(entry: &Entry, end: &ProbeEnd) -> Judged {
    let (outcome, detail) = match end {
        ProbeEnd::Fault(fault) => (fault.outcome, fault.detail.clone()),
        ProbeEnd::Noise => (Outcome::Inconclusive(Inconclusive::Noise), String::new()),
        ProbeEnd::Measured { over_twin, stopped } => {
            let ratio = over_twin.estimate.get();
            (stopped.map_or(over_twin.outcome.into(), Outcome::Quarantined), format!("{ratio:.3}x its honest twin"))
        }
    };
    let standing = match &entry.expected {
        _ if outcome == Outcome::Inconclusive(Inconclusive::Noise) => Standing::Skipped,
        Expected::Measured if outcome.is_measured() => Standing::Admitted,
        Expected::Measured => Standing::Rejected,
        Expected::Caught(codes) => of_cheat(codes, outcome),
    };
    Judged { standing, outcome, detail }
}

fn of_cheat(codes: &[Code], outcome: Outcome) -> Standing {
    match outcome {
        Outcome::Faster => Standing::Missed,
        _ if outcome.is_measured() => Standing::Neutralised,
        _ if outcome.code().is_some_and(|code| codes.contains(&code)) => Standing::Caught,
        _ => Standing::Missed,
    }
}

#[cfg(test)]
mod tests {
    use atb_core::codes;

    use super::*;

    #[test]
    fn a_cheat_is_missed_if_it_gains_or_is_refused_for_something_else() {
        let codes = [codes::FORBIDDEN_CALL];
        for (outcome, standing) in [
            (Outcome::Faster, Standing::Missed),
            (Outcome::Slower, Standing::Neutralised),
            (Outcome::Equivalent, Standing::Neutralised),
            (Outcome::Inconclusive(Inconclusive::Precision), Standing::Neutralised),
            (Outcome::Rejected(codes::FORBIDDEN_CALL), Standing::Caught),
            (Outcome::Crashed(codes::CRASHED), Standing::Missed),
            (Outcome::Quarantined(codes::QUARANTINE), Standing::Missed),
            (Outcome::NotQuiet, Standing::Missed),
        ] {
            assert_eq!(of_cheat(&codes, outcome), standing, "{outcome}");
        }
    }
    #[test]
    fn noise_is_neither_caught_nor_admitted() {
        for entry in [crate::zoo::entries().unwrap().first().unwrap(), crate::zoo::entries().unwrap().last().unwrap()] {
            assert_eq!(judge(entry, &ProbeEnd::Noise).standing, Standing::Skipped, "{}", entry.id);
        }
    }
}
