//! Where the peaks of a machine are kept between runs.

use std::path::{Path, PathBuf};

use atb_core::canon::Digest;
use atb_core::gates::Peaks;

use super::{make_folder, read_text, unreadable, write_durable};
use crate::error::Result;

/// Where a machine's peaks are kept: under $XDG_STATE_HOME, or ~/.local/state.
fn peaks_path(machine: Digest) -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
    let folder = state.unwrap_or_else(|| PathBuf::from(".")).join("autotunebench");
    folder.join(format!("peaks-{}.json", machine.short()))
}

/// The peaks of a machine, if they were measured.
pub fn load_peaks(machine: Digest) -> Result<Option<Peaks>> {
    let path = peaks_path(machine);
    if !path.exists() {
        return Ok(None);
    }
    let peaks: Peaks = serde_json::from_str(&read_text(&path)?).map_err(|error| unreadable(&path, &error))?;
    let positive = [peaks.copy_mb_s, peaks.read_mb_s, peaks.write_mb_s, peaks.fma_mflop_s].iter().all(|peak| *peak > 0);
    if peaks.format == 1 && peaks.fingerprint == machine && positive {
        return Ok(Some(peaks));
    }
    Err(unreadable(
        &path,
        &"it is not of this machine or format, or a peak is 0: remove it, and run `atb doctor --peaks`",
    ))
}

/// Keeps the peaks of a machine and returns where.
pub fn keep_peaks(peaks: &Peaks) -> Result<PathBuf> {
    let path = peaks_path(peaks.fingerprint);
    let text = serde_json::to_string(peaks).map_err(|error| unreadable(&path, &error))?;
    make_folder(path.parent().unwrap_or(Path::new(".")))?;
    write_durable(&path, format!("{text}\n").as_bytes(), "peaks")?;
    Ok(path)
}
