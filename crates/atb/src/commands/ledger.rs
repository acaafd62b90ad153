//! `atb key`, `atb checkpoint`, `atb prove`, `atb export`: what a ledger's owner gives to outsiders.
//!
//! Only files are read and written here; what holds is decided by `atb-ledger` and `atb-core`.

use std::path::{Path, PathBuf};

use atb_core::canon::Digest;
use atb_core::note::{Algorithm, Note, NoteSigner};
use atb_ledger::{Bundle, Chains, Proof, Trust, Vouched, csv, json_lines, verify_ledger};
use serde_json::json;

use super::Context;
use super::output::Output;
use crate::cli::{CheckpointArgs, ExportArgs, ExportFormat, KeyCommand, ProveArgs};
use crate::error::{Error, Result};
use crate::io;

pub(super) fn key(context: &Context, command: &KeyCommand) -> Result<u8> {
    match command {
        KeyCommand::New { name, out } => {
            let mut secret = [0; 32];
            let failed = |source| Error::Unwritable { path: out.clone(), source };
            atb_measure::sys::clock::random_bytes(&mut secret).map_err(failed)?;
            let name =
                name.clone().unwrap_or_else(|| format!("localhost/atb-{}", &Digest::of(&secret).to_string()[..8]));
            let signer = NoteSigner::new(&name, Algorithm::Ed25519, &secret);
            let signer = signer.map_err(|error| Error::Key { path: "--name".into(), reason: error.to_string() })?;
            io::write_secret(out, &format!("{}\n", signer.to_secret_text()))?;
            show(context, &signer)
        }
        KeyCommand::Show { file } => show(context, &read_key(file)?),
    }
}

fn show(context: &Context, signer: &NoteSigner) -> Result<u8> {
    let key = signer.verifier();
    context.output.result(&format!("{key}\n"), &json!({ "origin": key.name(), "vkey": key.to_string() }))
}

fn read_key(path: &Path) -> Result<NoteSigner> {
    let text = io::read_text(path)?;
    NoteSigner::parse(&text).map_err(|error| Error::Key { path: path.to_owned(), reason: error.to_string() })
}

/// The ledger of a campaign's folder, or the file itself.
fn db_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("atb.db") } else { path.to_owned() }
}

/// A verified ledger's rows. Nothing is signed, proved or exported of one with a bad row.
fn sound(db: &Path) -> Result<Chains> {
    let (report, chains) = verify_ledger(db)?;
    match report.first_bad {
        None => Ok(chains),
        Some(bad) => {
            let (path, table, reason) = (db.to_owned(), bad.chain.table(), bad.reason);
            Err(Error::BadLedger { path, table, seq: bad.seq, code: bad.code, reason })
        }
    }
}

pub(super) fn subject(path: &Path) -> String {
    path.display().to_string()
}

/// Reads a checkpoint that someone names, and verifies that the rows begin with it.
pub(super) fn covering(path: &Path, trust: &Trust, chains: &Chains, db: &Path) -> Result<Vouched> {
    let vouched = trust.vouch(&subject(path), &io::read_text(path)?)?;
    atb_ledger::covered(chains, &subject(db), &vouched)?;
    Ok(vouched)
}

pub(super) fn checkpoint(context: &Context, args: &CheckpointArgs) -> Result<u8> {
    let signer = read_key(&args.key)?;
    let db = db_of(&args.ledger);
    let chains = sound(&db)?;
    let out = args.out.clone().unwrap_or_else(|| db.with_file_name("checkpoint"));
    if out.exists() {
        // What was published binds: a fork or a rolled back ledger is not signed by the key that has signed what it denies.
        let trust = Trust { log: Some(signer.verifier()), witnesses: Vec::new() };
        covering(&out, &trust, &chains, &db)?;
    }
    let tree = chains.tree(&subject(&db))?;
    let checkpoint = chains.checkpoint(signer.verifier().name(), &tree);
    let mut note = Note::of(checkpoint.to_string());
    signer.sign(&mut note, 0);
    io::write_durable(&out, note.to_string().as_bytes(), "checkpoint")?;
    let text = format!("{note}\nwritten to {}; publish it with this key\n{}\n", out.display(), signer.verifier());
    let json = json!({
        "origin": checkpoint.origin, "size": checkpoint.size, "root": checkpoint.root,
        "vkey": signer.verifier().to_string(), "file": out, "note": note.to_string(),
    });
    context.output.result(&text, &json)
}

/// Writes a text to a file, whole or not at all, or to standard output.
fn write(out: Option<&Path>, text: &str, label: &str) -> Result<u8> {
    match out {
        Some(path) => io::write_durable(path, text.as_bytes(), label).map(|()| 0),
        None => Output::text(text),
    }
}

pub(super) fn prove(args: &ProveArgs) -> Result<u8> {
    let db = db_of(&args.ledger);
    let chains = sound(&db)?;
    let tree = chains.tree(&subject(&db))?;
    let trust = Trust::default();
    let read = |path: &PathBuf| covering(path, &trust, &chains, &db);
    let to = args.checkpoint.as_ref().map(read).transpose()?;
    let proof = match (args.entry, &args.from) {
        (Some(seq), _) => Proof::inclusion(&chains.entries, &tree, seq, to.as_ref())?,
        (None, Some(from)) => Proof::consistency(&tree, &read(from)?, to.as_ref())?,
        (None, None) => {
            let remedy = "name an entry, or a checkpoint with --from".to_owned();
            return Err(Error::Usage { message: "nothing to prove was named".into(), remedy });
        }
    };
    write(args.out.as_deref(), &proof.to_line()?, "proof")
}

pub(super) fn export(args: &ExportArgs) -> Result<u8> {
    let db = db_of(&args.ledger);
    let chains = sound(&db)?;
    let trust = Trust::default();
    let read = |path: &PathBuf| covering(path, &trust, &chains, &db);
    let checkpoints = args.checkpoint.iter().map(read).collect::<Result<Vec<_>>>()?;
    if let Some(path) = &args.bundle {
        let tree = chains.tree(&subject(&db))?;
        let text = Bundle::new(chains, &tree, &checkpoints)?.to_text()?;
        return write(Some(path), &text, "bundle");
    }
    let text = match args.format {
        _ if args.in_toto => {
            let tree = chains.tree(&subject(&db))?;
            let root = chains.checkpoint("", &tree).root;
            crate::report::statement::statements(&chains, &root.to_string())?
        }
        ExportFormat::Jsonl => json_lines(&chains.entries)?,
        ExportFormat::Csv => csv(&chains.entries),
    };
    write(args.out.as_deref(), &text, "export")
}
