//! Only the ratchet makes a parent.

use atb_ledger::{Admitted, Parent};

fn promote(keep: Admitted) -> Parent {
    Parent { keep }
}

fn main() {}
