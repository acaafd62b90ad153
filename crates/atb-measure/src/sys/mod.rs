//! The only place with `unsafe`: memory shared with workers, process control, clocks and processor sets.
//!
//! Each wrapper is small, owns what it opens, and turns errors into `std::io::Error`. Nothing here knows what a task is.

#![allow(unsafe_code, reason = "system calls and shared memory; each use states why it is sound")]

pub mod clock;
pub mod compile;
pub mod cpu;
pub mod disk;
pub mod event;
pub mod interpret;
pub mod jail;
pub mod loader;
pub mod memory;
pub mod process;
pub mod serve;

use std::io;

/// Turns a C return value into a result.
fn check(value: libc::c_int) -> io::Result<libc::c_int> {
    if value < 0 { Err(io::Error::last_os_error()) } else { Ok(value) }
}
