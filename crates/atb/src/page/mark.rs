//! Shape, colour and word of an outcome: never colour alone.

use atb_core::outcome::Outcome;

use crate::report::{Fate, Standing};

/// How an outcome is drawn and named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// Id of the shape, defined once per page.
    pub(super) shape: &'static str,
    /// Class that gives the colour.
    pub(super) class: &'static str,
    /// The word beside it.
    pub(super) word: String,
}

impl Mark {
    fn new(shape: &'static str, class: &'static str, word: String) -> Self {
        Self { shape, class, word }
    }

    pub(super) fn of_outcome(outcome: Outcome) -> Self {
        let (shape, class) = match outcome {
            Outcome::Faster => ("m-up", "faster"),
            Outcome::Slower => ("m-down", "slower"),
            Outcome::Equivalent => ("m-square", "equal"),
            Outcome::Inconclusive(_) => ("m-diamond", "open"),
            Outcome::Quarantined(_) => ("m-hex", "quarantine"),
            Outcome::NotQuiet | Outcome::Cancelled | Outcome::NotDelivered => ("m-ring", "quiet"),
            Outcome::BuildError(_)
            | Outcome::Incorrect(_)
            | Outcome::Crashed(_)
            | Outcome::CandidateTimeout(_)
            | Outcome::Rejected(_)
            | Outcome::RefusedSurface(_)
            | Outcome::Void(_)
            | Outcome::HarnessError(_) => ("m-cross", "fault"),
        };
        Self::new(shape, class, outcome.to_string())
    }

    pub(super) fn of_fate(fate: Fate) -> Self {
        match fate {
            Fate::Kept => Self::new("m-kept", "faster", fate.words()),
            Fate::Demoted => Self::new("m-demoted", "slower", fate.words()),
            Fate::Quarantined(_) => Self::new("m-hex", "quarantine", fate.words()),
            Fate::NotMeasured | Fate::ScreenedOut | Fate::Unconfirmed | Fate::Compared => {
                Self::new("m-ring", "quiet", fate.words())
            }
            Fate::Fault(outcome) | Fate::NotKept(outcome) | Fate::Probed(outcome) => {
                Self { word: fate.words(), ..Self::of_outcome(outcome) }
            }
        }
    }

    pub(super) fn of_standing(standing: Standing) -> Self {
        let (shape, class) = match standing {
            Standing::Holds => ("m-check", "faster"),
            Standing::Coarse => ("m-diamond", "open"),
            Standing::Failed => ("m-cross", "slower"),
        };
        Self::new(shape, class, standing.name().to_owned())
    }

    /// A check, gate or recomputation that passed or did not.
    pub(super) fn passed(passed: bool, word: &str) -> Self {
        let standing = if passed { Standing::Holds } else { Standing::Failed };
        Self { word: word.to_owned(), ..Self::of_standing(standing) }
    }
}
