//! What one core of this machine reaches at most: small kernels of our own, built and timed as candidates are.
//!
//! Each call of a window has inputs and outputs of its own, so a window streams through the same memory whatever the size of a call; the
//! peaks hold for every shape.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use atb_core::gates::Peaks;
use atb_core::protocol::Protocol;
use atb_core::task::{Shape, Task};
use atb_measure::build::Compiler;
use atb_measure::fault::Fault;
use atb_measure::fingerprint;
use atb_measure::lab::{Lab, LabSetup, SessionKey};
use atb_measure::sys::clock;
use include_dir::{Dir, include_dir};

use crate::error::{Error, Result};
use crate::io;

static KERNELS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/peaks");

/// Built for the machine at hand; no flag may change what is computed.
const FLAGS: &str = "-O3 -march=native";
/// Fresh processes per kernel and size; the fastest counts, since noise only ever slows.
const ROUNDS: u64 = 5;

/// Measures the peaks. The machine should be quiet; some 10 s.
pub fn measure(protocol: &Protocol, cancel: &Arc<AtomicBool>, say: &dyn Fn(&str)) -> Result<Peaks> {
    let mut rates = BTreeMap::new();
    for name in ["copy", "read", "write", "fma"] {
        let task = task(name)?;
        // Work per picosecond, times 10^6: bytes or operations in 10^6 per second.
        let work = if name == "fma" { &task.spec.flops } else { &task.spec.bytes };
        let mut most = 0.0_f64;
        for shape in task.spec.timed() {
            let picos = fastest(&task, shape, protocol, cancel)?;
            let rate = work.value(&shape.dims).unwrap_or(0) as f64 * 1e6 / picos.max(1) as f64;
            say(&format!("{name} {}: {rate:.0} million per second", shape.name));
            most = most.max(rate);
        }
        rates.insert(name, most);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and some 10^6")]
    let rate = |name: &str| rates.get(name).map_or(1, |rate| rate.round() as u64).max(1);
    Ok(Peaks {
        format: 1,
        fingerprint: fingerprint::machine().fingerprint,
        at_ms: clock::wall_ms(),
        copy_mb_s: rate("copy"),
        read_mb_s: rate("read"),
        write_mb_s: rate("write"),
        fma_mflop_s: rate("fma"),
    })
}

/// A kernel as a task; it is its own baseline.
fn task(name: &str) -> Result<Task> {
    let folder = KERNELS.get_dir(name);
    let files = folder.into_iter().flat_map(Dir::files).filter_map(|file| {
        let file_name = file.path().file_name()?.to_str()?.to_owned();
        Some((file_name, file.contents_utf8()?.to_owned()))
    });
    let mut files: BTreeMap<String, String> = files.collect();
    let kernel = files.get("kernel.c").cloned().unwrap_or_default();
    for baseline in ["baselines/naive.c", "baselines/compiler.c"] {
        files.insert(baseline.to_owned(), kernel.clone());
    }
    Ok(Task::from_files(&format!("built-in/peaks/{name}"), files)?)
}

/// Picoseconds per call of the fastest run.
fn fastest(task: &Task, shape: &Shape, protocol: &Protocol, cancel: &Arc<AtomicBool>) -> Result<u64> {
    let key = SessionKey::random().map_err(|source| Error::Unwritable { path: "a key".into(), source })?;
    let setup = LabSetup {
        program: PathBuf::from("/proc/self/exe"),
        task: task.clone(),
        protocol: protocol.clone(),
        key,
        compiler: Compiler::find(io::compiler_override().as_deref())?,
        interpreter: None,
        cells: vec![shape.clone()],
        cancel: Arc::clone(cancel),
        layers: io::layers()?,
    };
    let run = || -> std::result::Result<Vec<Vec<u64>>, Fault> {
        let mut lab = Lab::open(setup)?;
        let built = lab.build(task.starting_point(), FLAGS, &[])?;
        let checked = lab.check(built, &[])?;
        lab.compare_briefly(&[(&checked, &[])], ROUNDS)
    };
    let picos =
        run().map_err(|fault| Error::Fault { context: format!("failed to measure {}", task.spec.title), fault })?;
    Ok(picos.into_iter().flatten().min().unwrap_or(u64::MAX))
}
