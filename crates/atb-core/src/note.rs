//! Signed notes and checkpoints in the forms of C2SP: signed-note, tlog-checkpoint and tlog-cosignature v1, all by Ed25519.
//!
//! Keys are texts, as the tools around transparency logs print them: `NAME+ID+BASE64` to verify, `PRIVATE+KEY+NAME+ID+BASE64` to sign.
//! This module draws no randomness: the caller brings the secret.

use std::fmt;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};

use crate::base64;
use crate::canon::Digest;

/// Most bytes of a note; a checkpoint has a few hundred.
pub const NOTE_MAX: usize = 64 << 10;
/// Most signature lines of a note, so that verifying is bounded.
const SIGNATURES_MAX: usize = 64;
const DASH: &str = "\u{2014} ";
const PRIVATE: &str = "PRIVATE+KEY+";

/// Why a note or a key does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The note is too long.
    #[error("it has more than {NOTE_MAX} bytes")]
    Long,
    /// The form of the envelope.
    #[error("line {line}: {expected}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// The form of a key.
    #[error("it is no {0}")]
    Key(&'static str),
    /// The short hash in a key is not that of its content: it was mistyped.
    #[error("its id is {stated}, but its name and bytes give {computed}")]
    KeyId {
        /// As written.
        stated: KeyId,
        /// As computed.
        computed: KeyId,
    },
    /// The name of a key.
    #[error("a key's name is 1 to 200 bytes without white space, control characters and `+`")]
    Name,
}

/// The four bytes that tell signatures of keys with one name apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId([u8; 4]);

impl KeyId {
    fn of(name: &str, algorithm: Algorithm, public: &[u8; 32]) -> Self {
        let parts = [name.as_bytes(), b"\n", &[algorithm.byte()], public];
        let hash: [u8; 32] = parts.iter().fold(Sha256::new(), Sha256::chain_update).finalize().into();
        Self([hash[0], hash[1], hash[2], hash[3]])
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What a signature is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// The note's text; 0x01.
    Ed25519,
    /// A time and the note's text; 0x04. A witness signs so.
    Cosignature,
}

impl Algorithm {
    fn byte(self) -> u8 {
        match self {
            Self::Ed25519 => 1,
            Self::Cosignature => 4,
        }
    }

    fn of(byte: u8) -> Option<Self> {
        [Self::Ed25519, Self::Cosignature].into_iter().find(|algorithm| algorithm.byte() == byte)
    }
}

fn check_name(name: &str) -> Result<(), NoteError> {
    let bad = |c: char| c.is_whitespace() || c.is_control() || c == '+';
    if name.is_empty() || name.len() > 200 || name.contains(bad) { Err(NoteError::Name) } else { Ok(()) }
}

/// A key that verifies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verifier {
    name: String,
    id: KeyId,
    algorithm: Algorithm,
    key: VerifyingKey,
}

impl Verifier {
    /// Reads `NAME+ID+BASE64`.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let form = NoteError::Key("verifier key: NAME+ID+BASE64");
        let (name, id, bytes) = key_parts(text).ok_or(form)?;
        check_name(name)?;
        let (algorithm, public) = bytes.split_first().ok_or(form)?;
        let algorithm =
            Algorithm::of(*algorithm).ok_or(NoteError::Key("key of type 1 (Ed25519) or 4 (cosignature v1)"))?;
        let public: [u8; 32] = public.try_into().map_err(|_| form)?;
        let computed = KeyId::of(name, algorithm, &public);
        if computed != id {
            return Err(NoteError::KeyId { stated: id, computed });
        }
        let key = VerifyingKey::from_bytes(&public).map_err(|_| NoteError::Key("point of the curve"))?;
        Ok(Self { name: name.to_owned(), id, algorithm, key })
    }

    /// The key's name; that of a log is the origin of its checkpoints.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its signatures are over.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// True if a signature of the note is this key's and holds. One that claims to be and does not hold is [`Found::False`].
    pub fn find(&self, note: &Note) -> Found {
        let mine: Vec<&NoteSignature> =
            note.signatures.iter().filter(|line| line.name == self.name && line.id == self.id).collect();
        let found = mine.iter().map(|line| self.check(&note.text, &line.bytes));
        found.reduce(Found::weaker).unwrap_or(Found::Missing)
    }

    fn check(&self, text: &str, bytes: &[u8]) -> Found {
        let (message, signature, time) = match self.algorithm {
            Algorithm::Ed25519 => (text.to_owned(), bytes, 0),
            Algorithm::Cosignature => {
                let Some((time, signature)) = bytes.split_first_chunk::<8>() else { return Found::False };
                let time = u64::from_be_bytes(*time);
                (cosigned(text, time), signature, time)
            }
        };
        let Ok(signature) = Signature::from_slice(signature) else { return Found::False };
        match self.key.verify_strict(message.as_bytes(), &signature) {
            Ok(()) => Found::Holds { time },
            Err(_) => Found::False,
        }
    }
}

impl fmt::Display for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&[self.algorithm.byte()], self.key.as_bytes().as_slice()].concat();
        write!(f, "{}+{}+{}", self.name, self.id, base64::encode(&bytes))
    }
}

/// What a witness signs.
fn cosigned(text: &str, time: u64) -> String {
    format!("cosignature/v1\ntime {time}\n{text}")
}

/// Whether a note carries a key's signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It does. `time` is the witness's, in seconds since 1970; 0 for a plain signature.
    Holds {
        /// Seconds since 1970, UTC.
        time: u64,
    },
    /// It carries none.
    Missing,
    /// It carries one that does not hold.
    False,
}

impl Found {
    fn weaker(self, other: Self) -> Self {
        if other == Self::False { other } else { self }
    }
}

fn key_parts(text: &str) -> Option<(&str, KeyId, Vec<u8>)> {
    let mut parts = text.splitn(3, '+');
    let (name, id, bytes) = (parts.next()?, parts.next()?, parts.next()?);
    let number = u32::from_str_radix(id, 16).ok().filter(|number| format!("{number:08x}") == id)?;
    Some((name, KeyId(number.to_be_bytes()), base64::decode(bytes)?))
}

/// A key that signs. It is wiped from memory when dropped, and never printed but by [`NoteSigner::to_secret_text`].
pub struct NoteSigner {
    name: String,
    algorithm: Algorithm,
    key: SigningKey,
}

impl fmt::Debug for NoteSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NoteSigner({})", self.verifier())
    }
}

impl NoteSigner {
    /// A key from 32 secret random bytes.
    pub fn new(name: &str, algorithm: Algorithm, secret: &[u8; 32]) -> Result<Self, NoteError> {
        check_name(name)?;
        Ok(Self { name: name.to_owned(), algorithm, key: SigningKey::from_bytes(secret) })
    }

    /// Reads `PRIVATE+KEY+NAME+ID+BASE64`, white space around it aside.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let form = NoteError::Key("signing key: PRIVATE+KEY+NAME+ID+BASE64");
        let (name, id, bytes) = text.trim().strip_prefix(PRIVATE).and_then(key_parts).ok_or(form)?;
        let (algorithm, secret) = bytes.split_first().ok_or(form)?;
        let algorithm = Algorithm::of(*algorithm).ok_or(form)?;
        let signer = Self::new(name, algorithm, secret.try_into().map_err(|_| form)?)?;
        let computed = signer.verifier().id;
        if computed == id { Ok(signer) } else { Err(NoteError::KeyId { stated: id, computed }) }
    }

    /// The secret as text.
    pub fn to_secret_text(&self) -> String {
        let bytes = [&[self.algorithm.byte()], self.key.as_bytes().as_slice()].concat();
        format!("{PRIVATE}{}+{}+{}", self.name, self.verifier().id, base64::encode(&bytes))
    }

    /// The key that verifies what this one signs.
    pub fn verifier(&self) -> Verifier {
        let key = self.key.verifying_key();
        let id = KeyId::of(&self.name, self.algorithm, key.as_bytes());
        Verifier { name: self.name.clone(), id, algorithm: self.algorithm, key }
    }

    /// Adds a signature. `time` is in seconds since 1970 and is signed by witnesses only.
    pub fn sign(&self, note: &mut Note, time: u64) {
        let mut bytes = Vec::new();
        if self.algorithm == Algorithm::Cosignature {
            bytes.extend(time.to_be_bytes());
            bytes.extend(self.key.sign(cosigned(&note.text, time).as_bytes()).to_bytes());
        } else {
            bytes.extend(self.key.sign(note.text.as_bytes()).to_bytes());
        }
        note.signatures.push(NoteSignature { name: self.name.clone(), id: self.verifier().id, bytes });
    }
}

/// A text and its signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The text; ends with a line feed.
    pub text: String,
    signatures: Vec<NoteSignature>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct NoteSignature {
    name: String,
    id: KeyId,
    bytes: Vec<u8>,
}

impl Note {
    /// A note without signatures.
    pub fn of(text: String) -> Self {
        Self { text, signatures: Vec::new() }
    }

    /// Reads a note. No signature is checked here.
    pub fn parse(note: &str) -> Result<Self, NoteError> {
        if note.len() > NOTE_MAX {
            return Err(NoteError::Long);
        }
        let at = |line, expected| NoteError::Line { line, expected };
        let control = |c: char| c.is_control() && c != '\n';
        if let Some(line) = note.split('\n').position(|line| line.contains(control)) {
            return Err(at(line + 1, "no control characters may stand here"));
        }
        let lines = note.lines().count().max(1);
        let end = note.rfind("\n\n").ok_or(at(lines, "an empty line and signatures must follow the text"))?;
        let (text, signatures) = (&note[..=end], &note[end + 2..]);
        let first = text.lines().count() + 2;
        let form = "a signature line has the form `\u{2014} NAME BASE64` and ends with a line feed";
        if signatures.is_empty() || !signatures.ends_with('\n') {
            return Err(at(first.max(lines), form));
        }
        if signatures.lines().count() > SIGNATURES_MAX {
            return Err(at(first + SIGNATURES_MAX, "a note has at most 64 signatures"));
        }
        let signatures = signatures.lines().zip(first..).map(|(line, number)| signature(line).ok_or(at(number, form)));
        Ok(Self { text: text.to_owned(), signatures: signatures.collect::<Result<_, _>>()? })
    }
}

fn signature(line: &str) -> Option<NoteSignature> {
    let (name, bytes) = line.strip_prefix(DASH)?.split_once(' ')?;
    check_name(name).ok()?;
    let bytes = base64::decode(bytes)?;
    let (id, bytes) = bytes.split_first_chunk::<4>()?;
    let id = KeyId(*id);
    (!bytes.is_empty()).then(|| NoteSignature { name: name.to_owned(), id, bytes: bytes.to_vec() })
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|NoteSignature { name, id, bytes }| {
            writeln!(f, "{DASH}{name} {}", base64::encode(&[id.0.as_slice(), bytes].concat()))
        })
    }
}

/// What a log says of itself: its name, its size and the root of its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The log's name.
    pub origin: String,
    /// Leaves of the tree.
    pub size: u64,
    /// Root of the tree.
    pub root: Digest,
    /// More lines, each not empty. Witnesses sign them and say nothing about them.
    pub extensions: Vec<String>,
}

impl Checkpoint {
    /// Reads the text of a note.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let at = |line, expected| NoteError::Line { line, expected };
        let mut lines = text.lines();
        let origin = lines.next().filter(|line| !line.is_empty()).ok_or(at(1, "the log's name must stand here"))?;
        let number = |text: &&str| text.parse().is_ok_and(|size: u64| size.to_string() == **text);
        let size = lines.next().filter(number).ok_or(at(2, "a decimal number of rows must stand here"))?;
        let root = lines.next().and_then(base64::decode).and_then(|bytes| bytes.try_into().ok());
        let root = root.ok_or(at(3, "32 bytes in base64, the root of the tree, must stand here"))?;
        let extensions: Vec<String> = lines.map(str::to_owned).collect();
        if let Some(line) = extensions.iter().position(String::is_empty) {
            return Err(at(line + 4, "an extension line may not be empty"));
        }
        let size = size.parse().map_err(|_| at(2, "a decimal number of rows must stand here"))?;
        Ok(Self { origin: origin.to_owned(), size, root: Digest::from_bytes(root), extensions })
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}\n{}", self.origin, self.size, base64::encode(self.root.bytes()))?;
        self.extensions.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

#[cfg(test)]
mod tests;
