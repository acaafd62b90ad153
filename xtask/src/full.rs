//! `cargo xtask full`: the long measurements, whose tables are committed as docs/evidence.md.
//!
//! Everything runs through the released program, as a user would run it, and every number is what its `--json` says.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::tree::Tree;

/// Candidates per campaign: two generations.
const ITERATIONS: &str = "12";
/// Measurements of each task's starting point against itself.
const SELF_COMPARISONS: usize = 2;

/// Runs the matrix and writes its tables. True if all ran.
pub(crate) fn run(tree: &Tree) -> Result<bool> {
    let root = &tree.root;
    let built = Command::new("cargo").args(["build", "--release"]).current_dir(root).status()?;
    if !built.success() {
        bail!("failed to build the program");
    }
    let scratch = root.join("target").join("full");
    if scratch.exists() {
        std::fs::remove_dir_all(&scratch)?;
    }
    let program = Program { path: root.join("target/release/atb") };
    let tasks = program.json(&["task", "list"])?.0;
    let tasks: Vec<String> = texts(&tasks["tasks"], "id");
    let mut page = String::from(
        "# Evidence\n\nWritten by `cargo xtask full`, which runs every task's search and compares every starting point with itself. The \
         figures hold\nfor the machine named below and for nothing else; run it on yours.\n",
    );
    write_machine(&program, &mut page)?;
    write_searches(&program, &tasks, &scratch, &mut page)?;
    write_self_comparisons(&program, &tasks, &scratch, &mut page)?;
    std::fs::write(root.join("docs/evidence.md"), page)?;
    println!("wrote docs/evidence.md");
    Ok(true)
}

/// The released program.
struct Program {
    path: std::path::PathBuf,
}

impl Program {
    /// Runs a command with `--json` and returns its last line and the seconds it took.
    fn json(&self, arguments: &[&str]) -> Result<(Value, f64)> {
        let start = Instant::now();
        let output = Command::new(&self.path).args(arguments).args(["--json", "--quiet"]).output()?;
        let seconds = start.elapsed().as_secs_f64();
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().last().with_context(|| {
            format!("atb {} printed nothing: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr))
        })?;
        Ok((serde_json::from_str(line)?, seconds))
    }
}

fn texts(list: &Value, key: &str) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|item| item[key].as_str().map(str::to_owned)).collect()
}

/// A JSON value as a table cell; an absent one is a dash.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn write_machine(program: &Program, page: &mut String) -> Result<()> {
    let doctor = program.json(&["doctor"])?.0;
    let machine = &doctor["machine"];
    writeln!(
        page,
        "\nMachine: {}, {} processors, {} MiB, Linux {}, virtual: {}; {}. Hand-off {} ns, a 1 ms delay reads {} ns.",
        cell(&machine["cpu"]),
        machine["cpus"],
        machine["memory_mib"],
        cell(&machine["kernel"]),
        machine["virtual_machine"],
        cell(&doctor["compiler"]),
        doctor["handoff_ns"],
        doctor["delay_1ms_ns"],
    )?;
    Ok(())
}

fn first_timed_shape(program: &Program, task: &str) -> Result<String> {
    let shown = program.json(&["task", "show", task])?.0;
    let shapes = shown["shapes"].as_array().context("a task has shapes")?;
    let timed = shapes.iter().find(|shape| shape["timed"] == true).context("a task has a timed shape")?;
    Ok(cell(&timed["name"]))
}

fn write_searches(program: &Program, tasks: &[String], scratch: &Path, page: &mut String) -> Result<()> {
    writeln!(
        page,
        "\n## Searches\n\n`atb tune TASK --iterations {ITERATIONS} --shape SHAPE`: head over the fastest baseline, over `compiler` and over \
         `naive`, from REPORT.\n\n| task | shape | outcome | ratio | 95 % | baseline | over compiler | over naive | kept | refused | exploratory | \
         minutes | verify |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )?;
    for task in tasks {
        let shape = first_timed_shape(program, task)?;
        let out = scratch.join(task).display().to_string();
        println!("tune {task} at {shape}");
        let arguments = ["tune", task, "--iterations", ITERATIONS, "--shape", &shape, "--exploratory", "--out", &out];
        let (found, seconds) = program.json(&arguments)?;
        let (verified, _) = program.json(&["verify", &format!("{out}/atb.db")])?;
        writeln!(
            page,
            "| {task} | {shape} | {} | {} | {} .. {} | {} | {} | {} | {} | {} | {} | {:.1} | {} rows, {} |",
            cell(&found["outcome"]),
            cell(&found["ratio"]),
            cell(&found["lo"]),
            cell(&found["hi"]),
            cell(&found["baseline"]),
            cell(&found["root_ratio"]),
            cell(&found["naive_ratio"]),
            cell(&found["kept"]),
            cell(&found["refused"]),
            cell(&found["exploratory"]),
            seconds / 60.0,
            verified["entries"],
            if verified["ok"] == true { "ok" } else { "BAD" },
        )?;
    }
    Ok(())
}

fn write_self_comparisons(program: &Program, tasks: &[String], scratch: &Path, page: &mut String) -> Result<()> {
    writeln!(
        page,
        "\n## Self-comparisons\n\n`atb measure TASK kernel.c` with the task's own starting point, which is the compiler baseline's code: any \
         `faster` or `slower`\nwould be a false verdict.\n\n| task | outcome | ratio | 95 % | exploratory |\n| --- | --- | --- | --- | --- |"
    )?;
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for task in tasks {
        let shape = first_timed_shape(program, task)?;
        let file = scratch.join(format!("{task}.c"));
        let shown = program.json(&["task", "show", task])?.0;
        std::fs::write(&file, cell(&shown["starting_point"]))?;
        for _ in 0..SELF_COMPARISONS {
            println!("measure {task} against itself");
            let out = scratch.join(format!("self-{task}")).display().to_string();
            let path = file.display().to_string();
            let arguments = ["measure", task, &path, "--shape", &shape, "--exploratory", "--out", &out];
            let (found, _) = program.json(&arguments)?;
            *counts.entry(cell(&found["outcome"])).or_default() += 1;
            writeln!(
                page,
                "| {task} | {} | {} | {} .. {} | {} |",
                cell(&found["outcome"]),
                cell(&found["ratio"]),
                cell(&found["lo"]),
                cell(&found["hi"]),
                cell(&found["exploratory"]),
            )?;
        }
    }
    let counted: Vec<String> = counts.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    writeln!(page, "\nIn all: {}.", counted.join(", "))?;
    Ok(())
}
