//! How far a claim is tied down, from what was verified of it.

use std::fmt;

/// The classes that this program can find by itself. C3 (outside time) and C5 (measured again by someone else) need evidence that no
/// ledger holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A hash chain, which its operator could rewrite.
    C0,
    /// A place in a Merkle tree whose root nobody has signed.
    C1,
    /// Covered by a signed checkpoint.
    C2,
    /// Covered by a checkpoint that a witness has signed, too.
    C4,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// What was verified of the rows that a claim rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Evidence {
    /// Their chain.
    #[default]
    Chain,
    /// Their place in a tree.
    Tree,
    /// A signed checkpoint that covers them.
    Signed,
    /// The same, with this many cosignatures of named witnesses.
    Witnessed(usize),
}

/// A class and why it is no higher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The class.
    pub class: Class,
    /// The reason, as it stands after the class.
    pub reason: String,
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.reason)
    }
}

/// The class of claims that rest on rows with this evidence and these judges.
///
/// A judge under the user of whoever is judged could have written anything before it was signed, so that no signature lifts its rows
/// above C0; neither does one lift rows that name no judge.
pub fn anchor<'a>(evidence: Evidence, judges: impl IntoIterator<Item = &'a str>) -> Anchor {
    let (class, reason) = match evidence {
        Evidence::Chain => (Class::C0, "chained, unsigned".to_owned()),
        Evidence::Tree => (Class::C1, "in a tree whose root nobody has signed".to_owned()),
        Evidence::Signed => (Class::C2, "covered by a signed checkpoint".to_owned()),
        Evidence::Witnessed(1) => (Class::C4, "covered by a checkpoint that a witness has signed, too".to_owned()),
        Evidence::Witnessed(count) => {
            (Class::C4, format!("covered by a checkpoint that {count} witnesses have signed, too"))
        }
    };
    let mut judges = judges.into_iter().peekable();
    let named = judges.peek().is_some();
    let own = judges.any(|judge| judge == "same-uid" || judge.is_empty());
    if class == Class::C0 || (named && !own) {
        return Anchor { class, reason };
    }
    let cap = if named {
        "judge=same-uid: who was judged could have written the rows before they were signed"
    } else {
        "no judge is named"
    };
    Anchor { class: Class::C0, reason: format!("{reason}, which would be {class}, but {cap}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_lifts_the_class_only_of_rows_with_another_judge() {
        for (evidence, class) in [
            (Evidence::Chain, Class::C0),
            (Evidence::Tree, Class::C1),
            (Evidence::Signed, Class::C2),
            (Evidence::Witnessed(2), Class::C4),
        ] {
            assert_eq!(anchor(evidence, ["other-uid"]).class, class);
            for judges in [&["same-uid"][..], &["other-uid", "same-uid"], &[""], &[]] {
                assert_eq!(anchor(evidence, judges.iter().copied()).class, Class::C0, "{judges:?}");
            }
        }
        assert_eq!(anchor(Evidence::Chain, ["same-uid"]).to_string(), "C0: chained, unsigned");
        let capped = anchor(Evidence::Signed, ["same-uid"]).to_string();
        assert!(
            capped.starts_with("C0: covered by a signed checkpoint, which would be C2, but judge=same-uid"),
            "{capped}"
        );
    }
}
