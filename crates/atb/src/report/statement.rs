//! A campaign's conclusion as an in-toto statement (in-toto Attestation Framework, Statement v1), derived from the rows.
//!
//! The subjects are the kept source and the registering row, so that a statement can be looked up by either. It is unsigned: what
//! ties it down is the ledger that it names.

use atb_core::entry::{Body as _, CampaignBody};
use serde_json::{Value, json};

use super::{CampaignReport, LedgerRows, ReportError, derive};

/// The form of the predicate.
const PREDICATE: &str = "urn:atb:conclusion:1";

/// One statement a line, for each campaign of a ledger. `root` is that of the tree over its entries.
pub fn statements(rows: &LedgerRows, root: &str) -> Result<String, ReportError> {
    let mut text = String::new();
    for row in rows.entries.iter().filter(|row| row.kind == CampaignBody::KIND) {
        let report = derive(rows, &row.key)?;
        text += &statement(&report, rows.entries.len(), root).to_string();
        text.push('\n');
    }
    Ok(text)
}

fn statement(report: &CampaignReport, entries: usize, root: &str) -> Value {
    let registered = &report.registered;
    let mut subject =
        vec![json!({ "name": format!("entry {}", registered.seq), "digest": { "sha256": registered.hash } })];
    if let Some(kept) = report.kept.last() {
        subject.insert(0, json!({ "name": format!("candidates/{kept}.c"), "digest": { "sha256": kept } }));
    }
    let mut predicate = if report.is_probe() { super::json::probe(report) } else { super::json::campaign(report, "") };
    if let Some(fields) = predicate.as_object_mut() {
        // A statement travels; where the ledger lies on this machine does not.
        fields.remove("db");
        fields.remove("also");
        fields.insert("protocol_digest".to_owned(), json!(report.protocol_digest));
        fields.insert("task_digest".to_owned(), json!(registered.body.task));
        fields.insert("block".to_owned(), json!(report.conclusion.block));
        fields.insert("closed".to_owned(), json!(report.closed));
        fields.insert("ledger".to_owned(), json!({ "entries": entries, "root": root }));
    }
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subject,
        "predicateType": PREDICATE,
        "predicate": predicate,
    })
}
