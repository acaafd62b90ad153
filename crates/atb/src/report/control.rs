//! Controls: readings whose right answer is known. A result stands only where they do.

use atb_core::comparison::arm_of;
use atb_core::control::{DELAY_NS, delay_holds, handoff_holds};
use atb_core::entry::{BlockBody, Role, SessionBody};
use atb_core::ladder::MeasuredOutcome;
use atb_core::protocol::Protocol;

use super::comparison::Comparison;
use super::number;
use super::{ReportError, records::Records};

/// What a control says of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It reads as it must.
    Holds,
    /// It is undecided: effects below the minimum detectable one are not seen.
    Coarse,
    /// It reads what cannot be: the session does not count.
    Failed,
}

impl Standing {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Coarse => "coarse",
            Self::Failed => "failed",
        }
    }
}

/// A control.
#[derive(Debug, Clone)]
pub struct Control {
    /// Its name.
    pub name: &'static str,
    /// What it must read.
    pub expected: String,
    /// What it reads.
    pub read: String,
    /// Whether it holds.
    pub standing: Standing,
    /// The comparison, where the control is an arm.
    pub comparison: Option<Comparison>,
}

impl Control {
    /// What it must read, and what it reads.
    pub(super) fn failure(&self) -> String {
        format!("the control `{}` must read {}, and reads {}", self.name, self.expected, self.read)
    }
}

/// The controls of a block: its session's clock readings, and the control arms of a REPORT.
pub(super) fn controls(records: &Records, block: &BlockBody) -> Result<Vec<Control>, ReportError> {
    let mut controls = Vec::new();
    if let Some(session) = records.session(&block.session) {
        controls.extend(clock_controls(session, &records.protocol));
    }
    let Some(head) = arm_of(block, Role::Head) else { return Ok(controls) };
    if let Some(again) = arm_of(block, Role::HeadAgain) {
        controls.push(same_code(Comparison::of(block, head, again, &records.protocol)?));
    }
    if let Some(slow) = arm_of(block, Role::HeadSlow) {
        controls.push(slowed(Comparison::of(block, head, slow, &records.protocol)?, &records.protocol));
    }
    Ok(controls)
}

/// The controls of a session's clock, which run before anything is measured in it.
fn clock_controls(session: &SessionBody, protocol: &Protocol) -> [Control; 2] {
    [handoff(session, protocol), delay(session, protocol)]
}

/// The first of the controls of a session's clock that fails, in words. Such a session is void: no block may cite it.
pub(crate) fn failed_clock(session: &SessionBody, protocol: &Protocol) -> Option<String> {
    clock_controls(session, protocol).iter().find(|control| control.standing == Standing::Failed).map(Control::failure)
}

fn handoff(session: &SessionBody, protocol: &Protocol) -> Control {
    let floor_us = protocol.kernel_window_floor_us() as f64;
    let share = session.handoff_ns as f64 / (floor_us * 1e3);
    let limit = protocol.session_handoff_max();
    Control {
        name: "hand-off",
        expected: format!("at most {} of the shortest window", number::size(limit)),
        read: format!("{:.2} % ({} ns)", share * 100.0, session.handoff_ns),
        standing: of_clock(handoff_holds(session.handoff_ns as f64, floor_us, limit.get())),
        comparison: None,
    }
}

fn of_clock(holds: bool) -> Standing {
    if holds { Standing::Holds } else { Standing::Failed }
}

fn delay(session: &SessionBody, protocol: &Protocol) -> Control {
    let off = session.delay_ns as f64 / DELAY_NS as f64 - 1.0;
    let limit = protocol.session_delay_tolerance();
    Control {
        name: "known delay",
        expected: format!("1 ms, off by at most {}", number::size(limit)),
        read: format!("{:+.2} % ({} ns)", off * 100.0, session.delay_ns),
        standing: of_clock(delay_holds(session.delay_ns as f64, limit.get())),
        comparison: None,
    }
}

fn same_code(comparison: Comparison) -> Control {
    let standing = match comparison.verdict.outcome {
        MeasuredOutcome::Equivalent => Standing::Holds,
        MeasuredOutcome::Inconclusive(_) => Standing::Coarse,
        MeasuredOutcome::Faster | MeasuredOutcome::Slower => Standing::Failed,
    };
    let expected = "equivalent: the head against itself".to_owned();
    of_arms("A/A", expected, standing, comparison)
}

fn slowed(comparison: Comparison, protocol: &Protocol) -> Control {
    let standing = match comparison.verdict.outcome {
        MeasuredOutcome::Slower => Standing::Holds,
        MeasuredOutcome::Inconclusive(_) => Standing::Coarse,
        MeasuredOutcome::Faster | MeasuredOutcome::Equivalent => Standing::Failed,
    };
    let expected = format!("slower: the head slowed by {}", number::size(protocol.session_slowdown()));
    of_arms("slowdown", expected, standing, comparison)
}

fn of_arms(name: &'static str, expected: String, standing: Standing, comparison: Comparison) -> Control {
    let ratio = number::shown(comparison.ratio());
    let read = format!("{} {ratio} {}", number::outcome(comparison.outcome()), comparison.interval());
    Control { name, expected, read, standing, comparison: Some(comparison) }
}
