//! Errors at the edge: what failed, the code, the remedy, the exit code.

use std::io::Write as _;
use std::path::PathBuf;

use atb_core::codes::{self, Code};
use atb_core::document::DocumentError;
use atb_core::outcome::Outcome;
use atb_ledger::{CheckError, IngestError, OpenError};
use atb_measure::build::NoCompiler;
use atb_measure::fault::Fault;
use atb_measure::preflight::NotQuiet;
use atb_measure::python::NoInterpreter;
use miette::Diagnostic;

/// Exit codes that are not an outcome's.
pub mod exit {
    /// The harness failed.
    pub const HARNESS: u8 = 1;
    /// The command line or a file named on it is wrong.
    pub const USAGE: u8 = 2;
    /// A row was refused, or a ledger has a bad entry.
    pub const REFUSED: u8 = 10;
}

/// Everything that ends a command early.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum Error {
    /// A document is wrong.
    #[error("{0}")]
    Document(#[from] DocumentError),
    /// A file that the user named cannot be read.
    #[error("{}: failed to read {}: {reason}", codes::UNREADABLE, path.display())]
    #[diagnostic(help("correct the path or its permissions"))]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file or folder cannot be written.
    #[error("{}: failed to write {}: {source}", codes::CANNOT_WRITE, path.display())]
    #[diagnostic(help("free space or correct the permissions; what was committed before is intact"))]
    Unwritable {
        /// The path.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Another process runs a campaign in the folder.
    #[error("{}: another atb is at work in {}", codes::LOCKED, path.display())]
    #[diagnostic(help("wait until it ends, or name another folder"))]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// No such task.
    #[error("{}: there is no task `{id}`; known tasks: {known}", codes::UNKNOWN_TASK)]
    #[diagnostic(help(
        "run `atb task list`; write a new task with `atb task new DIR` and pass its folder with --tasks"
    ))]
    UnknownTask {
        /// What was asked for.
        id: String,
        /// What there is.
        known: String,
    },
    /// An argument does not fit the task or folder.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        #[help]
        remedy: String,
    },
    /// A registration, or a comparison of one, that may not go on.
    #[error("{message}")]
    Registered {
        /// What is wrong, with its code.
        message: String,
        /// What to do.
        #[help]
        remedy: String,
        /// The process exit code.
        exit: u8,
    },
    /// What a registration could see was not computed.
    #[error("failed to compute the minimum detectable effect: {0}")]
    #[diagnostic(help("run `atb verify`; then register again"))]
    Power(#[from] atb_core::registration::PowerError),
    /// A code that is not registered.
    #[error("{0}")]
    UnknownCode(#[from] codes::UnknownCode),
    /// The ledger cannot be opened.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// A checkpoint, proof or bundle does not hold, or a ledger does not fit it.
    #[error("{0}")]
    Check(#[from] CheckError),
    /// A key does not read.
    #[error("{}: failed to read the key {}: {reason}", codes::KEY_FORM, path.display())]
    Key {
        /// The file or option.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A row was not admitted.
    #[error("{0}")]
    Ingest(#[from] IngestError),
    /// The machine is not quiet.
    #[error("{0}")]
    #[diagnostic(help(
        "stop the other work and try again, or pass --exploratory: rows are then labelled and never a headline"
    ))]
    NotQuiet(#[from] NotQuiet),
    /// The jail of workers is below what the protocol asks for.
    #[error("{}: isolation is {cause}", codes::ISOLATION)]
    Isolation {
        /// The level, the protocol's, and what the canary got.
        cause: String,
    },
    /// There is no compiler.
    #[error("{0}")]
    #[diagnostic(help("install gcc (Debian: apt install gcc libc6-dev), or set ATB_CC to a compiler's path"))]
    NoCompiler(#[from] NoCompiler),
    /// There is no interpreter.
    #[error("{0}")]
    #[diagnostic(help("install python3 (Debian: apt install python3), or set ATB_PYTHON to an interpreter's path"))]
    NoInterpreter(#[from] NoInterpreter),
    /// The harness, or a baseline of the task, failed.
    #[error("{context}: {fault}")]
    #[diagnostic(help("run `atb doctor`; if it finds nothing, the task's own files may be at fault"))]
    Fault {
        /// What was being done.
        context: String,
        /// The fault.
        fault: Fault,
    },
    /// A report could not be derived.
    #[error("failed to derive the report: {0}")]
    Report(#[from] crate::report::ReportError),
    /// A ledger breaks a rule, so that nothing is concluded from it.
    #[error("{code}: {}, {table} row {seq}: {reason}", path.display())]
    #[diagnostic(help("ask its owner for the ledger as it was written; `atb verify` rechecks it"))]
    BadLedger {
        /// The ledger.
        path: PathBuf,
        /// The chain's table.
        table: &'static str,
        /// The first bad row.
        seq: i64,
        /// The rule.
        code: Code,
        /// What is wrong.
        reason: String,
    },
    /// Machines could not be put side by side.
    #[error("{0}")]
    Transfer(#[from] crate::transfer::TransferError),
    /// The page could not be rendered.
    #[error("failed to render the page: {0}")]
    Page(#[from] askama::Error),
}

impl Error {
    /// The process exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Document(_)
            | Self::Unreadable { .. }
            | Self::UnknownTask { .. }
            | Self::Usage { .. }
            | Self::Transfer(_)
            | Self::Key { .. }
            | Self::UnknownCode(_) => exit::USAGE,
            Self::Check(error) if error.code == codes::KEY_FORM => exit::USAGE,
            Self::Check(_) | Self::BadLedger { .. } | Self::Open(_) | Self::Ingest(_) | Self::InUse { .. } => {
                exit::REFUSED
            }
            Self::NotQuiet(_) | Self::Isolation { .. } => Outcome::NotQuiet.exit_code(),
            Self::Registered { exit, .. } => *exit,
            Self::Fault { fault, .. } if matches!(fault.outcome, Outcome::Cancelled | Outcome::Void(_)) => {
                fault.outcome.exit_code()
            }
            Self::NoCompiler(_)
            | Self::NoInterpreter(_)
            | Self::Unwritable { .. }
            | Self::Fault { .. }
            | Self::Report(_)
            | Self::Power(_)
            | Self::Page(_) => exit::HARNESS,
        }
    }

    /// The stable code, if the error has one.
    pub fn stable_code(&self) -> Option<Code> {
        match self {
            Self::Fault { fault, .. } => fault.outcome.code(),
            // Their texts name codes as examples.
            Self::Usage { .. } | Self::UnknownCode(_) => None,
            _ => Code::find_in(&self.to_string()),
        }
    }

    /// Prints the error with its remedy on standard error and returns the exit code.
    pub fn report(&self) -> u8 {
        let mut out = std::io::stderr().lock();
        let mut text = format!("error: {self}\n");
        let cancelled = matches!(self, Self::Fault { fault, .. } if fault.outcome == Outcome::Cancelled);
        let help = self.help().filter(|_| !cancelled).map(|help| help.to_string());
        let remedy = help.or_else(|| self.stable_code()?.entry().map(|entry| entry.remedy.to_owned()));
        if let (Some(remedy), false) = (remedy, text.contains("remedy:")) {
            text = format!("{text}remedy: {remedy}\n");
        }
        if let Some(code) = self.stable_code() {
            text = format!("{text}see `atb explain {code}`\n");
        }
        // Nothing can be done if standard error is gone.
        let _ = out.write_all(text.as_bytes());
        self.exit_code()
    }
}

/// A command's result.
pub type Result<T> = std::result::Result<T, Error>;
