//! `cargo xtask full [--protocol NAME] [--page FILE] [--resume] [--built] [TASK...]`: the long measurements, whose tables are committed as docs/evidence.md.
//!
//! Everything runs through the released program, as a user would run it. The page is rewritten after each task, so that an interrupted
//! run leaves what it has.

mod costs;
mod page;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use atb_core::canon::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tree::Tree;
use costs::Costs;
use page::{Machine, Page, SelfComparison};

/// Candidates per campaign: two generations.
pub(crate) const ITERATIONS: &str = "12";
/// Measurements of each task's starting point against itself.
const SELF_COMPARISONS: usize = 2;

/// Runs the matrix and writes its tables. True if all ran.
pub(crate) fn run(tree: &Tree, arguments: &[&str]) -> Result<bool> {
    let root = &tree.root;
    let (mut only, mut is_built, mut resumes) = (Vec::new(), false, false);
    let (mut path, mut protocol) = ("docs/evidence.md", "certified-1");
    let mut rest = arguments.iter().copied();
    while let Some(argument) = rest.next() {
        match argument {
            "--built" => is_built = true,
            "--resume" => resumes = true,
            "--protocol" => protocol = rest.next().context("--protocol needs a name")?,
            "--page" => path = rest.next().context("--page needs a file")?,
            option if option.starts_with('-') => bail!("unknown option {option}: see cargo xtask"),
            task => only.push(task),
        }
    }
    if !is_built && !Command::new("cargo").args(["build", "--release"]).current_dir(root).status()?.success() {
        bail!("failed to build the program");
    }
    let path_of_program = root.join("target/release/atb");
    // What another program or protocol has measured is no part of this run.
    let build = Digest::of(&std::fs::read(&path_of_program)?);
    let scratch = root.join("target/full").join(format!("{protocol}-{}", build.short()));
    if scratch.exists() && !resumes {
        std::fs::remove_dir_all(&scratch)?;
    }
    std::fs::create_dir_all(&scratch)?;
    let program = Program { path: path_of_program, scratch, protocol: protocol.to_owned() };
    let listed = program.json(&["task", "list"])?.answer;
    let known = listed["tasks"].as_array().context("the program lists tasks")?;
    // What has no search space is measured from files only.
    let searched = known.iter().filter(|task| task["points"] != 0);
    let known: Vec<&str> = searched.filter_map(|task| task["id"].as_str()).collect();
    if let Some(task) = only.iter().find(|task| !known.contains(task)) {
        bail!("no task {task}: there are {}", known.join(", "));
    }
    let mut page = Page::new(protocol, Machine::of(&program.json(&["doctor"])?.answer));
    for task in known.iter().copied().filter(|task| only.is_empty() || only.contains(task)) {
        let shape = program.first_timed_shape(task)?;
        program.search(task, &shape, &mut page)?;
        program.compare_with_itself(task, &shape, &mut page)?;
        page.write(&root.join(path))?;
    }
    println!("wrote {path}");
    Ok(true)
}

/// The released program, and a folder for what it makes.
struct Program {
    path: PathBuf,
    scratch: PathBuf,
    protocol: String,
}

/// How a command ended.
#[derive(Serialize, Deserialize)]
struct Ran {
    /// Its `--json` object.
    answer: Value,
    /// What it said meanwhile.
    progress: String,
    seconds: f64,
}

impl Program {
    fn json(&self, arguments: &[&str]) -> Result<Ran> {
        let start = Instant::now();
        let output = Command::new(&self.path).args(arguments).arg("--json").output()?;
        let seconds = start.elapsed().as_secs_f64();
        let text = String::from_utf8_lossy(&output.stdout);
        let progress = String::from_utf8_lossy(&output.stderr).into_owned();
        let line =
            text.lines().last().with_context(|| format!("atb {} printed nothing: {progress}", arguments.join(" ")))?;
        Ok(Ran { answer: serde_json::from_str(line)?, progress, seconds })
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// A measurement into the folder of that name, or what an interrupted run has kept of it.
    fn measured(&self, name: &str, arguments: &[&str]) -> Result<Ran> {
        let kept = self.folder(&format!("{name}.json"));
        if let Ok(text) = std::fs::read_to_string(&kept) {
            return Ok(serde_json::from_str(&text)?);
        }
        let folder = self.folder(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        println!("{}", arguments.join(" "));
        let out = folder.display().to_string();
        let ran = self.json(&[arguments, &["--protocol", &self.protocol, "--exploratory", "--out", &out]].concat())?;
        std::fs::write(kept, serde_json::to_string(&ran)?)?;
        Ok(ran)
    }

    fn first_timed_shape(&self, task: &str) -> Result<String> {
        let shown = self.json(&["task", "show", task])?.answer;
        let shapes = shown["shapes"].as_array().context("a task has shapes")?;
        let timed = shapes.iter().find(|shape| shape["timed"] == true).context("a task has a timed shape")?;
        Ok(timed["name"].as_str().context("a shape has a name")?.to_owned())
    }

    /// One campaign, verified, with its costs.
    fn search(&self, task: &str, shape: &str, page: &mut Page) -> Result<()> {
        let ran = self.measured(task, &["tune", task, "--iterations", ITERATIONS, "--shape", shape])?;
        let db = self.folder(task).join("atb.db");
        let verified = self.json(&["verify", &db.display().to_string()])?;
        page.add_search(task, shape, &ran.answer, ran.seconds, &page::report_ratios(&db)?);
        page.costs.add(Costs::of(&ran.progress, &db, &self.folder("replayed.db"), verified.seconds)?);
        if verified.answer["ok"] != true {
            bail!("{task}: the ledger does not verify: {}", verified.answer);
        }
        Ok(())
    }

    /// The task's starting point, which is the compiler baseline's own code, against the baselines.
    fn compare_with_itself(&self, task: &str, shape: &str, page: &mut Page) -> Result<()> {
        let shown = self.json(&["task", "show", task])?.answer;
        let file = self.scratch.join(format!("{task}.c"));
        std::fs::write(&file, shown["starting_point"].as_str().context("a task has a starting point")?)?;
        for number in 1..=SELF_COMPARISONS {
            let (name, candidate) = (format!("self-{task}-{number}"), file.display().to_string());
            let ran = self.measured(&name, &["measure", task, &candidate, "--shape", shape])?;
            let db = self.folder(&name).join("atb.db");
            page.add_self_comparison(SelfComparison::of(task, &ran.answer, &db)?);
            page.costs.add_phases(&ran.progress);
        }
        Ok(())
    }
}

/// Every block that a ledger holds, admitted and refused ones.
fn blocks(db: &Path) -> Result<Vec<atb_core::entry::BlockBody>> {
    let ledger = atb_ledger::Ledger::open_read_only(db)?;
    let mut blocks: Vec<_> =
        ledger.bodies::<atb_core::entry::BlockBody>()?.into_iter().map(|stored| stored.body).collect();
    for row in ledger.rows(atb_core::entry::Chain::Refusal)? {
        let refusal: atb_core::entry::RefusalBody = serde_json::from_str(&row.body)?;
        if refusal.kind == "block" {
            blocks.push(serde_json::from_str(&refusal.refused)?);
        }
    }
    Ok(blocks)
}
