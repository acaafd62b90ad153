//! The command line, the campaign loop and the reports of AutoTuneBench.
//!
//! This crate joins the others: it proposes through `atb-propose`, measures through `atb-measure`, records through `atb-ledger`
//! and derives every number that it prints from ledger rows through `atb-core`.

#![forbid(unsafe_code)]

pub mod anchors;
pub mod campaign;
pub mod claims;
pub mod cli;
pub mod commands;
pub mod error;
pub mod io;
pub mod page;
pub mod peaks;
pub mod report;
pub mod transfer;
pub mod zoo;
