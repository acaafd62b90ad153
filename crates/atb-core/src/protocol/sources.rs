//! The list of sources that protocols cite.

use std::collections::BTreeMap;

use super::{check_format, name};
use crate::codes;
use crate::document::{Cause, Document, DocumentError};

/// One source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What kind of thing it is: paper, code, documentation, measurement, or decision.
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Where it is found: an address, a DOI, or a file of this project.
    pub location: String,
}

/// All sources by id.
#[derive(Debug, Clone, Default)]
pub struct Sources(BTreeMap<String, Source>);

impl Sources {
    /// Parses sources.toml.
    pub fn parse(file: &str, text: &str) -> Result<Self, DocumentError> {
        let document = Document::parse(file, text)?;
        let root = document.root();
        check_format(&root)?;
        let mut sources = BTreeMap::new();
        for table in root.require("source")?.tables()? {
            let id = table.require("id")?;
            let key = name(&id, id.text()?)?;
            let kind = table.require("kind")?;
            if !["paper", "code", "documentation", "measurement", "decision"].contains(&kind.text()?) {
                return Err(
                    kind.rule(codes::OUT_OF_RANGE, "a kind is paper, code, documentation, measurement or decision")
                );
            }
            let source = Source {
                kind: kind.text()?.to_owned(),
                title: table.require("title")?.text()?.to_owned(),
                location: table.require("location")?.text()?.to_owned(),
            };
            table.finish()?;
            if sources.insert(key.clone(), source).is_some() {
                return Err(id.error(codes::DUPLICATE, Cause::Duplicate(key)));
            }
        }
        root.finish()?;
        Ok(Self(sources))
    }

    /// The source with this id.
    pub fn get(&self, id: &str) -> Option<&Source> {
        self.0.get(id)
    }

    /// All ids in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
