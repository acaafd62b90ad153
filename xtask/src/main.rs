//! `cargo xtask`: repository checks, generated documents and skeletons. Nothing of it ships.

#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "a developer's command starts processes and reads the clock")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer's command speaks to the terminal")]

mod check;
mod docs;
mod full;
mod new;
mod rust;
mod simulate;
mod tree;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask check                                   every rule of the repository, with the places that break it
cargo xtask docs [--check]                          write docs/protocol.md and docs/codes.md, or compare them
cargo xtask full [--protocol NAME] [--page FILE] [--resume] [--built] [TASK...]
                                                    the long measurements; writes docs/evidence.md (about an hour);
                                                    --resume keeps what an interrupted run has measured,
                                                    --built takes target/release/atb as it is
cargo xtask simulate [--replicates N]               error rates of every rule where the truth is known; writes docs/simulation.md
cargo xtask new gate|task|proposer|statistic NAME   write a skeleton and print what remains to be done";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["check"] => tree::Tree::find().and_then(|tree| check::run(&tree)),
        ["docs"] => tree::Tree::find().and_then(|tree| docs::write(&tree)),
        ["docs", "--check"] => tree::Tree::find().and_then(|tree| docs::check(&tree)),
        ["full", tasks @ ..] => tree::Tree::find().and_then(|tree| full::run(&tree, tasks)),
        ["simulate", arguments @ ..] => tree::Tree::find().and_then(|tree| simulate::run(&tree, arguments)),
        ["new", kind, name] => tree::Tree::find().and_then(|tree| new::run(&tree.root, kind, name)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
