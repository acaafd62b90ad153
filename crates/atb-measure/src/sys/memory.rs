//! Memory shared with workers: memfds with seals, and their mappings.
//!
//! A worker may write to memory that the parent reads. Mapped bytes are therefore only ever copied in or out, or viewed while
//! the worker is known to wait: the parent prepares and checks a window only between the worker's `done` and the next `go`.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

use super::check;

/// Anonymous memory behind a descriptor.
#[derive(Debug)]
pub struct Memfd {
    fd: OwnedFd,
    len: usize,
}

impl Memfd {
    /// New memory of this many bytes, zeroed, without pages until they are touched.
    pub fn new(name: &str, len: usize) -> io::Result<Self> {
        let name = CString::new(name)?;
        // SAFETY: `name` is a valid C string; a successful result is a new descriptor that we own.
        let fd = unsafe {
            let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
            OwnedFd::from_raw_fd(check(libc::memfd_create(name.as_ptr(), flags))?)
        };
        let size = libc::off_t::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        // SAFETY: the descriptor is open and owned.
        check(unsafe { libc::ftruncate(fd.as_raw_fd(), size) })?;
        Ok(Self { fd, len })
    }

    /// Memory that holds these bytes and can never change again.
    pub fn sealed(name: &str, bytes: &[u8]) -> io::Result<Self> {
        let memory = Self::new(name, 0)?;
        File::from(memory.fd.try_clone()?).write_all(bytes)?;
        memory.seal(libc::F_SEAL_WRITE | libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL)?;
        Ok(Self { len: bytes.len(), ..memory })
    }

    /// Forbids every new writable mapping and resizing; mappings that exist stay writable. For inputs and control words.
    pub fn seal_for_reader(&self) -> io::Result<()> {
        self.seal(libc::F_SEAL_FUTURE_WRITE | libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL)
    }

    /// Forbids resizing. For outputs: a worker that shrank them would crash the parent.
    pub fn seal_size(&self) -> io::Result<()> {
        self.seal(libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL)
    }

    fn seal(&self, seals: libc::c_int) -> io::Result<()> {
        // SAFETY: the descriptor is open and owned.
        check(unsafe { libc::fcntl(self.fd.as_raw_fd(), libc::F_ADD_SEALS, seals) }).map(drop)
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl AsFd for Memfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A shared mapping, unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    len: usize,
    writable: bool,
}

// SAFETY: the mapping is plain memory that no thread owns; access goes through &self / &mut self.
unsafe impl Send for Mapping {}
// SAFETY: as above; shared access only reads or uses atomics.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the memory behind a descriptor. `populate` touches all pages at once.
    pub fn new(fd: BorrowedFd<'_>, len: usize, writable: bool, populate: bool) -> io::Result<Self> {
        let protection = if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        let flags = libc::MAP_SHARED | if populate { libc::MAP_POPULATE } else { 0 };
        // SAFETY: a fresh mapping of an open descriptor at an address of the kernel's choice.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), len.max(1), protection, flags, fd.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, len, writable })
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of a byte; for passing pointers to a kernel.
    pub fn address(&self, offset: usize) -> *mut u8 {
        self.base.as_ptr().wrapping_add(offset)
    }

    /// The bytes, while the other process is known to wait.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is readable and `len` long. The module's rule keeps the other process from writing meanwhile; a
        // worker that breaks it can garble only values that are then judged wrong, since they are read as plain integers.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }

    /// The bytes for writing, while the other process is known to wait. Empty for a read-only mapping.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let len = if self.writable { self.len } else { 0 };
        // SAFETY: as for `bytes`, and the mapping is writable when `len` is not zero.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), len) }
    }

    /// Reads the 64-bit word at this index, as the other side last wrote it.
    #[expect(clippy::cast_ptr_alignment, reason = "mappings start at a page, so words are aligned")]
    pub fn load(&self, word: usize) -> u64 {
        assert_word(word, self.len);
        // SAFETY: in bounds and aligned, since mappings start at a page.
        unsafe { self.base.as_ptr().cast::<u64>().add(word).read_volatile() }
    }

    /// Writes the 64-bit word at this index.
    #[expect(clippy::cast_ptr_alignment, reason = "mappings start at a page, so words are aligned")]
    pub fn store(&self, word: usize, value: u64) {
        assert_word(word, self.len);
        debug_assert!(self.writable);
        // SAFETY: in bounds and aligned, since mappings start at a page; the hand-off through an eventfd orders the access.
        unsafe { self.base.as_ptr().cast::<u64>().add(word).write_volatile(value) }
    }
}

fn assert_word(word: usize, len: usize) {
    assert!((word + 1) * 8 <= len, "word {word} outside a mapping of {len} bytes");
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: unmaps exactly what `new` mapped; no reference outlives `self`.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len.max(1)) };
    }
}

/// Views bytes as 32-bit words.
pub fn words(bytes: &[u8]) -> &[u32] {
    // SAFETY: every bit pattern is a u32; `align_to` keeps to whole, aligned words.
    unsafe { bytes.align_to::<u32>().1 }
}

/// Views bytes as 32-bit words for writing.
pub fn words_mut(bytes: &mut [u8]) -> &mut [u32] {
    // SAFETY: every bit pattern is a u32; `align_to` keeps to whole, aligned words.
    unsafe { bytes.align_to_mut::<u32>().1 }
}

/// Views 32-bit words as bytes for writing.
pub fn bytes_mut(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: a u32 has no padding, and every byte pattern is a u32.
    unsafe { words.align_to_mut::<u8>().1 }
}

/// Views bytes as doubles.
pub fn doubles(bytes: &[u8]) -> &[f64] {
    // SAFETY: every bit pattern is an f64; `align_to` keeps to whole, aligned doubles.
    unsafe { bytes.align_to::<f64>().1 }
}
