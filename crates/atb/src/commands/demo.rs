//! `atb demo`: the whole loop on real kernels, in under two minutes on two processors.

use atb_core::task::Point;
use atb_measure::preflight::IfBusy;
use atb_propose::deterministic::Deterministic;

use super::{Context, cancel_flag, out_path, tune};
use crate::campaign::{Campaign, Console, Plan, Registration};
use crate::cli::DemoArgs;
use crate::error::Result;
use crate::io::{self, Folder};

/// The task whose kernels are compute bound as usually written.
const SEARCHED: &str = "gelu_tanh";
/// The task whose baseline already runs at the speed of memory.
const SATURATED: &str = "fused_add_rmsnorm";
/// Seconds to wait for a quiet machine before going on as exploratory.
const QUIET_WAIT_S: u64 = 10;

pub(super) fn run(context: &Context, args: &DemoArgs) -> Result<u8> {
    let folder = Folder::create(&out_path(args.out.as_deref(), "demo"))?;
    let cancel = cancel_flag();
    let plan = |id: &str| {
        let task = io::Tasks::default().load(id)?;
        Ok::<_, crate::error::Error>(Plan {
            folder: folder.clone(),
            cells: task.spec.timed().take(1).cloned().collect(),
            task,
            protocol: io::load_protocol("demo-1")?,
            if_busy: IfBusy::Explore,
            quiet_wait_s: QUIET_WAIT_S,
            cancel: cancel.clone(),
        })
    };
    let first = search(plan(SEARCHED)?, Console::new(context.quiet))?;
    let second = null(plan(SATURATED)?, Console::new(context.quiet))?;
    tune::publish(context, &folder, &[first, second])?;
    Ok(0)
}

/// One generation, and the report.
fn search(plan: Plan, console: Console) -> Result<String> {
    let iterations = plan.protocol.replication_generation();
    console.line(&format!("1 of 2: {SEARCHED}, one generation of {iterations} candidates"));
    let registration = Registration {
        command: "demo",
        registration: String::new(),
        proposer: "deterministic".to_owned(),
        seed: 1,
        iterations,
        hypothesis: "a candidate of the space is faster than the compiler baseline".to_owned(),
        stop_rule: "after one generation".to_owned(),
    };
    let mut campaign = Campaign::register(plan, &registration, console)?;
    let worked = tune::work(&mut campaign, &Deterministic);
    campaign.end(worked)?;
    Ok(campaign.id().to_owned())
}

/// One CONFIRM on a task where nothing is left to gain.
fn null(plan: Plan, console: Console) -> Result<String> {
    console.line(&format!("2 of 2: {SATURATED}, a memory-bound kernel: what an honest null looks like"));
    let registration = Registration {
        command: "demo",
        registration: String::new(),
        proposer: "deterministic".to_owned(),
        seed: 1,
        iterations: 1,
        hypothesis: "unrolling helps a kernel that already runs at the speed of memory".to_owned(),
        stop_rule: "after one CONFIRM block".to_owned(),
    };
    let space = plan.task.space.clone();
    let mut campaign = Campaign::register(plan, &registration, console)?;
    let worked = campaign.baselines().and_then(|arms| {
        let Some(space) = space else { return Ok(()) };
        // The widest vectors with everything else conservative: different machine code, the same memory traffic.
        let widest = space.axes().iter().enumerate().map(|(at, axis)| if at == 0 { axis.values.len() - 1 } else { 0 });
        let point = Point(widest.collect());
        campaign.confirm_only(&space.source(&point), &space.describe(&point), &arms)
    });
    campaign.end(worked)?;
    Ok(campaign.id().to_owned())
}
