//! Only the lab makes a measurement.

use atb_core::entry::BlockBody;
use atb_measure::timing::Measured;

fn claim(body: BlockBody) -> Measured {
    Measured { body, windows_ns: 0, wall_ns: 0 }
}

fn main() {}
