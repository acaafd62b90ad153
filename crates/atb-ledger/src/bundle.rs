//! Bundles: a whole ledger with its checkpoints and proofs in one file of JSON Lines, which a stranger verifies without a database.
//!
//! The first line counts the others, so a cut is seen. Then come rows, checkpoints and proofs, one a line, in any order of kinds.

use std::fmt::Write as _;
use std::io::{BufRead, Read as _};

use atb_core::canon::{Digest, canonical};
use atb_core::codes;
use atb_core::entry::{Body as _, CampaignBody, CloseBody, FORMAT, Row};
use atb_core::merkle::Tree;
use serde::{Deserialize, Serialize};

use crate::chains::{Chains, extends};
use crate::error::CheckError;
use crate::open::schema_digest;
use crate::proof::{Proof, RowLine};
use crate::trust::{Trust, Vouched};
use crate::verify::{VerifyReport, verify_chains};

/// Most bytes of a line: a row's body has at most 64 MiB in the database, and JSON may write a byte as two.
const LINE_MAX: u64 = 129 << 20;
/// Most lines of a bundle.
const LINES_MAX: u64 = 10_000_000;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Line {
    Bundle(Counts),
    Entry(RowLine),
    Gate(RowLine),
    Refusal(RowLine),
    Checkpoint(String),
    Proof(Proof),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    format: u64,
    /// SHA-256 of the schema whose rules the rows kept.
    schema: Digest,
    entries: u64,
    gates: u64,
    refusals: u64,
    checkpoints: u64,
    proofs: u64,
}

/// A ledger with what was signed and proved of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The rows.
    pub chains: Chains,
    /// Signed notes.
    pub checkpoints: Vec<String>,
    /// Proofs; each is verified alone and against the rows.
    pub proofs: Vec<Proof>,
}

impl Bundle {
    /// Puts rows and checkpoints together, with proofs that each checkpoint begins the rows and covers the registrations and closes.
    pub fn new(chains: Chains, tree: &Tree, checkpoints: &[Vouched]) -> Result<Self, CheckError> {
        let mut proofs = Vec::new();
        for vouched in checkpoints.iter().filter(|vouched| vouched.checkpoint.size > 0) {
            proofs.push(Proof::consistency(tree, vouched, None)?);
            let ends = chains.entries.iter().filter(|row| [CampaignBody::KIND, CloseBody::KIND].contains(&&*row.kind));
            for seq in ends.filter_map(|row| u64::try_from(row.seq).ok()).filter(|seq| *seq <= vouched.checkpoint.size)
            {
                proofs.push(Proof::inclusion(&chains.entries, tree, seq, Some(vouched))?);
            }
        }
        let checkpoints = checkpoints.iter().map(|vouched| vouched.note.clone()).collect();
        Ok(Self { chains, checkpoints, proofs })
    }

    fn counts(&self) -> Counts {
        let Self { chains, checkpoints, proofs } = self;
        let count = |rows: &[Row]| rows.len() as u64;
        Counts {
            format: FORMAT,
            schema: schema_digest(),
            entries: count(&chains.entries),
            gates: count(&chains.gates),
            refusals: count(&chains.refusals),
            checkpoints: checkpoints.len() as u64,
            proofs: proofs.len() as u64,
        }
    }

    /// The file's text.
    pub fn to_text(&self) -> Result<String, CheckError> {
        let mut lines = vec![Line::Bundle(self.counts())];
        let rows = |rows: &[Row], line: fn(RowLine) -> Line| {
            rows.iter().map(|row| line(row.clone().into())).collect::<Vec<_>>()
        };
        lines.extend(rows(&self.chains.entries, Line::Entry));
        lines.extend(rows(&self.chains.gates, Line::Gate));
        lines.extend(rows(&self.chains.refusals, Line::Refusal));
        lines.extend(self.checkpoints.iter().cloned().map(Line::Checkpoint));
        lines.extend(self.proofs.iter().cloned().map(Line::Proof));
        let mut text = String::new();
        for line in &lines {
            text += &canonical(line)
                .map_err(|error| CheckError::new(codes::PROOF_FORM, "the bundle", error.to_string()))?;
            text.push('\n');
        }
        Ok(text)
    }

    /// Reads a bundle. Nothing is verified but its form.
    pub fn read(subject: &str, mut reader: impl BufRead) -> Result<Self, CheckError> {
        let malformed =
            |line: u64, cause: &str| CheckError::new(codes::PROOF_FORM, subject, format!("line {line}: {cause}"));
        let mut bundle = Self { chains: Chains::default(), checkpoints: Vec::new(), proofs: Vec::new() };
        let (mut stated, mut number, mut text) = (None, 0, String::new());
        loop {
            number += 1;
            text.clear();
            let read = (&mut reader).take(LINE_MAX).read_line(&mut text);
            if read.map_err(|error| malformed(number, &error.to_string()))? == 0 {
                break;
            }
            if !text.ends_with('\n') || number > LINES_MAX {
                return Err(malformed(number, "the line or the file is cut or too long"));
            }
            let line = serde_json::from_str(&text).map_err(|error| malformed(number, &error.to_string()))?;
            match (line, &stated) {
                (Line::Bundle(counts), None) => stated = Some(counts),
                (Line::Bundle(_), Some(_)) => return Err(malformed(number, "a second head")),
                (_, None) => return Err(malformed(number, "a bundle begins with its head")),
                (Line::Entry(row), _) => bundle.chains.entries.push(row.into()),
                (Line::Gate(row), _) => bundle.chains.gates.push(row.into()),
                (Line::Refusal(row), _) => bundle.chains.refusals.push(row.into()),
                (Line::Checkpoint(note), _) => bundle.checkpoints.push(note),
                (Line::Proof(proof), _) => bundle.proofs.push(proof),
            }
        }
        let stated = stated.ok_or_else(|| malformed(1, "the file is empty"))?;
        if stated.format != FORMAT || stated.schema != schema_digest() {
            return Err(CheckError::new(codes::OTHER_VERSION, subject, "its rows kept the rules of another version"));
        }
        if stated != bundle.counts() {
            return Err(malformed(
                number,
                "the file does not hold as many rows, checkpoints and proofs as its head says",
            ));
        }
        Ok(bundle)
    }

    /// Verifies the rows by every rule, each checkpoint against the rows and the named keys, and each proof.
    pub fn verify(&self, subject: &str, trust: &Trust) -> Result<(VerifyReport, Vec<Vouched>), CheckError> {
        let report = verify_chains(&self.chains);
        if report.first_bad.is_some() {
            return Ok((report, Vec::new()));
        }
        let tree = self.chains.tree(subject)?;
        let vouched = self.checkpoints.iter().map(|note| trust.vouch(subject, note)).collect::<Result<Vec<_>, _>>()?;
        for Vouched { checkpoint, .. } in &vouched {
            self.chains.extend(subject, &tree, checkpoint)?;
        }
        for proof in &self.proofs {
            proof.verify(subject, trust)?;
            for head in proof.heads() {
                extends(subject, &tree, head.size, head.root)?;
            }
        }
        if vouched.is_empty() && (trust.log.is_some() || !trust.witnesses.is_empty()) {
            return Err(CheckError::new(
                codes::SIGNATURE,
                subject,
                "a key was named, and the bundle holds no checkpoint",
            ));
        }
        Ok((report, vouched))
    }
}

/// The rows of a chain as JSON Lines, with bodies as objects.
pub fn json_lines(rows: &[Row]) -> Result<String, CheckError> {
    let mut text = String::new();
    for Row { seq, prev, hash, at_ms, kind, key, body } in rows {
        let body: serde_json::Value = serde_json::from_str(body)
            .map_err(|error| CheckError::new(codes::SHAPE, format!("row {seq}"), error.to_string()))?;
        let row = serde_json::json!({
            "seq": seq, "prev": prev, "hash": hash, "at_ms": at_ms, "kind": kind, "key": key, "body": body,
        });
        text += &row.to_string();
        text.push('\n');
    }
    Ok(text)
}

/// The rows of a chain as RFC 4180 has it, with bodies as JSON in a field.
pub fn csv(rows: &[Row]) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut text = String::from("seq,prev,hash,at_ms,kind,key,body\r\n");
    for Row { seq, prev, hash, at_ms, kind, key, body } in rows {
        let _ = write!(text, "{seq},{prev},{hash},{at_ms},{kind},{},{}\r\n", quoted(key), quoted(body));
    }
    text
}

/// Verifies that a ledger's rows, which were verified before, begin with those of a signed checkpoint.
pub fn covered(chains: &Chains, subject: &str, vouched: &Vouched) -> Result<(), CheckError> {
    chains.extend(subject, &chains.tree(subject)?, &vouched.checkpoint)
}
