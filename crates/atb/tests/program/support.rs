//! Running the program and looking at what it leaves behind.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_atb");
/// Longest time that any command of a test may take.
const LIMIT: Duration = Duration::from_mins(5);

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Taken by every test that measures or loads the processors: two at a time would disturb each other.
pub(crate) fn measuring() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    // A test that failed while measuring has left nothing that the next one could trip over.
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The exit status; 128 and the signal for a killed process, as shells have it.
    pub(crate) fn code(&self) -> i32 {
        use std::os::unix::process::ExitStatusExt as _;
        self.status.code().or_else(|| self.status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
    }

    /// Standard error, then standard output.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.stderr, self.stdout)
    }

    /// Asserts the exit code and texts in the output.
    #[track_caller]
    pub(crate) fn expect(self, code: i32, texts: &[&str]) -> Self {
        let all = self.all();
        assert_eq!(self.code(), code, "{all}");
        for text in texts {
            assert!(all.contains(text), "`{text}` is not in:\n{all}");
        }
        self
    }

    /// Asserts that a campaign came to its end with a verdict, whatever it is: how often a busy machine reads equal code as unlike is a
    /// rate, which `cargo xtask full` counts, so a control that a report fails for that reason is an end, too.
    #[track_caller]
    pub(crate) fn expect_end(&self) {
        let verdict = [0, 12, 15, 16, 17].contains(&self.code());
        let void = self.code() == 18 && self.stdout.contains(r#""code":"ATB405""#);
        assert!(verdict || void, "{}", self.all());
        assert!(self.json()["outcome"].is_string(), "{}", self.all());
    }

    /// The last line of standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let line = self.stdout.lines().last().unwrap_or_else(|| panic!("nothing was printed:\n{}", self.stderr));
        serde_json::from_str(line).unwrap_or_else(|error| panic!("the last line is not JSON ({error}):\n{line}"))
    }
}

/// The program with arguments, in a directory, with an environment that holds what the tests set and PATH.
pub(crate) fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments);
    prepare(&mut command, directory);
    command
}

/// Sets directory, environment and pipes of a command.
pub(crate) fn prepare(command: &mut Command, directory: &Path) {
    command.current_dir(directory).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // No peaks of this machine, whatever its owner has measured.
    command.env("XDG_STATE_HOME", directory.join("state"));
    for name in ["PATH", "HOME", "TMPDIR", "LLVM_PROFILE_FILE"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
}

/// Runs the program.
pub(crate) fn atb(directory: &Path, arguments: &[&str]) -> Ran {
    complete(command(directory, arguments))
}

/// Runs the program with arguments split at spaces and returns exit code and output.
pub(crate) fn run(directory: &Path, arguments: &str) -> (i32, String) {
    let ran = atb(directory, &arguments.split_whitespace().collect::<Vec<_>>());
    (ran.code(), ran.all())
}

/// The JSON object that the program prints last with `--json`.
#[track_caller]
pub(crate) fn json(directory: &Path, arguments: &str) -> Value {
    atb(directory, &arguments.split_whitespace().chain(["--json"]).collect::<Vec<_>>()).json()
}

/// Runs a command to its end; one that outlives the limit is killed and fails the test.
pub(crate) fn complete(mut command: Command) -> Ran {
    let child = command.spawn().unwrap_or_else(|error| panic!("failed to start {command:?}: {error}"));
    finish(child, &format!("{command:?}"))
}

/// Waits for a child and collects its output.
pub(crate) fn finish(mut child: Child, what: &str) -> Ran {
    fn drain(pipe: Option<impl std::io::Read + Send + 'static>) -> std::thread::JoinHandle<String> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                std::io::Read::read_to_end(&mut pipe, &mut bytes).unwrap();
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }
    let (stdout, stderr) = (drain(child.stdout.take()), drain(child.stderr.take()));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("{what} did not end within {LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    Ran { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

/// Arguments of a command that measures the task of the tests by their protocol, which together are quick.
pub(crate) fn quick() -> Vec<String> {
    let fixtures = root().join("fixtures");
    let tasks = fixtures.join("tasks").display().to_string();
    let protocol = fixtures.join("protocol/it-1.toml").display().to_string();
    ["--tasks", &tasks, "--protocol", &protocol, "--exploratory", "--quiet"].map(str::to_owned).to_vec()
}

/// `atb tune it_chain --iterations 2 ... --out DIR`, as arguments.
pub(crate) fn tune(out: &str) -> Vec<String> {
    let mut arguments = ["tune", "it_chain", "--iterations", "2", "--out", out].map(str::to_owned).to_vec();
    arguments.extend(quick());
    arguments
}

/// Borrowed arguments.
pub(crate) fn borrowed(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// A process id whose command line holds all of the words.
pub(crate) fn processes(words: &[&str]) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        words.iter().all(|word| line.contains(word))
    })
    .collect()
}

/// The workers of the program under test. Other copies of the program may be running on this machine.
pub(crate) fn workers() -> Vec<i32> {
    let ours = std::fs::metadata(PROGRAM).unwrap();
    let same = |pid: &i32| {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(format!("/proc/{pid}/exe"))
            .is_ok_and(|exe| (exe.dev(), exe.ino()) == (ours.dev(), ours.ino()))
    };
    processes(&["__run"]).into_iter().filter(same).collect()
}

/// Asserts that no worker is left; a killed one may take a moment to go. Only while [`measuring`].
#[track_caller]
pub(crate) fn assert_no_worker() {
    let start = Instant::now();
    while !workers().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(5), "workers are left: {:?}", workers());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal by name.
pub(crate) fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

/// Rows of a kind in a ledger.
pub(crate) fn count(db: &Path, kind: &str) -> i64 {
    let connection = rusqlite::Connection::open(db).unwrap();
    connection.query_row("SELECT count(*) FROM entry WHERE kind = ?1", [kind], |row| row.get(0)).unwrap()
}
