//! Words that do not belong into the repository: paths of a build machine, and talk of how the project was made.

use std::path::Path;

use anyhow::Result;

use crate::tree::{Tree, has_extension};

/// Written in two parts, so that this file does not break its own rule.
const WORDS: &[&str] = &[concat!("/tmp/", "brief"), concat!("helper", "-"), concat!("sub", "agent")];

/// Folders that every machine has; naming them gives no machine away.
const COMMON: &[&str] = &["/", "/home", "/mnt", "/opt", "/root", "/srv", "/tmp", "/usr", "/var"];

/// Lines with such a word.
pub(crate) fn places(tree: &Tree) -> Result<Vec<String>> {
    let paths = machine_paths(&tree.root);
    let mut places = Vec::new();
    for file in tree.files.iter().filter(|file| !has_extension(file, "lock")) {
        // Files that are not text cannot speak.
        let Ok(text) = tree.read(file) else { continue };
        for (at, line) in text.lines().enumerate() {
            let word = WORDS.iter().find(|word| line.contains(**word)).map(ToString::to_string);
            let path = || paths.iter().find(|path| names_path(line, path)).cloned();
            if let Some(found) = word.or_else(path) {
                places.push(format!("{file}:{}: `{found}`", at + 1));
            }
        }
    }
    Ok(places)
}

/// The checkout's own path, and its parent unless every machine has it.
fn machine_paths(root: &Path) -> Vec<String> {
    let parent = root.parent().filter(|parent| !COMMON.iter().any(|common| parent == &Path::new(common)));
    [Some(root), parent].into_iter().flatten().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// True if the line holds the absolute path: not as the tail of a longer one, and not as the head of a longer name.
fn names_path(line: &str, path: &str) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + path.len()..].chars().next();
        !before.is_some_and(|c| name(c) || "/}*".contains(c)) && !after.is_some_and(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_only_where_it_is_absolute() {
        assert!(names_path("see /build/me/x.rs", "/build/me"));
        assert!(names_path("\"/build/me\"", "/build/me"));
        assert!(!names_path("crates/build/me", "/build/me"));
        assert!(!names_path("/build/messages", "/build/me"));
    }

    #[test]
    fn common_folders_are_no_machine_paths() {
        assert_eq!(machine_paths(Path::new("/tmp/atb")), ["/tmp/atb"]);
        assert_eq!(machine_paths(Path::new("/build/me/atb")), ["/build/me/atb", "/build/me"]);
    }
}
