//! The CPython of this machine, which runs candidates of Python tasks.
//!
//! The trust label is `python`: the state of the interpreter is the candidate's, so that nothing in the process can be believed. What holds
//! is outside of it: the parent's clock, fresh inputs, the comparison of outputs, and the same jail as for machine code.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use atb_core::canon::Digest;
use atb_core::codes;
use atb_core::task::{Dtype, TaskSpec};

use crate::build::named;
use crate::sys::interpret::{OPTIONS, RUNNER};

/// Prints what is asked of an interpreter, a line each; fails without the modules that the runner needs.
const QUESTIONS: &str = "import ctypes, mmap, os, site, sys
assert sys.implementation.name == 'cpython' and sys.version_info >= (3, 8)
print('CPython', sys.version.split()[0])
print(os.path.realpath(sys.executable))
print(os.path.join(sys.base_prefix, 'lib'))
print(*(folder for folder in site.getsitepackages() if os.path.isdir(folder)), sep='\\n')";

/// An interpreter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    path: PathBuf,
    library: PathBuf,
    folders: Vec<PathBuf>,
    version: String,
    digest: Digest,
    /// Formats of the task's tensors, a letter each, inputs before outputs.
    formats: String,
}

/// No interpreter was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: no CPython with ctypes and mmap was found; tried {tried}", codes::NO_INTERPRETER)]
pub struct NoInterpreter {
    /// The paths that were tried.
    pub tried: String,
}

impl Interpreter {
    /// Finds the interpreter: the given path or name if any, else python3. Names are looked for in the system's folders.
    pub fn find(given: Option<&Path>) -> Result<Self, NoInterpreter> {
        let candidates = match given {
            Some(path) if path.components().count() > 1 => vec![std::path::absolute(path).unwrap_or(path.to_owned())],
            Some(name) => named(name).to_vec(),
            None => named(Path::new("python3")).to_vec(),
        };
        candidates.iter().find_map(|path| Self::ask(path)).ok_or_else(|| NoInterpreter {
            tried: candidates.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "),
        })
    }

    #[expect(clippy::disallowed_methods, reason = "the interpreter is asked who it is")]
    fn ask(path: &Path) -> Option<Self> {
        let asked = Command::new(path).args(OPTIONS).args(["-c", QUESTIONS]).env_clear().stdin(Stdio::null()).output();
        let output = asked.ok().filter(|output| output.status.success())?;
        let text = String::from_utf8(output.stdout).ok()?;
        let mut lines = text.lines().filter(|line| !line.is_empty());
        let version = lines.next()?.chars().take(60).collect();
        let (path, library) = (PathBuf::from(lines.next()?), PathBuf::from(lines.next()?));
        let digest = Digest::of(&std::fs::read(&path).ok()?);
        let folders = lines.map(PathBuf::from).collect();
        Some(Self { path, library, folders, version, digest, formats: String::new() })
    }

    /// The interpreter, for the tensors of a task.
    pub(crate) fn of_task(self, spec: &TaskSpec) -> Self {
        let letter = |dtype| if dtype == Dtype::F32 { 'f' } else { 'i' };
        let formats = spec.inputs.iter().chain(&spec.outputs).map(|tensor| letter(tensor.dtype)).collect();
        Self { formats, ..self }
    }

    /// What rows state in the place of flags: the trust label, the version, and digests of the program and of what it runs for us.
    pub fn identity(&self) -> String {
        let short = |digest: Digest| digest.to_string().chars().take(16).collect::<String>();
        format!("python {} {} runner {}", self.version, short(self.digest), short(Digest::of(RUNNER.as_bytes())))
    }

    /// The version, such as `CPython 3.11.2`.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A digest over the interpreter, what it runs for us, and a text.
    pub(crate) fn digest_with(&self, text: &str) -> Digest {
        Digest::of_parts(&[self.identity().as_bytes(), self.digest.to_string().as_bytes(), text.as_bytes()])
    }

    /// Arguments of a worker that becomes this interpreter.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = OsString> + '_ {
        let first =
            [self.path.clone().into_os_string(), self.library.clone().into_os_string(), self.formats.clone().into()];
        first.into_iter().chain(self.folders.iter().map(|folder| folder.clone().into_os_string()))
    }
}
