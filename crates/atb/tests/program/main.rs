//! The program as a user runs it: executed cases for every code, bad input, crashes and resumes, and the page in a browser.

#![allow(missing_docs, reason = "tests")]
#![allow(clippy::disallowed_methods, reason = "tests drive the program from outside")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper that fails fails its test")]

mod browser;
mod cases;
mod commands;
mod crash;
mod fixture;
mod hostile;

use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Measuring tests run one at a time: they share the processors.
static MEASURING: Mutex<()> = Mutex::new(());

pub(crate) fn alone() -> MutexGuard<'static, ()> {
    MEASURING.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn atb(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atb"));
    command.current_dir(folder);
    command
}

pub(crate) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs `atb` with arguments split at spaces and returns exit code and combined output.
pub(crate) fn run(folder: &Path, arguments: &str) -> (i32, String) {
    let output = atb(folder).args(arguments.split_whitespace()).output().unwrap();
    (output.status.code().unwrap_or(-1), text(&output))
}

/// The JSON object of the last line of standard output.
pub(crate) fn json(folder: &Path, arguments: &str) -> serde_json::Value {
    let output = atb(folder).args(arguments.split_whitespace()).arg("--json").output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = stdout.lines().last().unwrap_or_else(|| panic!("{arguments}: {}", text(&output)));
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{arguments}: {error}: {last}"))
}

/// Worker processes whose parent is gone.
pub(crate) fn orphaned_workers() -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let is_worker = line.split(|byte| *byte == 0).nth(1) == Some(b"__run");
        let status = std::fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        let orphan = status.lines().any(|line| line == "PPid:\t1");
        if is_worker && orphan {
            found.push(pid);
        }
    }
    found
}
