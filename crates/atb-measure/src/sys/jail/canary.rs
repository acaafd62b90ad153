//! The canary: trusted code that asks, inside a worker's jail, for everything that a kernel must not get.
//!
//! What it is refused is the isolation of the row; a jail whose calls all returned 0 proves nothing. An action that the kernel considers,
//! whatever comes of it, was not refused. Each action is harmless where it succeeds.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_long};
use std::io;

use super::refusal;

/// An action: its name, and the call.
type Action = (&'static str, fn(&Stage) -> Tried);

/// How a call ended, noted before anything else is called.
#[derive(Debug, Clone, Copy)]
struct Tried {
    refused: bool,
    /// What the call returned; of no use if it was refused.
    result: c_long,
}

impl Tried {
    fn of(result: c_long) -> Self {
        let error = io::Error::last_os_error().raw_os_error();
        let denied = result < 0 && matches!(error, Some(libc::EPERM | libc::EACCES | libc::ENOSYS | libc::EROFS));
        Self { refused: refusal::was_refused() || denied, result }
    }

    /// What a call gave that it should not have given.
    fn given(self) -> Option<c_long> {
        (!self.refused && self.result >= 0).then_some(self.result)
    }
}

/// What actions use.
struct Stage {
    /// The process that started this one.
    parent: c_long,
    /// Zeros, and memory for what calls would write.
    scratch: UnsafeCell<[u8; 256]>,
}

impl Stage {
    fn buffer(&self) -> *mut u8 {
        self.scratch.get().cast()
    }
}

const OUTSIDE: &CStr = c"/proc/self/status";
const ROOT: &CStr = c"/";
const IN_TMP: &CStr = c"/tmp/.atb-canary";
const IN_SHM: &CStr = c"/dev/shm/.atb-canary";
const MISSING: &CStr = c"/nonexistent/atb-canary";
const AT: libc::c_int = libc::AT_FDCWD;

macro_rules! call {
    ($number:ident $(, $argument:expr)*) => {
        // SAFETY: a system call with plain numbers and pointers to live memory or constants; it may fail, and changes nothing that this
        // program uses.
        Tried::of(unsafe { libc::syscall(libc::$number $(, $argument)*) })
    };
}

/// A socket of a family, closed again.
fn socket(domain: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> Tried {
    closed(call!(SYS_socket, domain, kind, protocol))
}

/// Closes a descriptor that a call should not have given.
fn closed(tried: Tried) -> Tried {
    if let Some(fd) = tried.given() {
        call!(SYS_close, fd);
    }
    tried
}

/// Opens a file for writing and removes it again.
fn create(path: &CStr) -> Tried {
    let tried = call!(SYS_openat, AT, path.as_ptr(), libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC, 0o600);
    if tried.given().is_some() {
        call!(SYS_unlinkat, AT, path.as_ptr(), 0);
    }
    closed(tried)
}

/// A new process that ends at once.
fn process(tried: Tried) -> Tried {
    if tried.given() == Some(0) {
        // SAFETY: ends the child without running anything of the parent's.
        unsafe { libc::_exit(0) };
    }
    tried
}

/// Executable memory, given back.
fn executable(tried: Tried, length: usize) -> Tried {
    if let Some(address) = tried.given() {
        call!(SYS_munmap, address, length);
    }
    tried
}

/// All actions, in the order of their bits. New ones go to the end: rows hold the vector.
const ACTIONS: &[Action] = &[
    ("read a file", |_| closed(call!(SYS_openat, AT, OUTSIDE.as_ptr(), libc::O_RDONLY))),
    ("list a folder", |_| closed(call!(SYS_openat, AT, ROOT.as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY))),
    ("write in /tmp", |_| create(IN_TMP)),
    ("write in /dev/shm", |_| create(IN_SHM)),
    ("look at a file", |stage| call!(SYS_statx, AT, OUTSIDE.as_ptr(), 0, 0, stage.buffer())),
    ("change a mode", |_| call!(SYS_fchmodat, AT, MISSING.as_ptr(), 0o600)),
    ("change an owner", |_| call!(SYS_fchownat, AT, MISSING.as_ptr(), -1, -1, 0)),
    ("change a time", |_| call!(SYS_utimensat, AT, MISSING.as_ptr(), 0, 0)),
    ("change an attribute", |_| call!(SYS_setxattr, MISSING.as_ptr(), c"user.a".as_ptr(), c"a".as_ptr(), 1, 0)),
    ("make a link", |_| call!(SYS_symlinkat, ROOT.as_ptr(), AT, MISSING.as_ptr())),
    ("make a hard link", |_| call!(SYS_linkat, AT, MISSING.as_ptr(), AT, MISSING.as_ptr(), 0)),
    ("rename a file", |_| call!(SYS_renameat2, AT, MISSING.as_ptr(), AT, MISSING.as_ptr(), 0)),
    ("remove a file", |_| call!(SYS_unlinkat, AT, MISSING.as_ptr(), 0)),
    ("truncate a file", |_| call!(SYS_truncate, MISSING.as_ptr(), 0)),
    ("open by handle", |stage| closed(call!(SYS_open_by_handle_at, AT, stage.buffer(), libc::O_RDONLY))),
    ("make memory with a name", |_| closed(call!(SYS_memfd_create, c"canary".as_ptr(), 0))),
    ("TCP", |_| socket(libc::AF_INET, libc::SOCK_STREAM, 0)),
    ("MPTCP", |_| socket(libc::AF_INET, libc::SOCK_STREAM, 262)),
    ("TCP over IPv6", |_| socket(libc::AF_INET6, libc::SOCK_STREAM, 0)),
    ("UDP", |_| socket(libc::AF_INET, libc::SOCK_DGRAM, 0)),
    ("netlink", |_| socket(libc::AF_NETLINK, libc::SOCK_RAW, 0)),
    ("vsock", |_| socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)),
    ("packets", |_| socket(libc::AF_PACKET, libc::SOCK_RAW, 0)),
    ("a local socket", |_| socket(libc::AF_UNIX, libc::SOCK_STREAM, 0)),
    ("io_uring", |stage| closed(call!(SYS_io_uring_setup, 1, stage.buffer()))),
    ("a new process", |_| process(call!(SYS_clone, libc::SIGCHLD, 0, 0, 0, 0))),
    ("a new thread", |stage| call!(SYS_clone3, stage.buffer(), 0)),
    ("another program", |stage| call!(SYS_execve, MISSING.as_ptr(), stage.buffer(), stage.buffer())),
    ("another program by descriptor", |stage| call!(SYS_execveat, -1, c"".as_ptr(), stage.buffer(), 0, 0)),
    ("trace the parent", |stage| call!(SYS_ptrace, libc::PTRACE_SEIZE, stage.parent, 0, 0)),
    ("read the parent's memory", |stage| {
        call!(SYS_process_vm_readv, stage.parent, stage.buffer(), 0, stage.buffer(), 0, 0)
    }),
    ("write the parent's memory", |stage| {
        call!(SYS_process_vm_writev, stage.parent, stage.buffer(), 0, stage.buffer(), 0, 0)
    }),
    ("a handle on the parent", |stage| closed(call!(SYS_pidfd_open, stage.parent, 0))),
    ("a descriptor of another process", |_| closed(call!(SYS_pidfd_getfd, -1, 0, 0))),
    ("signal the parent", |stage| call!(SYS_kill, stage.parent, 0)),
    ("signal a thread of the parent", |stage| call!(SYS_tgkill, stage.parent, stage.parent, 0)),
    ("another processor", |stage| call!(SYS_sched_setaffinity, 0, 0, stage.buffer())),
    ("another priority", |_| call!(SYS_setpriority, libc::PRIO_PROCESS, 0, 0)),
    ("another scheduler", |stage| call!(SYS_sched_setscheduler, 0, -1, stage.buffer())),
    ("change its own process", |_| call!(SYS_prctl, libc::PR_GET_NAME, 0, 0, 0, 0)),
    ("another signal handler", |_| call!(SYS_rt_sigaction, 0, 0, 0, 8)),
    ("another identity", |_| call!(SYS_setresuid, -1, -1, -1)),
    ("a user namespace", |_| call!(SYS_unshare, libc::CLONE_NEWUSER)),
    ("another's namespace", |_| call!(SYS_setns, -1, 0)),
    ("mount", |_| call!(SYS_mount, 0, MISSING.as_ptr(), 0, 0, 0)),
    ("unmount", |_| call!(SYS_umount2, MISSING.as_ptr(), 0)),
    ("another root", |_| call!(SYS_chroot, MISSING.as_ptr())),
    ("exchange the root", |_| call!(SYS_pivot_root, MISSING.as_ptr(), MISSING.as_ptr())),
    ("keys", |_| call!(SYS_keyctl, 0, -1, 0, 0, 0)),
    ("programs in the kernel", |_| call!(SYS_bpf, -1, 0, 0)),
    ("performance events", |_| call!(SYS_perf_event_open, 0, 0, -1, -1, 0)),
    ("faults of pages", |_| closed(call!(SYS_userfaultfd, 0))),
    ("shared memory", |_| call!(SYS_shmget, -1, 0, 0)),
    ("a message queue", |_| closed(call!(SYS_mq_open, c"atb-canary".as_ptr(), 0, 0, 0))),
    ("a timer", |_| call!(SYS_setitimer, -1, 0, 0)),
    ("another kind of timer", |_| call!(SYS_timer_create, -1, 0, 0)),
    ("set the clock", |_| call!(SYS_clock_settime, -1, 0)),
    ("executable memory", |_| {
        let (length, flags) = (4096_usize, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        executable(call!(SYS_mmap, 0, length, libc::PROT_READ | libc::PROT_EXEC, flags, -1, 0), length)
    }),
    ("make memory executable", |_| call!(SYS_mprotect, 0, 0, libc::PROT_READ | libc::PROT_EXEC)),
    ("another personality", |_| call!(SYS_personality, 0xffff_ffff_u32)),
    ("take its signal back", |stage| call!(SYS_read, crate::worker::fd::DONE, stage.buffer(), 0)),
    ("close its descriptors", |_| call!(SYS_close, -1)),
];

/// Actions that there are; each has a bit.
pub const COUNT: usize = ACTIONS.len();
const _: () = assert!(COUNT <= 64, "the vector is one word");

/// The name of each action.
pub fn names() -> impl Iterator<Item = &'static str> {
    ACTIONS.iter().map(|(name, _)| *name)
}

/// All actions refused, as they must be while the code runs.
pub const ALL_REFUSED: u64 = u64::MAX >> (64 - COUNT);

/// What only running code must not get: the loader needs it.
const LOADING_NEEDS: [&str; 7] = [
    "look at a file",
    "change its own process",
    "another signal handler",
    "executable memory",
    "make memory executable",
    "take its signal back",
    "close its descriptors",
];

/// What must be refused while the code is loaded.
pub fn refused_while_loading() -> u64 {
    names().enumerate().filter(|(_, name)| !LOADING_NEEDS.contains(name)).fold(0, |all, (at, _)| all | 1 << at)
}

/// Tries every action in this process, and returns a bit for each that was refused. For workers only: some would harm the caller's own work.
pub(crate) fn try_all(parent: u32) -> u64 {
    refusal::is_counted();
    let stage = Stage { parent: c_long::from(parent.cast_signed()), scratch: UnsafeCell::new([0; 256]) };
    refusal::was_refused();
    ACTIONS.iter().enumerate().fold(0, |refused, (at, (_, act))| {
        let tried = act(&stage);
        // A refusal while tidying up is none of the next action.
        refusal::was_refused();
        if tried.refused { refused | 1 << at } else { refused }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exception_is_an_action() {
        assert_eq!(refused_while_loading().count_ones() as usize, COUNT - LOADING_NEEDS.len());
        assert_eq!(ALL_REFUSED.count_ones() as usize, COUNT);
    }
}
