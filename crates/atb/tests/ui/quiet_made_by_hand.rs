//! Only the preflight says that a machine is quiet.

use atb_measure::preflight::{Load, Quiet};

fn main() {
    let _ = Quiet { quiet: true, load: Load { busy: 0.0, steal: 0.0 } };
}
