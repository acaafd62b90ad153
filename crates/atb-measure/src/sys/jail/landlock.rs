//! Landlock: which files and processes a worker reaches, enforced by the kernel for good.

use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::JailFault;

/// Where the loader finds libraries. A kernel's own are loaded already; these are for the library of a vendor baseline.
const LIBRARIES: [&str; 8] =
    ["/usr/lib", "/usr/local/lib", "/lib", "/lib64", "/usr/lib64", "/etc/ld.so.cache", "/nix/store", "/gnu/store"];
/// What a compiler needs beside its scratch folder.
const TOOLS: [&str; 9] =
    ["/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives", "/proc/cpuinfo", "/dev/null"];

fn rules(step: &'static str) -> impl FnOnce(RulesetError) -> JailFault {
    move |error| JailFault::Rules { step, reason: error.to_string() }
}

/// The Landlock version of this kernel; 0 without Landlock.
pub fn abi() -> u64 {
    /// Asks for the version instead of a rule set.
    const VERSION: libc::c_uint = 1;
    let (no_rules, no_size) = (std::ptr::null::<libc::c_void>(), 0_usize);
    // SAFETY: with this flag the call takes no pointer and returns a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, no_rules, no_size, VERSION) };
    u64::try_from(version).unwrap_or(0)
}

/// A rule set that handles everything that this program knows of, and allows nothing yet: files, TCP, signals and abstract sockets.
fn closed() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V7))?
        .handle_access(AccessNet::from_all(ABI::V7))?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()
}

/// How far the kernel enforces a rule set, as a word of the status page.
fn enforced(status: &RulesetStatus) -> u64 {
    match status {
        RulesetStatus::FullyEnforced => 2,
        RulesetStatus::PartiallyEnforced => 1,
        RulesetStatus::NotEnforced => 0,
    }
}

/// Allows to read libraries, and nothing else. Returns how far it is enforced: 2 fully, 1 partly, 0 not at all.
pub(super) fn libraries_only() -> Result<u64, JailFault> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
    let allowed = closed().and_then(|set| set.add_rules(path_beneath_rules(LIBRARIES, read)));
    let status = allowed.and_then(RulesetCreated::restrict_self).map_err(rules("allow libraries only"))?;
    Ok(enforced(&status.ruleset))
}

/// Allows to read libraries and what an interpreter consists of.
pub(super) fn libraries_and(parts: &[&Path]) -> Result<u64, JailFault> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
    let allowed = closed()
        .and_then(|set| set.add_rules(path_beneath_rules(LIBRARIES, read)))
        .and_then(|set| set.add_rules(path_beneath_rules(parts, read)));
    let status =
        allowed.and_then(RulesetCreated::restrict_self).map_err(rules("allow libraries and an interpreter only"))?;
    Ok(enforced(&status.ruleset))
}

/// Allows nothing.
pub(super) fn nothing() -> Result<(), JailFault> {
    closed().and_then(RulesetCreated::restrict_self).map(drop).map_err(rules("allow no files"))
}

/// The rule set of [`nothing`], to be entered later; none if the kernel has no Landlock.
pub(super) fn nothing_yet() -> Result<Option<OwnedFd>, JailFault> {
    closed().map(Into::into).map_err(rules("prepare to allow no files"))
}

/// Folders of a toolchain that stands outside the system's, beside its `bin`. Others of that prefix may be a person's.
const TOOLCHAIN: [&str; 6] = ["bin", "lib", "lib32", "lib64", "libexec", "include"];

/// Allows a compiler to read and execute tools, and to write in its scratch folder.
pub(super) fn tools_and(scratch: &Path, tool: &Path) -> Result<u64, JailFault> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
    let tool = tool.canonicalize().map_err(super::system("find the compiler"))?;
    let prefix = tool.parent().filter(|folder| folder.ends_with("bin")).and_then(Path::parent);
    let home = prefix.map(|prefix| TOOLCHAIN.map(|part| prefix.join(part)));
    let step = "allow tools and a scratch folder";
    // A scratch folder that cannot be reached is no fault of the source.
    let scratch = PathFd::new(scratch).map_err(|error| JailFault::Rules { step, reason: error.to_string() })?;
    let scratch = PathBeneath::new(scratch, AccessFs::from_all(ABI::V7));
    let allowed = closed()
        .and_then(|set| set.add_rules(path_beneath_rules(TOOLS, read)))
        .and_then(|set| set.add_rules(path_beneath_rules([&tool], read)))
        .and_then(|set| set.add_rules(path_beneath_rules(home.into_iter().flatten(), read)))
        .and_then(|set| set.add_rules(path_beneath_rules(["/dev/null"], AccessFs::WriteFile)))
        .and_then(|set| set.add_rule(scratch));
    let status = allowed.and_then(RulesetCreated::restrict_self).map_err(rules(step))?;
    Ok(enforced(&status.ruleset))
}
