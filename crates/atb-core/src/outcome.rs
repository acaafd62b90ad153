//! The one outcome enum: measured, the candidate's fault, or no answer.

use std::fmt;

use crate::codes::Code;

/// Why a measurement could not decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Inconclusive {
    /// The cross-run scatter stayed over its cap after one re-measure of the whole block.
    Noise,
    /// Too few usable pairs.
    N,
    /// The interval is too wide for any verdict.
    Precision,
    /// The verdict flips when times are expressed in clock cycles.
    Clock,
}

/// What became of a candidate. A failure is never coded as a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The interval's lower end is above 1 and the estimate is at least 1 + delta.
    Faster,
    /// Mirror image of `Faster`.
    Slower,
    /// The 90 % interval lies inside 1 +- delta: an honest null.
    Equivalent,
    /// Measured, and no verdict.
    Inconclusive(Inconclusive),
    /// The candidate does not compile.
    BuildError(Code),
    /// An output was wrong.
    Incorrect(Code),
    /// The worker died.
    Crashed(Code),
    /// The candidate ran past its limit.
    CandidateTimeout(Code),
    /// A check or gate refused the candidate.
    Rejected(Code),
    /// The file is outside what a candidate may be.
    RefusedSurface(Code),
    /// The machine was not quiet: retry.
    NotQuiet,
    /// The session or run does not count.
    Void(Code),
    /// Too good to be believed without a mechanism.
    Quarantined(Code),
    /// The treatment did not arrive.
    NotDelivered,
    /// The harness failed.
    HarnessError(Code),
    /// Ended by the user.
    Cancelled,
}

impl Outcome {
    /// The name without its parameter, as `--json` prints it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Inconclusive(Inconclusive::Noise) => "inconclusive(noise)",
            Self::Inconclusive(Inconclusive::N) => "inconclusive(n)",
            Self::Inconclusive(Inconclusive::Precision) => "inconclusive(precision)",
            Self::Inconclusive(Inconclusive::Clock) => "inconclusive(clock)",
            Self::BuildError(_) => "build_error",
            Self::Incorrect(_) => "incorrect",
            Self::Crashed(_) => "crashed",
            Self::CandidateTimeout(_) => "candidate_timeout",
            Self::Rejected(_) => "rejected",
            Self::RefusedSurface(_) => "refused(surface)",
            Self::NotQuiet => "not_quiet",
            Self::Void(_) => "void",
            Self::Quarantined(_) => "quarantined",
            Self::NotDelivered => "not_delivered",
            Self::HarnessError(_) => "harness_error",
            Self::Cancelled => "cancelled",
        }
    }

    /// True if runs were compared, or might be: no fault and no session ended it.
    pub fn is_measured(self) -> bool {
        matches!(self, Self::Faster | Self::Slower | Self::Equivalent | Self::Inconclusive(_))
    }

    /// The code that explains the outcome, where it has one.
    pub fn code(self) -> Option<Code> {
        match self {
            Self::BuildError(code)
            | Self::Incorrect(code)
            | Self::Crashed(code)
            | Self::CandidateTimeout(code)
            | Self::Rejected(code)
            | Self::RefusedSurface(code)
            | Self::Void(code)
            | Self::Quarantined(code)
            | Self::HarnessError(code) => Some(code),
            Self::NotQuiet => Some(crate::codes::NOT_QUIET),
            Self::NotDelivered => Some(crate::codes::NOT_DELIVERED),
            Self::Faster | Self::Slower | Self::Equivalent | Self::Inconclusive(_) | Self::Cancelled => None,
        }
    }

    /// The process exit code that reports this outcome.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Faster => 0,
            Self::HarnessError(_) => 1,
            Self::BuildError(_)
            | Self::Incorrect(_)
            | Self::Crashed(_)
            | Self::CandidateTimeout(_)
            | Self::Rejected(_)
            | Self::RefusedSurface(_) => 11,
            Self::Quarantined(_) => 12,
            Self::NotQuiet => 13,
            Self::NotDelivered => 14,
            Self::Equivalent => 15,
            Self::Inconclusive(_) => 16,
            Self::Slower => 17,
            Self::Void(_) | Self::Cancelled => 18,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.code()) {
            (Self::Rejected(_) | Self::Void(_) | Self::Quarantined(_) | Self::HarnessError(_), Some(code)) => {
                write!(f, "{}({code})", self.name())
            }
            _ => f.write_str(self.name()),
        }
    }
}
