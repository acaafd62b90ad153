//! The worker's side for code that is no machine code: this program again, which enters the first stage of the jail and then becomes the
//! interpreter. Its runner enters the second stage before the code runs; the parent reads from the kernel whether it did.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io;
use std::os::fd::{AsFd, AsRawFd, IntoRawFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use super::event::Event;
use super::jail::{self, Layers, SecondStage};
use super::memory::Mapping;
use super::{check, process};
use crate::worker::{DESCRIPTORS, Operation, PAGE, fd, report, status, word};

/// What the interpreter runs.
pub(crate) const RUNNER: &str = include_str!("../../../../harness/python/runner.py");
/// Options: apart from the user's environment, folders and packages; no compiled files; no warnings, which would look for sources.
pub(crate) const OPTIONS: [&str; 5] = ["-I", "-S", "-B", "-W", "ignore"];

/// Becomes an interpreter inside the jail. Entry point of `atb __run INTERPRETER LIBRARY FORMATS FOLDER...`; returns only on failure.
pub fn interpret(arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let arguments: Vec<OsString> = arguments.collect();
    let [interpreter, library, formats, folders @ ..] = arguments.as_slice() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    // SAFETY: the parent placed exactly these descriptors, and nothing else in this process uses them.
    let [control, status_fd, go, done] =
        [fd::CONTROL, fd::STATUS, fd::GO, fd::DONE].map(|n| unsafe { process::inherited(n) });
    let control_page = Mapping::new(control.as_fd(), PAGE, false, true)?;
    let mut status_page = Mapping::new(status_fd.as_fd(), PAGE, true, true)?;
    let (go, done) = (Event::from_fd(go), Event::from_fd(done));
    // The interpreter gets them too: none is closed here.
    let _ = (control.into_raw_fd(), status_fd.into_raw_fd());
    let layers = Layers::from_bits(control_page.load(word::LAYERS));
    let parts: Vec<&Path> =
        [interpreter, library].into_iter().chain(folders).map(|part| Path::new(part.as_os_str())).collect();
    let jailed = jail::before_interpreting(layers, &mut status_page, &parts);
    let stage = jailed.and_then(|()| jail::before_running_later(layers));
    let stage = stage.and_then(|stage| settings(&control_page, &stage, formats).map(|text| (stage, text)));
    let failed = |fault: jail::JailFault| (status::JAIL_FAILED, fault.to_string());
    let (stage, outcome) = match stage {
        Ok(stage) => (Some(stage), Ok(status::JAILED)),
        Err(fault) => (None, Err(failed(fault))),
    };
    report(&mut status_page, outcome);
    done.set()?;
    go.wait()?;
    let Some((stage, settings)) = stage else { return Ok(()) };
    let _ = stage.ruleset.map(IntoRawFd::into_raw_fd);
    let error = become_interpreter(interpreter, &settings, folders);
    report(&mut status_page, Err((status::JAIL_FAILED, format!("failed to start {}: {error}", interpreter.display()))));
    done.set()?;
    // The parent reads the message while this process waits to be killed.
    go.wait().map(drop)
}

#[expect(clippy::disallowed_methods, reason = "this process becomes the interpreter")]
fn become_interpreter(interpreter: &OsStr, settings: &str, folders: &[OsString]) -> io::Error {
    Command::new(interpreter).args(OPTIONS).arg("-c").arg(RUNNER).arg(settings).args(folders).exec()
}

/// The runner's first argument: a literal of Python, with the numbers of the hand-off and the second stage of the jail.
fn settings(control: &Mapping, stage: &SecondStage, formats: &OsStr) -> Result<String, jail::JailFault> {
    let ruleset = match &stage.ruleset {
        Some(ruleset) => {
            // SAFETY: the descriptor is open; it stays so when this process becomes another.
            let kept = check(unsafe { libc::fcntl(ruleset.as_raw_fd(), libc::F_SETFD, 0) });
            kept.map_err(|source| jail::JailFault::System { step: "keep a rule set", source })?;
            ruleset.as_raw_fd()
        }
        None => -1,
    };
    let symbol = &control.bytes()[word::SYMBOL * 8..];
    let symbol = symbol.split(|&byte| byte == 0).next().unwrap_or_default();
    let numbers = [
        ("loaded", status::LOADED),
        ("no_symbol", status::NO_SYMBOL),
        ("load_failed", status::LOAD_FAILED),
        ("jail_failed", status::JAIL_FAILED),
        ("naive", Operation::Naive.number()),
        ("naive_ps", status::NAIVE_PS as u64),
        ("message_at", status::MESSAGE_AT as u64),
        ("message_max", status::MESSAGE_MAX as u64),
        ("raised", u64::from(status::RAISED.unsigned_abs())),
        ("descriptors", DESCRIPTORS),
    ];
    let filters: Vec<String> = stage.filters.iter().map(|filter| hex(filter)).collect();
    Ok(format!(
        "{{'symbol': '{}', 'formats': '{}', 'filters': {filters:?}, 'ruleset': {ruleset}, 'restrict': {}, 'words': {}, 'fds': {}, 'numbers': {}}}",
        String::from_utf8_lossy(symbol),
        formats.to_string_lossy(),
        libc::SYS_landlock_restrict_self,
        literal(&WORDS.map(|(name, at)| (name, at as u64))),
        literal(&FDS.map(|(name, number)| (name, u64::from(number.unsigned_abs())))),
        literal(&numbers),
    ))
}

/// Control words by the names that the runner has for them.
const WORDS: [(&str, usize); 12] = [
    ("operation", word::OPERATION),
    ("calls", word::CALLS),
    ("inputs", word::INPUTS),
    ("dims", word::DIMS),
    ("workspace", word::WORKSPACE),
    ("workspace_stride", word::WORKSPACE_STRIDE),
    ("dim", word::DIM),
    ("input_at", word::INPUT_AT),
    ("input_stride", word::INPUT_STRIDE),
    ("output_at", word::OUTPUT_AT),
    ("output_stride", word::OUTPUT_STRIDE),
    ("elements", word::ELEMENTS),
];

/// Descriptors by the names that the runner has for them.
const FDS: [(&str, i32); 7] = [
    ("control", fd::CONTROL),
    ("input", fd::INPUT),
    ("output", fd::OUTPUT),
    ("status", fd::STATUS),
    ("go", fd::GO),
    ("done", fd::DONE),
    ("code", fd::CODE),
];

/// A dictionary of Python.
fn literal(pairs: &[(&str, u64)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("'{name}': {value}")).collect();
    format!("{{{}}}", pairs.join(", "))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
