//! Errors of opening and of appending.

use std::path::PathBuf;

use atb_core::canon::CanonError;
use atb_core::codes::{self, Code};
use rusqlite::ErrorCode;

/// Why a ledger could not be opened or read.
#[derive(Debug, thiserror::Error)]
#[error("{code}: failed to open {}: {cause}", path.display())]
pub struct OpenError {
    /// The stable code.
    pub code: Code,
    /// The file.
    pub path: PathBuf,
    /// What was found.
    pub cause: String,
}

impl OpenError {
    pub(crate) fn new(code: Code, path: impl Into<PathBuf>, cause: impl Into<String>) -> Self {
        Self { code, path: path.into(), cause: cause.into() }
    }

    pub(crate) fn sql(path: impl Into<PathBuf>, error: &rusqlite::Error) -> Self {
        Self::new(code_of(error), path, error.to_string())
    }
}

/// Why a checkpoint, proof or bundle does not hold, or a ledger does not fit it.
#[derive(Debug, thiserror::Error)]
#[error("{code}: failed to verify {subject}: {cause}")]
pub struct CheckError {
    /// The stable code.
    pub code: Code,
    /// The file or option.
    pub subject: String,
    /// What was found.
    pub cause: String,
}

impl CheckError {
    pub(crate) fn new(code: Code, subject: impl Into<String>, cause: impl Into<String>) -> Self {
        Self { code, subject: subject.into(), cause: cause.into() }
    }
}

impl From<OpenError> for CheckError {
    fn from(error: OpenError) -> Self {
        Self::new(error.code, error.path.display().to_string(), error.cause)
    }
}

/// Why a row was not appended. Nothing was written in any case, except that a refused row is kept in the refusal chain.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// A rule refused the row: 0 rows.
    #[error("{code}: the row was refused: {message}")]
    Refused {
        /// The rule's code.
        code: Code,
        /// The rule's message.
        message: String,
    },
    /// The file could not be written or read.
    #[error("{code}: failed to write the ledger")]
    Sql {
        /// The stable code.
        code: Code,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// The body has no canonical form.
    #[error("failed to write the body")]
    Canon(#[from] CanonError),
    /// The ledger could not be read back.
    #[error(transparent)]
    Read(#[from] OpenError),
}

impl From<rusqlite::Error> for IngestError {
    fn from(source: rusqlite::Error) -> Self {
        let message = source.to_string();
        // Rules speak through RAISE, whose message starts with the code.
        if let (Some(code), Some(ErrorCode::ConstraintViolation)) =
            (Code::find_in(&message), source.sqlite_error_code())
        {
            let message = message.split(&code.to_string()).nth(1).unwrap_or("").trim().to_owned();
            return Self::Refused { code, message };
        }
        Self::Sql { code: code_of(&source), source }
    }
}

/// The stable code of an SQLite error.
fn code_of(error: &rusqlite::Error) -> Code {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => codes::LOCKED,
        Some(ErrorCode::ReadOnly | ErrorCode::DiskFull | ErrorCode::SystemIoFailure | ErrorCode::PermissionDenied) => {
            codes::CANNOT_WRITE
        }
        Some(ErrorCode::NotADatabase | ErrorCode::CannotOpen) => codes::NOT_A_LEDGER,
        _ => codes::CORRUPT,
    }
}
