//! `cargo xtask new`: skeletons of the extension points, and what remains to be done by hand.

use std::path::Path;

use anyhow::{Context, Result, bail};

/// A file of a skeleton: its path and its text, both with `NAME` and `TYPE` to be replaced.
type Template = (&'static str, &'static str);

macro_rules! task_files {
    ($($file:literal)*) => {
        &[$((concat!("tasks/NAME/", $file), include_str!(concat!("../templates/task/", $file)))),*]
    };
}

const TASK: &[Template] = task_files!(
    "task.toml" "kernel.h" "kernel.c" "reference.c" "baselines/naive.c" "baselines/compiler.c" "space.toml" "space.c"
);
const GATE: &[Template] = &[("crates/atb-core/src/gates/NAME.rs", include_str!("../templates/gate.rs.txt"))];
const PROPOSER: &[Template] = &[("crates/atb-propose/src/NAME.rs", include_str!("../templates/proposer.rs.txt"))];
const STATISTIC: &[Template] = &[("crates/atb-core/src/stats/NAME.rs", include_str!("../templates/statistic.rs.txt"))];

const TASK_TODO: &[&str] = &[
    "replace the operator (softsign) in task.toml, kernel.h, reference.c, kernel.c, baselines/*.c, space.c; docs/task-format.md explains each key",
    "keep at least 24 points in space.toml, all with different machine code",
    "cargo xtask check",
    "cargo run --release -- tune NAME --protocol small-1",
];
const GATE_TODO: &[&str] = &[
    "add `mod NAME;` to crates/atb-core/src/gates/mod.rs and call the gate in `of_samples` there, or in crates/atb/src/campaign/gates.rs",
    "register a code in crates/atb-core/src/codes/c700_anti_cheat.rs (next free number) and write cases/ATBnnn.md",
    "take the limit from a protocol field; a new field goes into protocol/schema.rs and every protocol/*.toml, with its source",
    "add one honest and one cheating fixture under fixtures/",
    "if the gate guards the ledger: a rule in crates/atb-ledger/schema/*.sql and its twin in crates/atb-ledger/src/rules",
    "cargo xtask docs && cargo xtask check && cargo test --workspace",
];
const PROPOSER_TODO: &[&str] = &[
    "add `pub mod NAME;` to crates/atb-propose/src/lib.rs",
    "replace the choice of points; the test keeps that no point comes twice and that the same history gives the same points",
    "name it in the `--proposer` option of crates/atb",
    "cargo xtask check && cargo test --workspace",
];
const STATISTIC_TODO: &[&str] = &[
    "add `pub mod NAME;` to crates/atb-core/src/stats/mod.rs",
    "cite the method in the doc comment and pin reference values: a group in the vectors, its line in `groups!` and in docs/statistics.md",
    "keep the property tests: scale, order and arm swap",
    "cargo xtask check && cargo test -p atb-core",
];

/// Writes a skeleton below `root`; existing files are never touched.
pub(crate) fn run(root: &Path, kind: &str, name: &str) -> Result<bool> {
    let (templates, remaining) = match kind {
        "task" => (TASK, TASK_TODO),
        "gate" => (GATE, GATE_TODO),
        "proposer" => (PROPOSER, PROPOSER_TODO),
        "statistic" => (STATISTIC, STATISTIC_TODO),
        other => bail!("there is no skeleton for `{other}`; kinds are gate, task, proposer and statistic"),
    };
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(legal) {
        bail!("`{name}` is not a name: use a-z, 0-9 and _, with a letter first");
    }
    let files: Vec<(String, String)> =
        templates.iter().map(|(path, text)| (path.replace("NAME", name), filled(text, name))).collect();
    if let Some((path, _)) = files.iter().find(|(path, _)| root.join(path).exists()) {
        bail!("{path} exists; choose another name");
    }
    for (path, text) in &files {
        let path = root.join(path);
        let folder = path.parent().context("a skeleton's path has a folder")?;
        std::fs::create_dir_all(folder).with_context(|| format!("failed to make {}", folder.display()))?;
        std::fs::write(&path, text).with_context(|| format!("failed to write {}", path.display()))?;
    }
    for (path, _) in &files {
        println!("wrote {path}");
    }
    println!("\nTo do:");
    for line in remaining {
        println!("- {}", line.replace("NAME", name));
    }
    Ok(true)
}

fn filled(text: &str, name: &str) -> String {
    text.replace("@NAME@", name).replace("@UPPER@", &name.to_uppercase()).replace("@TYPE@", &type_name(name))
}

/// The name as a Rust type: `noise_floor` becomes `NoiseFloor`.
fn type_name(name: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').filter(|word| !word.is_empty()).map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_task_skeleton_is_a_complete_task() {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), "task", "my_op").unwrap();
        let files: BTreeMap<String, String> = TASK
            .iter()
            .map(|(path, _)| {
                let path = path.replace("NAME", "my_op");
                (path["tasks/my_op/".len()..].to_owned(), std::fs::read_to_string(folder.path().join(&path)).unwrap())
            })
            .collect();
        let task = atb_core::task::Task::from_files("tasks/my_op", files).unwrap();
        assert_eq!((task.spec.id.as_str(), task.spec.symbol.as_str()), ("my_op", "my_op"));
        assert!(task.space.unwrap().size() >= 24);
        assert!(run(folder.path(), "task", "my_op").is_err(), "a skeleton never overwrites");
    }

    #[test]
    fn rust_skeletons_parse_and_need_no_unsafe_code() {
        for (_, text) in [GATE, PROPOSER, STATISTIC].concat() {
            let file = crate::rust::RustFile::parse(&filled(text, "noise_floor"));
            assert_eq!(file.fault, None);
        }
        assert_eq!(type_name("noise_floor"), "NoiseFloor");
    }

    #[test]
    fn names_and_kinds_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        for (kind, name) in [("task", "../x"), ("task", "X"), ("task", ""), ("kernel", "x")] {
            assert!(run(folder.path(), kind, name).is_err(), "{kind} {name}");
        }
    }
}
