//! Canonical JSON and content digests.
//!
//! Hashed bodies hold no floating-point numbers: integers and decimal strings only, since printing floats is where
//! verification in another language fails. Keys are sorted by bytes and there is no white space, so for our ASCII keys the
//! form is that of RFC 8785.

use std::fmt;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, printed as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The `prev` of the first row of a chain.
    pub const GENESIS: Self = Self([0; 32]);

    /// SHA-256 of the bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// SHA-256 over length-prefixed parts, so that no two lists of parts collide by concatenation.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// Reads 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() != 64 {
            return None;
        }
        let mut out = [0; 32];
        for (byte, pair) in out.iter_mut().zip(bytes.chunks_exact(2)) {
            *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
        }
        Some(Self(out))
    }

    /// Wraps 32 bytes, for their hexadecimal form.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first 12 digits, for people.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("a digest is 64 lower-case hexadecimal digits"))
    }
}

/// A value that has no canonical form.
#[derive(Debug, thiserror::Error)]
pub enum CanonError {
    /// Serialisation failed.
    #[error("failed to serialise the value")]
    Serialise(#[from] serde_json::Error),
    /// The value holds a floating-point number.
    #[error("floating-point numbers have no canonical form: use integers or decimal strings")]
    Float,
}

/// Canonical JSON text of a value.
pub fn canonical<T: serde::Serialize>(value: &T) -> Result<String, CanonError> {
    let value = serde_json::to_value(value)?;
    if holds_float(&value) {
        return Err(CanonError::Float);
    }
    // serde_json keeps object keys in a sorted map unless `preserve_order` is on; a test holds this.
    Ok(value.to_string())
}

fn holds_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(holds_float),
        Value::Object(map) => map.values().any(holds_float),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_and_floats_refused() {
        let text = canonical(&json!({"b": 1, "a": [true, null, "x\n"]})).unwrap();
        assert_eq!(text, "{\"a\":[true,null,\"x\\n\"],\"b\":1}");
        assert!(matches!(canonical(&json!({"a": 0.5})), Err(CanonError::Float)));
    }

    #[test]
    fn digest_agrees_with_the_published_value_for_abc() {
        let digest = Digest::of(b"abc");
        assert_eq!(digest.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(Digest::parse("BA"), None);
        assert_ne!(Digest::of_parts(&[b"ab", b"c"]), Digest::of_parts(&[b"a", b"bc"]));
    }
}
