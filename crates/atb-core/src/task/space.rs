//! The search space of a task: axes of macro values over one parametrised C file.
//!
//! A point's candidate is one `#define` per axis followed by the body, so every candidate is a complete, readable C file.

use std::fmt::Write as _;

use crate::codes;
use crate::document::{Cause, Document, DocumentError};
use crate::protocol::check_format;

/// One axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Macro name.
    pub name: String,
    /// Macro values; the first is the conservative one.
    pub values: Vec<String>,
    /// What it changes.
    pub doc: String,
}

/// A point: one value index per axis.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point(pub Vec<usize>);

/// All points of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    axes: Vec<Axis>,
    body: String,
}

impl Space {
    /// Parses space.toml; `body` is the text of space.c.
    pub fn parse(file: &str, text: &str, body: &str) -> Result<Self, DocumentError> {
        let document = Document::parse(file, text)?;
        let root = document.root();
        check_format(&root)?;
        let mut axes: Vec<Axis> = Vec::new();
        for table in root.require("axis")?.tables()? {
            let name_item = table.require("name")?;
            let name = name_item.text()?.to_owned();
            let legal = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            if name.is_empty() || !name.chars().all(legal) || name.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(name_item.rule(codes::OUT_OF_RANGE, "an axis is an upper-case C macro name"));
            }
            if axes.iter().any(|axis| axis.name == name) {
                return Err(name_item.error(codes::DUPLICATE, Cause::Duplicate(name)));
            }
            let values_item = table.require("values")?;
            let values = values_item.texts()?;
            if values.is_empty() || values.iter().any(|value| value.contains(['\n', '\\'])) {
                return Err(values_item.rule(codes::OUT_OF_RANGE, "an axis has one or more values, each on one line"));
            }
            let doc = table.require("doc")?.text()?.to_owned();
            table.finish()?;
            axes.push(Axis { name, values, doc });
        }
        root.finish()?;
        Ok(Self { axes, body: body.to_owned() })
    }

    /// The axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Number of points.
    pub fn size(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// The point with this number; the first axis varies fastest.
    pub fn point(&self, mut number: usize) -> Point {
        Point(
            self.axes
                .iter()
                .map(|axis| {
                    let at = number % axis.values.len();
                    number /= axis.values.len();
                    at
                })
                .collect(),
        )
    }

    /// The candidate file of a point.
    pub fn source(&self, point: &Point) -> String {
        let mut text = String::new();
        for (name, value) in self.pairs(point) {
            let _ = writeln!(text, "#define {name} {value}");
        }
        text.push_str(&self.body);
        text
    }

    /// The point in words, such as `VW=8 UNROLL=2`.
    pub fn describe(&self, point: &Point) -> String {
        self.pairs(point).map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }

    fn pairs<'s>(&'s self, point: &'s Point) -> impl Iterator<Item = (&'s str, &'s str)> {
        self.axes
            .iter()
            .zip(&point.0)
            .filter_map(|(axis, at)| Some((axis.name.as_str(), axis.values.get(*at)?.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_enumerate_the_product_once() {
        let text = "format = 1\n[[axis]]\nname = \"A\"\nvalues = [\"1\", \"2\"]\ndoc = \"a\"\n\
                    [[axis]]\nname = \"B\"\nvalues = [\"x\", \"y\", \"z\"]\ndoc = \"b\"\n";
        let space = Space::parse("s.toml", text, "body").unwrap();
        assert_eq!(space.size(), 6);
        let points: std::collections::BTreeSet<Point> = (0..6).map(|n| space.point(n)).collect();
        assert_eq!(points.len(), 6);
        assert_eq!(space.source(&space.point(3)), "#define A 2\n#define B y\nbody");
        assert_eq!(space.describe(&space.point(3)), "A=2 B=y");
    }
}
