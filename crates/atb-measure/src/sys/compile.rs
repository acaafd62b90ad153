//! The compiler's side of the build jail: this program again, which jails itself and then becomes the compiler.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use super::jail::{self, Layers};
use super::memory::Mapping;
use super::process;
use crate::worker::{PAGE, report, status, word};

/// Descriptor of the status page.
pub(crate) const STATUS_FD: i32 = 3;

/// Becomes a compiler inside the build jail. Entry point of `atb __build SCRATCH COMPILER ARGUMENT...`; returns only on failure, which is on
/// the status page.
pub fn compile(mut arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    // SAFETY: the parent placed exactly this descriptor, and nothing else in this process uses it.
    let page: OwnedFd = unsafe { process::inherited(STATUS_FD) };
    let mut page_of = Mapping::new(page.as_fd(), PAGE, true, true)?;
    // The compiler gets no descriptor but its standard ones.
    drop(page);
    let (Some(scratch), Some(tool)) = (arguments.next(), arguments.next()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let layers = Layers::from_bits(page_of.load(word::LAYERS));
    let jailed = jail::for_building(layers, &mut page_of, Path::new(&scratch), Path::new(&tool));
    let failed =
        report(&mut page_of, jailed.map(|()| status::JAILED).map_err(|fault| (status::JAIL_FAILED, fault.to_string())));
    if failed {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let error = become_tool(&tool, arguments);
    report(&mut page_of, Err((status::JAIL_FAILED, format!("failed to start {}: {error}", tool.display()))));
    Err(error)
}

#[expect(clippy::disallowed_methods, reason = "this process becomes the compiler")]
fn become_tool(tool: &OsString, arguments: impl Iterator<Item = OsString>) -> io::Error {
    Command::new(tool).args(arguments).exec()
}
