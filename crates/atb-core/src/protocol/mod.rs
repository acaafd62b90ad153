//! The protocol: frozen values with provenance.
//!
//! A protocol file is data. Each value is a [`Cited`] one: value, unit, source and locator; a value without a source does not
//! parse. Ranges and units live in [`schema`], so a protocol version may choose only inside them. The digest is the SHA-256
//! of the canonical JSON of the parsed file, so comments and layout do not count, and every value and citation does.

pub mod schema;
mod sources;

pub use schema::{FIELDS, Field, Protocol};
pub use sources::{Source, Sources};

use serde_json::{Map, Value, json};

use crate::canon::Digest;
use crate::codes;
use crate::document::{Cause, Document, DocumentError, Item, Table};
use schema::{FieldKind, FieldValue};

/// The format number of protocol files.
pub const FORMAT: u64 = 1;

/// A value with its provenance. It has no constructor without a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Cited<T> {
    value: T,
    unit: &'static str,
    source: String,
    locator: String,
}

impl<T> Cited<T> {
    /// The value.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// The id of the source in sources.toml.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Where in the source.
    pub fn locator(&self) -> &str {
        &self.locator
    }
}

impl Protocol {
    /// Parses a protocol file. `file` is used in messages only.
    pub fn parse(file: &str, text: &str) -> Result<Self, DocumentError> {
        let document = Document::parse(file, text)?;
        let root = document.root();
        check_format(&root)?;
        let id = root.require("id")?;
        let id = name(&id, id.text()?)?;
        let title = root.require("title")?.text()?.to_owned();
        let mut values = Vec::with_capacity(FIELDS.len());
        for (group, fields) in groups() {
            let table = root.require(group)?.table()?;
            for field in fields {
                values.push(read_field(&table, field)?);
            }
            table.finish()?;
        }
        root.finish()?;
        let protocol = Self::from_values(id, title, values)
            .ok_or_else(|| root.error(codes::WRONG_TYPE, Cause::Rule("the schema table is inconsistent".into())))?;
        protocol.check_rules(&root)?;
        Ok(protocol)
    }

    /// Rules between fields.
    fn check_rules(&self, root: &Table<'_>) -> Result<(), DocumentError> {
        let rule = |group: &'static str, ok: bool, cause: &str| {
            if ok { Ok(()) } else { Err(root.require(group)?.rule(codes::OUT_OF_RANGE, cause)) }
        };
        rule("kernel", self.kernel_warmup_min() <= self.kernel_warmup_max(), "warmup_min is above warmup_max")?;
        let target = self.kernel_window_target_us();
        rule("kernel", self.kernel_window_floor_us() <= target, "window_floor_us is above window_target_us")?;
        let pairs = self.replication_pairs_confirm();
        rule("replication", pairs >= self.replication_min_usable_pairs(), "pairs_confirm is below min_usable_pairs")?;
        let order = [pairs, self.replication_pairs_confirm_2(), self.replication_pairs_confirm_5()];
        rule("replication", order.is_sorted(), "the CONFIRM schedule must not shrink: alpha is spent")?;
        rule(
            "replication",
            self.replication_pairs_confirm_5() <= self.replication_pairs_confirm_10(),
            "the CONFIRM schedule must not shrink: alpha is spent",
        )
    }

    /// The protocol as the value whose canonical JSON is hashed.
    pub fn to_json(&self) -> Value {
        let fields: Map<String, Value> = self
            .cited()
            .into_iter()
            .map(|(field, cited)| {
                let value = match cited.value {
                    FieldValue::Count(count) => json!(count),
                    FieldValue::Real(decimal) => json!(decimal.written()),
                    FieldValue::Texts(texts) => json!(texts),
                };
                let cited = json!({
                    "value": value, "unit": cited.unit, "source": cited.source, "locator": cited.locator,
                });
                (field.key.to_owned(), cited)
            })
            .collect();
        json!({ "format": FORMAT, "id": self.id(), "title": self.title(), "fields": fields })
    }

    /// Reads the value that [`Protocol::to_json`] wrote, with all checks of a file. `origin` is used in messages only.
    pub fn from_json(origin: &str, value: &Value) -> Result<Self, DocumentError> {
        let mut lines = vec![format!("format = {FORMAT}")];
        lines.extend(["id", "title"].map(|key| format!("{key} = {}", value[key])));
        for (key, cited) in value["fields"].as_object().into_iter().flatten() {
            lines.push(format!("[{key}]"));
            let real = FIELDS.iter().any(|field| field.key == key && matches!(field.kind, FieldKind::Real { .. }));
            for (name, part) in cited.as_object().into_iter().flatten() {
                // Real numbers are kept as texts; JSON texts and lists of texts are TOML ones too.
                lines.push(match part.as_str() {
                    Some(number) if real && name == "value" => format!("{name} = {number}"),
                    _ => format!("{name} = {part}"),
                });
            }
        }
        let text = lines.join("\n");
        Self::parse(origin, &text)
    }

    /// SHA-256 of the canonical JSON.
    pub fn digest(&self) -> Digest {
        // The value holds no floats by construction, so its plain text is the canonical form.
        Digest::of(self.to_json().to_string().as_bytes())
    }

    /// Checks that every cited source exists.
    pub fn resolve(&self, file: &str, text: &str, sources: &Sources) -> Result<(), DocumentError> {
        let document = Document::parse(file, text)?;
        let root = document.root();
        for (field, cited) in self.cited() {
            if sources.get(&cited.source).is_none() {
                let (group, name) = field.split();
                let item = root.require(group)?.table()?.require(name)?.table()?.require("source")?;
                let known = sources.ids().collect::<Vec<_>>().join(", ");
                let cause = Cause::Source(format!("sources.toml has no `{}`; it has {known}", cited.source));
                return Err(item.error(codes::UNKNOWN_SOURCE, cause));
            }
        }
        Ok(())
    }

    /// The fields whose value, source or locator differ from another protocol's, as (key, this, other).
    pub fn differences(&self, other: &Self) -> Vec<(&'static str, String, String)> {
        let show =
            |cited: &Cited<FieldValue>| format!("{} {} [{}: {}]", cited.value, cited.unit, cited.source, cited.locator);
        self.cited()
            .into_iter()
            .zip(other.cited())
            .filter(|((_, mine), (_, theirs))| mine != theirs)
            .map(|((field, mine), (_, theirs))| (field.key, show(&mine), show(&theirs)))
            .collect()
    }
}

fn groups() -> Vec<(&'static str, Vec<&'static Field>)> {
    let mut groups: Vec<(&'static str, Vec<&'static Field>)> = Vec::new();
    for field in FIELDS {
        let (group, _) = field.split();
        match groups.last_mut() {
            Some((name, fields)) if *name == group => fields.push(field),
            _ => groups.push((group, vec![field])),
        }
    }
    groups
}

/// Refuses a document of another format.
pub(crate) fn check_format(root: &Table<'_>) -> Result<(), DocumentError> {
    let format = root.require("format")?;
    if format.integer()? == FORMAT {
        return Ok(());
    }
    Err(format.rule(codes::OUT_OF_RANGE, "this version reads format 1"))
}

/// An id: lower-case letters, digits, `-`, `_` and `.`, at most 64 of them.
pub(crate) fn name(item: &Item<'_>, text: &str) -> Result<String, DocumentError> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    if !text.is_empty() && text.len() <= 64 && text.bytes().all(allowed) {
        return Ok(text.to_owned());
    }
    Err(item.rule(codes::OUT_OF_RANGE, "an id has 1 to 64 of the characters a-z 0-9 - _ ."))
}

pub(crate) fn read_field(group: &Table<'_>, field: &'static Field) -> Result<Cited<FieldValue>, DocumentError> {
    let (_, name) = field.split();
    let table = group.require(name)?.table()?;
    let value = read_value(&table.require("value")?, field)?;
    let unit = table.require("unit")?;
    if unit.text()? != field.unit {
        let cause = Cause::Unit { found: unit.text()?.to_owned(), expected: field.unit };
        return Err(unit.error(codes::WRONG_UNIT, cause));
    }
    let cited = |key: &'static str| {
        let item = table.get(key).ok_or_else(|| table.error(codes::NO_SOURCE, Cause::NoSource(key)))?;
        let text = item.text()?;
        if text.trim().is_empty() {
            Err(item.error(codes::NO_SOURCE, Cause::NoSource(key)))
        } else {
            Ok(text.to_owned())
        }
    };
    let cited = Cited { value, unit: field.unit, source: cited("source")?, locator: cited("locator")? };
    table.finish()?;
    Ok(cited)
}

fn read_value(item: &Item<'_>, field: &Field) -> Result<FieldValue, DocumentError> {
    let outside = |found: String, range: String| item.error(codes::OUT_OF_RANGE, Cause::Range { found, range });
    match field.kind {
        FieldKind::Count { min, max } => {
            let found = item.integer()?;
            if (min..=max).contains(&found) {
                return Ok(FieldValue::Count(found));
            }
            Err(outside(found.to_string(), format!("{min}..={max} {}", field.unit)))
        }
        FieldKind::Real { min, max } => {
            let found = item.decimal()?;
            if (min..=max).contains(&found.value()) {
                return Ok(FieldValue::Real(found));
            }
            Err(outside(found.written().to_owned(), format!("{min}..={max} {}", field.unit)))
        }
        FieldKind::Texts { allowed } => {
            let found = item.texts()?;
            let words = found.iter().flat_map(|text| text.split_whitespace());
            if let Some(word) = words.clone().find(|word| !allowed.contains(word)) {
                return Err(outside(word.to_owned(), format!("the allow-list {}", allowed.join(" "))));
            }
            if found.is_empty() {
                return Err(outside("an empty list".to_owned(), "one or more entries".to_owned()));
            }
            Ok(FieldValue::Texts(found))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CERTIFIED: &str = include_str!("../../../../protocol/certified-1.toml");
    const SMALL: &str = include_str!("../../../../protocol/small-1.toml");
    const SOURCES: &str = include_str!("../../../../protocol/sources.toml");

    fn code_of(text: &str) -> crate::codes::Code {
        Protocol::parse("p.toml", text).unwrap_err().code
    }

    #[test]
    fn shipped_protocols_parse_resolve_and_cite_every_source() {
        let sources = Sources::parse("sources.toml", SOURCES).unwrap();
        let mut cited = std::collections::BTreeSet::new();
        for text in [CERTIFIED, SMALL] {
            let protocol = Protocol::parse("p.toml", text).unwrap();
            protocol.resolve("p.toml", text, &sources).unwrap();
            cited.extend(protocol.cited().into_iter().map(|(_, cited)| cited.source));
        }
        let known: std::collections::BTreeSet<String> = sources.ids().map(str::to_owned).collect();
        assert_eq!(cited, known, "every source id resolves and is used");
    }

    #[test]
    fn the_digest_ignores_layout_and_sees_every_value_and_citation() {
        let protocol = Protocol::parse("p.toml", CERTIFIED).unwrap();
        let comment = format!("# a comment\n{CERTIFIED}");
        assert_eq!(protocol.digest(), Protocol::parse("p.toml", &comment).unwrap().digest());
        let edited = CERTIFIED.replacen("locator = \"", "locator = \"see ", 1);
        let edited = Protocol::parse("p.toml", &edited).unwrap();
        assert_ne!(protocol.digest(), edited.digest());
        assert_eq!(protocol.differences(&edited).len(), 1);
    }

    #[test]
    fn each_kind_of_fault_has_its_code() {
        let windows = "[kernel.windows]\nvalue = 100\nunit = \"count\"";
        assert!(CERTIFIED.contains(windows));
        let with = |new: &str| code_of(&CERTIFIED.replace(windows, new));
        assert_eq!(with("[kernel.windows]\nvalue = 99\nunit = \"count\""), codes::OUT_OF_RANGE);
        assert_eq!(with("[kernel.windows]\nvalue = -1\nunit = \"count\""), codes::OUT_OF_RANGE);
        assert_eq!(with("[kernel.windows]\nvalue = 100\nunit = \"ms\""), codes::WRONG_UNIT);
        assert_eq!(with("[kernel.windows]\nvalue = 100\nspeed = 1\nunit = \"count\""), codes::UNKNOWN_KEY);
        assert_eq!(with("[kernel.windows]\nunit = \"count\""), codes::MISSING_KEY);
        assert_eq!(with("[kernel.windows]\nvalue = \"100\"\nunit = \"count\""), codes::WRONG_TYPE);
        assert_eq!(with("[kernel.windows]\nvalue = 100\nvalue = 100\nunit = \"count\""), codes::DUPLICATE);
        let nan = CERTIFIED.replacen("value = 0.05", "value = nan", 1);
        assert_eq!(code_of(&nan), codes::NOT_A_NUMBER);
        let uncited = CERTIFIED.replacen("source = ", "# source = ", 1);
        assert_eq!(code_of(&uncited), codes::NO_SOURCE);
        assert_eq!(code_of("format = "), codes::SYNTAX);
    }

    #[test]
    fn a_protocol_survives_its_ledger_form() {
        for text in [CERTIFIED, SMALL] {
            let protocol = Protocol::parse("p.toml", text).unwrap();
            let again = Protocol::from_json("ledger", &protocol.to_json()).unwrap();
            assert_eq!((again.digest(), &again), (protocol.digest(), &protocol));
        }
    }

    #[test]
    fn a_flag_outside_the_allow_list_is_refused() {
        let edited = CERTIFIED.replacen("\"-O2\"", "\"-O2 -fplugin=x.so\"", 1);
        assert_eq!(code_of(&edited), codes::OUT_OF_RANGE);
    }
}
