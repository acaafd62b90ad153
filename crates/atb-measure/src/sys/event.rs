//! Hand-off between parent and worker: a pair of eventfds, waited for together with the worker's end.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::check;

/// An eventfd.
#[derive(Debug)]
pub struct Event(File);

impl Event {
    /// A new event that is not set.
    pub fn new() -> io::Result<Self> {
        // SAFETY: the call takes no pointers; a successful result is a new descriptor that we own.
        let fd = unsafe { OwnedFd::from_raw_fd(check(libc::eventfd(0, libc::EFD_CLOEXEC))?) };
        Ok(Self(File::from(fd)))
    }

    /// Wraps a descriptor that was inherited.
    pub fn from_fd(fd: OwnedFd) -> Self {
        Self(File::from(fd))
    }

    /// Sets the event and wakes whoever waits.
    pub fn set(&self) -> io::Result<()> {
        (&self.0).write_all(&1_u64.to_ne_bytes())
    }

    /// Waits until the event is set, and clears it.
    pub fn wait(&self) -> io::Result<()> {
        (&self.0).read_exact(&mut [0; 8])
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
