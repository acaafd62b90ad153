//! The `atb` program: parse, run, print the error, exit.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    // Workers are this program again; they must not parse arguments or print.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == "__run") {
        let mut arguments = std::env::args_os().skip(2).peekable();
        let served = match arguments.peek() {
            None => atb_measure::sys::serve::serve(),
            Some(_) => atb_measure::sys::interpret::interpret(arguments),
        };
        return match served {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    if std::env::args_os().nth(1).is_some_and(|argument| argument == "__build") {
        // Returns only if it could not become the compiler.
        let _ = atb_measure::sys::compile::compile(std::env::args_os().skip(2));
        return ExitCode::FAILURE;
    }
    let cli = atb::cli::Cli::parse();
    match atb::commands::run(cli) {
        Ok(code) => ExitCode::from(code),
        Err(error) => ExitCode::from(error.report()),
    }
}
