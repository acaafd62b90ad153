//! How well workers are isolated here: what the canary was refused, and what the kernel says of its process.

use std::fmt;
use std::path::Path;

use crate::fault::Fault;
use crate::sys::jail::{Layers, canary};
use crate::sys::process;
use crate::worker::{Memory, Operation, Start, Worker, status};

/// Longest time that the canary may take.
const TIMEOUT_MS: u64 = 10_000;

/// The isolation of a worker, as observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Isolation {
    /// A bit for each action that was refused while code is loaded.
    pub loading: u64,
    /// A bit for each action that was refused while code runs.
    pub running: u64,
    /// How far Landlock is enforced: 2 fully, 1 partly, 0 not at all.
    pub landlock: u64,
    /// What the kernel says of the process.
    pub state: State,
    /// Layers and audits that were asked for.
    pub layers: Layers,
}

/// The lines of /proc/PID/status that tell a process's rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct State {
    /// Effective user.
    pub user: Option<u32>,
    /// True if it can gain no privileges.
    pub no_new_privileges: bool,
    /// 2 if system calls are filtered.
    pub filter_mode: u64,
    /// Filters in force.
    pub filters: u64,
    /// True if no capability is left.
    pub no_capabilities: bool,
}

impl State {
    fn parse(text: &str) -> Self {
        let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let words = |name: &str| line(name).map(|rest| rest.split_whitespace().collect::<Vec<_>>()).unwrap_or_default();
        let number = |name: &str| words(name).first().and_then(|word| word.parse().ok()).unwrap_or(0);
        let empty = |name: &str| words(name).first().is_some_and(|word| word.bytes().all(|byte| byte == b'0'));
        Self {
            user: words("Uid").get(1).and_then(|word| word.parse().ok()),
            no_new_privileges: number("NoNewPrivs") == 1,
            filter_mode: number("Seccomp"),
            filters: number("Seccomp_filters"),
            no_capabilities: ["CapEff", "CapPrm", "CapInh", "CapAmb"].into_iter().all(empty),
        }
    }
}

impl Isolation {
    /// The level: 2 if the canary was refused everything, in a process that is not root's and has no way to become so, and workers are
    /// stopped and audited while the clock is off; else 1.
    pub fn level(&self) -> u64 {
        let refused = self.running == canary::ALL_REFUSED
            && self.loading & canary::refused_while_loading() == canary::refused_while_loading();
        let State { user, no_new_privileges, filter_mode, filters, no_capabilities } = self.state;
        let bound = no_new_privileges && no_capabilities && filter_mode == 2 && filters >= 2;
        let timed = self.layers.has(Layers::FREEZE) && self.layers.has(Layers::GAP);
        if refused && bound && timed && user.is_some_and(|user| user != 0) { 2 } else { 1 }
    }

    /// What the level does not say: `uid0`, `shared-uid`, `no-landlock`, `part-landlock`, and layers that were left out.
    pub fn flags(&self) -> Vec<&'static str> {
        let user = self.state.user;
        let mut flags = vec![
            (user == Some(0) || user.is_none(), "uid0"),
            (user != Some(0) && user == Some(process::user()), "shared-uid"),
            (self.landlock == 0, "no-landlock"),
            (self.landlock == 1, "part-landlock"),
            (self.state.filter_mode != 2, "no-filter"),
            (!self.layers.has(Layers::FREEZE), "unfrozen"),
            (!self.layers.has(Layers::GAP), "no-gap-audit"),
        ];
        flags.retain(|(applies, _)| *applies);
        flags.into_iter().map(|(_, flag)| flag).collect()
    }

    /// The two vectors as rows state them: refused while loading, refused while running, 16 hexadecimal digits each.
    pub fn canary(&self) -> String {
        format!("{:016x}{:016x}", self.loading, self.running)
    }

    /// Names of what the canary got, though running code must not.
    pub fn allowed(&self) -> Vec<&'static str> {
        let got = |refused: u64, asked: u64| {
            canary::names().enumerate().filter(move |(at, _)| asked & !refused & (1 << at) != 0).map(|(_, name)| name)
        };
        let mut names: Vec<_> =
            got(self.running, canary::ALL_REFUSED).chain(got(self.loading, canary::refused_while_loading())).collect();
        names.dedup();
        names
    }
}

/// The level with its flags, such as `L2+shared-uid`.
impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "L{}", self.level())?;
        self.flags().into_iter().try_for_each(|flag| write!(f, "+{flag}"))
    }
}

/// Runs the canary in a jail with these layers. `program` is this program.
pub fn probe(program: &Path, layers: Layers) -> Result<Isolation, Fault> {
    let failed = |step| move |error: std::io::Error| Fault::harness(step, &error);
    let memory = Memory::new(64, 64).map_err(failed("make the canary's memory"))?;
    let start = Start {
        program,
        code: None,
        interpreter: None,
        symbol: "",
        operation: Operation::Canary,
        cpu: None,
        env: &[],
        padding: 0,
        timeout_ms: TIMEOUT_MS,
        layers,
    };
    let worker = Worker::start(&start, memory).map_err(|fault| Fault::harness("run the canary", &fault))?;
    let state = state_of(&worker).map_err(failed("read the canary's state"))?;
    let word = |at| worker.link.status(at);
    Ok(Isolation {
        loading: word(status::CANARY_LOADING),
        running: word(status::CANARY_RUNNING),
        landlock: word(status::LANDLOCK),
        state,
        layers,
    })
}

/// What the kernel says of a worker's process.
pub(crate) fn state_of(worker: &Worker) -> std::io::Result<State> {
    process::status_of(worker.link.pid()).map(|text| State::parse(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tatb\nUid:\t65534\t65534\t65534\t65534\nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n\
        CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t2\n";

    fn jailed() -> Isolation {
        Isolation {
            loading: canary::refused_while_loading(),
            running: canary::ALL_REFUSED,
            landlock: 2,
            state: State::parse(STATUS),
            layers: Layers::ALL,
        }
    }

    #[test]
    fn the_level_is_what_was_refused_and_what_the_kernel_says() {
        let whole = jailed();
        assert_eq!((whole.to_string().as_str(), whole.allowed().len()), ("L2", 0));
        assert_eq!(whole.canary().len(), 32);
        // One action that was not refused, at any place, in either stage.
        for at in 0..canary::COUNT {
            let running = Isolation { running: whole.running & !(1 << at), ..jailed() };
            assert_eq!((running.level(), running.allowed().len()), (1, 1));
            let loading = Isolation { loading: whole.loading & !(1 << at), ..jailed() };
            let matters = canary::refused_while_loading() & (1 << at) != 0;
            assert_eq!(loading.level(), if matters { 1 } else { 2 });
        }
        for (from, to, shown) in [
            ("Uid:\t65534\t65534", "Uid:\t65534\t0", "L1+uid0"),
            ("NoNewPrivs:\t1", "NoNewPrivs:\t0", "L1"),
            ("Seccomp:\t2", "Seccomp:\t0", "L1+no-filter"),
            ("Seccomp_filters:\t2", "Seccomp_filters:\t1", "L1"),
            ("CapEff:\t0000000000000000", "CapEff:\t0000000000000020", "L1"),
        ] {
            let changed = Isolation { state: State::parse(&STATUS.replace(from, to)), ..jailed() };
            assert_eq!(changed.to_string(), shown);
        }
        let layers = Layers::without("freeze,gap").unwrap();
        assert_eq!(Isolation { layers, ..jailed() }.to_string(), "L1+unfrozen+no-gap-audit");
        assert_eq!(Isolation { landlock: 0, ..jailed() }.to_string(), "L2+no-landlock");
    }

    #[test]
    fn the_ledger_knows_the_vector_of_level_2() {
        assert_eq!(jailed().canary()[16..], *atb_core::control::CANARY_RUNNING);
    }

    #[test]
    fn a_state_that_cannot_be_read_is_no_isolation() {
        assert_eq!(State::parse(""), State::default());
        assert_eq!(Isolation { state: State::default(), ..jailed() }.to_string(), "L1+uid0+no-filter");
    }
}
