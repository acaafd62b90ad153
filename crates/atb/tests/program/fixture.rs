//! A small valid ledger for SQL cases: the one that the ledger's own tests use.

#[path = "../../../atb-ledger/tests/support/mod.rs"]
mod support;

use std::path::Path;

use atb_core::entry::{Body, Chain, GateBody, Row};
use atb_ledger::Ledger;
use support::*;

fn next<B: Body>(body: B, at: i64) -> impl Fn(&Ledger) -> Row {
    move |ledger| next_row(ledger, Chain::Entry, &body, at)
}

/// Makes the ledger at `path` and returns the admissible next row of a kind, with its table.
pub(crate) fn make(path: &Path, kind: &str) -> (&'static str, Row) {
    let at = START_MS + 1000;
    let entry = |ledger: &Ledger, body: &dyn Fn(&Ledger) -> Row| ("entry", body(ledger));
    match kind {
        "report" => {
            let (ledger, _) = begin_with_keep(path);
            entry(&ledger, &next(report(digest("candidate 1")), at))
        }
        "closed" => {
            let mut ledger = begin(path);
            let close = close_body(&ledger);
            ledger.append(&close, at).unwrap();
            entry(&ledger, &next(candidate_body(3, root()), at))
        }
        "seed" => {
            let (ledger, _) = begin_with_keep(path);
            let mut body = probe(1);
            body.seeds[0].clone_from(&ledger.bodies::<atb_core::entry::BlockBody>().unwrap()[0].body.seeds[0]);
            entry(&ledger, &next(body, at))
        }
        "gate" => {
            let ledger = begin(path);
            let body = GateBody { gate: "scatter".into(), ..gate_body(9) };
            ("gate", next_row(&ledger, Chain::Gate, &body, at))
        }
        "ruling" => {
            let mut ledger = begin(path);
            let block = u64::try_from(ledger.bodies::<atb_core::entry::BlockBody>().unwrap()[0].seq).unwrap();
            ledger.record_gate(&flag_body(block), at).unwrap();
            ("gate", next_row(&ledger, Chain::Gate, &ruling_body(2, 1), at))
        }
        "campaign" => entry(&begin(path), &next(campaign_body("00000000000000c2"), at)),
        "protocol" => {
            let mut body = protocol_body();
            body.digest = digest("edited");
            entry(&begin(path), &next(body, at))
        }
        "candidate" => entry(&begin(path), &next(candidate_body(3, root()), at)),
        "probe" => entry(&begin(path), &next(probe(1), at)),
        "confirm" => entry(&begin(path), &next(confirm_again(), at)),
        "registration" => {
            let (ledger, same) = begin_registered(path);
            entry(&ledger, &next(registration_body("00000000000000f3", same, "candidate 4"), at))
        }
        "comparison" => entry(&begin_registered(path).0, &next(compare_campaign("00000000000000b2", WAITING), at)),
        "compared" => entry(&begin_registered(path).0, &next(compared(), at)),
        "screen" => entry(&begin(path), &next(screen(2), at)),
        other => panic!("no fixture row `{other}`"),
    }
}

/// A closed ledger with a keep, for cases that edit what was written.
pub(crate) fn finished(path: &Path) {
    let (mut ledger, _) = begin_with_keep(path);
    let close = close_body(&ledger);
    ledger.append(&close, START_MS + 2000).unwrap();
}
