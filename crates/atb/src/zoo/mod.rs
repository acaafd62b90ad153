//! The cheat suite: embedded code that tries to fool the instrument, and honest code that must not be taken for it.

mod suite;

pub use suite::{Judged, Standing, judge};

use atb_core::codes::{self, Code};
use atb_core::document::{Document, DocumentError, Table};
use atb_core::task::Language;
use include_dir::{Dir, include_dir};

static ZOO: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../zoo");

/// What an entry must come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Honest code: measured, whatever its speed.
    Measured,
    /// Refused with one of these codes; none where it is measured and gains nothing.
    Caught(Vec<Code>),
}

/// An entry of the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id, such as `A02`; `A02@1.3` if it is slowed down to claim only 1.3x.
    pub id: String,
    /// What it does.
    pub title: String,
    /// The task that it is for.
    pub task: String,
    /// What it must come to.
    pub expected: Expected,
    /// The language of the task.
    pub language: Language,
    /// The candidate's text.
    pub text: String,
}

/// Share of an honest call's time that a throttled cheat takes: it claims to be 1.3 times as fast.
const CLAIM: f64 = 1.3;

impl Entry {
    /// True for code that tries to fool the instrument.
    pub fn is_cheat(&self) -> bool {
        matches!(self.expected, Expected::Caught(_))
    }

    /// True for what attacks this instrument rather than a measurement: no other harness can be shown beside it.
    pub fn is_attack(&self) -> bool {
        self.id.starts_with('Z')
    }

    /// The same cheat, slowed down so that it claims to be 1.3 times as fast as an honest kernel that takes `honest_ns` per call: no gate for
    /// what is too good to be true can see it.
    #[must_use]
    pub fn throttled(&self, honest_ns: f64) -> Self {
        let claim_ns = honest_ns / CLAIM;
        let text = match self.language {
            Language::C => self.throttled_c(claim_ns),
            Language::Python => self.throttled_python(claim_ns),
        };
        Self { id: format!("{}@{CLAIM}", self.id), text, ..self.clone() }
    }

    fn throttled_c(&self, claim_ns: f64) -> String {
        let (symbol, text) = (&self.task, &self.text);
        format!(
            "#define {symbol} atb_zoo_body\n{text}\n#undef {symbol}\n#include <time.h>\n\n\
             void {symbol}(const float *x, float *y, const int64_t *dims, void *ws)\n{{\n    struct timespec from, now;\n\n    \
             clock_gettime(CLOCK_MONOTONIC, &from);\n    atb_zoo_body(x, y, dims, ws);\n    do\n        \
             clock_gettime(CLOCK_MONOTONIC, &now);\n    while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec < \
             {claim_ns:.0}L);\n}}\n"
        )
    }

    /// The clock is taken before the cheat may replace it.
    fn throttled_python(&self, claim_ns: f64) -> String {
        let symbol = self.task.trim_end_matches(PYTHON_TASK);
        format!(
            "from time import perf_counter_ns as _now\n{}\n\n\
             def _slow(body):\n    def kernel(*arguments):\n        start = _now()\n        result = body(*arguments)\n        \
             while _now() - start < {claim_ns:.0}:\n            pass\n        return result\n\n    return kernel\n\n\n\
             if \"ModelNew\" in globals():\n    ModelNew.forward = _slow(ModelNew.forward)\nelse:\n    \
             {symbol} = _slow({symbol})\n",
            self.text
        )
    }
}

/// All entries, cheats first, in the order of the file.
pub fn entries() -> Result<Vec<Entry>, DocumentError> {
    let text = embedded("zoo.toml");
    let document = Document::parse("built-in/zoo.toml", text)?;
    let root = document.root();
    root.require("format")?.integer()?;
    let mut entries = Vec::new();
    for (kind, folder) in [("cheat", "cheats"), ("honest", "honest")] {
        for table in root.require(kind)?.tables()? {
            entries.push(read(&table, folder)?);
        }
    }
    root.finish()?;
    Ok(entries)
}

fn read(table: &Table<'_>, folder: &str) -> Result<Entry, DocumentError> {
    let text_of = |key: &'static str| Ok::<_, DocumentError>(table.require(key)?.text()?.to_owned());
    let (id, title, task) = (text_of("id")?, text_of("title")?, text_of("task")?);
    let expected = match folder {
        "cheats" => {
            let item = table.require("expect")?;
            let mut caught = Vec::new();
            for name in item.texts()?.iter().filter(|name| *name != NEUTRALISED) {
                let code = Code::find_in(name).filter(|code| code.entry().is_some());
                caught.push(code.ok_or_else(|| item.rule(codes::OUT_OF_RANGE, &format!("`{name}` is no code")))?);
            }
            Expected::Caught(caught)
        }
        _ => Expected::Measured,
    };
    let language = if task.ends_with(PYTHON_TASK) { Language::Python } else { Language::C };
    let file = |name: &str| embedded(&format!("{name}{}", language.suffix()));
    let (head, body) = (file(&task), file(&format!("{folder}/{id}")));
    if head.is_empty() || body.is_empty() {
        return Err(table.require("id")?.rule(codes::TASK_INCOMPLETE, "the suite has no file of this entry or task"));
    }
    Ok(Entry { id, title, task, expected, language, text: format!("{head}\n{body}") })
}

/// How the ids of tasks in Python end; what comes before is the function's name.
const PYTHON_TASK: &str = "_py";
/// Measured, and not faster than its honest twin.
const NEUTRALISED: &str = "neutralised";

fn embedded(name: &str) -> &'static str {
    ZOO.get_file(name).and_then(|file| file.contents_utf8()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use atb_core::similarity::Fingerprint;

    use super::*;

    #[test]
    fn the_suite_is_complete_and_every_file_is_listed() {
        let entries = entries().unwrap();
        let (cheats, honest): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.is_cheat());
        println!("{} cheats, {} honest", cheats.len(), honest.len());
        assert!(cheats.len() >= 46 && honest.len() >= 26);
        let ids: BTreeSet<_> = entries.iter().map(|entry| &entry.id).collect();
        assert_eq!(ids.len(), entries.len());
        let files = ["cheats", "honest"].map(|folder| ZOO.get_dir(folder).unwrap().files().count());
        assert_eq!(files, [cheats.len(), honest.len()]);
    }

    #[test]
    fn nothing_honest_passes_for_the_reference() {
        for entry in entries().unwrap().iter().filter(|entry| !entry.is_cheat()) {
            let task = crate::io::Tasks::default().load(&entry.task).unwrap();
            if task.spec.language != Language::C {
                continue;
            }
            let of = |text: &str| Fingerprint::of(text, task.file("kernel.h"));
            let alike = of(&entry.text).resemblance(&of(task.file("reference.c"))).get();
            assert!(alike < 0.5, "{}: {alike}", entry.id);
            let renamed = entry.text.replace("honest", "plain").replace("SIZE", "COUNT");
            assert!(of(&entry.text).is_same(&of(&format!("/* mine */ {renamed}"))), "{}", entry.id);
        }
    }

    #[test]
    fn a_throttled_cheat_keeps_its_body_and_takes_its_time() {
        let entries = entries().unwrap();
        let entry = entries.iter().find(|entry| entry.id == "B02").unwrap();
        let slow = entry.throttled(130_000.0);
        assert_eq!((slow.id.as_str(), &slow.expected), ("B02@1.3", &entry.expected));
        assert!(slow.text.contains(&entry.text) && slow.text.contains("< 100000L"), "{}", slow.text);
        let entry = entries.iter().find(|entry| entry.id == "A04").unwrap();
        let slow = entry.throttled(130_000.0).text;
        assert!(
            slow.contains(&entry.text) && slow.contains("< 100000:") && slow.contains("gelu_tanh = _slow(gelu_tanh)")
        );
    }
}
