//! The files and the environment that the user names: tasks, protocols, candidates, campaign folders.
//!
//! The only module of this crate that touches the file system or the environment.

mod outsiders;
mod peaks;

pub use outsiders::*;
pub use peaks::{keep_peaks, load_peaks};

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use atb_core::canon::Digest;
use atb_core::codes;
use atb_core::document::{Cause, DocumentError};
use atb_core::protocol::{Protocol, Sources};
use atb_core::task::{Language, Task};
use atb_measure::python::Interpreter;
use atb_measure::sys::jail::{LAYERS, Layers};
use include_dir::{Dir, include_dir};

use crate::error::{Error, Result};

static TASKS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../tasks");
static PROTOCOLS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../protocol");

/// Files that a task folder may have; others are ignored.
const TASK_FILES: &[&str] = &[
    "task.toml",
    "kernel.h",
    "kernel.c",
    "kernel.py",
    "reference.c",
    "baselines/naive.c",
    "baselines/naive.py",
    "baselines/compiler.c",
    "baselines/compiler.py",
    "baselines/vendor.c",
    "space.toml",
    "space.c",
];
/// Largest text file that is read whole.
const TEXT_MAX: u64 = 16 << 20;

/// Where tasks come from.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    folder: Option<PathBuf>,
}

impl Tasks {
    /// The built-in tasks, or those of a folder.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// The folder, if tasks do not come from the program itself.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Ids of all tasks in order.
    pub fn ids(&self) -> Result<Vec<String>> {
        let mut ids: Vec<String> = match &self.folder {
            None => TASKS.dirs().filter_map(|dir| dir.path().file_name()?.to_str().map(str::to_owned)).collect(),
            Some(folder) => {
                let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
                let entries =
                    entries.filter_map(io::Result::ok).filter(|entry| entry.path().join("task.toml").is_file());
                entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
            }
        };
        ids.sort();
        Ok(ids)
    }

    /// Loads and checks a task.
    pub fn load(&self, id: &str) -> Result<Task> {
        let ids = self.ids()?;
        if !ids.iter().any(|known| known == id) {
            return Err(Error::UnknownTask { id: id.to_owned(), known: ids.join(", ") });
        }
        let mut files = BTreeMap::new();
        for name in TASK_FILES {
            let text = match &self.folder {
                None => TASKS.get_file(format!("{id}/{name}")).and_then(|file| file.contents_utf8()).map(str::to_owned),
                Some(folder) => {
                    let path = folder.join(id).join(name);
                    if path.exists() { Some(read_text(&path)?) } else { None }
                }
            };
            if let Some(text) = text {
                files.insert((*name).to_owned(), text);
            }
        }
        let origin = match &self.folder {
            None => format!("built-in/{id}"),
            Some(folder) => folder.join(id).display().to_string(),
        };
        let task = Task::from_files(&origin, files)?;
        if task.spec.id != id {
            let cause = Cause::Rule(format!("the folder is `{id}`, the id is `{}`", task.spec.id));
            return Err(document_error(&format!("{origin}/task.toml"), "id", codes::OUT_OF_RANGE, cause).into());
        }
        Ok(task)
    }
}

fn document_error(file: &str, field: &str, code: codes::Code, cause: Cause) -> DocumentError {
    let remedy = code.entry().map_or("", |entry| entry.remedy).to_owned();
    DocumentError { file: file.to_owned(), line: 1, column: 1, field: field.to_owned(), code, cause, remedy }
}

/// Names of the shipped protocols.
pub const SHIPPED: &[&str] = &["certified-1", "small-1", "demo-1"];

/// Name of the readout that ships: it reads what a protocol has measured, and measures nothing.
pub const READOUT: &str = "paper-1";

/// Loads a shipped protocol by name, or a protocol file.
///
/// A file that carries a shipped id with other content is refused: a frozen protocol is not edited, it gets a new id.
pub fn load_protocol(name: &str) -> Result<Protocol> {
    if let Some(text) = shipped_text(name) {
        return parse_protocol(&format!("built-in/{name}.toml"), text);
    }
    if name == READOUT {
        let message = format!("{READOUT} is a readout, which every report prints; it measures nothing");
        return Err(Error::Usage { message, remedy: format!("choose one of {}", SHIPPED.join(", ")) });
    }
    let path = Path::new(name);
    let text = read_text(path)?;
    let file = path.display().to_string();
    let protocol = parse_protocol(&file, &text)?;
    for shipped in SHIPPED.iter().filter_map(|name| shipped_text(name)) {
        let shipped = Protocol::parse("built-in", shipped)?;
        if shipped.id() == protocol.id() && shipped.digest() != protocol.digest() {
            let cause = format!(
                "`{}` ships with digest {}, this file has {}",
                shipped.id(),
                shipped.digest(),
                protocol.digest()
            );
            return Err(document_error(&file, "id", codes::FROZEN_PROTOCOL, Cause::Rule(cause)).into());
        }
    }
    Ok(protocol)
}

fn parse_protocol(file: &str, text: &str) -> Result<Protocol> {
    let protocol = Protocol::parse(file, text)?;
    protocol.resolve(file, text, &sources()?)?;
    Ok(protocol)
}

/// The sources that protocols cite.
pub fn sources() -> Result<Sources> {
    let text = PROTOCOLS.get_file("sources.toml").and_then(|file| file.contents_utf8()).unwrap_or("");
    Ok(Sources::parse("built-in/sources.toml", text)?)
}

fn shipped_text(name: &str) -> Option<&'static str> {
    if !SHIPPED.contains(&name) {
        return None;
    }
    PROTOCOLS.get_file(format!("{name}.toml"))?.contents_utf8()
}

fn unreadable(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::Unreadable { path: path.to_owned(), reason: reason.to_string() }
}

/// Opens a plain file that the user named.
fn open_plain(path: &Path) -> Result<(File, u64)> {
    // Opening does not wait on a FIFO, and what is opened is what is inspected.
    let opened = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path);
    let file: File = opened.map_err(|error| unreadable(path, &error))?;
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(unreadable(path, if metadata.is_dir() { &"it is a directory" } else { &"it is not a plain file" }));
    }
    Ok((file, metadata.len()))
}

/// Reads a text file that the user named.
pub fn read_text(path: &Path) -> Result<String> {
    let (file, bytes) = open_plain(path)?;
    if bytes > TEXT_MAX {
        return Err(unreadable(path, &format!("it has {bytes} bytes, more than {TEXT_MAX}")));
    }
    let mut text = String::new();
    file.take(TEXT_MAX).read_to_string(&mut text).map_err(|error| unreadable(path, &error))?;
    Ok(text)
}

/// O_NONBLOCK of Linux on every architecture that this project runs on.
const O_NONBLOCK: i32 = 0o4000;

/// The compiler that the user asks for, if any.
pub fn compiler_override() -> Option<PathBuf> {
    std::env::var_os("ATB_CC").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Who runs this program, as the environment says.
pub fn user() -> String {
    let named = |name: &&str| std::env::var_os(name)?.into_string().ok().filter(|user| !user.trim().is_empty());
    ["LOGNAME", "USER"].iter().find_map(named).unwrap_or_else(|| "unknown".to_owned())
}

/// The interpreter that a task needs, if any: the one that the user asks for, or the machine's.
pub fn interpreter_for(task: &Task) -> Result<Option<Interpreter>> {
    if task.spec.language != Language::Python {
        return Ok(None);
    }
    let given = std::env::var_os("ATB_PYTHON").filter(|value| !value.is_empty()).map(PathBuf::from);
    Ok(Some(Interpreter::find(given.as_deref())?))
}

/// The layers of the workers' jail: all but those that ATB_WITHOUT names, for showing what each is good for.
pub fn layers() -> Result<Layers> {
    let without = std::env::var_os("ATB_WITHOUT").unwrap_or_default();
    Layers::without(&without.to_string_lossy()).map_err(|name| Error::Usage {
        message: format!("ATB_WITHOUT names `{name}`, which is no layer"),
        remedy: format!("the layers are {}", LAYERS.join(", ")),
    })
}

/// A campaign folder, mode 0700.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    /// Keeps other campaigns out until the last clone is gone, also by a kill. Readers hold nothing.
    _hold: Option<Arc<File>>,
}

/// How a campaign that can be resumed was started, within its folder.
const SETTINGS: &str = "campaign.toml";
/// Folders within a campaign's folder.
const PARTS: [&str; 3] = ["candidates", "keys", "report"];

impl Folder {
    /// Makes a new folder, or takes an empty one, also one in which a kill came before the first file. Refuses one that holds something.
    pub fn create(path: &Path) -> Result<Self> {
        make_folder(path)?;
        let hold = hold(path)?;
        if holds_files(path) {
            let resumes = path.join(SETTINGS).is_file();
            let or = if resumes { ", or go on with the campaign in it with `atb tune --resume DIR`" } else { "" };
            return Err(Error::Usage {
                message: format!("{} is not empty", path.display()),
                remedy: format!("name a new folder with --out{or}"),
            });
        }
        Self::with_parts(path, Some(hold))
    }

    /// Refuses a path where something is.
    pub fn require_absent(path: &Path) -> Result<()> {
        if path.exists() {
            let message = format!("{} exists", path.display());
            return Err(Error::Usage { message, remedy: "name a folder that does not exist yet".into() });
        }
        Ok(())
    }

    /// Takes a folder that may hold a ledger, or makes it.
    pub fn open_or_create(path: &Path) -> Result<Self> {
        make_folder(path)?;
        let hold = hold(path)?;
        Self::with_parts(path, Some(hold))
    }

    /// Takes a folder in which a campaign was begun. A kill may have come before its ledger was made.
    pub fn begun(path: &Path) -> Result<Self> {
        if !path.join(SETTINGS).is_file() {
            require_ledger(path)?;
        }
        Self::open_or_create(path)
    }

    /// Takes a folder that must hold a ledger, to read from it.
    pub fn open(path: &Path) -> Result<Self> {
        require_ledger(path)?;
        Self::with_parts(path, None)
    }

    fn with_parts(path: &Path, hold: Option<File>) -> Result<Self> {
        for part in PARTS {
            make_folder(&path.join(part))?;
        }
        let path = path.canonicalize().map_err(|source| Error::Unwritable { path: path.to_owned(), source })?;
        Ok(Self { path, _hold: hold.map(Arc::new) })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The ledger.
    pub fn db(&self) -> PathBuf {
        self.path.join("atb.db")
    }

    /// The page.
    pub fn page(&self) -> PathBuf {
        self.path.join("report").join("index.html")
    }

    /// Keeps a candidate's text under its digest.
    pub fn keep_candidate(&self, text: &str) -> Result<Digest> {
        let digest = Digest::of(text.as_bytes());
        let path = self.candidate(digest);
        if !path.exists() {
            write_durable(&path, text.as_bytes(), "candidate")?;
        }
        Ok(digest)
    }

    /// Where a candidate's text is kept.
    pub fn candidate(&self, digest: Digest) -> PathBuf {
        self.path.join("candidates").join(format!("{digest}.c"))
    }

    /// Reads a kept candidate, and refuses it if its text is not the one that was recorded.
    pub fn read_candidate(&self, digest: Digest) -> Result<String> {
        let path = self.candidate(digest);
        let text = read_text(&path)?;
        if Digest::of(text.as_bytes()) == digest {
            return Ok(text);
        }
        Err(unreadable(&path, &"its content is not that of its digest"))
    }

    /// Keeps a session key until the campaign closes.
    pub fn keep_key(&self, session: &str, key: &[u8; 32]) -> Result<()> {
        let text = Digest::from_bytes(*key).to_string();
        write_durable(&self.key(session), text.as_bytes(), "key")
    }

    /// Reads a session key again.
    pub fn read_key(&self, session: &str) -> Result<String> {
        read_text(&self.key(session))
    }

    fn key(&self, session: &str) -> PathBuf {
        self.path.join("keys").join(session)
    }

    /// The settings that a resumed campaign needs.
    pub fn settings(&self) -> PathBuf {
        self.path.join(SETTINGS)
    }
}

fn require_ledger(path: &Path) -> Result<()> {
    if path.join("atb.db").is_file() {
        return Ok(());
    }
    Err(Error::Usage {
        message: format!("{} holds no atb.db", path.display()),
        remedy: "name the folder of a campaign".into(),
    })
}

fn make_folder(path: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|source| Error::Unwritable { path: path.to_owned(), source })
}

/// Locks a folder for one campaign at a time, until the file is closed.
fn hold(path: &Path) -> Result<File> {
    let folder = File::open(path).map_err(|error| unreadable(path, &error))?;
    match folder.try_lock() {
        Ok(()) => Ok(folder),
        Err(TryLockError::WouldBlock) => Err(Error::InUse { path: path.to_owned() }),
        Err(TryLockError::Error(error)) => Err(unreadable(path, &error)),
    }
}

/// True if a folder holds anything but the empty parts of a campaign's folder and files that were never finished.
fn holds_files(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let part = PARTS.contains(&name.as_ref()) && !holds_files(&entry.path());
            let unfinished = name.starts_with('.') && name.ends_with(".new");
            !part && !unfinished
        })
    })
}

/// Writes a file so that after a crash either the old or the new content is there, whole.
pub fn write_durable(path: &Path, bytes: &[u8], label: &str) -> Result<()> {
    let failed = |source| Error::Unwritable { path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = folder.join(format!(".{}.new", path.file_name().and_then(|name| name.to_str()).unwrap_or("file")));
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(bytes)?;
        crash_point(&format!("io.before-fsync.{label}"));
        file.sync_all()?;
        crash_point(&format!("io.before-rename.{label}"));
        fs::rename(&temporary, path)?;
        crash_point(&format!("io.after-rename.{label}"));
        File::open(folder)?.sync_all()
    };
    write().map_err(|error| {
        // The half-written file is of no use; a failure to remove it changes nothing.
        let _ = fs::remove_file(&temporary);
        failed(error)
    })
}

/// Writes a new text file and the folders above it.
pub fn write_new(path: &Path, text: &str) -> Result<()> {
    let failed = |source| Error::Unwritable { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

/// Kills this process at a labelled point if `ATB_CRASH_AT=LABEL[:COUNT]` asks for it. For the crash tests.
pub fn crash_point(label: &str) {
    use std::sync::atomic::{AtomicU64, Ordering};
    static SEEN: AtomicU64 = AtomicU64::new(0);
    let Some(wanted) = std::env::var_os("ATB_CRASH_AT") else { return };
    let wanted = wanted.to_string_lossy();
    let (name, count) = wanted.split_once(':').unwrap_or((&wanted, "1"));
    if name == label && SEEN.fetch_add(1, Ordering::Relaxed) + 1 == count.parse().unwrap_or(1) {
        // An abort leaves nothing to run: no destructor, no flush, like a kill.
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_which_nothing_was_finished_is_taken_again() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("c");
        let folder = Folder::create(&path).unwrap();
        fs::write(path.join(".campaign.toml.new"), "half").unwrap();
        drop(folder);
        let folder = Folder::create(&path).unwrap();
        folder.keep_candidate("int x;").unwrap();
        drop(folder);
        assert!(matches!(Folder::create(&path), Err(Error::Usage { .. })));
    }

    #[test]
    fn a_folder_is_held_once_until_the_hold_ends() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("c");
        let folder = Folder::create(&path).unwrap();
        let clone = folder.clone();
        drop(folder);
        fs::write(path.join("campaign.toml"), "").unwrap();
        fs::write(path.join("atb.db"), "").unwrap();
        for taken in [Folder::create(&path), Folder::begun(&path), Folder::open_or_create(&path)] {
            let error = taken.unwrap_err();
            assert!(matches!(error, Error::InUse { .. }) && error.stable_code() == Some(codes::LOCKED), "{error}");
        }
        Folder::open(&path).unwrap();
        drop(clone);
        Folder::begun(&path).unwrap();
    }
}
