//! Room on a file system.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::check;

/// Bytes that this user may still write below a path.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: statvfs is plain data, for which zero is a valid value.
    let mut stat: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path is NUL-terminated and `stat` is writable.
    check(unsafe { libc::statvfs(path.as_ptr(), &raw mut stat) })?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_room_and_a_missing_one_is_an_error() {
        assert!(free_bytes(&std::env::temp_dir()).unwrap() > 0);
        assert!(free_bytes(Path::new("/no/such/folder")).is_err());
    }
}
