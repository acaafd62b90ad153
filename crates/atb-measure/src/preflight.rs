//! Is the machine quiet? Timing needs a [`Quiet`] token, and only this module makes one.

use std::time::Duration;

use atb_core::protocol::Protocol;

use crate::sys::clock;

/// Proof that the machine was looked at before a block. Not cloneable: one look, one block.
#[derive(Debug)]
pub struct Quiet {
    quiet: bool,
    load: Load,
}

impl Quiet {
    /// False if the block goes on regardless and its rows are exploratory.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// What was seen.
    pub fn load(&self) -> Load {
        self.load
    }
}

/// Shares of processor time that others used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Busy with other work, 0 to 1 over all processors.
    pub busy: f64,
    /// Taken by the host, 0 to 1.
    pub steal: f64,
}

/// The machine did not become quiet in time.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("ATB401: the machine is not quiet: {:.0} % busy, {:.1} % steal, limit {:.0} %", load.busy * 100.0, load.steal * 100.0, limit * 100.0)]
pub struct NotQuiet {
    /// What was seen last.
    pub load: Load,
    /// The protocol's limit.
    pub limit: f64,
}

/// What to do when the machine stays busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfBusy {
    /// Refuse: `not_quiet`.
    Refuse,
    /// Go on; rows are exploratory.
    Explore,
}

/// Waits until other work uses less than the protocol's share of the processors.
///
/// Looks at differences of /proc/stat over 250 ms, since load averages lag by a minute.
pub fn preflight(
    protocol: &Protocol,
    wait_s: u64,
    if_busy: IfBusy,
    waiting: &mut dyn FnMut(Load),
) -> Result<Quiet, NotQuiet> {
    let limit = protocol.machine_busy_max().get();
    let end = clock::now().seconds() + wait_s as f64;
    loop {
        let load = look(Duration::from_millis(250));
        if load.busy + load.steal <= limit {
            return Ok(Quiet { quiet: true, load });
        }
        if clock::now().seconds() >= end {
            return match if_busy {
                IfBusy::Refuse => Err(NotQuiet { load, limit }),
                IfBusy::Explore => Ok(Quiet { quiet: false, load }),
            };
        }
        waiting(load);
    }
}

/// Measures the machine's load over a while.
pub fn look(duration: Duration) -> Load {
    let before = times();
    std::thread::sleep(duration);
    let after = times();
    let (Some(before), Some(after)) = (before, after) else { return Load { busy: 0.0, steal: 0.0 } };
    let total = after.total.saturating_sub(before.total).max(1) as f64;
    let share = |after: u64, before: u64| after.saturating_sub(before) as f64 / total;
    Load { busy: share(after.busy, before.busy), steal: share(after.steal, before.steal) }
}

struct Times {
    busy: u64,
    steal: u64,
    total: u64,
}

/// First line of /proc/stat: user nice system idle iowait irq softirq steal.
fn times() -> Option<Times> {
    parse(&std::fs::read_to_string("/proc/stat").ok()?)
}

fn parse(text: &str) -> Option<Times> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let values: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = values.as_slice() else { return None };
    let busy = user + nice + system + irq + softirq;
    Some(Times { busy, steal: *steal, total: busy + idle + iowait + steal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines_are_read() {
        let times = parse("cpu  10 1 5 100 4 0 2 3 0 0\ncpu0 1 2 3\n").unwrap();
        assert_eq!((times.busy, times.steal, times.total), (18, 3, 125));
        assert!(parse("cpu0 1 2\n").is_none());
    }
}
