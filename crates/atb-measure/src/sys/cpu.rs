//! Processor sets.

use std::io;

use super::check;

/// Processors on which the calling thread may run, in ascending order.
pub fn allowed() -> io::Result<Vec<usize>> {
    // SAFETY: cpu_set_t is plain bits, for which zero is a valid value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is valid and its size is passed.
    check(unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) })?;
    let limit = usize::try_from(libc::CPU_SETSIZE).unwrap_or(0);
    // SAFETY: `cpu` is below CPU_SETSIZE.
    Ok((0..limit).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect())
}

/// Restricts the calling thread to these processors.
pub fn restrict(cpus: &[usize]) -> io::Result<()> {
    // SAFETY: cpu_set_t is plain bits, for which zero is a valid value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let limit = usize::try_from(libc::CPU_SETSIZE).unwrap_or(0);
    for &cpu in cpus.iter().filter(|&&cpu| cpu < limit) {
        // SAFETY: `cpu` is below CPU_SETSIZE.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    // SAFETY: `set` is valid and its size is passed.
    check(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) }).map(drop)
}

/// Restricts the calling thread and lifts the restriction when dropped.
#[derive(Debug)]
pub struct Pinned {
    before: Vec<usize>,
}

impl Pinned {
    /// Pins the calling thread to one processor.
    pub fn to(cpu: usize) -> io::Result<Self> {
        let before = allowed()?;
        restrict(&[cpu])?;
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Nothing can be done about a failure here, and a pinned thread still works.
        let _ = restrict(&self.before);
    }
}
