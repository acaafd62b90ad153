//! Builds, checks and times candidates. The parent owns the clock, the inputs and the comparison; a worker process holds the
//! candidate and nothing else.
//!
//! States are types: [`build::Built`] -> [`correctness::Checked`] -> [`timing::Measured`], and timing needs a
//! [`preflight::Quiet`]. This crate cannot write a ledger row.
//!
//! `unsafe` is confined to [`sys`], which also holds the worker's side: it hands raw pointers to the candidate.

pub mod admission;
mod artefact;
pub mod build;
mod compare;
pub mod correctness;
pub mod crew;
pub mod fault;
pub mod fingerprint;
mod inputs;
pub mod isolation;
mod judge;
pub mod lab;
mod layout;
pub mod naive;
pub mod preflight;
pub mod python;
mod reference;
mod sample;
pub mod sys;
pub mod timing;
pub mod worker;
