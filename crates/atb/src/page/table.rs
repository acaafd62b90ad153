//! Tables: a caption, columns and cells. One template draws all of them.

use super::mark::Mark;

/// A table.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) head: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// What stands below it; empty if nothing does.
    pub(super) note: String,
}

/// A column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// `num` for numbers, which stand right; else empty.
    pub(super) class: &'static str,
}

/// A cell.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) mark: Option<Mark>,
    /// `num` for numbers, `code` for digests and flags, `long` for prose, else empty.
    pub(super) class: &'static str,
}

impl Table {
    /// An empty table. A column whose name starts with `#` holds numbers.
    pub(super) fn new(caption: impl Into<String>, columns: &[&str]) -> Self {
        let column = |name: &&str| match name.strip_prefix('#') {
            Some(name) => Column { name: name.to_owned(), class: "num" },
            None => Column { name: (*name).to_owned(), class: "" },
        };
        Self { caption: caption.into(), head: columns.iter().map(column).collect(), ..Self::default() }
    }

    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Adds a row of a label and a text.
    pub(super) fn fact(&mut self, label: &str, value: impl Into<String>) {
        self.row(vec![Cell::text(label), Cell::long(value)]);
    }
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), mark: None, class: "" }
    }

    pub(super) fn number(text: impl Into<String>) -> Self {
        Self { class: "num", ..Self::text(text) }
    }

    pub(super) fn code(text: impl Into<String>) -> Self {
        Self { class: "code", ..Self::text(text) }
    }

    pub(super) fn long(text: impl Into<String>) -> Self {
        Self { class: "long", ..Self::text(text) }
    }

    pub(super) fn mark(mark: Mark) -> Self {
        Self { text: mark.word.clone(), mark: Some(mark), class: "" }
    }
}
