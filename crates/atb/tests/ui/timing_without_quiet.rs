//! Timing needs proof that the machine was looked at.

use atb_measure::lab::Lab;
use atb_measure::timing::{Arm, BlockPlan};

fn time(lab: &mut Lab, plan: &BlockPlan, arms: &[Arm<'_>]) {
    let _ = lab.measure(plan, arms, &mut |_| {});
}

fn main() {}
