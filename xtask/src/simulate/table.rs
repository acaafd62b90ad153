//! A table of a study: a row per rule, here beside the design study.

use std::fmt::Write as _;

use super::model::PROFILES;

/// The values of three machines, as they are written.
#[derive(Debug, Clone)]
pub(crate) struct Cell(String);

impl Cell {
    /// Shares, with three decimals.
    pub(crate) fn shares(values: [f64; 3]) -> Self {
        Self::of(values, 3)
    }

    /// Ratios, with three decimals.
    pub(crate) fn ratios(values: [f64; 3]) -> Self {
        Self::of(values, 3)
    }

    /// Percentages, with two decimals.
    pub(crate) fn percents(values: [f64; 3]) -> Self {
        Self::of(values, 2)
    }

    /// Counts.
    pub(crate) fn counts(values: [f64; 3]) -> Self {
        Self::of(values, 0)
    }

    /// What a study says in words.
    pub(crate) fn said(words: &str) -> Self {
        Self(words.to_owned())
    }

    fn of(values: [f64; 3], decimals: usize) -> Self {
        let one = |value: f64| if value.is_nan() { "-".to_owned() } else { format!("{value:.decimals$}") };
        Self(values.map(one).join(" / "))
    }
}

/// A row: its label, what was found here, what the design study found.
#[derive(Debug)]
struct Row {
    label: String,
    here: Cell,
    study: Cell,
}

/// A share that must not be above a bound.
#[derive(Debug)]
struct Bounded {
    label: String,
    rates: [f64; 3],
    bound: f64,
}

/// A study's table.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) title: String,
    unit: String,
    rows: Vec<Row>,
    bounded: Vec<Bounded>,
}

impl Table {
    pub(crate) fn new(title: &str, unit: &str) -> Self {
        Self { title: title.to_owned(), unit: unit.to_owned(), rows: Vec::new(), bounded: Vec::new() }
    }

    /// A row beside the design study's.
    pub(crate) fn row(&mut self, label: &str, here: Cell, study: Cell) {
        self.rows.push(Row { label: label.to_owned(), here, study });
    }

    /// A row that the design study does not have.
    pub(crate) fn here(&mut self, label: &str, here: Cell) {
        self.row(label, here, Cell::said("-"));
    }

    /// A row of rates that may not be above a bound.
    pub(crate) fn bound(&mut self, label: &str, here: [f64; 3], study: Cell, bound: f64) {
        self.bounded.push(Bounded { label: format!("{}: {label}", self.title), rates: here, bound });
        self.row(&format!("{label} (at most {bound})"), Cell::shares(here), study);
    }

    /// Label, machine, rate and bound of every rate that is bounded.
    pub(crate) fn bounded(&self) -> impl Iterator<Item = (&str, &'static str, f64, f64)> {
        self.bounded.iter().flat_map(|row| {
            PROFILES.iter().zip(row.rates).map(|(profile, rate)| (row.label.as_str(), profile.name, rate, row.bound))
        })
    }

    pub(crate) fn markdown(&self) -> String {
        let mut text = format!(
            "\n## {}\n\n{}.\n\n| rule | here | design study |\n| --- | --- | --- |\n",
            self.title,
            capital(&self.unit)
        );
        for Row { label, here, study } in &self.rows {
            let _ = writeln!(text, "| {label} | {} | {} |", here.0, study.0);
        }
        text
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
