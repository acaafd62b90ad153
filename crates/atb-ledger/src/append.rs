//! The one way in: a row is built here, and the triggers decide.

use atb_core::canon::{Digest, canonical};
use atb_core::codes::Code;
use atb_core::entry::{Body, Chain, FORMAT, GateBody, RefusalBody, Row, RulingBody};
use rusqlite::{Transaction, TransactionBehavior};

use crate::error::IngestError;
use crate::open::Ledger;

/// A row that the database has admitted. Only this crate makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    seq: i64,
    hash: String,
    key: String,
}

impl Admitted {
    pub(crate) fn of(row: &Row) -> Self {
        Self { seq: row.seq, hash: row.hash.clone(), key: row.key.clone() }
    }

    /// Position in the chain.
    pub fn seq(&self) -> i64 {
        self.seq
    }

    /// Hash of the row.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Natural key.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl Ledger {
    /// Appends a body to the ledger proper. A refused one leaves no row there, and one in the refusal chain.
    pub fn append<B: Body>(&mut self, body: &B, at_ms: i64) -> Result<Admitted, IngestError> {
        let text = canonical(body)?;
        let appended = self.insert(Chain::Entry, B::KIND, &body.key(), &text, at_ms);
        if let Err(IngestError::Refused { code, .. }) = &appended {
            self.keep_refusal(*code, B::KIND, &body.key(), &text, at_ms)?;
        }
        appended
    }

    /// Appends a gate decision.
    pub fn record_gate(&mut self, body: &GateBody, at_ms: i64) -> Result<Admitted, IngestError> {
        self.insert(Chain::Gate, GateBody::KIND, &body.key(), &canonical(body)?, at_ms)
    }

    /// Appends a person's ruling on a gate's decision.
    pub fn record_ruling(&mut self, body: &RulingBody, at_ms: i64) -> Result<Admitted, IngestError> {
        self.insert(Chain::Gate, RulingBody::KIND, &body.key(), &canonical(body)?, at_ms)
    }

    fn keep_refusal(&mut self, code: Code, kind: &str, key: &str, text: &str, at_ms: i64) -> Result<(), IngestError> {
        let body = RefusalBody {
            format: FORMAT,
            code: code.to_string(),
            kind: kind.to_owned(),
            key: key.to_owned(),
            digest: Digest::of(text.as_bytes()),
            refused: text.to_owned(),
        };
        let kept = self.insert(Chain::Refusal, RefusalBody::KIND, &body.key(), &canonical(&body)?, at_ms);
        match kept {
            // The same body was refused for the same reason before: it is on record.
            Err(IngestError::Refused { code: atb_core::codes::COPIED_ROW, .. }) => Ok(()),
            other => other.map(drop),
        }
    }

    /// One durable transaction.
    fn insert(&mut self, chain: Chain, kind: &str, key: &str, body: &str, at_ms: i64) -> Result<Admitted, IngestError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let row = next_row(&transaction, chain, kind, key, body, at_ms)?;
        put(&transaction, chain, &row)?;
        crate::crash_point("ledger.before-commit");
        transaction.commit()?;
        crate::crash_point("ledger.after-commit");
        Ok(Admitted::of(&row))
    }
}

/// The row that would come next. Time never runs backwards within a chain, even if the machine's clock does.
fn next_row(
    transaction: &Transaction<'_>,
    chain: Chain,
    kind: &str,
    key: &str,
    body: &str,
    at_ms: i64,
) -> rusqlite::Result<Row> {
    let last = format!("SELECT seq, hash, at_ms FROM {} ORDER BY seq DESC LIMIT 1", chain.table());
    let last = transaction
        .query_row(&last, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?)));
    let (seq, prev, last_ms) = match last {
        Err(rusqlite::Error::QueryReturnedNoRows) => (0, Digest::GENESIS.to_string(), 1),
        other => other?,
    };
    let mut row = Row {
        seq: seq + 1,
        prev,
        hash: String::new(),
        at_ms: at_ms.max(last_ms),
        kind: kind.to_owned(),
        key: key.to_owned(),
        body: body.to_owned(),
    };
    row.hash = row.compute_hash(chain).to_string();
    Ok(row)
}

/// Inserts a row as it is; the triggers decide.
pub(crate) fn put(transaction: &Transaction<'_>, chain: Chain, row: &Row) -> rusqlite::Result<()> {
    let insert = format!(
        "INSERT INTO {} (seq, prev, hash, at_ms, kind, key, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        chain.table()
    );
    let Row { seq, prev, hash, at_ms, kind, key, body } = row;
    transaction.prepare_cached(&insert)?.execute((seq, prev, hash, at_ms, kind, key, body)).map(drop)
}
