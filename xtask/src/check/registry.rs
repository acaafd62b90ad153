//! Registries and their use: codes and cases, protocol fields and readers, sources and citations.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use atb_core::codes::{self, Code};
use atb_core::protocol::{FIELDS, Protocol, Sources};

use crate::docs::PROTOCOLS;
use crate::rust::RustFile;
use crate::tree::{Tree, has_extension};

const REGISTRY: &str = "crates/atb-core/src/codes/";
const SCHEMA: &str = "crates/atb-core/src/protocol/";
const SQL: &str = "crates/atb-ledger/schema/";

/// Codes without a case, and cases without a code.
pub(crate) fn cases(tree: &Tree) -> Result<Vec<String>> {
    let registered: BTreeSet<String> = codes::all().map(|entry| format!("cases/{}.md", entry.code)).collect();
    let mut places: Vec<String> =
        registered.iter().filter(|case| !tree.has(case)).map(|case| format!("{case} is missing")).collect();
    let written = tree.files.iter().filter(|file| file.starts_with("cases/ATB"));
    places.extend(written.filter(|case| !registered.contains(*case)).map(|case| format!("{case}: no such code")));
    Ok(places)
}

/// Codes whose constant no code uses and whose number no SQL raises.
pub(crate) fn codes_used(tree: &Tree) -> Result<Vec<String>> {
    let names = constants(tree);
    let sql = sql_texts(tree)?;
    let mut places = Vec::new();
    for entry in codes::all() {
        let Some(name) = names.get(&entry.code.number()) else {
            places.push(format!("{}: its constant was not found under {REGISTRY}", entry.code));
            continue;
        };
        let in_rust =
            || tree.sources("crates/").any(|(file, rust)| !file.starts_with(REGISTRY) && uses_code(rust, name));
        if !in_rust() && !sql.iter().any(|(_, text)| text.contains(&entry.code.to_string())) {
            places.push(format!("{} {name}: nothing raises it", entry.code));
        }
    }
    places.extend(
        sql.iter()
            .flat_map(|(file, text)| unregistered(text).map(move |word| format!("{file}: {word} is not registered"))),
    );
    Ok(places)
}

/// Protocol fields that no code reads.
pub(crate) fn fields_read(tree: &Tree) -> Result<Vec<String>> {
    let sql = sql_texts(tree)?;
    let mut places = Vec::new();
    for field in FIELDS {
        let reader = field.key.replace('.', "_");
        let called = |rust: &RustFile| {
            let by_method = rust.find(&[".", &reader, "("]).next().is_some();
            by_method || rust.find(&["Protocol", ":", ":", &reader]).next().is_some()
        };
        let in_rust = tree.sources("crates/").any(|(file, rust)| !file.starts_with(SCHEMA) && called(rust));
        if !in_rust && !sql.iter().any(|(_, text)| names_key(text, field.key)) {
            places.push(format!("{}: no code calls `{reader}()`, and no SQL names it", field.key));
        }
    }
    Ok(places)
}

/// Sources that no protocol cites, and citations without a source.
pub(crate) fn sources(tree: &Tree) -> Result<Vec<String>> {
    let file = "protocol/sources.toml";
    let sources = Sources::parse(file, &tree.read(file)?).context("failed to read the sources")?;
    let mut cited = BTreeSet::new();
    let mut places = Vec::new();
    for file in PROTOCOLS {
        let text = tree.read(file)?;
        let protocol = Protocol::parse(file, &text).context("failed to read a protocol")?;
        places.extend(protocol.resolve(file, &text, &sources).err().map(|error| error.to_string()));
        cited.extend(protocol.cited().into_iter().map(|(_, cited)| cited.source().to_owned()));
    }
    let unused = sources.ids().filter(|id| !cited.contains(*id));
    places.extend(unused.map(|id| format!("{file}: no protocol cites `{id}`")));
    Ok(places)
}

/// The registry's constants by number: `NAME = 123, "title"` inside a registry file's macro.
fn constants(tree: &Tree) -> BTreeMap<u16, String> {
    let mut names = BTreeMap::new();
    for (_, rust) in tree.sources(REGISTRY) {
        for window in rust.code.windows(4) {
            let [name, equals, number, comma] = window else { continue };
            if equals.text == "="
                && comma.text == ","
                && number.text.len() == 3
                && let Ok(number) = number.text.parse()
            {
                names.insert(number, name.text.clone());
            }
        }
    }
    names
}

/// True if the file names the constant as `codes::NAME`, or imports it from `codes`.
fn uses_code(rust: &RustFile, name: &str) -> bool {
    if rust.find(&["codes", ":", ":", name]).next().is_some() {
        return true;
    }
    if rust.find(&["codes", ":", ":", "*"]).next().is_some() {
        return rust.code.iter().any(|token| token.text == name);
    }
    rust.find(&["codes", ":", ":", "{"]).any(|at| {
        let inside = rust.code[at..].iter().take_while(|token| token.text != "}");
        inside.into_iter().any(|token| token.text == name)
    })
}

fn sql_texts(tree: &Tree) -> Result<Vec<(&str, String)>> {
    let files = tree.files.iter().filter(|file| file.starts_with(SQL) && has_extension(file, "sql"));
    files.map(|file| Ok((file.as_str(), tree.read(file)?))).collect()
}

/// True if the text holds the key itself, not only a longer one that begins with it.
fn names_key(text: &str, key: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(key).any(|(at, _)| !text[at + key.len()..].starts_with(word))
}

/// Words of the form ATBnnn that the registry does not hold.
fn unregistered(text: &str) -> impl Iterator<Item = &str> {
    let words = text.match_indices("ATB").filter_map(|(at, _)| text.get(at..at + 6));
    let looks = |word: &&str| word[3..].bytes().all(|byte| byte.is_ascii_digit());
    words.filter(looks).filter(|word| word.parse::<Code>().is_err()).collect::<BTreeSet<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_counts_only_as_one_of_codes() {
        let uses = |text: &str| uses_code(&RustFile::parse(text), "KEY");
        assert!(uses("fn f() { g(crate::codes::KEY) }"));
        assert!(uses("use atb_core::codes::{CHAIN, KEY};"));
        assert!(uses("use atb_core::codes::*; fn f() { g(KEY) }"));
        assert!(!uses("const KEY: u8 = 1; fn f() { g(KEY) }"));
        assert!(!uses("use atb_core::codes::CHAIN; struct KEY;"));
    }

    #[test]
    fn a_longer_key_is_another_key() {
        assert!(names_key("'$.fields.\"a.pairs\".value'", "a.pairs"));
        assert!(!names_key("a.pairs_2", "a.pairs"));
    }

    #[test]
    fn unknown_codes_in_sql_are_found() {
        assert_eq!(unregistered("ATB201 ATB999 'ATBnnn' ATB999").collect::<Vec<_>>(), ["ATB999"]);
    }
}
