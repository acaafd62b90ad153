//! `atb verify`.

use std::path::Path;

use serde_json::json;

use super::Context;
use crate::error::{Result, exit};

pub(super) fn run(context: &Context, db: &Path) -> Result<u8> {
    let report = atb_ledger::verify(db)?;
    let bad = report.first_bad.as_ref();
    let json = json!({
        "ok": bad.is_none(),
        "entries": report.entries,
        "gates": report.gates,
        "refusals": report.refusals,
        "open": report.open,
        "first_bad": bad.map(|bad| json!({
            "chain": bad.chain.table(), "seq": bad.seq, "code": bad.code.to_string(), "reason": bad.reason,
        })),
    });
    let text = match bad {
        None => {
            let seeds = match report.open {
                0 => String::new(),
                1 => ", but the seeds of 1 open campaign, whose keys are not revealed".to_owned(),
                open => format!(", but the seeds of {open} open campaigns, whose keys are not revealed"),
            };
            format!(
                "ok: {} entries, {} gate decisions, {} refusals; every rule, hash and seed rechecked{seeds}\n",
                report.entries, report.gates, report.refusals
            )
        }
        Some(bad) => format!("bad: {} row {}: {}: {}\n", bad.chain.table(), bad.seq, bad.code, bad.reason),
    };
    context.output.result(&text, &json)?;
    Ok(if bad.is_none() { 0 } else { exit::REFUSED })
}
