//! What a person sees while a campaign runs: lines and a progress bar on standard error.

use std::io::Write as _;
use std::time::Duration;

use atb_measure::timing::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress on standard error; silent with `--quiet`.
#[derive(Debug)]
pub struct Console {
    quiet: bool,
    bar: ProgressBar,
}

impl Console {
    /// A console; `quiet` silences it.
    pub fn new(quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        if let Ok(style) = ProgressStyle::with_template("  {msg:30!} {bar:24} {pos}/{len} runs, {eta} left") {
            bar.set_style(style);
        }
        Self { quiet, bar }
    }

    /// Prints a line that stays.
    pub fn line(&self, text: &str) {
        if self.quiet {
            return;
        }
        self.bar.suspend(|| {
            // Nothing can be done if standard error is gone.
            let _ = writeln!(std::io::stderr(), "{text}");
        });
    }

    /// Starts the bar of a block.
    pub fn start(&self, message: &str) {
        self.bar.reset();
        self.bar.set_message(message.to_owned());
        self.bar.enable_steady_tick(Duration::from_millis(500));
    }

    /// Moves the bar.
    pub fn step(&self, progress: Progress) {
        self.bar.set_length(progress.total);
        self.bar.set_position(progress.done);
    }

    /// Removes the bar.
    pub fn done(&self) {
        self.bar.disable_steady_tick();
        self.bar.finish_and_clear();
    }
}
