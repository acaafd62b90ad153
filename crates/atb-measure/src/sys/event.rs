//! Hand-off between parent and worker: a pair of eventfds, waited for together with the worker's end.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::check;

/// An eventfd.
#[derive(Debug)]
pub struct Event(File);

impl Event {
    /// A new event that is not set. Waiting for one that `never_blocks` fails if it is not set.
    pub fn new(never_blocks: bool) -> io::Result<Self> {
        let flags = libc::EFD_CLOEXEC | if never_blocks { libc::EFD_NONBLOCK } else { 0 };
        // SAFETY: the call takes no pointers; a successful result is a new descriptor that we own.
        let fd = unsafe { OwnedFd::from_raw_fd(check(libc::eventfd(0, flags))?) };
        Ok(Self(File::from(fd)))
    }

    /// True if the event is set, and if setting it would block: the other side can do both to it.
    pub fn state(&self) -> io::Result<(bool, bool)> {
        let events = libc::POLLIN | libc::POLLOUT;
        let mut poll = libc::pollfd { fd: self.0.as_raw_fd(), events, revents: 0 };
        // SAFETY: `poll` is a valid array of one entry.
        check(unsafe { libc::poll(&raw mut poll, 1, 0) })?;
        Ok((poll.revents & libc::POLLIN != 0, poll.revents & libc::POLLOUT == 0))
    }

    /// Wraps a descriptor that was inherited.
    pub fn from_fd(fd: OwnedFd) -> Self {
        Self(File::from(fd))
    }

    /// Sets the event and wakes whoever waits.
    pub fn set(&self) -> io::Result<()> {
        (&self.0).write_all(&1_u64.to_ne_bytes())
    }

    /// Waits until the event is set, clears it, and returns how often it was set.
    pub fn wait(&self) -> io::Result<u64> {
        let mut times = [0; 8];
        (&self.0).read_exact(&mut times)?;
        Ok(u64::from_ne_bytes(times))
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What a wait ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// The event is set.
    Set,
    /// The process ended first.
    Ended,
    /// Neither happened in time.
    TimedOut,
}

/// Waits until the event is set, the process behind the pidfd ends, or the time is over.
pub fn wait_either(event: &Event, pidfd: BorrowedFd<'_>, timeout_ms: u64) -> io::Result<Waited> {
    let mut polls = [
        libc::pollfd { fd: event.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 },
        libc::pollfd { fd: pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 },
    ];
    loop {
        let timeout = libc::c_int::try_from(timeout_ms).unwrap_or(libc::c_int::MAX);
        // SAFETY: `polls` is a valid array of two entries.
        match check(unsafe { libc::poll(polls.as_mut_ptr(), 2, timeout) }) {
            Ok(0) => return Ok(Waited::TimedOut),
            Ok(_) if polls[0].revents != 0 => return Ok(Waited::Set),
            Ok(_) => return Ok(Waited::Ended),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
