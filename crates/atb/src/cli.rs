//! Arguments as typed. `commands` turns them into what is done.

mod ledger;

pub use ledger::*;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Measure whether a kernel is really faster.
#[derive(Debug, Parser)]
#[command(
    name = "atb",
    version,
    about = "Measure whether a kernel is really faster",
    long_about = "AutoTuneBench runs the propose-measure-keep loop over compute kernels: candidates are compiled, checked against a \
                  double-precision reference, timed in fresh processes by a clock that they cannot reach, and admitted or refused by \
                  a database that recomputes every rule from the raw samples.",
    after_help = "Examples:\n  atb demo                               see the whole loop in under two minutes\n  \
                  atb task show softmax_rows             what a task asks for\n  \
                  atb measure softmax_rows mine.c        is my kernel faster than the fastest baseline?\n  \
                  atb tune matmul --iterations 24        search, keep, report\n  \
                  atb register question.toml             fix a comparison before its first run\n  \
                  atb verify atb-out/DIR/atb.db          recheck every row\n  \
                  atb transfer a.db b.db c.db            does the gain carry over to other machines?\n\nExit codes: 0 faster or ok, 1 harness, 2 usage, 10 refused or \
                  bad ledger,\n11 candidate's fault, 12 quarantined, 13 not quiet,\n14 not delivered, 15 equivalent, 16 inconclusive, \
                  17 slower, 18 void or cancelled."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print one JSON object as the last line of standard output; errors go to standard error.
    #[arg(long, global = true)]
    pub json: bool,
    /// Tasks from this folder instead of the built-in ones.
    #[arg(long, global = true, value_name = "DIR")]
    pub tasks: Option<PathBuf>,
    /// No progress on standard error.
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// See the whole loop on real kernels, in under two minutes
    Demo(DemoArgs),
    /// Search a task: propose, screen, confirm, keep, report
    Tune(TuneArgs),
    /// Measure one candidate file against the baselines
    Measure(MeasureArgs),
    /// Fix a comparison before its first run, and say what it could see
    Register(RegisterArgs),
    /// Run a registered comparison, once
    Compare(CompareArgs),
    /// Recheck a ledger, bundle, proof or checkpoint with the second implementation of the rules
    Verify(VerifyArgs),
    /// Say whether a gain carries over to other machines, from their ledgers
    Transfer(TransferArgs),
    /// Print a campaign's report again and rewrite its page
    Report(ReportArgs),
    /// Keys that sign checkpoints
    Key {
        /// What to do with keys.
        #[command(subcommand)]
        command: KeyCommand,
    },
    /// Sign what a ledger holds now, so that nobody can rewrite it unseen
    Checkpoint(CheckpointArgs),
    /// Prove that an entry is in a ledger, or that a ledger continues a checkpoint
    Prove(ProveArgs),
    /// Write a ledger for others: a bundle that verifies alone, JSON Lines, CSV, in-toto statements
    Export(ExportArgs),
    /// Tasks: list, show, make a new one
    Task {
        /// What to do with tasks.
        #[command(subcommand)]
        command: TaskCommand,
    },
    /// Protocols: show, check, compare, digest
    Protocol {
        /// What to do with protocols.
        #[command(subcommand)]
        command: ProtocolCommand,
    },
    /// Figures that others have published, to be met here or explained
    Anchor {
        /// What to do with anchors.
        #[command(subcommand)]
        command: AnchorCommand,
    },
    /// Sentences with numbers, bound to the ledgers that they rest on
    Claim {
        /// What to do with claims.
        #[command(subcommand)]
        command: ClaimCommand,
    },
    /// What a code such as ATB609 means
    Explain {
        /// The code; all codes if left out.
        code: Option<String>,
    },
    /// Look at what gates flagged or stopped, and rule on it
    Quarantine {
        /// What to do with it.
        #[command(subcommand)]
        command: QuarantineCommand,
    },
    /// What this machine can measure
    #[command(
        after_help = "Examples:\n  atb doctor\n  atb doctor --peaks     measure what one core reaches, for the roofline gate; once per machine, quiet"
    )]
    Doctor {
        /// Measure memory and arithmetic peaks of one core, and keep the greatest under $XDG_STATE_HOME/autotunebench.
        #[arg(long)]
        peaks: bool,
    },
    /// Try to fool this instrument, on this machine: the cheat suite
    Zoo(ZooArgs),
    /// Shell completions
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// The manual page, in roff
    Man,
}

/// Arguments of `atb demo`.
#[derive(Debug, Args)]
#[command(
    after_help = "The demo tunes gelu_tanh for one generation, reports the kept kernel against the baselines, then shows an \
                        honest null on a memory-bound task. It waits at most 10 s before each block for a quiet machine.\n\nExample:\n  atb demo --out \
                        /tmp/atb-demo"
)]
pub struct DemoArgs {
    /// Folder for the ledger and the page; must not exist yet or be empty.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Arguments of `atb tune`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  atb tune softmax_rows\n  atb tune matmul --proposer random --seed 7 --iterations 24\n  atb tune \
                        --resume atb-out/matmul-20260101-120000\n\nCtrl-C ends cleanly; --resume goes on."
)]
pub struct TuneArgs {
    /// Task id; see `atb task list`.
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub task: Option<String>,
    /// Who proposes candidates.
    #[arg(long, value_enum, default_value_t = ProposerName::Deterministic)]
    pub proposer: ProposerName,
    /// Candidates to propose; as many as the space has points if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub iterations: Option<u64>,
    /// Seed of the proposer.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Common measuring options.
    #[command(flatten)]
    pub measuring: MeasuringArgs,
    /// Go on with an interrupted campaign, as it was started.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["proposer", "iterations", "seed", "protocol", "out", "shape", "exploratory"])]
    pub resume: Option<PathBuf>,
}

/// Arguments of `atb measure`.
#[derive(Debug, Args)]
#[command(
    after_help = "The candidate is one C file that defines the task's function; `atb task show TASK` prints the prototype and \
                        a starting point.\n\nExamples:\n  atb task show gelu_tanh --file kernel.c > mine.c\n  atb measure gelu_tanh \
                        mine.c\n  atb measure gelu_tanh mine.c --json | tail -1 | jq .outcome"
)]
pub struct MeasureArgs {
    /// Task id.
    pub task: String,
    /// The candidate's C file.
    pub candidate: PathBuf,
    /// Common measuring options.
    #[command(flatten)]
    pub measuring: MeasuringArgs,
}

/// Arguments of `atb transfer`.
#[derive(Debug, Args)]
#[command(
    after_help = "Each machine gives one ratio, against its own fastest baseline, from REPORT (atb tune) or PROBE (atb measure). Task, \
                        shapes and protocol must be the same. Below three machines each speaks for itself. Exit code 0 only if the gain \
                        transfers.\n\nExamples:\n  atb measure gelu_tanh mine.c --out here     on each machine\n  atb transfer \
                        a/atb.db b/atb.db c/atb.db\n  atb transfer */atb.db --task gelu_tanh --json"
)]
pub struct TransferArgs {
    /// Ledgers, such as DIR/atb.db; each is verified first.
    #[arg(required = true, value_name = "DB")]
    pub dbs: Vec<PathBuf>,
    /// Only campaigns of this task, where the ledgers hold several.
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
}

/// Arguments of `atb register`.
#[derive(Debug, Args)]
#[command(
    after_help = "What could be seen is computed from an A/A block: the same code in both arms, on this machine, with this task and \
                        protocol, at most 7 days old. If the ledger holds none, one is measured first. A design that cannot see delta is \
                        refused.\n\nExamples:\n  atb register --example > question.toml\n  atb register question.toml\n  atb register \
                        --list\n  atb register --abandon 4f1c --reason 'the file was the wrong one'"
)]
pub struct RegisterArgs {
    /// The registration file.
    #[arg(conflicts_with_all = ["example", "list", "abandon"])]
    pub file: Option<PathBuf>,
    /// Print a commented registration file.
    #[arg(long, conflicts_with_all = ["list", "abandon"])]
    pub example: bool,
    /// List open, running, finished and abandoned registrations.
    #[arg(long, conflicts_with = "abandon")]
    pub list: bool,
    /// End a registration without a result; its id, or the beginning of it.
    #[arg(long, value_name = "ID", requires = "reason")]
    pub abandon: Option<String>,
    /// Why it is abandoned.
    #[arg(long, value_name = "TEXT", requires = "abandon", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub reason: Option<String>,
    /// Folder for ledger, code and page; atb-out/registered if left out.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on if the machine is not quiet; rows are labelled and can never be a headline.
    #[arg(long)]
    pub exploratory: bool,
}

/// Arguments of `atb compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "Runs what was registered, once: task, protocol, shapes, arms, pairs, machine and program must be the registered \
                        ones. An interrupted comparison goes on with the same command.\n\nExamples:\n  atb compare --registration \
                        4f1c6d0a22b7e931\n  atb compare --registration 4f1c --out atb-out/registered --json | tail -1 | jq .outcome"
)]
pub struct CompareArgs {
    /// Id of the registration, or the beginning of it.
    #[arg(long, value_name = "ID")]
    pub registration: String,
    /// Folder of the registration; atb-out/registered if left out.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on if the machine is not quiet; rows are labelled and can never be a headline.
    #[arg(long)]
    pub exploratory: bool,
}

/// Arguments of `atb zoo`.
#[derive(Debug, Args)]
#[command(
    after_help = "Every cheat runs as it is, and throttled to claim only 1.3x; every honest kernel must be measured. The table also shows \
                        what a naive harness would have credited. Exit code 0 only if nothing was missed and nothing honest was \
                        refused.\n\nExamples:\n  atb zoo --quick\n  atb zoo --only A02,D06\n  ATB_WITHOUT=filter atb zoo --only A02     what a \
                        layer of the jail is good for"
)]
pub struct ZooArgs {
    /// Without the throttled cheats, and with a few honest kernels.
    #[arg(long)]
    pub quick: bool,
    /// Only these entries, such as A02,D06.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Folder for the ledgers; must not exist yet or be empty.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Options of commands that measure.
#[derive(Debug, Args)]
pub struct MeasuringArgs {
    /// certified-1, small-1, demo-1, or a protocol file.
    #[arg(long, default_value = "certified-1", value_name = "NAME|FILE")]
    pub protocol: String,
    /// Folder for ledger, candidates and page.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Timed shape to use; repeat for several; all timed shapes of the task if left out.
    #[arg(long, value_name = "NAME")]
    pub shape: Vec<String>,
    /// Go on if the machine is not quiet; rows are labelled and can never be a headline.
    #[arg(long)]
    pub exploratory: bool,
}

/// Built-in proposers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProposerName {
    /// Walks the task's space: spread first, then neighbours of the best.
    Deterministic,
    /// Draws from the task's space.
    Random,
}

/// `atb task ...`.
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// List tasks
    List,
    /// Show a task: prototype, shapes, tolerance, starting point
    Show {
        /// Task id.
        id: String,
        /// Print only this file of the task, such as kernel.c.
        #[arg(long, value_name = "NAME")]
        file: Option<String>,
    },
    /// May a task judge kernels: what does not compute it must fail at its own tolerance
    Admit {
        /// Task id, or the folder of a task.
        task: String,
        /// certified-1, small-1, demo-1, or a protocol file.
        #[arg(long, default_value = "certified-1", value_name = "NAME|FILE")]
        protocol: String,
    },
    /// Write the skeleton of a task into a new folder
    New {
        /// The folder; its name is the task's id.
        dir: PathBuf,
    },
}

/// `atb anchor ...`.
#[derive(Debug, Subcommand)]
pub enum AnchorCommand {
    /// List the anchors
    List,
    /// Print an anchor, and whether its printed ratios can be those of its printed times
    Show {
        /// Its id.
        id: String,
    },
    /// Measure an anchor that needs no graphics processor
    Run {
        /// Its id.
        id: String,
    },
    /// Compare a campaign's ratio with a published one
    #[command(
        after_help = "Parity is a 90 % interval of ours / published within 0.9 to 1.1. A mismatch is a finding: it needs a mechanism with a \
                      measurement that tells it from others.\n\nExample:\n  atb anchor report astra silu_and_mul atb-out/DIR/atb.db"
    )]
    Report {
        /// Its id.
        id: String,
        /// Name of the figure.
        figure: String,
        /// The ledger.
        db: PathBuf,
        /// The campaign; the last one if left out.
        #[arg(long, value_name = "ID")]
        campaign: Option<String>,
    },
}

/// `atb claim ...`.
#[derive(Debug, Subcommand)]
pub enum ClaimCommand {
    /// Derive every claim again from raw samples, and look for its sentence
    #[command(
        after_help = "A claims file has one table per sentence:\n\n  format = 1\n\n  [[claim]]\n  id = \"gelu\"\n  sentence = \"1.23x over \
                      the compiler baseline\"\n  document = \"README.md\"\n  ledger = \"results/gelu.db\"\n  field = \"root_ratio\"   # a \
                      field of `atb report --json`\n  is = \"1.23\"            # or at_least, or at_most\n\nExample:\n  atb claim check \
                      claims.toml"
    )]
    Check {
        /// The claims file; its paths are relative to it.
        #[arg(default_value = "claims.toml")]
        file: PathBuf,
    },
}

/// `atb quarantine ...`.
#[derive(Debug, Subcommand)]
#[command(
    after_help = "A gate that finds a result too good to be believed quarantines it: it is no parent and no number of a report until someone \
                        releases it. A flag counts, and stands beside the number until someone has ruled. A ruling is a row of the \
                        ledger with author and reason; the last one counts, and none is ever removed.\n\nExamples:\n  atb quarantine list \
                        atb-out/DIR\n  atb quarantine show atb-out/DIR 12\n  atb quarantine release atb-out/DIR 12 --reason 'a table of 64 KiB \
                        in place of tanhf; read the assembly'\n  atb quarantine reject atb-out/DIR 12 13 --reason 'reads past the row'"
)]
pub enum QuarantineCommand {
    /// List what nobody has ruled on
    List {
        /// A campaign's folder, or a ledger.
        path: PathBuf,
        /// Ruled cases, too.
        #[arg(long)]
        all: bool,
    },
    /// Show one decision, what it means, and the rulings on it
    Show {
        /// A campaign's folder, or a ledger.
        path: PathBuf,
        /// Gate row, as `list` prints it.
        row: u64,
    },
    /// Let results count, with the reason beside them
    Release(RulingArgs),
    /// Let results never count
    Reject(RulingArgs),
}

/// Arguments of `atb quarantine release` and `reject`.
#[derive(Debug, Args)]
pub struct RulingArgs {
    /// A campaign's folder, or a ledger.
    pub path: PathBuf,
    /// Gate rows, as `list` prints them.
    #[arg(required = true)]
    pub rows: Vec<u64>,
    /// Why; it is printed beside every number that depends on it.
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub reason: String,
    /// Who rules; the user who is logged in if left out.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub by: Option<String>,
}

/// `atb protocol ...`.
#[derive(Debug, Subcommand)]
pub enum ProtocolCommand {
    /// Print a protocol with values, units and sources
    Show {
        /// certified-1, small-1, demo-1, the readout paper-1, or a file.
        #[arg(default_value = "certified-1")]
        protocol: String,
    },
    /// Check a protocol file
    Check {
        /// The file.
        file: PathBuf,
    },
    /// Compare two protocols field by field
    Diff {
        /// Name or file.
        a: String,
        /// Name or file.
        b: String,
    },
    /// Print the digest of a protocol
    Digest {
        /// Name or file.
        #[arg(default_value = "certified-1")]
        protocol: String,
    },
}
