//! The program as a user runs it, with real compilers, workers, signals and ledgers: executed cases for every code, bad input, crashes
//! and resumes, the page in a browser, and what the types forbid.
//!
//! What measures runs one at a time (see [`support::measuring`]). A primitive that a machine lacks is named in a line
//! `skipped (reason)`.

#![allow(missing_docs, reason = "tests")]
#![allow(clippy::disallowed_methods, reason = "tests start processes, read the clock and the environment")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper that fails fails its test")]

mod bad_input;
mod browser;
mod cases;
mod commands;
mod crash;
mod fixture;
mod registered;
mod support;
mod type_states;
