//! Files that outsiders are given, and signing keys.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::open_plain;
use crate::error::{Error, Result};

/// Opens a file of many lines, such as a bundle.
pub fn open_lines(path: &Path) -> Result<impl io::BufRead> {
    Ok(io::BufReader::new(open_plain(path)?.0))
}

/// The first bytes of a plain file; none of what cannot be opened as one.
pub fn first_bytes(path: &Path) -> Option<Vec<u8>> {
    let mut first = Vec::new();
    open_plain(path).ok()?.0.take(4096).read_to_end(&mut first).ok()?;
    Some(first)
}

/// Writes a new file that only its owner may read.
pub fn write_secret(path: &Path, text: &str) -> Result<()> {
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|source| {
        // Half a key is of no use; one that was there before is left alone.
        if source.kind() != io::ErrorKind::AlreadyExists {
            let _ = fs::remove_file(path);
        }
        Error::Unwritable { path: path.to_owned(), source }
    })
}
