//! What happens when a filter refuses a system call: SIGSYS, whose handler is this program's and cannot be replaced, since the filters refuse
//! to let the code install another.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::super::check;
use super::super::memory::Mapping;
use crate::worker::status;

/// Where the number of a refused call goes; null if refusals are counted.
static NOTE: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());
/// Set when a call was refused.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// A refused call ends the process; its number is left on the status page, as evidence for a person, never for a verdict.
pub(super) fn ends_the_process(status_page: &Mapping) -> io::Result<()> {
    let note = status_page.address(status::REFUSED_CALL * 8);
    NOTE.store(note.cast(), Ordering::Relaxed);
    install()
}

/// A refused call is noted for [`was_refused`], and the process goes on.
pub(super) fn is_counted() {
    NOTE.store(std::ptr::null_mut(), Ordering::Relaxed);
}

/// True if a call was refused since the last question.
pub(super) fn was_refused() -> bool {
    REFUSED.swap(false, Ordering::Relaxed)
}

fn install() -> io::Result<()> {
    // SAFETY: an all-zero sigaction is valid; the handler has the signature that SA_SIGINFO asks for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_sigsys as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        check(libc::sigaction(libc::SIGSYS, &raw const action, std::ptr::null_mut())).map(drop)
    }
}

extern "C" fn on_sigsys(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    /// Offset of the call's number in siginfo_t: signal, errno, code, padding, address of the call (sigaction(2)).
    const NUMBER_AT: usize = 24;
    REFUSED.store(true, Ordering::Relaxed);
    let note = NOTE.load(Ordering::Relaxed);
    if note.is_null() {
        return;
    }
    // SAFETY: the kernel passes a whole siginfo_t, and the note lies in the status page, which is never unmapped by this program. If the
    // code has unmapped it, the process ends here as well.
    unsafe {
        let number = info.cast::<u8>().add(NUMBER_AT).cast::<i32>().read_unaligned();
        note.write_volatile(u64::from(number.unsigned_abs()) + 1);
        // Refused, too: while its handler runs SIGSYS is blocked, so this one ends the process.
        libc::syscall(libc::SYS_getppid);
        libc::_exit(127);
    }
}
