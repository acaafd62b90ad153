//! Child processes: compilers and workers, with limits, without inherited environment or descriptors, killed as a group.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

use super::check;

/// Descriptors that a child can be given.
const MOST_DESCRIPTORS: usize = 16;

/// What a child is limited to.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Processor time in seconds.
    pub cpu_s: Option<u64>,
    /// Address space in bytes.
    pub address_space: Option<u64>,
    /// Size of a written file in bytes.
    pub file_size: Option<u64>,
    /// Open descriptors, those that the parent passes among them.
    pub descriptors: Option<u64>,
    /// Processors.
    pub cpus: Vec<usize>,
}

/// A child that is killed with its process group when dropped.
#[derive(Debug)]
pub struct Group {
    child: Child,
    pidfd: OwnedFd,
}

impl Group {
    /// Starts a command in a session of its own. `fds[i]` becomes descriptor `3 + i` in the child; all others are closed.
    pub fn spawn(mut command: Command, limits: &Limits, fds: &[BorrowedFd<'_>]) -> io::Result<Self> {
        let fds: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
        if fds.len() > MOST_DESCRIPTORS {
            return Err(io::ErrorKind::ArgumentListTooLong.into());
        }
        let limits = limits.clone();
        let parent = std::process::id();
        let setup = move || -> io::Result<()> {
            enter(&limits, parent)?;
            place(&fds)?;
            limit(libc::RLIMIT_NOFILE, limits.descriptors)
        };
        // SAFETY: between fork and exec the closure makes system calls only: it neither allocates nor takes locks.
        unsafe { command.pre_exec(setup) };
        let child = command.spawn()?;
        let pid = libc::pid_t::try_from(child.id()).unwrap_or(0);
        // SAFETY: the call takes no pointers; a successful result is a new descriptor that we own.
        let pidfd = unsafe {
            let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
            let fd = RawFd::try_from(fd).unwrap_or(-1);
            OwnedFd::from_raw_fd(check(fd)?)
        };
        Ok(Self { child, pidfd })
    }

    /// The process, for polling its end.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Stops the process: what runs in it does not go on until it is continued. Returns before it has stopped, but nothing of its code runs
    /// on a processor that the caller holds.
    pub fn stop(&self) -> io::Result<()> {
        self.signal(libc::SIGSTOP)
    }

    /// Lets a stopped process go on.
    pub fn go_on(&self) -> io::Result<()> {
        self.signal(libc::SIGCONT)
    }

    fn signal(&self, signal: libc::c_int) -> io::Result<()> {
        let (no_info, flags) = (std::ptr::null::<libc::siginfo_t>(), 0);
        // SAFETY: the descriptor is open and owned, and no information is passed.
        let sent =
            unsafe { libc::syscall(libc::SYS_pidfd_send_signal, self.pidfd.as_raw_fd(), signal, no_info, flags) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// The child, for its pipes.
    pub fn child_mut(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits for the end for at most this long; None if the time is over.
    pub fn wait_for(&mut self, timeout_ms: u64) -> io::Result<Option<ExitStatus>> {
        let mut poll = libc::pollfd { fd: self.pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let timeout = libc::c_int::try_from(timeout_ms).unwrap_or(libc::c_int::MAX);
        // SAFETY: `poll` is a valid array of one entry.
        let ready = unsafe { libc::poll(&raw mut poll, 1, timeout) };
        match check(ready) {
            Ok(0) => Ok(None),
            Ok(_) => self.child.wait().map(Some),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Kills the whole group and reaps the child.
    pub fn kill(&mut self) -> io::Result<ExitStatus> {
        if let Ok(pid) = libc::pid_t::try_from(self.child.id()) {
            // SAFETY: the call takes no pointers. The child leads its session and is not reaped yet, so the group is its own.
            unsafe { libc::kill(-pid, libc::SIGKILL) };
        }
        let _ = self.child.kill();
        self.child.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A failure means that the group has already ended.
        let _ = self.kill();
    }
}

/// Runs in the child before exec: own session, dies with the parent, no new privileges, no core files, limits.
fn enter(limits: &Limits, parent: u32) -> io::Result<()> {
    // SAFETY: plain system calls without pointers.
    unsafe {
        check(libc::setsid())?;
        die_with_parent()?;
        forbid_new_privileges()?;
        // The parent may have died before the line above.
        if libc::getppid().unsigned_abs() != parent {
            libc::_exit(127);
        }
    }
    limit(libc::RLIMIT_CORE, Some(0))?;
    limit(libc::RLIMIT_CPU, limits.cpu_s)?;
    limit(libc::RLIMIT_AS, limits.address_space)?;
    limit(libc::RLIMIT_FSIZE, limits.file_size)?;
    if limits.cpus.is_empty() { Ok(()) } else { super::cpu::restrict(&limits.cpus) }
}

fn limit(resource: libc::__rlimit_resource_t, value: Option<u64>) -> io::Result<()> {
    let Some(value) = value else { return Ok(()) };
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid rlimit.
    check(unsafe { libc::getrlimit(resource, &raw mut limit) })?;
    // Only root may raise what the user has lowered.
    let value = value.min(limit.rlim_max);
    limit = libc::rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: as above.
    check(unsafe { libc::setrlimit(resource, &raw const limit) }).map(drop)
}

/// Puts the descriptors at 3, 4, ... and closes all others above them.
fn place(fds: &[RawFd]) -> io::Result<()> {
    let count = RawFd::try_from(fds.len()).unwrap_or(0);
    let mut copies = [-1; MOST_DESCRIPTORS];
    // First out of the way, so that no target is overwritten before it was copied.
    for (copy, &fd) in copies.iter_mut().zip(fds) {
        // SAFETY: plain system calls on descriptors that are open in the child.
        *copy = check(unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3 + count) })?;
    }
    for (at, &copy) in (0..count).zip(&copies) {
        // SAFETY: as above; dup2 clears close-on-exec.
        check(unsafe { libc::dup2(copy, 3 + at) })?;
    }
    // Everything else closes at exec rather than now, since the standard library reports exec errors through a pipe.
    let (first, flags) = (3 + count.unsigned_abs(), libc::CLOSE_RANGE_CLOEXEC);
    // SAFETY: plain system call.
    check(unsafe { libc::close_range(first, libc::c_uint::MAX, libc::c_int::try_from(flags).unwrap_or(0)) }).map(drop)
}

/// Gives a path to the user that a jailed process becomes, if this process is root's.
pub(crate) fn give_to_nobody(path: &std::path::Path) -> io::Result<()> {
    if is_root() {
        std::os::unix::fs::lchown(path, Some(super::jail::NOBODY), Some(super::jail::NOBODY))?;
    }
    Ok(())
}

/// What the kernel says of a process, in the lines of proc(5).
pub(crate) fn status_of(pid: u32) -> io::Result<String> {
    std::fs::read_to_string(format!("/proc/{pid}/status"))
}

/// The executable memory of a process: range, access, offset and file of each mapping, in the words of proc(5).
pub(crate) fn code_of(pid: u32) -> io::Result<BTreeSet<String>> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let executable = |line: &&str| line.split_whitespace().nth(1).is_some_and(|access| access.contains('x'));
    Ok(maps.lines().filter(executable).map(str::to_owned).collect())
}

/// True if a process ended because a filter of system calls refused one.
pub fn is_refusal(status: ExitStatus) -> bool {
    status.signal() == Some(libc::SIGSYS)
}

/// How a process ended, in words.
pub fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("signal {signal} ({})", signal_name(signal)),
        (None, Some(code)) => format!("exit status {code}"),
        (None, None) => "unknown status".to_owned(),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "segmentation fault",
        libc::SIGBUS => "bus error",
        libc::SIGILL => "illegal instruction",
        libc::SIGFPE => "arithmetic fault",
        libc::SIGABRT => "abort",
        libc::SIGKILL => "killed",
        libc::SIGTRAP => "trap",
        libc::SIGXCPU => "processor time limit",
        libc::SIGXFSZ => "file size limit",
        libc::SIGSYS => "refused system call",
        _ => "see signal(7)",
    }
}

/// Limits how many processes and threads the user of this process may have, which binds everyone but root.
pub(crate) fn limit_processes(most: u64) -> io::Result<()> {
    limit(libc::RLIMIT_NPROC, Some(most))
}

/// Says whether others of the same user may look into this process.
pub(crate) fn set_dumpable(dumpable: bool) -> io::Result<()> {
    // SAFETY: plain system call.
    check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, libc::c_ulong::from(dumpable), 0, 0, 0) }).map(drop)
}

/// Set-uid programs give this process and its children nothing from here on.
pub(crate) fn forbid_new_privileges() -> io::Result<()> {
    // SAFETY: plain system call.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }).map(drop)
}

/// Undoes the handlers by which the standard library explains a stack overflow.
pub(crate) fn default_faults() -> io::Result<()> {
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: the default action runs no code of this process.
        if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Lets the kernel kill this process when the one that started it ends.
pub(crate) fn die_with_parent() -> io::Result<()> {
    // SAFETY: plain system call.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) }).map(drop)
}

/// The process that started this one.
pub(crate) fn parent() -> u32 {
    // SAFETY: the call has no preconditions.
    unsafe { libc::getppid() }.unsigned_abs()
}

/// The user of this process.
pub fn user() -> u32 {
    // SAFETY: the call has no preconditions.
    unsafe { libc::geteuid() }
}

/// True if the process runs as root.
pub fn is_root() -> bool {
    user() == 0
}

/// A descriptor that the parent placed at this number.
///
/// # Safety
/// The number must be an open descriptor that nothing else in this process owns.
pub unsafe fn inherited(number: RawFd) -> OwnedFd {
    // SAFETY: the caller vouches for it.
    unsafe { OwnedFd::from_raw_fd(number) }
}

/// The size of the file behind a descriptor.
pub fn size_of_fd(fd: BorrowedFd<'_>) -> io::Result<usize> {
    // SAFETY: stat is plain data, for which zero is a valid value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open and `stat` is writable.
    check(unsafe { libc::fstat(fd.as_raw_fd(), &raw mut stat) })?;
    usize::try_from(stat.st_size).map_err(|_| io::ErrorKind::InvalidData.into())
}
