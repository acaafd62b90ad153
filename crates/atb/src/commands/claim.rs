//! `atb claim check`.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::Context;
use crate::claims::{self, Checked};
use crate::error::{Result, exit};
use crate::report::text;

pub(super) fn check(context: &Context, file: &Path) -> Result<u8> {
    let checked = claims::check(file)?;
    let failed = checked.iter().filter(|claim| claim.fault.is_some()).count();
    let mut lines = String::new();
    for claim in &checked {
        let _ = writeln!(lines, "{}", line(claim));
    }
    let _ = writeln!(lines, "{} of {} claims hold", checked.len() - failed, checked.len());
    let json = json!({
        "ok": failed == 0,
        "claims": checked.len(),
        "failed": failed,
        "checked": checked.iter().map(object).collect::<Vec<_>>(),
    });
    context.output.result(&lines, &json)?;
    Ok(if failed == 0 { 0 } else { exit::REFUSED })
}

fn line(Checked { claim, found, fault }: &Checked) -> String {
    let id = text::clean(&claim.id, 40);
    match fault {
        None => format!("ok   {id}: {} is {found}, claimed {}", claim.field, claim.expected),
        Some((code, why)) => format!("{code} {id}: {}", text::clean(why, 300)),
    }
}

fn object(Checked { claim, found, fault }: &Checked) -> Value {
    json!({
        "id": claim.id,
        "document": claim.document,
        "ledger": claim.ledger,
        "field": claim.field,
        "claimed": claim.expected.to_string(),
        "found": found,
        "code": fault.as_ref().map(|(code, _)| code.to_string()),
        "reason": fault.as_ref().map(|(_, why)| why),
    })
}
