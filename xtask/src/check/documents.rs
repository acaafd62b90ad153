//! Tasks and the README.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use atb_core::protocol::Protocol;
use atb_core::task::{Language, Task};

use crate::tree::Tree;

/// Least points of a built-in task's search space: fewer would not be a search.
const POINTS_MIN: usize = 24;

/// Tasks that do not parse, or are not what a built-in task must be.
pub(crate) fn tasks(tree: &Tree) -> Result<Vec<String>> {
    let file = "protocol/certified-1.toml";
    let protocol = Protocol::parse(file, &tree.read(file)?).context("failed to read the protocol")?;
    let names: BTreeSet<&str> = tree
        .files
        .iter()
        .filter_map(|file| file.strip_prefix("tasks/")?.split_once('/'))
        .map(|(name, _)| name)
        .collect();
    let mut places = Vec::new();
    for name in names {
        let folder = format!("tasks/{name}");
        match load(tree, &folder) {
            Ok(task) => places.extend(faults(&task, name, protocol.correctness_shapes_min())),
            Err(error) => places.push(format!("{error:#}")),
        }
    }
    Ok(places)
}

/// Commands in README's code blocks that `.ci/run` does not run.
pub(crate) fn readme(tree: &Tree) -> Result<Vec<String>> {
    let (readme, script) = (tree.read("README.md")?, tree.read(".ci/run")?);
    let missing = commands(&readme).into_iter().filter(|command| !script.contains(command));
    Ok(missing.map(|command| format!("README.md: `{command}` does not occur in .ci/run")).collect())
}

fn load(tree: &Tree, folder: &str) -> Result<Task> {
    let prefix = format!("{folder}/");
    let mut files = BTreeMap::new();
    for file in tree.files.iter().filter(|file| file.starts_with(&prefix)) {
        files.insert(file[prefix.len()..].to_owned(), tree.read(file)?);
    }
    Ok(Task::from_files(folder, files)?)
}

fn faults(task: &Task, name: &str, shapes_min: u64) -> Vec<String> {
    let mut faults = Vec::new();
    if task.spec.id != name {
        faults.push(format!("tasks/{name}: its id is `{}`", task.spec.id));
    }
    if (task.spec.shapes.len() as u64) < shapes_min {
        faults
            .push(format!("tasks/{name}: {} public shapes, at least {shapes_min} are needed", task.spec.shapes.len()));
    }
    match &task.space {
        Some(space) if space.size() >= POINTS_MIN => {}
        Some(space) => faults.push(format!("tasks/{name}: {} points, at least {POINTS_MIN} are needed", space.size())),
        // Proposers write C.
        None if task.spec.language == Language::Python => {}
        None => faults.push(format!("tasks/{name}: space.toml and space.c are needed")),
    }
    faults
}

/// The cargo commands of a document's code blocks, without comments and prompts.
fn commands(document: &str) -> Vec<&str> {
    let mut inside = false;
    let mut commands = Vec::new();
    for line in document.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        }
        let line = line.trim().trim_start_matches("$ ");
        let line = line.split_once(" #").map_or(line, |(command, _)| command).trim_end();
        if inside && line.starts_with("cargo ") {
            commands.push(line);
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_of_code_blocks() {
        let text = "cargo no\n```sh\n$ cargo test --workspace   # minutes\natb tune x\ncargo run --release -- demo\n```\ncargo no";
        assert_eq!(commands(text), ["cargo test --workspace", "cargo run --release -- demo"]);
    }
}
