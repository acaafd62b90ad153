//! A kernel task: what the kernel computes, at which shapes, from which inputs, within which tolerance.
//!
//! The folder's files are read by `atb`; this module parses their text and holds what every part needs to know of them.

mod expression;
mod space;
mod spec;

pub use expression::{Expression, ExpressionError};
pub use space::{Axis, Point, Space};
pub use spec::{Dtype, Fill, Language, Shape, TaskSpec, Tensor, Tolerance, Unit, Vendor};

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
        let (naive, compiler) = (baseline_file(&spec, "naive"), baseline_file(&spec, "compiler"));
        for name in ["kernel.h", "reference.c", &naive, &compiler, &spec.editable] {
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

    /// The text of a baseline, in the task's language.
    pub fn baseline(&self, name: &str) -> &str {
        self.file(&baseline_file(&self.spec, name))
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

fn baseline_file(spec: &TaskSpec, name: &str) -> String {
    format!("baselines/{name}{}", spec.language.suffix())
}

fn incomplete(file: &str, missing: &str) -> DocumentError {
    DocumentError {
        file: file.to_owned(),
        line: 1,
        column: 1,
        field: missing.to_owned(),
        code: codes::TASK_INCOMPLETE,
        cause: Cause::Rule(format!("the task has no {missing}")),
        remedy: "a task needs task.toml, kernel.h, reference.c, and in its language (.c or .py) kernel, baselines/naive and \
                 baselines/compiler"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_editable_file_is_in_the_language_of_the_task() {
        let text = include_str!("../../../../tasks/gelu_tanh_py/task.toml");
        assert_eq!(TaskSpec::parse("task.toml", text).unwrap().language, Language::Python);
        for (from, to, code) in [
            ("kernel.py", "kernel.c", codes::TASK_SURFACE),
            ("language = \"python\"", "", codes::TASK_SURFACE),
            ("\"python\"", "\"perl\"", codes::OUT_OF_RANGE),
        ] {
            let error = TaskSpec::parse("task.toml", &text.replacen(from, to, 1)).unwrap_err();
            assert_eq!(error.code, code, "{error}");
        }
    }

    #[test]
    fn a_python_task_needs_python_baselines() {
        let toml = include_str!("../../../../tasks/gelu_tanh_py/task.toml").to_owned();
        let names = ["kernel.h", "reference.c", "kernel.py", "baselines/naive.c", "baselines/compiler.c"];
        let mut files: BTreeMap<String, String> = names.map(|name| (name.to_owned(), String::new())).into();
        files.insert("task.toml".to_owned(), toml);
        let error = Task::from_files("t", files).unwrap_err();
        assert_eq!((error.code, error.field.as_str()), (codes::TASK_INCOMPLETE, "baselines/naive.py"));
    }
}
