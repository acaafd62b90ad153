//! The registry of stable codes: one file per hundred, never reused.
//!
//! A code names a refusal for good. `atb explain ATB609` prints an entry, docs/codes.md is generated from the registry, and
//! every code has an executed case in `cases/`.

mod c100_protocol;
mod c200_chain;
mod c300_immutability;
mod c400_preflight;
mod c500_correctness;
mod c600_timing;
mod c700_anti_cheat;
mod c800_registration;
mod c900_claims;

pub use c100_protocol::*;
pub use c200_chain::*;
pub use c300_immutability::*;
pub use c400_preflight::*;
pub use c500_correctness::*;
pub use c600_timing::*;
pub use c700_anti_cheat::*;
pub use c800_registration::*;
pub use c900_claims::*;

use std::fmt;
use std::str::FromStr;

/// A stable code, printed as `ATB` and three digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(u16);

impl Code {
    /// The number after `ATB`.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The registry entry, if the code is registered.
    pub fn entry(self) -> Option<&'static CodeEntry> {
        all().find(|entry| entry.code == self)
    }

    /// Finds the first registered code inside a message, such as the text of an SQL error.
    pub fn find_in(message: &str) -> Option<Self> {
        message.match_indices("ATB").find_map(|(at, _)| message.get(at..at + 6)?.parse().ok())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ATB{:03}", self.0)
    }
}

/// A text that is not a registered code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a registered code; codes look like ATB609, and docs/codes.md lists them")]
pub struct UnknownCode;

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let digits = text.strip_prefix("ATB").ok_or(UnknownCode)?;
        if digits.len() != 3 {
            return Err(UnknownCode);
        }
        let code = Self(digits.parse().map_err(|_| UnknownCode)?);
        code.entry().map(|entry| entry.code).ok_or(UnknownCode)
    }
}

/// What the registry says of one code.
#[derive(Debug, Clone, Copy)]
pub struct CodeEntry {
    /// The code.
    pub code: Code,
    /// A short title in lower case.
    pub title: &'static str,
    /// What happened, in general.
    pub cause: &'static str,
    /// Where the evidence is found.
    pub evidence: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

/// All registered codes in ascending order.
pub fn all() -> impl Iterator<Item = &'static CodeEntry> {
    [
        c100_protocol::REGISTRY,
        c200_chain::REGISTRY,
        c300_immutability::REGISTRY,
        c400_preflight::REGISTRY,
        c500_correctness::REGISTRY,
        c600_timing::REGISTRY,
        c700_anti_cheat::REGISTRY,
        c800_registration::REGISTRY,
        c900_claims::REGISTRY,
    ]
    .into_iter()
    .flatten()
}

/// Declares the constants and the registry of one hundred.
macro_rules! codes {
    ($($name:ident = $number:literal, $title:literal; $cause:literal; $evidence:literal; $remedy:literal)*) => {
        $(
            #[doc = $title]
            pub const $name: super::Code = super::Code($number);
        )*
        pub(super) const REGISTRY: &[super::CodeEntry] = &[$(super::CodeEntry {
            code: $name,
            title: $title,
            cause: $cause,
            evidence: $evidence,
            remedy: $remedy,
        }),*];
    };
}
use codes;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_are_unique() {
        let numbers: Vec<u16> = all().map(|entry| entry.code.number()).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
        assert!(numbers.len() > 40);
    }

    #[test]
    fn a_code_is_found_in_an_sql_message() {
        assert_eq!(Code::find_in("error: ATB609 the cap"), Some(CV_CAP));
        assert_eq!(Code::find_in("error: ATB999 ATB601"), Some(WINDOW_COUNT));
        assert_eq!(Code::find_in("no such table"), None);
        assert!("ATB1".parse::<Code>().is_err());
    }
}
