//! campaign.toml: what `--resume` needs beside the ledger.

use std::path::PathBuf;

use atb_core::codes;
use atb_core::document::Document;

use crate::error::Result;
use crate::io::{Folder, read_text, write_durable};

/// How a campaign was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Task id.
    pub task: String,
    /// Folder of tasks, if not built in.
    pub tasks: Option<PathBuf>,
    /// Protocol name or file.
    pub protocol: String,
    /// Proposer.
    pub proposer: String,
    /// Seed of the proposer.
    pub seed: u64,
    /// Candidates that may be proposed.
    pub iterations: u64,
    /// Timed shapes.
    pub shapes: Vec<String>,
    /// True if a busy machine is no reason to stop.
    pub exploratory: bool,
}

impl Settings {
    /// Writes the file.
    pub fn write(&self, folder: &Folder) -> Result<()> {
        let Self { task, tasks, protocol, proposer, seed, iterations, shapes, exploratory } = self;
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let tasks =
            tasks.as_ref().map(|path| format!("tasks = {}\n", quoted(&path.display().to_string()))).unwrap_or_default();
        let text = format!(
            "# How this campaign was started; `atb tune --resume` reads it.\nformat = 1\ntask = {}\n{tasks}protocol = {}\n\
             proposer = {}\nseed = {}\niterations = {iterations}\nshapes = [{}]\nexploratory = {exploratory}\n",
            quoted(task),
            quoted(protocol),
            quoted(proposer),
            quoted(&seed.to_string()),
            shapes.iter().map(|shape| quoted(shape)).collect::<Vec<_>>().join(", "),
        );
        write_durable(&folder.settings(), text.as_bytes(), "settings")
    }

    /// Reads the file.
    pub fn read(folder: &Folder) -> Result<Self> {
        let path = folder.settings();
        let text = read_text(&path)?;
        let file = path.display().to_string();
        let document = Document::parse(&file, &text)?;
        let root = document.root();
        let of = |key: &'static str| Ok::<_, crate::error::Error>(root.require(key)?.text()?.to_owned());
        root.require("format")?.integer()?;
        let seed = root.require("seed")?;
        let settings = Self {
            task: of("task")?,
            tasks: root.get("tasks").map(|item| item.text().map(PathBuf::from)).transpose()?,
            protocol: of("protocol")?,
            proposer: of("proposer")?,
            seed: seed.text()?.parse().map_err(|_| seed.rule(codes::WRONG_TYPE, "a seed is an integer in quotes"))?,
            iterations: root.require("iterations")?.integer()?,
            shapes: root.require("shapes")?.texts()?,
            exploratory: root.require("exploratory")?.boolean()?,
        };
        root.finish()?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_a_round_trip() {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::create(&directory.path().join("c")).unwrap();
        let settings = Settings {
            task: "matmul".into(),
            tasks: Some("/some \"where\"".into()),
            protocol: "small-1".into(),
            proposer: "random".into(),
            seed: u64::MAX,
            iterations: 24,
            shapes: vec!["a".into(), "b".into()],
            exploratory: true,
        };
        settings.write(&folder).unwrap();
        assert_eq!(Settings::read(&folder).unwrap(), settings);
    }
}
