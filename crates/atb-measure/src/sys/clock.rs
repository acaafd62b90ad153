//! The clock that samples come from: CLOCK_MONOTONIC_RAW, which NTP does not slew.

use atb_core::quantity::Nanos;

/// Nanoseconds since some fixed point in the past.
pub fn now() -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, writable timespec for the duration of the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &raw mut time) };
    Nanos::new((time.tv_sec.unsigned_abs() * 1_000_000_000) + time.tv_nsec.unsigned_abs())
}

/// The clock of another process's processor time, that of its threads included. The kernel keeps it; the process cannot.
#[derive(Debug, Clone, Copy)]
pub struct ProcessClock(libc::clockid_t);

impl ProcessClock {
    /// The clock of a process that is not reaped.
    pub fn of(pid: u32) -> std::io::Result<Self> {
        let mut clock = 0;
        let pid = libc::pid_t::try_from(pid).map_err(|_| std::io::ErrorKind::NotFound)?;
        // SAFETY: `clock` is a valid, writable clockid_t.
        match unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) } {
            0 => Ok(Self(clock)),
            error => Err(std::io::Error::from_raw_os_error(error)),
        }
    }

    /// Processor time so far; zero once the process has ended.
    pub fn read(self) -> Nanos {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: as for `now`.
        unsafe { libc::clock_gettime(self.0, &raw mut time) };
        Nanos::new((time.tv_sec.unsigned_abs() * 1_000_000_000) + time.tv_nsec.unsigned_abs())
    }
}

/// Spins until the clock reads at least this time.
pub fn spin_until(end: Nanos) {
    while now() < end {
        std::hint::spin_loop();
    }
}

/// Wall time in milliseconds since 1970, UTC.
#[expect(clippy::disallowed_methods, reason = "the one reader of the wall clock")]
pub fn wall_ms() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |elapsed| i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
}

/// Fills bytes from the kernel's random source.
pub fn random_bytes(bytes: &mut [u8]) -> std::io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        let rest = &mut bytes[filled..];
        // SAFETY: the pointer and length describe `rest`, which is writable.
        let got = unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) };
        filled += usize::try_from(got).map_err(|_| std::io::Error::last_os_error())?;
    }
    Ok(())
}
