//! A kernel task: what the kernel computes, at which shapes, from which inputs, within which tolerance.
//!
//! The folder's files are read by `atb`; this module parses their text and holds what every part needs to know of them.

mod expression;
mod space;
mod spec;

pub use expression::{Expression, ExpressionError};
pub use space::{Axis, Point, Space};
pub use spec::{Dtype, Fill, Shape, TaskSpec, Tensor, Tolerance, Unit, Vendor};

use std::collections::BTreeMap;

use crate::canon::Digest;
use crate::codes;
use crate::document::{Cause, DocumentError};

/// A complete task: its specification and the text of its files.
#[derive(Debug, Clone)]
pub struct Task {
    /// The parsed task.toml.
    pub spec: TaskSpec,
    /// The search space of the built-in proposers, if the task has one.
    pub space: Option<Space>,
    files: BTreeMap<String, String>,
}

impl Task {
    /// Builds a task from the files of its folder, by name relative to the folder.
    ///
    /// Refuses a task without a reference, with fewer than two baselines, or with more than one editable file.
    pub fn from_files(origin: &str, files: BTreeMap<String, String>) -> Result<Self, DocumentError> {
        let file = format!("{origin}/task.toml");
        let spec = match files.get("task.toml") {
            Some(text) => TaskSpec::parse(&file, text)?,
            None => return Err(incomplete(&file, "task.toml")),
        };
        let required = ["kernel.h", "reference.c", "baselines/naive.c", "baselines/compiler.c", spec.editable.as_str()];
        for name in required {
            if !files.contains_key(name) {
                return Err(incomplete(&file, name));
            }
        }
        if spec.vendor.is_some() && !files.contains_key("baselines/vendor.c") {
            return Err(incomplete(&file, "baselines/vendor.c"));
        }
        let space = match (files.get("space.toml"), files.get("space.c")) {
            (Some(axes), Some(body)) => Some(Space::parse(&format!("{origin}/space.toml"), axes, body)?),
            _ => None,
        };
        Ok(Self { spec, space, files })
    }

    /// The text of a file; empty for a file that the task does not have.
    pub fn file(&self, name: &str) -> &str {
        self.files.get(name).map_or("", String::as_str)
    }

    /// The editable file's starting text.
    pub fn starting_point(&self) -> &str {
        self.file(&self.spec.editable)
    }

    /// All files with their digests, in name order.
    pub fn file_digests(&self) -> Vec<(&str, Digest)> {
        self.files.iter().map(|(name, text)| (name.as_str(), Digest::of(text.as_bytes()))).collect()
    }

    /// Digest over names and contents of all files.
    pub fn digest(&self) -> Digest {
        let parts: Vec<&[u8]> = self.files.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]).collect();
        Digest::of_parts(&parts)
    }
}

fn incomplete(file: &str, missing: &str) -> DocumentError {
    DocumentError {
        file: file.to_owned(),
        line: 1,
        column: 1,
        field: missing.to_owned(),
        code: codes::TASK_INCOMPLETE,
        cause: Cause::Rule(format!("the task has no {missing}")),
        remedy: "a task needs task.toml, kernel.h, kernel.c, reference.c, baselines/naive.c and baselines/compiler.c"
            .into(),
    }
}
