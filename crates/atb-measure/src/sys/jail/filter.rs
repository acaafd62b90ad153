//! Filters of system calls: lists of what is allowed. Everything else raises SIGSYS.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter, sock_filter,
};

use super::JailFault;
use super::calls::{self, Call};
use crate::worker::fd;

/// Rules by the number of the call; no rules allow it whatever its arguments.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn failed(step: &'static str) -> impl FnOnce(String) -> JailFault {
    move |reason| JailFault::Rules { step, reason }
}

/// An argument must have this value in the bits of the mask.
fn argument(index: u8, mask: u64, value: u64) -> Result<SeccompCondition, String> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value)
        .map_err(|error| error.to_string())
}

fn only(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, String> {
    SeccompRule::new(conditions).map_err(|error| error.to_string())
}

fn plain(allowed: &[Call]) -> Rules {
    allowed.iter().map(|(number, _)| (*number, Vec::new())).collect()
}

fn program(rules: Rules, refused: SeccompAction, otherwise: SeccompAction) -> Result<BpfProgram, String> {
    let arch = std::env::consts::ARCH.try_into().map_err(|_| "the filter does not know this processor".to_owned())?;
    let filter = SeccompFilter::new(rules, refused, otherwise, arch).map_err(|error| error.to_string())?;
    filter.try_into().map_err(|error: seccompiler::BackendError| error.to_string())
}

fn enter(step: &'static str, program: Result<BpfProgram, String>) -> Result<(), JailFault> {
    let program = program.map_err(failed(step))?;
    apply_filter(&program).map_err(|error| failed(step)(error.to_string()))
}

/// For loading: what the loader and a library's own start need, no processes, no sockets, no other files than Landlock allows.
pub(super) fn loading() -> Result<(), JailFault> {
    loading_and(&[])
}

/// For the start of an interpreter and what it imports: what loading needs, and to become the interpreter, which Landlock says what may be.
pub(super) fn interpreting() -> Result<(), JailFault> {
    loading_and(calls::STARTING)
}

fn loading_and(more: &[Call]) -> Result<(), JailFault> {
    let mut rules = plain(calls::RUNNING);
    rules.extend(plain(more));
    rules.extend(plain(calls::LOADING));
    rules.extend(plain(calls::BY_ARGUMENT));
    rules.extend(plain(calls::IN_VAIN));
    let program = abort_only().and_then(|abort| {
        rules.insert(libc::SYS_tgkill, vec![abort]);
        program(rules, SeccompAction::Trap, SeccompAction::Allow)
    });
    enter("filter the calls of loading", program)
}

/// For running: memory that is not executable, clocks, and the hand-off's two descriptors.
pub(super) fn running() -> Result<(), JailFault> {
    running_programs().into_iter().try_for_each(|program| enter(RUNNING, program))
}

/// The same filters, in their order, as bytes of the kernel's own form, for an interpreter to enter.
pub(super) fn running_later() -> Result<Vec<Vec<u8>>, JailFault> {
    let bytes = |program: BpfProgram| {
        let step =
            |step: &sock_filter| [&step.code.to_ne_bytes()[..], &[step.jt, step.jf], &step.k.to_ne_bytes()].concat();
        program.iter().flat_map(step).collect()
    };
    running_programs().into_iter().map(|program| program.map(bytes).map_err(failed(RUNNING))).collect()
}

const RUNNING: &str = "filter the calls of running";

fn running_programs() -> [Result<BpfProgram, String>; 2] {
    let missing = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    [
        program(plain(calls::IN_VAIN), SeccompAction::Allow, missing),
        running_rules().and_then(|rules| program(rules, SeccompAction::Trap, SeccompAction::Allow)),
    ]
}

/// A process may send itself the signal of abort(3), and no other.
fn abort_only() -> Result<SeccompRule, String> {
    let equals = |index, value| argument(index, u64::from(u32::MAX), value);
    only(vec![equals(0, u64::from(std::process::id()))?, equals(2, u64::from(libc::SIGABRT.unsigned_abs()))?])
}

fn running_rules() -> Result<Rules, String> {
    let executable = u64::from(libc::PROT_EXEC.unsigned_abs());
    let of_fd = |fd: i32| argument(0, u64::from(u32::MAX), u64::from(fd.unsigned_abs())).and_then(|fd| only(vec![fd]));
    let mut rules = plain(calls::RUNNING);
    for memory in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(memory, vec![only(vec![argument(2, executable, 0)?])?]);
    }
    // Pages are given back, and never arranged: an arm that chose larger ones would have bought time that no other arm has.
    let all = u64::from(u32::MAX);
    let advice = |advice: libc::c_int| argument(2, all, u64::from(advice.unsigned_abs())).and_then(|a| only(vec![a]));
    rules.insert(libc::SYS_madvise, vec![advice(libc::MADV_DONTNEED)?, advice(libc::MADV_FREE)?]);
    // As realloc(3) does. An old size of nothing would be a second view of shared memory.
    let some =
        SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0).map_err(|error| error.to_string())?;
    let moved = argument(3, all, u64::from(libc::MREMAP_MAYMOVE.unsigned_abs()))?;
    rules.insert(libc::SYS_mremap, vec![only(vec![some, moved])?]);
    rules.insert(libc::SYS_read, vec![of_fd(fd::GO)?]);
    // A kernel may end itself: then it has crashed.
    let abort = u64::from(libc::SIGABRT.unsigned_abs());
    rules.insert(libc::SYS_rt_sigaction, vec![only(vec![argument(0, u64::from(u32::MAX), abort)?])?]);
    rules.insert(libc::SYS_tgkill, vec![abort_only()?]);
    // What a kernel prints goes nowhere, and is no reason to end it.
    rules.insert(libc::SYS_write, vec![of_fd(1)?, of_fd(2)?, of_fd(fd::DONE)?]);
    // The last words of the C library before it aborts.
    rules.insert(libc::SYS_writev, vec![of_fd(2)?]);
    rules.extend(plain(calls::IN_VAIN));
    Ok(rules)
}

/// For a compiler, which starts processes and writes files where Landlock lets it: a list of what it may not do. A refused call fails, since
/// tools ask for much that they can do without.
pub(super) fn building() -> Result<(), JailFault> {
    let step = "filter the calls of building";
    // Its flags lie behind a pointer, where no filter sees them; without it the C library takes the older call.
    let newer = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let missing = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    enter(step, program(newer, SeccompAction::Allow, missing))?;
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    enter(step, building_rules().and_then(|rules| program(rules, SeccompAction::Allow, refused)))
}

/// Set in the numbers of x32 calls.
const X32_BIT: i64 = 0x4000_0000;

/// What is refused: among others a new process in a namespace of its own.
fn building_rules() -> Result<Rules, String> {
    let mut rules = plain(calls::NOT_BUILDING);
    rules.extend(plain(calls::NOT_BUILDING_OLDER));
    // The same calls by their other numbers, which the kernel may know beside (x32).
    let other = |(number, rules): (&i64, &Vec<SeccompRule>)| (number | X32_BIT, rules.clone());
    let others: Rules = rules.iter().map(other).collect();
    rules.extend(others);
    let namespaces = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let flag = |flag: libc::c_int| {
        let flag = u64::from(flag.unsigned_abs());
        argument(0, flag, flag).and_then(|set| only(vec![set]))
    };
    rules.insert(libc::SYS_clone, namespaces.into_iter().map(flag).collect::<Result<_, _>>()?);
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_filters_and_do_not_overlap() {
        program(running_rules().unwrap(), SeccompAction::Trap, SeccompAction::Allow).unwrap();
        program(building_rules().unwrap(), SeccompAction::Allow, SeccompAction::Errno(1)).unwrap();
        let mut seen = BTreeMap::new();
        for (number, name) in [calls::RUNNING, calls::LOADING, calls::BY_ARGUMENT, calls::IN_VAIN].concat() {
            assert_eq!(seen.insert(number, name), None, "{name} is listed twice");
        }
        for (number, name) in calls::NOT_BUILDING {
            assert!(!calls::RUNNING.iter().any(|(allowed, _)| allowed == number), "{name} is needed to run");
        }
    }
}
