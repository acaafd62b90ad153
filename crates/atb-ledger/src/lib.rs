//! The ledger: append-only chains in an SQLite file whose own triggers refuse what breaks the rules.
//!
//! The rules exist twice: in `schema/*.sql`, which any SQLite shell obeys, and in [`rules`], which [`verify()`] applies to every row.
//! A property test demands the same code from both. This crate trusts nothing that a caller says: it recomputes, and it alone
//! makes an [`Admitted`] or a [`Parent`].

#![forbid(unsafe_code)]

mod append;
mod bundle;
mod chains;
mod error;
mod open;
mod proof;
mod query;
mod ratchet;
pub mod rules;
mod trust;
mod verify;

pub use append::Admitted;
pub use bundle::{Bundle, covered, csv, json_lines};
pub use chains::Chains;
pub use error::{CheckError, IngestError, OpenError};
pub use open::{Ledger, schema_digest};
pub use proof::{Proof, Proved};
pub use query::Stored;
pub use ratchet::{Parent, RatchetDecision};
pub use trust::{Trust, Vouched};
pub use verify::{Bad, VerifyReport, verify, verify_chains, verify_ledger};

use std::sync::OnceLock;

static CRASH_HOOK: OnceLock<fn(&str)> = OnceLock::new();

/// Installs what is called at labelled points of a commit, for crash tests. The first call wins.
pub fn set_crash_hook(hook: fn(&str)) {
    let _ = CRASH_HOOK.set(hook);
}

fn crash_point(label: &str) {
    if let Some(hook) = CRASH_HOOK.get() {
        hook(label);
    }
}
