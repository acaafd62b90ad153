//! The pure heart of AutoTuneBench: protocol, types, statistics, gates, canonical form and codes.
//!
//! This crate may not read a clock, a file, the environment or the network, start a process, or use `unsafe`.
//! Everything it computes can be recomputed by an outsider from ledger rows.

#![forbid(unsafe_code)]

pub mod anchor;
pub mod anchor_class;
pub mod base64;
pub mod canon;
pub mod codes;
pub mod comparison;
pub mod control;
pub mod document;
pub mod entry;
pub mod gates;
pub mod ladder;
pub mod machine_time;
pub mod merkle;
pub mod note;
pub mod outcome;
pub mod protocol;
pub mod quantity;
pub mod readout;
pub mod registration;
pub mod similarity;
pub mod stats;
pub mod task;
