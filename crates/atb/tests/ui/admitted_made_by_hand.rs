//! Only the ledger says that a row was admitted.

use atb_ledger::Admitted;

fn main() {
    let _ = Admitted { seq: 1, hash: String::new(), key: String::new() };
}
