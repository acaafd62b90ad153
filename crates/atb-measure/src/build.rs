//! Building C sources with the machine's compiler.
//!
//! The compiler runs in a process group of its own with an empty environment, in a private scratch folder, under limits of time,
//! memory and output. Compiling and linking are separate steps: linking never sees -ffast-math, which would set flush-to-zero for
//! the whole process. The shared object is opened once, hashed, and loaded from that very copy.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use atb_core::canon::Digest;
use atb_core::codes::{self, Code};
use atb_core::outcome::Outcome;
use atb_core::protocol::Protocol;

use crate::artefact;
use crate::fault::Fault;
use crate::python::Interpreter;
use crate::sys::interpret::OPTIONS;
use crate::sys::jail::Layers;
use crate::sys::memory::{Mapping, Memfd};
use crate::sys::process::{self, Group, Limits};
use crate::sys::{clock, disk};
use crate::worker::{PAGE, message, status, word};

/// Flags of every compilation: position-independent, fixed alignment of code for all arms.
const COMPILE: &[&str] =
    &["-std=gnu11", "-fPIC", "-falign-functions=64", "-falign-loops=64", "-Wall", "-include", "kernel.h"];

/// Free space of the scratch folder below which a failed compilation is not the candidate's fault, in bytes.
const SCRATCH_MIN: u64 = 1 << 20;

/// The machine's C compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    path: PathBuf,
    version: String,
    /// None only for sources of our own.
    jail: Option<BuildJail>,
}

/// What a compiler is jailed by.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BuildJail {
    /// This program, which jails itself and becomes the compiler.
    program: PathBuf,
    layers: Layers,
}

/// No compiler was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: no C compiler was found; tried {tried}", codes::NO_COMPILER)]
pub struct NoCompiler {
    /// The paths that were tried.
    pub tried: String,
}

impl Compiler {
    /// Finds the compiler: the given path or name if any, else gcc, cc or clang. Names are looked for in the system's folders.
    pub fn find(given: Option<&Path>) -> Result<Self, NoCompiler> {
        let candidates: Vec<PathBuf> = match given {
            // Compilers run in a scratch folder, and a relative path means the user's.
            Some(path) if path.components().count() > 1 => vec![std::path::absolute(path).unwrap_or(path.to_owned())],
            Some(name) => named(name).to_vec(),
            None => ["gcc", "cc", "clang"].iter().flat_map(|name| named(Path::new(name))).collect(),
        };
        for path in &candidates {
            if let Some(version) = version(path) {
                return Ok(Self { path: path.clone(), version, jail: None });
            }
        }
        let tried = candidates.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        Err(NoCompiler { tried })
    }

    /// The compiler, run inside the build jail by `program`, which is this program.
    #[must_use]
    pub fn jailed(self, program: &Path, layers: Layers) -> Self {
        Self { jail: Some(BuildJail { program: program.to_owned(), layers }), ..self }
    }

    /// First line of `--version`.
    pub fn version(&self) -> &str {
        &self.version
    }
}

/// Where a program of this name would be: in the system's folders.
pub(crate) fn named(name: &Path) -> [PathBuf; 3] {
    ["/usr/local/bin", "/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name))
}

#[expect(clippy::disallowed_methods, reason = "compilers are started here")]
fn version(path: &Path) -> Option<String> {
    let output =
        Command::new(path).arg("--version").env_clear().env("PATH", PATH).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.lines().next().unwrap_or("").chars().take(120).collect())
}

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What is built.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// kernel.h of the task.
    pub header: &'a str,
    /// The C file.
    pub text: &'a str,
    /// The function that it defines.
    pub symbol: &'a str,
    /// Flags from the protocol.
    pub flags: &'a str,
    /// Library names for the linker; vendor baselines only.
    pub link: &'a [String],
}

/// A built source: the shared object in sealed memory.
#[derive(Debug)]
pub struct Built {
    pub(crate) code: Memfd,
    /// True if an interpreter runs it.
    pub(crate) script: bool,
    source: Digest,
    artefact: Digest,
    flags: String,
    warnings: String,
}

impl Built {
    /// Digest of the source text.
    pub fn source(&self) -> Digest {
        self.source
    }

    /// Digest of the shared object.
    pub fn artefact(&self) -> Digest {
        self.artefact
    }

    /// Flags that it was compiled with.
    pub fn flags(&self) -> &str {
        &self.flags
    }

    /// The compiler's warnings, bounded.
    pub fn warnings(&self) -> &str {
        &self.warnings
    }
}

fn fault(code: Code, detail: impl Into<String>) -> Fault {
    Fault::new(Outcome::BuildError(code), detail)
}

/// Builds a source.
pub fn build(compiler: &Compiler, protocol: &Protocol, source: &Source<'_>) -> Result<Built, Fault> {
    let (bytes, warnings) = shared_object(compiler, protocol, source)?;
    artefact::inspect(&bytes, source.symbol, source.link)
        .map_err(|refused| Fault::new(Outcome::Rejected(refused.code), refused.what))?;
    let code = Memfd::sealed("code", &bytes).map_err(|error| Fault::harness("keep the artefact", &error))?;
    Ok(Built {
        code,
        script: false,
        source: Digest::of(source.text.as_bytes()),
        artefact: Digest::of(&bytes),
        flags: source.flags.to_owned(),
        warnings,
    })
}

/// Accepts a Python source if it compiles, in the build jail of `compiler`. What workers load is the text.
pub(crate) fn script(
    interpreter: &Interpreter,
    compiler: &Compiler,
    protocol: &Protocol,
    source: &Source<'_>,
) -> Result<Built, Fault> {
    const COMPILES: &str = "compile(open('candidate.py', 'rb').read(), 'kernel.py', 'exec')";
    check_text(protocol, source.text)?;
    let scratch = Scratch::new().map_err(|error| Fault::harness("make a scratch folder", &error))?;
    let written = scratch.write("candidate.py", source.text);
    written.map_err(|error| Fault::harness("write a source file", &error))?;
    let tool = Compiler { path: interpreter.path().to_owned(), ..compiler.clone() };
    let arguments: Vec<&str> = OPTIONS.into_iter().chain(["-c", COMPILES]).collect();
    let warnings = run(&tool, protocol, &scratch, source.symbol, &arguments)?;
    let code =
        Memfd::sealed("code", source.text.as_bytes()).map_err(|error| Fault::harness("keep the artefact", &error))?;
    Ok(Built {
        code,
        script: true,
        source: Digest::of(source.text.as_bytes()),
        artefact: interpreter.digest_with(source.text),
        flags: interpreter.identity(),
        warnings,
    })
}

/// Compiles and links a source, and returns the shared object's bytes and the compiler's warnings.
pub(crate) fn shared_object(
    compiler: &Compiler,
    protocol: &Protocol,
    source: &Source<'_>,
) -> Result<(Vec<u8>, String), Fault> {
    check_text(protocol, source.text)?;
    let scratch = Scratch::new().map_err(|error| Fault::harness("make a scratch folder", &error))?;
    let write = |name: &str, text: &str| {
        scratch.write(name, text).map_err(|error| Fault::harness("write a source file", &error))
    };
    write("kernel.h", source.header)?;
    write("candidate.c", source.text)?;
    let mut compile: Vec<&str> = COMPILE.to_vec();
    compile.extend(source.flags.split_whitespace());
    compile.extend(["-c", "candidate.c", "-o", "candidate.o"]);
    let warnings = run(compiler, protocol, &scratch, source.symbol, &compile)?;
    let libraries: Vec<String> = source.link.iter().map(|name| format!("-l{name}")).collect();
    // Without start files a shared object has no constructor of its own, so that any that is there is the candidate's. Its own functions
    // come before those of the same name in libraries, so that what is inspected and timed is what was written.
    let mut link = vec!["-shared", "-nostartfiles", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-Wl,-z,noexecstack"];
    link.extend(["candidate.o", "-o", "candidate.so"]);
    link.extend(libraries.iter().map(String::as_str));
    link.push("-lm");
    run(compiler, protocol, &scratch, source.symbol, &link)?;
    Ok((read_artefact(protocol, &scratch)?, warnings))
}

fn check_text(protocol: &Protocol, text: &str) -> Result<(), Fault> {
    let limit = protocol.build_source_max_kib() * 1024;
    let size = text.len() as u64;
    if text.trim().is_empty() || size > limit {
        let detail = format!("{size} bytes; a candidate has 1 to {limit}");
        return Err(Fault::new(Outcome::RefusedSurface(codes::CANDIDATE_SIZE), detail));
    }
    match text.bytes().position(|byte| byte == 0) {
        Some(at) => Err(Fault::new(Outcome::RefusedSurface(codes::CANDIDATE_TEXT), format!("byte {at} is NUL"))),
        None => Ok(()),
    }
}

/// Runs one compiler step and returns its messages.
fn run(
    compiler: &Compiler,
    protocol: &Protocol,
    scratch: &Scratch,
    symbol: &str,
    arguments: &[&str],
) -> Result<String, Fault> {
    let timeout_s = protocol.build_timeout_s();
    let output_max = protocol.build_output_max_kib() * 1024;
    let limits = Limits {
        cpu_s: Some(timeout_s),
        address_space: Some(protocol.build_memory_mib() << 20),
        file_size: Some(output_max * 4),
        descriptors: None,
        cpus: Vec::new(),
    };
    let failed = |error: io::Error| Fault::harness("start the compiler", &error);
    let page_fd = Memfd::new("status", PAGE).map_err(failed)?;
    let page = Mapping::new(page_fd.as_fd(), PAGE, true, false).map_err(failed)?;
    page.store(word::LAYERS, compiler.jail.as_ref().map_or(0, |jail| jail.layers.bits()));
    let mut group = Group::spawn(command(compiler, scratch, arguments), &limits, &[page_fd.as_fd()]).map_err(failed)?;
    let messages = group.child_mut().stderr.take();
    let reader = std::thread::spawn(move || drain(messages, output_max));
    let status = wait(&mut group, timeout_s);
    let ended = match status {
        Ok(Some(status)) => Ok(status),
        Ok(None) => Err(fault(codes::COMPILE_TIMEOUT, format!("the compiler was killed after {timeout_s} s"))),
        Err(error) => Err(Fault::harness("wait for the compiler", &error)),
    };
    // Kills what the compiler left behind, which also closes the pipe that the reader waits for.
    drop(group);
    let text = reader.join().unwrap_or_default();
    let status = ended?;
    if compiler.jail.is_some() && page.load(0) != status::JAILED {
        return Err(Fault::harness("jail the compiler", &io::Error::other(message(&page))));
    }
    if status.success() {
        return Ok(text);
    }
    if disk::free_bytes(&scratch.path).is_ok_and(|free| free < SCRATCH_MIN) {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        return Err(Fault::harness(&format!("build in {}", scratch.path.display()), &full));
    }
    if text.lines().any(|line| is_prototype(line, symbol)) {
        return Err(Fault::new(Outcome::Rejected(codes::PROTOTYPE), text));
    }
    if status.code().is_none() || text.lines().any(is_limit) {
        return Err(fault(codes::COMPILE_TIMEOUT, format!("the compiler hit a limit of time or memory\n{text}")));
    }
    Err(fault(codes::COMPILE_ERROR, text))
}

/// True for the compiler's message that the symbol is declared otherwise in kernel.h; the candidate's own messages begin otherwise.
fn is_prototype(line: &str, symbol: &str) -> bool {
    let message = line.strip_prefix("candidate.c:").and_then(|rest| rest.split_once(": error: "));
    message.is_some_and(|(_, message)| message.starts_with(&format!("conflicting types for '{symbol}'")))
}

/// True for a message of the compiler about itself, not about the candidate, that memory or time ran out.
fn is_limit(line: &str) -> bool {
    let about_itself = !line.starts_with("candidate.") && !line.starts_with(' ');
    about_itself
        && ["out of memory", "signal terminated", "virtual memory exhausted"].iter().any(|end| line.contains(end))
}

#[expect(clippy::disallowed_methods, reason = "compilers are started here")]
fn command(compiler: &Compiler, scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = match &compiler.jail {
        Some(jail) => {
            let mut command = Command::new(&jail.program);
            command.arg("__build").arg(&scratch.path).arg(&compiler.path);
            command
        }
        None => Command::new(&compiler.path),
    };
    command.args(arguments).current_dir(&scratch.path).env_clear();
    command.env("PATH", PATH).env("LC_ALL", "C").env("TMPDIR", &scratch.path);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn wait(group: &mut Group, timeout_s: u64) -> io::Result<Option<std::process::ExitStatus>> {
    let end = clock::now().seconds() + timeout_s as f64;
    loop {
        if let Some(status) = group.wait_for(200)? {
            return Ok(Some(status));
        }
        if clock::now().seconds() > end {
            return Ok(None);
        }
    }
}

/// Reads all of the compiler's messages and keeps the first `limit` bytes.
fn drain(pipe: Option<impl Read>, limit: u64) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let limit = usize::try_from(limit.min(64 << 10)).unwrap_or(0);
    let (mut kept, mut buffer, mut truncated) = (Vec::new(), [0; 8192], false);
    while let Ok(read) = pipe.read(&mut buffer) {
        if read == 0 {
            break;
        }
        let take = read.min(limit - kept.len());
        kept.extend_from_slice(&buffer[..take]);
        truncated |= take < read;
    }
    let mut text = String::from_utf8_lossy(&kept).into_owned();
    if truncated {
        text.push_str("\n[truncated]");
    }
    text
}

fn read_artefact(protocol: &Protocol, scratch: &Scratch) -> Result<Vec<u8>, Fault> {
    let path = scratch.path.join("candidate.so");
    let unusable = |what: &str| Fault::new(Outcome::Rejected(codes::ARTEFACT), what.to_owned());
    let open = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    let file: File = open.map_err(|error| unusable(&format!("the shared object cannot be opened: {error}")))?;
    let metadata = file.metadata().map_err(|error| Fault::harness("inspect the artefact", &error))?;
    let limit = protocol.build_output_max_kib() * 1024;
    if !metadata.is_file() || metadata.len() > limit {
        return Err(unusable(&format!("the shared object is not a plain file of at most {limit} bytes")));
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(|error| Fault::harness("read the artefact", &error))?;
    Ok(bytes)
}

/// A private folder that is removed when dropped.
#[derive(Debug)]
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> io::Result<Self> {
        let mut bytes = [0; 8];
        clock::random_bytes(&mut bytes)?;
        let path =
            std::path::absolute(std::env::temp_dir())?.join(format!("atb-build-{:016x}", u64::from_le_bytes(bytes)));
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        let scratch = Self { path };
        process::give_to_nobody(&scratch.path)?;
        Ok(scratch)
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.path.join(name);
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        file.write_all(text.as_bytes())?;
        process::give_to_nobody(&path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that stays behind is harmless.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_candidate_do_not_pass_for_the_compilers() {
        assert!(is_prototype("candidate.c:3:6: error: conflicting types for 'f'; have 'int(void)'", "f"));
        assert!(!is_prototype("candidate.c:3:6: error: conflicting types for 'g'", "f"));
        assert!(!is_prototype("candidate.c:1:2: error: #error conflicting types for 'f'", "f"));
        assert!(is_limit("cc1: out of memory allocating 65536 bytes after a total of 1 bytes"));
        assert!(is_limit("gcc: fatal error: Killed signal terminated program cc1"));
        assert!(!is_limit("candidate.c:1:2: error: #error out of memory"));
        assert!(!is_limit("    1 | #error out of memory"));
    }
}
