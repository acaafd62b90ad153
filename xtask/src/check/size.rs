//! Caps on files and functions: what no longer fits in a reader's head gets split.

use anyhow::Result;

use crate::rust::RustFile;
use crate::tree::Tree;

const FILE_CAP: usize = 500;
const FUNCTION_CAP: usize = 80;

/// Files over the cap.
pub(crate) fn files(tree: &Tree) -> Result<Vec<String>> {
    let over = capped(tree).filter(|(_, rust)| rust.lines > FILE_CAP);
    Ok(over.map(|(file, rust)| format!("{file}: {} lines", rust.lines)).collect())
}

/// Functions over the cap.
pub(crate) fn functions(tree: &Tree) -> Result<Vec<String>> {
    let mut places = Vec::new();
    for (file, rust) in capped(tree) {
        if let Some(fault) = &rust.fault {
            places.push(format!("{file}: not parsed, so not checked: {fault}"));
        }
        for function in rust.functions.iter().filter(|function| function.lines > FUNCTION_CAP) {
            places.push(format!("{file}:{}: `{}` has {} lines", function.line, function.name, function.lines));
        }
    }
    Ok(places)
}

fn capped(tree: &Tree) -> impl Iterator<Item = (&str, &RustFile)> {
    let in_src = |file: &str| file.starts_with("xtask/") || file.split('/').nth(2) == Some("src");
    tree.sources("crates/").chain(tree.sources("xtask/src/")).filter(move |(file, _)| in_src(file))
}
