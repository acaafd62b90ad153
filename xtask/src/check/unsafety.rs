//! Where unsafe code may stand.

use anyhow::Result;

use super::graph::crate_roots;
use crate::rust::{RustFile, Token};
use crate::tree::Tree;

/// The one folder that may hold unsafe code, and the crate root that may allow it there.
const SYS: &str = "crates/atb-measure/src/sys";
const SYS_CRATE: &str = "atb-measure";

/// Places outside the folder that use unsafe code or lift the lint.
pub(crate) fn places(tree: &Tree) -> Result<Vec<String>> {
    let mut places = Vec::new();
    let inside = |file: &str| file.strip_prefix(SYS).is_some_and(|rest| rest.starts_with('/') || rest == ".rs");
    for (file, rust) in tree.rust.iter().filter(|(file, _)| !inside(file)) {
        if let Some(fault) = &rust.fault {
            places.push(format!("{file}: not parsed, so not checked: {fault}"));
        }
        places.extend(faults(rust).into_iter().map(|(line, what)| format!("{file}:{line}: {what}")));
    }
    Ok(places)
}

/// Crate roots without `#![forbid(unsafe_code)]`, but for the crate that holds the folder.
pub(crate) fn roots(tree: &Tree) -> Result<Vec<String>> {
    let sequence = ["#", "!", "[", "forbid", "(", "unsafe_code", ")", "]"];
    let mut places = Vec::new();
    for (package, file) in crate_roots(tree)? {
        let forbids = tree.rust.get(&file).is_some_and(|rust| rust.find(&sequence).next().is_some());
        if package != SYS_CRATE && !forbids {
            places.push(format!("{file}: `#![forbid(unsafe_code)]` is missing"));
        }
    }
    Ok(places)
}

fn faults(rust: &RustFile) -> Vec<(usize, &'static str)> {
    let mut faults = Vec::new();
    for (at, token) in rust.tokens.iter().enumerate() {
        if token.text == "unsafe" {
            faults.push((token.line, "unsafe code"));
        }
        if token.text == "unsafe_code" && lifts(&rust.tokens[..at]) && !on_mod_sys(&rust.tokens, at) {
            faults.push((token.line, "the lint `unsafe_code` is lifted"));
        }
    }
    faults
}

/// True if the attribute that the tokens end in is `allow(...)`, `expect(...)` or `warn(...)`.
fn lifts(before: &[Token]) -> bool {
    let attribute = before.iter().rev().take_while(|token| token.text != "[");
    attribute.into_iter().any(|token| ["allow", "expect", "warn"].contains(&token.text.as_str()))
}

/// True if the lint at `at` stands in an outer attribute that is followed by `mod sys`.
fn on_mod_sys(tokens: &[Token], at: usize) -> bool {
    let opens = tokens[..at].iter().rposition(|token| token.text == "[");
    let inner = opens.and_then(|open| tokens.get(open.checked_sub(1)?)).is_some_and(|token| token.text == "!");
    let after = tokens[at..].iter().map(|token| token.text.as_str()).skip_while(|text| *text != "]").skip(1);
    let after: Vec<&str> = after.take(6).collect();
    let item = match after.as_slice() {
        ["pub", "(", _, ")", item @ ..] | ["pub", item @ ..] | item => item,
    };
    !inner && matches!(item, ["mod", "sys", ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        faults(&RustFile::parse(text)).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn unsafe_code_is_found_in_macros_and_tests_too() {
        assert_eq!(lines("macro_rules! m {\n() => { unsafe { f() } } }"), [2]);
        assert_eq!(lines("#[cfg(test)]\nmod t {\nunsafe fn f() {} }"), [3]);
        assert_eq!(lines("#[unsafe(no_mangle)]\nfn f() {}"), [1]);
        assert!(lines("#![forbid(unsafe_code)]\n// unsafe\nfn f() { \"unsafe\"; }").is_empty());
    }

    #[test]
    fn the_lint_may_be_lifted_on_mod_sys_only() {
        assert!(lines("#[allow(unsafe_code, reason = \"system calls\")]\npub mod sys;").is_empty());
        assert!(lines("#[expect(unsafe_code)]\npub(crate) mod sys;").is_empty());
        assert_eq!(lines("#[allow(unsafe_code)]\nmod system;"), [1]);
        assert_eq!(lines("#![allow(unsafe_code)]\nmod sys;"), [1]);
    }
}
