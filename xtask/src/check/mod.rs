//! `cargo xtask check`: one function per rule, each returning the places that break it.

#![allow(clippy::unnecessary_wraps, reason = "all rules have one signature, whether they can fail or not")]

mod documents;
mod graph;
mod registry;
mod size;
mod unsafety;
mod words;

use anyhow::Result;

use crate::docs;
use crate::tree::Tree;

/// A rule: what it says, and a function that lists the places that break it.
type Rule = (&'static str, fn(&Tree) -> Result<Vec<String>>);

const RULES: &[Rule] = &[
    ("crates depend on each other only along the allowed edges", graph::edges),
    ("every crate takes the workspace's lints", graph::lints),
    ("unsafe code stands in crates/atb-measure/src/sys only", unsafety::places),
    ("every other crate root forbids unsafe code", unsafety::roots),
    ("a Rust file has at most 500 lines", size::files),
    ("a function has at most 80 lines", size::functions),
    ("generated documents are up to date", docs::stale),
    ("every code has its case, and every case its code", registry::cases),
    ("every code is raised by some code", registry::codes_used),
    ("every protocol field is read by some code", registry::fields_read),
    ("every source is cited, and every citation resolves", registry::sources),
    ("every task is complete", documents::tasks),
    ("README's commands run in .ci/run", documents::readme),
    ("no file names a build machine's path or speaks of how it was made", words::places),
];

/// Prints every rule with its result; true if all hold.
pub(crate) fn run(tree: &Tree) -> Result<bool> {
    let mut failed = 0;
    for (says, rule) in RULES {
        let places = rule(tree).unwrap_or_else(|error| vec![format!("{error:#}")]);
        println!("{} {says}", if places.is_empty() { "ok  " } else { "FAIL" });
        for place in &places {
            println!("       {}", place.replace('\n', "\n       "));
        }
        failed += usize::from(!places.is_empty());
    }
    println!("{} of {} rules hold", RULES.len() - failed, RULES.len());
    Ok(failed == 0)
}
