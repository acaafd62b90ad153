//! Reading the TOML documents that people write, with the place of every fault.
//!
//! Readers ask a `Table` for what they expect; whatever was not asked for is an unknown key. Every error names file, line,
//! column, field, cause and remedy. Numbers are kept as they were written, so no digit is lost.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::codes::{self, Code};

/// A fault in a document, with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {code}: `{field}`: {cause}\n  remedy: {remedy}")]
pub struct DocumentError {
    /// The document's name as the user gave it.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// The dotted name of the field, or of the table it is in.
    pub field: String,
    /// The stable code.
    pub code: Code,
    /// What is wrong.
    pub cause: Cause,
    /// What to do, where the registry's remedy is too general.
    pub remedy: String,
}

/// What is wrong in a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The TOML parser's message.
    #[error("{0}")]
    Syntax(String),
    /// The key is unknown here.
    #[error("the key is unknown here; known keys: {known}")]
    UnknownKey {
        /// Keys that the reader knows, separated by commas.
        known: String,
    },
    /// A required key is missing.
    #[error("the required key is missing")]
    Missing,
    /// A protocol value without provenance.
    #[error("the value has no `{0}`")]
    NoSource(&'static str),
    /// Another type was expected.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What the schema asks for.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// The value lies outside its range.
    #[error("{found} is outside {range}")]
    Range {
        /// The value as written.
        found: String,
        /// The allowed range.
        range: String,
    },
    /// The unit differs.
    #[error("the unit is `{found}`, expected `{expected}`")]
    Unit {
        /// The unit as written.
        found: String,
        /// The schema's unit.
        expected: &'static str,
    },
    /// NaN or infinity.
    #[error("{0} is not a finite number")]
    NotFinite(String),
    /// A name given twice.
    #[error("`{0}` is given twice")]
    Duplicate(String),
    /// A source id that no source has, or a source that nothing cites.
    #[error("{0}")]
    Source(String),
    /// A rule of the document's kind is broken.
    #[error("{0}")]
    Rule(String),
}

/// A parsed document.
#[derive(Debug)]
pub struct Document<'t> {
    file: &'t str,
    text: &'t str,
    root: Spanned<DeTable<'t>>,
}

impl<'t> Document<'t> {
    /// Parses TOML text; `file` is used in messages only.
    pub fn parse(file: &'t str, text: &'t str) -> Result<Self, DocumentError> {
        let root = DeTable::parse(text).map_err(|error| {
            let duplicate = error.message().contains("duplicate key");
            let code = if duplicate { codes::DUPLICATE } else { codes::SYNTAX };
            let (line, column) = place(text, error.span().map_or(0, |span| span.start));
            let cause = Cause::Syntax(error.message().replace('\n', " "));
            let remedy = if duplicate { "keep one of the two" } else { "correct the syntax at that place" };
            let field = text.lines().nth(line - 1).unwrap_or("").trim().to_owned();
            DocumentError { file: file.to_owned(), line, column, field, code, cause, remedy: remedy.to_owned() }
        })?;
        Ok(Self { file, text, root })
    }

    /// The document's outermost table.
    pub fn root(&self) -> Table<'_> {
        Table {
            document: Context { file: self.file, text: self.text },
            path: String::new(),
            span: 0..0,
            entries: self.root.get_ref(),
            asked: RefCell::default(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Context<'d> {
    file: &'d str,
    text: &'d str,
}

impl Context<'_> {
    fn error(self, span: &Range<usize>, field: &str, code: Code, cause: Cause, remedy: &str) -> DocumentError {
        let (line, column) = place(self.text, span.start);
        let remedy = match (remedy, code.entry()) {
            ("", Some(entry)) => entry.remedy,
            (given, _) => given,
        };
        DocumentError {
            file: self.file.to_owned(),
            line,
            column,
            field: field.to_owned(),
            code,
            cause,
            remedy: remedy.to_owned(),
        }
    }
}

/// Line and column, counted from 1, of a byte offset.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset.min(text.len())).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

/// One table of a document; remembers which keys were asked for.
#[derive(Debug)]
pub struct Table<'d> {
    document: Context<'d>,
    path: String,
    span: Range<usize>,
    entries: &'d DeTable<'d>,
    asked: RefCell<BTreeSet<&'static str>>,
}

impl<'d> Table<'d> {
    /// The table's dotted name; empty for the outermost.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The item under a key, if present.
    pub fn get(&self, key: &'static str) -> Option<Item<'d>> {
        self.asked.borrow_mut().insert(key);
        self.entries
            .iter()
            .find(|(name, _)| name.get_ref().as_ref() == key)
            .map(|(name, value)| self.item(name.get_ref(), value))
    }

    /// The item under a required key.
    pub fn require(&self, key: &'static str) -> Result<Item<'d>, DocumentError> {
        self.get(key).ok_or_else(|| self.missing(key))
    }

    /// The error for a missing key.
    pub fn missing(&self, key: &'static str) -> DocumentError {
        self.document.error(&self.span, &join(&self.path, key), codes::MISSING_KEY, Cause::Missing, "")
    }

    /// An error about this table as a whole.
    pub fn error(&self, code: Code, cause: Cause) -> DocumentError {
        let field = if self.path.is_empty() { "document" } else { &self.path };
        self.document.error(&self.span, field, code, cause, "")
    }

    /// All items, for tables whose keys are data; marks none as asked.
    pub fn items(&self) -> impl Iterator<Item = (&'d str, Item<'d>)> {
        self.entries.iter().map(|(name, value)| (name.get_ref().as_ref(), self.item(name.get_ref(), value)))
    }

    /// Refuses keys that were never asked for.
    pub fn finish(&self) -> Result<(), DocumentError> {
        let asked = self.asked.borrow();
        for (name, _) in self.entries {
            let key: &str = name.get_ref().as_ref();
            if !asked.contains(key) {
                let known = asked.iter().copied().collect::<Vec<_>>().join(", ");
                let field = join(&self.path, key);
                let cause = Cause::UnknownKey { known };
                return Err(self.document.error(&name.span(), &field, codes::UNKNOWN_KEY, cause, ""));
            }
        }
        Ok(())
    }

    fn item(&self, key: &str, value: &'d Spanned<DeValue<'d>>) -> Item<'d> {
        Item { document: self.document, path: join(&self.path, key), value }
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// One value of a document.
#[derive(Debug)]
pub struct Item<'d> {
    document: Context<'d>,
    path: String,
    value: &'d Spanned<DeValue<'d>>,
}

impl<'d> Item<'d> {
    /// An error at this value.
    pub fn error(&self, code: Code, cause: Cause) -> DocumentError {
        self.document.error(&self.value.span(), &self.path, code, cause, "")
    }

    /// An error at this value that breaks a rule of the document's kind.
    pub fn rule(&self, code: Code, cause: &str) -> DocumentError {
        self.error(code, Cause::Rule(cause.to_owned()))
    }

    fn wrong_type(&self, expected: &'static str) -> DocumentError {
        let found = self.value.get_ref().type_str().to_owned();
        self.error(codes::WRONG_TYPE, Cause::Type { expected, found })
    }

    /// The value as text.
    pub fn text(&self) -> Result<&'d str, DocumentError> {
        self.value.get_ref().as_str().ok_or_else(|| self.wrong_type("a string"))
    }

    /// The value as true or false.
    pub fn boolean(&self) -> Result<bool, DocumentError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.wrong_type("true or false"))
    }

    /// The value as an integer that is not negative.
    pub fn integer(&self) -> Result<u64, DocumentError> {
        let integer = self.value.get_ref().as_integer().ok_or_else(|| self.wrong_type("an integer"))?;
        u64::from_str_radix(integer.as_str(), integer.radix()).map_err(|_| {
            let range = "the integers from 0 to 2^64 - 1".to_owned();
            self.error(codes::OUT_OF_RANGE, Cause::Range { found: integer.as_str().to_owned(), range })
        })
    }

    /// The value as a finite decimal number, exactly as written.
    pub fn decimal(&self) -> Result<Decimal, DocumentError> {
        let written = match self.value.get_ref() {
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().to_owned(),
            DeValue::Float(float) => float.as_str().to_owned(),
            _ => return Err(self.wrong_type("a number")),
        };
        Decimal::parse(&written).ok_or_else(|| self.error(codes::NOT_A_NUMBER, Cause::NotFinite(written)))
    }

    /// The value as a list.
    pub fn list(&self) -> Result<Vec<Item<'d>>, DocumentError> {
        let array = self.value.get_ref().as_array().ok_or_else(|| self.wrong_type("a list"))?;
        Ok((0..array.len())
            .filter_map(|at| Some((at, array.get(at)?)))
            .map(|(at, value)| Item { document: self.document, path: format!("{}[{at}]", self.path), value })
            .collect())
    }

    /// The value as a list of texts.
    pub fn texts(&self) -> Result<Vec<String>, DocumentError> {
        self.list()?.iter().map(|item| item.text().map(str::to_owned)).collect()
    }

    /// The value as a table.
    pub fn table(&self) -> Result<Table<'d>, DocumentError> {
        let entries = self.value.get_ref().as_table().ok_or_else(|| self.wrong_type("a table"))?;
        Ok(Table {
            document: self.document,
            path: self.path.clone(),
            span: self.value.span(),
            entries,
            asked: RefCell::default(),
        })
    }

    /// The value as a list of tables.
    pub fn tables(&self) -> Result<Vec<Table<'d>>, DocumentError> {
        self.list()?.iter().map(Item::table).collect()
    }
}

/// A finite decimal number that keeps the text it was written with, in lower case and without digit separators.
#[derive(Debug, Clone, PartialEq)]
pub struct Decimal {
    written: String,
    value: f64,
}

impl Decimal {
    /// Reads a decimal number; None if it is not finite or not a number.
    pub fn parse(written: &str) -> Option<Self> {
        let written = written.replace('_', "").to_lowercase();
        let value: f64 = written.parse().ok()?;
        value.is_finite().then_some(Self { written, value })
    }

    /// The number.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The number as written.
    pub fn written(&self) -> &str {
        &self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_refused_with_its_place() {
        let document = Document::parse("x.toml", "a = 1\n[t]\nb = 2\n  c = 3\n").unwrap();
        let table = document.root().require("t").unwrap().table().unwrap();
        assert_eq!(table.require("b").unwrap().integer().unwrap(), 2);
        let error = table.finish().unwrap_err();
        assert_eq!((error.line, error.column, error.field.as_str()), (4, 3, "t.c"));
        assert_eq!(error.code, codes::UNKNOWN_KEY);
    }

    #[test]
    fn a_duplicate_key_has_its_own_code() {
        let error = Document::parse("x.toml", "a = 1\na = 2\n").unwrap_err();
        assert_eq!((error.code, error.line), (codes::DUPLICATE, 2));
        assert_eq!(Document::parse("x.toml", "a = \n").unwrap_err().code, codes::SYNTAX);
    }

    #[test]
    fn nan_is_not_a_decimal() {
        let document = Document::parse("x.toml", "a = nan\nb = -inf\nc = 1e400\nd = 0.05").unwrap();
        let root = document.root();
        for key in ["a", "b", "c"] {
            assert_eq!(root.require(key).unwrap().decimal().unwrap_err().code, codes::NOT_A_NUMBER);
        }
        assert_eq!(root.require("d").unwrap().decimal().unwrap().written(), "0.05");
    }
}
