//! Standard output: text for people, one JSON object as the last line with `--json`.

use std::io::{self, Write as _};

use serde_json::Value;

use crate::error::{Error, Result};

/// Where results go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Prints text. A reader that went away is no error.
    pub(crate) fn text(text: &str) -> Result<u8> {
        match io::stdout().lock().write_all(text.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Error::Unwritable { path: "standard output".into(), source: error })
            }
            _ => Ok(0),
        }
    }

    /// Prints text for people, or the JSON object if that was asked for.
    pub(crate) fn result(self, text: &str, json: &Value) -> Result<u8> {
        if self.json { Self::text(&format!("{json}\n")) } else { Self::text(text) }
    }
}
