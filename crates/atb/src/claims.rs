//! Claims: sentences with a number, each bound to what a ledger gives for it.
//!
//! A claims file names a sentence, the document in which it stands, a ledger, and a field of the campaign's report. Checking it verifies
//! the ledger, derives the report from the raw samples, and looks for the sentence, so that neither can move without the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use atb_core::codes::{self, Code};
use atb_core::document::{Decimal, Document, DocumentError, Table};
use serde_json::Value;

use crate::error::Result;
use crate::io;
use crate::report::{self, LedgerRows};

/// The format number of claims files.
const FORMAT: u64 = 1;

/// A sentence, and what must hold for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Its id.
    pub id: String,
    /// The sentence, as it stands in the document; white space does not count.
    pub sentence: String,
    /// The document, relative to the claims file.
    pub document: PathBuf,
    /// The ledger, relative to the claims file.
    pub ledger: PathBuf,
    /// The campaign; none where the ledger has one.
    pub campaign: Option<String>,
    /// A field of the report's JSON, such as `root_ratio` or `paper.ratio`.
    pub field: String,
    /// What the field must be.
    pub expected: Expected,
}

/// What a field must be.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// The text of the sentence: a word, or a number that the field rounds to at as many decimals.
    Is(String),
    /// A number of at least this.
    AtLeast(Decimal),
    /// A number of at most this.
    AtMost(Decimal),
}

impl Expected {
    /// True if a field's value is as claimed.
    fn holds(&self, found: &Value) -> bool {
        match (self, found) {
            (Self::Is(text), Value::Number(number)) => {
                let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
                number.as_f64().is_some_and(|number| format!("{number:.decimals$}") == *text)
            }
            (Self::Is(text), Value::String(found)) => text == found,
            (Self::AtLeast(least), found) => found.as_f64().is_some_and(|number| number >= least.value()),
            (Self::AtMost(most), found) => found.as_f64().is_some_and(|number| number <= most.value()),
            _ => false,
        }
    }
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Is(text) => f.write_str(text),
            Self::AtLeast(least) => write!(f, "at least {}", least.written()),
            Self::AtMost(most) => write!(f, "at most {}", most.written()),
        }
    }
}

/// A claim as checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The claim.
    pub claim: Claim,
    /// What the ledger gives; null if nothing.
    pub found: Value,
    /// Why it does not hold; none if it holds.
    pub fault: Option<(Code, String)>,
}

/// Parses a claims file. `file` is used in messages only.
pub fn parse(file: &str, text: &str) -> std::result::Result<Vec<Claim>, DocumentError> {
    let document = Document::parse(file, text)?;
    let root = document.root();
    let format = root.require("format")?;
    if format.integer()? != FORMAT {
        return Err(format.rule(codes::OUT_OF_RANGE, "this version reads format 1"));
    }
    let mut claims: Vec<Claim> = Vec::new();
    for table in root.require("claim")?.tables()? {
        let claim = read(&table)?;
        if claims.iter().any(|other| other.id == claim.id) {
            return Err(table.require("id")?.rule(codes::DUPLICATE, "an earlier claim has this id"));
        }
        claims.push(claim);
    }
    root.finish()?;
    Ok(claims)
}

fn read(table: &Table<'_>) -> std::result::Result<Claim, DocumentError> {
    let text = |key: &'static str| Ok::<_, DocumentError>(table.require(key)?.text()?.to_owned());
    let sentence = text("sentence")?;
    let mut expected = Vec::new();
    if let Some(item) = table.get("is") {
        let is = item.text()?;
        if !sentence.contains(is) {
            return Err(item.rule(codes::OUT_OF_RANGE, "the sentence does not contain this text"));
        }
        expected.push(Expected::Is(is.to_owned()));
    }
    if let Some(item) = table.get("at_least") {
        expected.push(Expected::AtLeast(item.decimal()?));
    }
    if let Some(item) = table.get("at_most") {
        expected.push(Expected::AtMost(item.decimal()?));
    }
    let [expected] = expected.as_slice() else {
        let cause = "a claim has exactly one of `is`, `at_least` and `at_most`";
        return Err(table.require("field")?.rule(codes::OUT_OF_RANGE, cause));
    };
    let claim = Claim {
        id: text("id")?,
        document: text("document")?.into(),
        ledger: text("ledger")?.into(),
        campaign: table.get("campaign").map(|item| item.text().map(str::to_owned)).transpose()?,
        field: text("field")?,
        expected: expected.clone(),
        sentence,
    };
    table.finish()?;
    Ok(claim)
}

/// Checks every claim of a file, each against its document and its verified ledger.
pub fn check(file: &Path) -> Result<Vec<Checked>> {
    let claims = parse(&file.display().to_string(), &io::read_text(file)?)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut ledgers: BTreeMap<PathBuf, Ledger> = BTreeMap::new();
    let mut documents: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut checked = Vec::new();
    for claim in claims {
        let (document, ledger) = (folder.join(&claim.document), folder.join(&claim.ledger));
        if !documents.contains_key(&document) {
            documents.insert(document.clone(), spaced(&io::read_text(&document)?));
        }
        if !ledgers.contains_key(&ledger) {
            ledgers.insert(ledger.clone(), Ledger::read(&ledger)?);
        }
        let stands = documents[&document].contains(&spaced(&claim.sentence));
        checked.push(judge(claim, stands, &ledgers[&ledger])?);
    }
    Ok(checked)
}

/// A ledger as read once for all of its claims.
#[derive(Debug)]
struct Ledger {
    rows: LedgerRows,
    /// The first bad row, in words.
    bad: Option<String>,
}

impl Ledger {
    fn read(db: &Path) -> Result<Self> {
        let (verified, rows) = atb_ledger::verify_ledger(db)?;
        let bad = verified.first_bad.map(|bad| format!("{} row {}: {}", bad.chain.table(), bad.seq, bad.reason));
        Ok(Self { rows, bad })
    }
}

fn judge(claim: Claim, stands: bool, ledger: &Ledger) -> Result<Checked> {
    let fault = |code, why: String| (Value::Null, Some((code, why)));
    let (found, fault) = match (&ledger.bad, campaign_of(&claim, &ledger.rows)) {
        (Some(bad), _) => fault(codes::CLAIM_LEDGER, format!("the ledger does not verify: {bad}")),
        (None, Err(why)) => fault(codes::CLAIM_LEDGER, why),
        (None, Ok(id)) => {
            let report = report::derive(&ledger.rows, &id)?;
            let json =
                if report.is_probe() { report::json::probe(&report) } else { report::json::campaign(&report, "") };
            let found = claim.field.split('.').fold(&json, |value, part| &value[part]).clone();
            let fault = if !claim.expected.holds(&found) {
                Some((
                    codes::CLAIM_DRIFT,
                    format!("{} is {found} in the ledger, claimed {}", claim.field, claim.expected),
                ))
            } else if !stands {
                let why = format!("{} does not contain the sentence", claim.document.display());
                Some((codes::CLAIM_SENTENCE, why))
            } else {
                None
            };
            (found, fault)
        }
    };
    Ok(Checked { claim, found, fault })
}

/// The campaign that a claim speaks of.
fn campaign_of(claim: &Claim, rows: &LedgerRows) -> std::result::Result<String, String> {
    let campaigns = rows.entries.iter().filter(|row| row.kind == "campaign");
    let ids: Vec<&str> = campaigns.map(|row| row.key.as_str()).collect();
    match (&claim.campaign, ids.as_slice()) {
        (Some(id), _) if ids.contains(&id.as_str()) => Ok(id.clone()),
        (None, [one]) => Ok((*one).to_owned()),
        (Some(id), _) => Err(format!("the ledger has no campaign `{id}`; it has {}", ids.join(", "))),
        (None, _) => {
            Err(format!("the ledger has {} campaigns; `campaign` must name one of {}", ids.len(), ids.join(", ")))
        }
    }
}

/// A text with every run of white space as one space: how a document is wrapped does not count.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ONE: &str = "format = 1\n[[claim]]\nid = \"a\"\nsentence = \"it is 1.23x as fast\"\ndocument = \"R.md\"\n\
                       ledger = \"x.db\"\nfield = \"ratio\"\nis = \"1.23\"\n";

    fn code(old: &str, new: &str) -> Code {
        assert!(ONE.contains(old));
        parse("claims.toml", &ONE.replacen(old, new, 1)).unwrap_err().code
    }

    #[test]
    fn a_claim_is_bound_to_its_sentence() {
        assert_eq!(parse("claims.toml", ONE).unwrap()[0].expected, Expected::Is("1.23".into()));
        assert_eq!(code("is = \"1.23\"", "is = \"1.24\""), codes::OUT_OF_RANGE);
        assert_eq!(code("is = \"1.23\"", ""), codes::OUT_OF_RANGE);
        assert_eq!(code("is = \"1.23\"", "is = \"1.23\"\nat_most = 2.0"), codes::OUT_OF_RANGE);
        assert_eq!(code("field", "feild"), codes::MISSING_KEY);
        assert_eq!(code("is = \"1.23\"", "is = \"1.23\"\nwhy = \"x\""), codes::UNKNOWN_KEY);
        let twice = format!("{ONE}{}", ONE.trim_start_matches("format = 1\n"));
        assert_eq!(parse("claims.toml", &twice).unwrap_err().code, codes::DUPLICATE);
    }

    #[test]
    fn a_number_holds_at_the_decimals_that_are_written() {
        let is = |text: &str, found: Value| Expected::Is(text.to_owned()).holds(&found);
        assert!(
            is("1.23", json!(1.2349)) && is("1.2", json!(1.2349)) && is("9", json!(9)) && is("faster", json!("faster"))
        );
        assert!(!is("1.24", json!(1.2349)) && !is("1.23", Value::Null) && !is("1.23", json!("1.234")));
        let bound = |written: &str| Decimal::parse(written).unwrap();
        assert!(
            Expected::AtLeast(bound("1.2")).holds(&json!(1.2)) && !Expected::AtLeast(bound("1.2")).holds(&Value::Null)
        );
        assert!(
            Expected::AtMost(bound("1.2")).holds(&json!(1.2)) && !Expected::AtMost(bound("1.2")).holds(&json!(1.3))
        );
    }
}
