//! Checkpoints, and whose signatures on them the reader asks for.

use atb_core::anchor_class::Evidence;
use atb_core::codes;
use atb_core::note::{Algorithm, Checkpoint, Found, Note, Verifier};

use crate::error::CheckError;

/// The keys that the reader has from somewhere else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// The key of whoever publishes the ledger.
    pub log: Option<Verifier>,
    /// Keys of witnesses; all must have signed.
    pub witnesses: Vec<Verifier>,
}

/// A checkpoint whose signatures were verified, as far as keys were named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouched {
    /// What was signed.
    pub checkpoint: Checkpoint,
    /// Whether the named key has signed it, and how many named witnesses.
    pub evidence: Evidence,
    /// The note as it is.
    pub note: String,
}

impl Trust {
    /// Reads a key that a user named in `option`.
    pub fn key(option: &str, text: &str) -> Result<Verifier, CheckError> {
        Verifier::parse(text.trim()).map_err(|error| CheckError::new(codes::KEY_FORM, option, error.to_string()))
    }

    /// Takes the keys as typed. The log's must sign notes, and witnesses' cosign them.
    pub fn of(log: Option<&str>, witnesses: &[String]) -> Result<Self, CheckError> {
        let kind = |option: &str, text: &str, algorithm| match Self::key(option, text)? {
            key if key.algorithm() == algorithm => Ok(key),
            _ => {
                let cause = "the key of a log is of type 1 (Ed25519), that of a witness of type 4 (cosignature v1)";
                Err(CheckError::new(codes::KEY_FORM, option, cause))
            }
        };
        let log = log.map(|text| kind("--vkey", text, Algorithm::Ed25519)).transpose()?;
        let witnesses = witnesses.iter().map(|text| kind("--witness", text, Algorithm::Cosignature));
        let mut distinct: Vec<Verifier> = Vec::new();
        for witness in witnesses {
            let witness = witness?;
            // One witness named twice is one.
            if !distinct.contains(&witness) {
                distinct.push(witness);
            }
        }
        Ok(Self { log, witnesses: distinct })
    }

    /// Reads a signed checkpoint and verifies the signatures of all named keys.
    pub fn vouch(&self, subject: &str, text: &str) -> Result<Vouched, CheckError> {
        let malformed = |error: atb_core::note::NoteError| CheckError::new(codes::NOTE, subject, error.to_string());
        let note = Note::parse(text).map_err(malformed)?;
        let checkpoint = Checkpoint::parse(&note.text).map_err(malformed)?;
        for key in self.log.iter().chain(&self.witnesses) {
            let cause = match key.find(&note) {
                Found::Holds { .. } => continue,
                Found::Missing => format!("it is not signed by {key}"),
                Found::False => format!("its signature by {key} does not hold"),
            };
            return Err(CheckError::new(codes::SIGNATURE, subject, cause));
        }
        if let Some(log) = self.log.as_ref().filter(|log| log.name() != checkpoint.origin) {
            let cause = format!("it is of `{}`, and the key is that of `{}`", checkpoint.origin, log.name());
            return Err(CheckError::new(codes::SIGNATURE, subject, cause));
        }
        let evidence = match (&self.log, self.witnesses.len()) {
            (None, _) => Evidence::Tree,
            (Some(_), 0) => Evidence::Signed,
            (Some(_), witnesses) => Evidence::Witnessed(witnesses),
        };
        Ok(Vouched { checkpoint, evidence, note: text.to_owned() })
    }
}
