//! Reading rows.

use atb_core::canon::Digest;
use atb_core::codes;
use atb_core::entry::{Body, Chain, Row};
use atb_core::gates::Ruled;

use crate::append::Admitted;
use crate::error::OpenError;
use crate::open::Ledger;

/// A body with its place in the ledger.
#[derive(Debug, Clone)]
pub struct Stored<B> {
    /// Position in the chain.
    pub seq: i64,
    /// Wall time in milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// The body.
    pub body: B,
}

impl Ledger {
    /// All rows of a chain in order.
    pub fn rows(&self, chain: Chain) -> Result<Vec<Row>, OpenError> {
        self.select(chain, "", [])
    }

    /// All bodies of a kind in order.
    pub fn bodies<B: Body>(&self) -> Result<Vec<Stored<B>>, OpenError> {
        self.select(Chain::Entry, "WHERE kind = ?1", [B::KIND])
            .and_then(|rows| rows.iter().map(|row| self.parse(row)).collect())
    }

    /// The row of a kind with this key.
    pub fn admitted<B: Body>(&self, key: &str) -> Result<Option<Admitted>, OpenError> {
        let rows = self.select(Chain::Entry, "WHERE kind = ?1 AND key = ?2", [B::KIND, key])?;
        Ok(rows.first().map(Admitted::of))
    }

    /// The decisions of all gates with the rulings on them.
    pub fn decisions(&self) -> Result<Vec<Ruled>, OpenError> {
        Ruled::read(&self.rows(Chain::Gate)?).map_err(|(seq, error)| {
            OpenError::new(codes::SHAPE, &self.path, format!("gate row {seq} does not parse: {error}"))
        })
    }

    /// Number of rows of a chain and the hash of the last.
    pub fn head(&self, chain: Chain) -> Result<(u64, String), OpenError> {
        let count =
            format!("SELECT count(*), (SELECT hash FROM {0} ORDER BY seq DESC LIMIT 1) FROM {0}", chain.table());
        let read =
            self.connection.query_row(&count, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?)));
        let (rows, hash) = read.map_err(|error| OpenError::sql(&self.path, &error))?;
        Ok((u64::try_from(rows).unwrap_or(0), hash.unwrap_or_else(|| Digest::GENESIS.to_string())))
    }

    pub(crate) fn parse<B: Body>(&self, row: &Row) -> Result<Stored<B>, OpenError> {
        let body = serde_json::from_str(&row.body).map_err(|error| {
            OpenError::new(codes::SHAPE, &self.path, format!("row {} does not parse: {error}", row.seq))
        })?;
        Ok(Stored { seq: row.seq, at_ms: row.at_ms, body })
    }

    fn select<const N: usize>(&self, chain: Chain, condition: &str, values: [&str; N]) -> Result<Vec<Row>, OpenError> {
        let table = chain.table();
        let query = format!("SELECT seq, prev, hash, at_ms, kind, key, body FROM {table} {condition} ORDER BY seq");
        // The row that was being read, for the error: SQLite holds any bytes as text, and any type in any column.
        let mut last = 0;
        let mut read = || -> rusqlite::Result<Vec<Row>> {
            let mut statement = self.connection.prepare_cached(&query)?;
            let rows = statement.query_map(rusqlite::params_from_iter(values), |row| {
                last = row.get(0)?;
                Ok(Row {
                    seq: last,
                    prev: row.get(1)?,
                    hash: row.get(2)?,
                    at_ms: row.get(3)?,
                    kind: row.get(4)?,
                    key: row.get(5)?,
                    body: row.get(6)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|error| match error {
            rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..) => {
                OpenError::new(codes::SHAPE, &self.path, format!("row {last} of table {table} does not read: {error}"))
            }
            error => OpenError::sql(&self.path, &error),
        })
    }
}
