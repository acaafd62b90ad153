//! Arguments of the commands that outsiders check a ledger with.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Keys that the reader has from somewhere else than the ledger.
#[derive(Debug, Args)]
pub struct TrustArgs {
    /// The publisher's key, NAME+ID+BASE64, as `atb key show` prints it.
    #[arg(long, value_name = "KEY")]
    pub vkey: Option<String>,
    /// Key of a witness who must have cosigned; repeat for several.
    #[arg(long, value_name = "KEY", requires = "vkey")]
    pub witness: Vec<String>,
}

/// Arguments of `atb verify`.
#[derive(Debug, Args)]
#[command(
    after_help = "A proof or bundle needs no database. With a key, a checkpoint must be signed by it, and the rows must begin with those \
                        that were signed.\n\nExamples:\n  atb verify atb-out/DIR/atb.db\n  atb verify atb.db --checkpoint checkpoint --vkey \
                        example.org/ledger+1a2b3c4d+AY...\n  atb verify ledger.jsonl --vkey example.org/ledger+1a2b3c4d+AY...\n  atb verify \
                        proof.json"
)]
pub struct VerifyArgs {
    /// A ledger such as DIR/atb.db, a bundle, a proof or a checkpoint.
    pub path: PathBuf,
    /// A checkpoint that the ledger or bundle must continue.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Keys.
    #[command(flatten)]
    pub trust: TrustArgs,
}

/// Arguments of `atb report`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  atb report DIR --checkpoint DIR/checkpoint --vkey example.org/ledger+1a2b3c4d+AY..."
)]
pub struct ReportArgs {
    /// The campaign's folder.
    pub dir: PathBuf,
    /// A checkpoint that covers the campaign, for its anchor class.
    #[arg(long, value_name = "FILE", requires = "vkey")]
    pub checkpoint: Option<PathBuf>,
    /// Keys.
    #[command(flatten)]
    pub trust: TrustArgs,
}

/// `atb key ...`.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a signing key; prints the key that verifies, which is to be published
    #[command(after_help = "Example:\n  atb key new --name example.org/ledger --out ledger.key")]
    New {
        /// The ledger's name in its checkpoints, such as example.org/ledger; localhost and random digits if left out.
        #[arg(long, value_name = "ORIGIN")]
        name: Option<String>,
        /// File for the secret key; must not exist yet.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Print the key that verifies what a signing key signs
    Show {
        /// The signing key's file.
        file: PathBuf,
    },
}

/// Arguments of `atb checkpoint`.
#[derive(Debug, Args)]
#[command(
    after_help = "The ledger is verified first. If the file exists, the ledger must continue what it says, and the key must be the \
                        same.\n\nExample:\n  atb checkpoint atb-out/DIR --key ledger.key"
)]
pub struct CheckpointArgs {
    /// The campaign's folder or the ledger.
    pub ledger: PathBuf,
    /// The signing key's file.
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// File for the signed note; `checkpoint` beside the ledger if left out.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Arguments of `atb prove`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  atb prove atb.db 14 --checkpoint checkpoint --out proof.json\n  atb prove atb.db --from old-checkpoint \
                        --checkpoint checkpoint"
)]
pub struct ProveArgs {
    /// The campaign's folder or the ledger.
    pub ledger: PathBuf,
    /// Sequence number of an entry, whose place is proved.
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    pub entry: Option<u64>,
    /// Prove that the ledger continues this checkpoint.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Prove for the tree of this checkpoint instead of the whole ledger.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// File for the proof; standard output if left out.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Arguments of `atb export`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  atb export DIR --bundle ledger.jsonl --checkpoint DIR/checkpoint\n  atb export DIR --format csv --out \
                        rows.csv\n  atb export DIR --in-toto"
)]
pub struct ExportArgs {
    /// The campaign's folder or the ledger.
    pub ledger: PathBuf,
    /// One file with all rows, checkpoints and proofs, which a stranger verifies with `atb verify FILE`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "in_toto", "out"])]
    pub bundle: Option<PathBuf>,
    /// A checkpoint for the bundle; repeat for several.
    #[arg(long, value_name = "FILE", requires = "bundle")]
    pub checkpoint: Vec<PathBuf>,
    /// The entries as JSON Lines or CSV.
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    pub format: ExportFormat,
    /// An in-toto statement per campaign: its conclusion, derived again from the samples.
    #[arg(long, conflicts_with = "format")]
    pub in_toto: bool,
    /// File to write; standard output if left out.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One JSON object a line.
    Jsonl,
    /// Comma-separated values by RFC 4180.
    Csv,
}
