//! One look, one block.

use atb_measure::preflight::Quiet;

fn twice(quiet: &Quiet) -> (Quiet, Quiet) {
    (quiet.clone(), quiet.clone())
}

fn main() {}
