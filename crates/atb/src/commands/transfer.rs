//! `atb transfer`.

use std::path::Path;

use atb_core::entry::CampaignBody;
use atb_core::outcome::{Inconclusive, Outcome};
use atb_core::stats::pooling::Transfer;
use atb_ledger::Ledger;

use super::{Context, ledger_rows};
use crate::cli::TransferArgs;
use crate::error::{Error, Result};
use crate::report;
use crate::transfer::{self, Given};

pub(super) fn run(context: &Context, args: &TransferArgs) -> Result<u8> {
    let mut given = Vec::new();
    for db in &args.dbs {
        given.extend(campaigns(db)?);
    }
    let report = transfer::derive(given, args.task.as_deref())?;
    context.output.result(&transfer::text::transfer(&report), &transfer::json::transfer(&report))?;
    Ok(match report.verdict {
        Transfer::Transfers => 0,
        Transfer::PerBoxOnly | Transfer::BoxSpecific | Transfer::Undetermined => {
            Outcome::Inconclusive(Inconclusive::N).exit_code()
        }
    })
}

/// Every campaign of a ledger that holds under all rules: a stranger's numbers are not pooled unchecked.
fn campaigns(db: &Path) -> Result<Vec<Given>> {
    if let Some(bad) = atb_ledger::verify(db)?.first_bad {
        let (path, table, reason) = (db.to_owned(), bad.chain.table(), bad.reason);
        return Err(Error::BadLedger { path, table, seq: bad.seq, code: bad.code, reason });
    }
    let ledger = Ledger::open_read_only(db)?;
    let rows = ledger_rows(&ledger)?;
    let campaigns = ledger.bodies::<CampaignBody>()?.into_iter();
    campaigns
        .map(|stored| {
            let report = report::derive(&rows, &stored.body.id)?;
            Ok(Given { ledger: db.display().to_string(), report })
        })
        .collect()
}
