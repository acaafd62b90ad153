//! The repository as the rules see it: its root, the files that belong to it, and its parsed Rust files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::rust::RustFile;

/// The repository.
pub(crate) struct Tree {
    /// Folder of the workspace's Cargo.toml.
    pub(crate) root: PathBuf,
    /// Every file that is tracked or could be, relative to the root, with `/`, in order.
    pub(crate) files: Vec<String>,
    /// The Rust files among them.
    pub(crate) rust: BTreeMap<String, RustFile>,
}

impl Tree {
    /// Finds the workspace above the current folder.
    pub(crate) fn find() -> Result<Self> {
        let here = std::env::current_dir().context("failed to read the current folder")?;
        let is_root = |folder: &&Path| {
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml"));
            manifest.is_ok_and(|text| text.lines().any(|line| line.trim() == "[workspace]"))
        };
        match here.ancestors().find(is_root) {
            Some(root) => Self::open(root),
            None => bail!("no workspace above {}; run this inside the repository", here.display()),
        }
    }

    /// Lists and parses the repository at `root`.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        let mut files = match git_files(root) {
            Some(files) => files,
            None => walk(root)?,
        };
        files.retain(|file| root.join(file).is_file());
        files.sort();
        files.dedup();
        let mut rust = BTreeMap::new();
        for file in files.iter().filter(|file| has_extension(file, "rs")) {
            rust.insert(file.clone(), RustFile::parse(&read(root, file)?));
        }
        Ok(Self { root: root.to_owned(), files, rust })
    }

    /// The text of a file of the repository.
    pub(crate) fn read(&self, file: &str) -> Result<String> {
        read(&self.root, file)
    }

    /// True if the repository has the file.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.files.binary_search_by(|known| known.as_str().cmp(file)).is_ok()
    }

    /// True if the file is a test as a whole: under tests/, named tests.rs, or the file of a `#[cfg(test)] mod NAME;`.
    pub(crate) fn is_test(&self, file: &str) -> bool {
        let mut parts: Vec<&str> = file.split('/').collect();
        if parts.contains(&"tests") || parts.last() == Some(&"tests.rs") {
            return true;
        }
        // A module's file is parent/NAME.rs or parent/NAME/mod.rs; each folder above it is a module that may be a test too.
        while let Some(last) = parts.pop() {
            let name = last.strip_suffix(".rs").unwrap_or(last);
            let folder = parts.join("/");
            let parents = [
                format!("{folder}/mod.rs"),
                format!("{folder}/lib.rs"),
                format!("{folder}/main.rs"),
                format!("{folder}.rs"),
            ];
            let declares = |parent: &String| self.rust.get(parent).is_some_and(|file| file.declares_test(name));
            if parents.iter().any(declares) {
                return true;
            }
        }
        false
    }

    /// Rust files under a folder that are not tests.
    pub(crate) fn sources<'t>(&'t self, folder: &'t str) -> impl Iterator<Item = (&'t str, &'t RustFile)> {
        let inside = move |file: &str| file.starts_with(folder) && !self.is_test(file);
        self.rust.iter().map(|(file, rust)| (file.as_str(), rust)).filter(move |(file, _)| inside(file))
    }
}

/// True if the file's name ends in `.extension`.
pub(crate) fn has_extension(file: &str, extension: &str) -> bool {
    Path::new(file).extension().is_some_and(|found| found == extension)
}

fn read(root: &Path, file: &str) -> Result<String> {
    std::fs::read_to_string(root.join(file)).with_context(|| format!("failed to read {file}"))
}

/// Runs a program in the repository and returns what it prints, or None if it is missing or fails.
#[allow(
    clippy::disallowed_methods,
    reason = "xtask is no part of the product; it asks cargo and git about the repository"
)]
pub(crate) fn output(root: &Path, program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(root).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Tracked files, and new ones that are not ignored, so that a fault shows before it is committed.
fn git_files(root: &Path) -> Option<Vec<String>> {
    let list = output(root, "git", &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    let files: Vec<String> = list.split('\0').filter(|file| !file.is_empty()).map(str::to_owned).collect();
    (!files.is_empty()).then_some(files)
}

/// Every file below the root, for a copy without git: without build output and hidden folders that a checkout does not have.
fn walk(root: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(root.join(&folder)).with_context(|| format!("failed to list {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let skipped = [".git", "target", "atb-demo", "atb-out"].iter().any(|name| entry.file_name() == *name);
            if entry.file_type()?.is_dir() && !skipped {
                folders.push(path);
            } else if entry.file_type()?.is_file() {
                files.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let tree = Tree::open(folder.path()).unwrap();
        (folder, tree)
    }

    #[test]
    fn test_files_are_known_by_place_and_by_declaration() {
        let (_folder, tree) = tree(&[
            ("c/src/lib.rs", "mod a; #[cfg(test)] mod vectors;"),
            ("c/src/a.rs", "#[cfg(test)] mod cases;"),
            ("c/src/a/cases.rs", ""),
            ("c/src/vectors/mod.rs", "mod deep;"),
            ("c/src/vectors/deep.rs", ""),
            ("c/tests/it.rs", ""),
            ("target/x.rs", ""),
        ]);
        assert!(!tree.is_test("c/src/lib.rs") && !tree.is_test("c/src/a.rs"));
        for file in ["c/src/a/cases.rs", "c/src/vectors/mod.rs", "c/src/vectors/deep.rs", "c/tests/it.rs"] {
            assert!(tree.is_test(file), "{file}");
        }
        assert!(tree.has("c/src/a.rs") && !tree.has("target/x.rs"));
    }
}
