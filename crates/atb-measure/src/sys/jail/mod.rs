//! The jail of workers: who they are, which files they reach, and what they may ask the kernel for.
//!
//! A worker jails itself in two stages, both before the first call of the candidate's code. Everything that it does until then is this
//! program's own code, and the parent reads the state of the process back from the kernel.
//!
//! ```text
//! map memory -> stage 1: other user, no new processes, Landlock (libraries only), filter for loading
//! load code  -> stage 2: Landlock (nothing), filter for running -> calls
//! ```
//! A filtered system call raises SIGSYS, which ends a worker and which a [`canary`] counts: both run under the very same filters.

mod calls;
pub mod canary;
mod filter;
mod landlock;
mod refusal;

pub(crate) use calls::name_of;

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::memory::Mapping;
use super::{check, process};
use crate::worker::status;

pub use self::landlock::abi as landlock_abi;

/// The user and group that workers become if root starts them: `nobody`, who owns no files.
pub const NOBODY: u32 = 65534;

/// Layers of the jail and its audits, each of which can be left out, so that what it is good for can be shown. What is left out shows in the
/// isolation that rows state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layers(u64);

/// Names of the layers, in the order of their bits.
pub const LAYERS: [&str; 5] = ["identity", "landlock", "filter", "freeze", "gap"];

impl Layers {
    /// Another user, and no files or signals: what code is held by that may do as it likes within its process.
    pub const HARMLESS: Self = Self(1 | 2);
    /// All layers.
    pub const ALL: Self = Self((1 << LAYERS.len()) - 1);
    /// Another user than root.
    pub const IDENTITY: Self = Self(1);
    /// Landlock.
    pub const LANDLOCK: Self = Self(2);
    /// The system call filters.
    pub const FILTER: Self = Self(4);
    /// Stopped while the clock is off.
    pub const FREEZE: Self = Self(8);
    /// Processor time between windows.
    pub const GAP: Self = Self(16);

    /// All layers but those of a list of names separated by commas; the first unknown name if there is one.
    pub fn without(names: &str) -> Result<Self, String> {
        names.split(',').map(str::trim).filter(|name| !name.is_empty()).try_fold(Self::ALL, |layers, name| {
            let at = LAYERS.iter().position(|layer| *layer == name).ok_or_else(|| name.to_owned())?;
            Ok(Self(layers.0 & !(1 << at)))
        })
    }

    /// True if it has this layer.
    pub fn has(self, layer: Self) -> bool {
        self.0 & layer.0 == layer.0
    }

    /// As a word of shared memory.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits & Self::ALL.0)
    }
}

/// Why a stage could not be entered.
#[derive(Debug, thiserror::Error)]
pub enum JailFault {
    /// A system call failed.
    #[error("failed to {step}: {source}")]
    System {
        /// What was being done.
        step: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// A rule set or filter could not be made or entered.
    #[error("failed to {step}: {reason}")]
    Rules {
        /// What was being done.
        step: &'static str,
        /// The library's message.
        reason: String,
    },
}

fn system(step: &'static str) -> impl FnOnce(io::Error) -> JailFault {
    move |source| JailFault::System { step, source }
}

/// Stage 1: before the code is loaded.
pub(crate) fn before_loading(layers: Layers, status_page: &mut Mapping) -> Result<(), JailFault> {
    first_stage(layers, status_page, landlock::libraries_only, filter::loading)
}

/// Stage 1 of a worker that becomes an interpreter, which consists of these files and folders.
pub(crate) fn before_interpreting(layers: Layers, status_page: &mut Mapping, parts: &[&Path]) -> Result<(), JailFault> {
    first_stage(layers, status_page, || landlock::libraries_and(parts), filter::interpreting)
}

/// Stage 2 for whoever this process becomes: its rule set, and its filters in their order. Both stages are the same for all code.
#[derive(Debug, Default)]
pub(crate) struct SecondStage {
    pub(crate) ruleset: Option<OwnedFd>,
    pub(crate) filters: Vec<Vec<u8>>,
}

/// What [`before_running`] would do, to be done by an interpreter before it runs code.
pub(crate) fn before_running_later(layers: Layers) -> Result<SecondStage, JailFault> {
    let mut stage = SecondStage::default();
    if layers.has(Layers::LANDLOCK) {
        stage.ruleset = landlock::nothing_yet()?;
    }
    if layers.has(Layers::FILTER) {
        stage.filters = filter::running_later()?;
    }
    Ok(stage)
}

fn first_stage(
    layers: Layers,
    status_page: &mut Mapping,
    allow: impl FnOnce() -> Result<u64, JailFault>,
    enter: impl FnOnce() -> Result<(), JailFault>,
) -> Result<(), JailFault> {
    if layers.has(Layers::IDENTITY) {
        become_nobody().map_err(system("become another user"))?;
    }
    if layers.has(Layers::LANDLOCK) {
        status_page.store(status::LANDLOCK, allow()?);
    }
    if layers.has(Layers::FILTER) {
        // The user's own limit, too, where that user is not root.
        process::limit_processes(0).map_err(system("limit processes"))?;
        refusal::ends_the_process(status_page).map_err(system("handle refused calls"))?;
        enter()?;
    }
    Ok(())
}

/// The jail of a compiler: it may start processes and read tools, and writes in its scratch folder only.
pub(crate) fn for_building(
    layers: Layers,
    status_page: &mut Mapping,
    scratch: &Path,
    tool: &Path,
) -> Result<(), JailFault> {
    /// Processes of the user `nobody`, whose others count too; a compiler has three or four at a time.
    const PROCESSES: u64 = 4096;
    if layers.has(Layers::IDENTITY) && process::is_root() {
        become_nobody().map_err(system("become another user"))?;
        process::limit_processes(PROCESSES).map_err(system("limit processes"))?;
    }
    process::forbid_new_privileges().map_err(system("forbid new privileges"))?;
    if layers.has(Layers::LANDLOCK) {
        status_page.store(status::LANDLOCK, landlock::tools_and(scratch, tool)?);
    }
    if layers.has(Layers::FILTER) {
        filter::building()?;
    }
    Ok(())
}

/// Stage 2: the code is loaded and has not run.
pub(crate) fn before_running(layers: Layers) -> Result<(), JailFault> {
    // Other processes of the same user cannot look into this one.
    process::set_dumpable(false).map_err(system("forbid core files"))?;
    // A crash of the code is a crash, not a call that the standard library's handler makes on the way.
    process::default_faults().map_err(system("reset signal handlers"))?;
    if layers.has(Layers::LANDLOCK) {
        landlock::nothing()?;
    }
    if layers.has(Layers::FILTER) {
        filter::running()?;
    }
    Ok(())
}

/// Drops root for good. Without root nothing is dropped: the worker keeps the user's identity, and rows say `shared-uid`.
fn become_nobody() -> io::Result<()> {
    if !process::is_root() {
        return Ok(());
    }
    let parent = process::parent();
    // SAFETY: plain system calls; an empty list of groups needs no pointer.
    let changed = unsafe {
        check(libc::setgroups(0, std::ptr::null()))
            .and_then(|_| check(libc::setresgid(NOBODY, NOBODY, NOBODY)))
            .and_then(|_| check(libc::setresuid(NOBODY, NOBODY, NOBODY)))
    };
    match changed {
        Ok(_) => {}
        // A root that may not change who it is, as in some containers, stays root: the level is then 1, and the row says `uid0`.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::EINVAL)) => return Ok(()),
        Err(error) => return Err(error),
    }
    // The kernel forgets both when the identity changes. The code's file is reached through /proc/self until it is loaded.
    process::die_with_parent()?;
    if process::parent() != parent {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    process::set_dumpable(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_left_out_by_name() {
        let layers = Layers::without("landlock, gap").unwrap();
        assert!(layers.has(Layers::FILTER) && layers.has(Layers::IDENTITY) && layers.has(Layers::FREEZE));
        assert!(!layers.has(Layers::LANDLOCK) && !layers.has(Layers::GAP));
        assert_eq!(Layers::without("").unwrap(), Layers::ALL);
        assert_eq!(Layers::without("jail"), Err("jail".to_owned()));
        assert_eq!(Layers::from_bits(layers.bits()), layers);
    }
}
