//! Opening a ledger: only a file with exactly this version's tables and triggers is trusted.

use std::path::{Path, PathBuf};
use std::time::Duration;

use atb_core::canon::Digest;
use atb_core::codes;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::error::OpenError;

/// "ATBL" in ASCII.
const APPLICATION_ID: i64 = 0x4154_424c;
/// Format of the file.
const USER_VERSION: i64 = 1;
/// How long a second writer waits.
const BUSY: Duration = Duration::from_secs(5);

const SCHEMA: [&str; 5] = [
    include_str!("../schema/001_tables.sql"),
    include_str!("../schema/002_views.sql"),
    include_str!("../schema/003_rules.sql"),
    include_str!("../schema/004_immutable.sql"),
    include_str!("../schema/005_registration.sql"),
];

/// SHA-256 of the schema's text.
pub fn schema_digest() -> Digest {
    Digest::of(SCHEMA.concat().as_bytes())
}

/// An open ledger.
#[derive(Debug)]
pub struct Ledger {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

impl Ledger {
    /// Makes a new ledger. The path must not exist. A kill leaves no ledger or a whole one.
    pub fn create(path: &Path) -> Result<Self, OpenError> {
        // A dangling link is something, too.
        if path.symlink_metadata().is_ok() {
            return Err(OpenError::new(codes::CANNOT_WRITE, path, "the file exists"));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let failed = |error: rusqlite::Error| match OpenError::sql(path, &error) {
            // A file that cannot be made is a matter of the folder, not of its content.
            OpenError { code: codes::NOT_A_LEDGER, path, cause } => {
                OpenError { code: codes::CANNOT_WRITE, path, cause }
            }
            other => other,
        };
        let unwritable = |error: std::io::Error| OpenError::new(codes::CANNOT_WRITE, path, error.to_string());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let fresh = path.with_file_name(format!(".{name}.new"));
        if fresh.exists() {
            std::fs::remove_file(&fresh).map_err(unwritable)?;
        }
        let build = || -> rusqlite::Result<()> {
            let connection = Connection::open_with_flags(&fresh, flags)?;
            configure(&connection)?;
            let schema = SCHEMA.concat();
            connection.execute_batch(&format!(
                "BEGIN EXCLUSIVE;\n{schema}\nPRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {USER_VERSION};\nCOMMIT;"
            ))
        };
        let built = build().map_err(failed).and_then(|()| std::fs::rename(&fresh, path).map_err(unwritable));
        if let Err(error) = built {
            // What is left is removed before the next attempt, too.
            let _ = std::fs::remove_file(&fresh);
            return Err(error);
        }
        crate::crash_point("ledger.created");
        Self::open(path)
    }

    /// Opens a ledger for appending.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_as(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
    }

    /// Opens a ledger for reading.
    pub fn open_read_only(path: &Path) -> Result<Self, OpenError> {
        // A kill within a commit leaves a journal, and only a writer may roll it back.
        let journal =
            path.with_file_name(format!("{}-journal", path.file_name().unwrap_or_default().to_string_lossy()));
        if journal.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            drop(Self::open_as(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?);
        }
        Self::open_as(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn open_as(path: &Path, mode: OpenFlags) -> Result<Self, OpenError> {
        let bad = |code, cause: &str| Err(OpenError::new(code, path, cause));
        match std::fs::metadata(path) {
            Err(error) => return bad(codes::NOT_A_LEDGER, &error.to_string()),
            Ok(metadata) if !metadata.is_file() => return bad(codes::NOT_A_LEDGER, "it is not a plain file"),
            Ok(metadata) if metadata.len() == 0 => return bad(codes::NOT_A_LEDGER, "the file is empty"),
            Ok(_) => {}
        }
        // The folder may be reached through a link; the file itself may not be one.
        let real = path
            .parent()
            .and_then(|folder| if folder.as_os_str().is_empty() { None } else { folder.canonicalize().ok() });
        let real = match (real, path.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        };
        let flags = mode | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let failed = |error: rusqlite::Error| OpenError::sql(path, &error);
        let connection = Connection::open_with_flags(real, flags).map_err(failed)?;
        configure(&connection).map_err(failed)?;
        check_identity(&connection, path)?;
        check_schema(&connection, path)?;
        let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
        if sound != "ok" {
            return bad(codes::CORRUPT, &sound);
        }
        Ok(Self { connection, path: path.to_owned() })
    }
}

/// Settings of every connection: a single plain file after each commit, and no way around the triggers from here.
fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, 64 << 20)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.execute_batch("PRAGMA synchronous = EXTRA; PRAGMA cell_size_check = ON;")
}

fn check_identity(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let failed = |error: rusqlite::Error| OpenError::sql(path, &error);
    let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
    if pragma("application_id").map_err(failed)? != APPLICATION_ID {
        return Err(OpenError::new(codes::NOT_A_LEDGER, path, "another application made it"));
    }
    let version = pragma("user_version").map_err(failed)?;
    if version != USER_VERSION {
        let cause = format!("the ledger has format {version}, this program reads {USER_VERSION}");
        return Err(OpenError::new(codes::OTHER_VERSION, path, cause));
    }
    Ok(())
}

type SchemaObject = (String, String, Option<String>);

/// Compares the file's objects with those that the embedded schema makes.
fn check_schema(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let failed = |error: rusqlite::Error| OpenError::sql(path, &error);
    let model = Connection::open_in_memory().map_err(failed)?;
    model.execute_batch(&SCHEMA.concat()).map_err(failed)?;
    let (found, expected) = (objects(connection).map_err(failed)?, objects(&model).map_err(failed)?);
    let differs = expected
        .iter()
        .find(|object| !found.contains(object))
        .map(|(kind, name, _)| format!("{kind} `{name}` is missing or differs"))
        .or_else(|| {
            let foreign = found.iter().find(|object| !expected.contains(object));
            foreign.map(|(kind, name, _)| format!("{kind} `{name}` does not belong there"))
        });
    match differs {
        Some(cause) => Err(OpenError::new(codes::FOREIGN_SCHEMA, path, cause)),
        None => Ok(()),
    }
}

fn objects(connection: &Connection) -> rusqlite::Result<Vec<SchemaObject>> {
    let mut statement = connection.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}
