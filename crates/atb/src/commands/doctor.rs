//! `atb doctor`: what this machine can measure.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use atb_measure::build::Compiler;
use atb_measure::fingerprint;
use atb_measure::lab::{Lab, LabSetup, SessionKey};
use atb_measure::preflight;
use atb_measure::sys::jail::{self, canary};
use serde_json::json;

use super::{Context, cancel_flag};
use crate::campaign::Console;
use crate::error::{Error, Result};
use crate::io;

pub(super) fn run(context: &Context) -> Result<u8> {
    let machine = fingerprint::machine();
    let compiler = Compiler::find(io::compiler_override().as_deref())?;
    let load = preflight::look(Duration::from_secs(1));
    let protocol = io::load_protocol("certified-1")?;
    let quiet = load.busy + load.steal <= protocol.machine_busy_max().get();
    let key = SessionKey::random().map_err(|source| Error::Unwritable { path: "a key".into(), source })?;
    let failed = |fault| Error::Fault { context: "failed to start workers".into(), fault };
    let lab = Lab::open(LabSetup {
        program: PathBuf::from("/proc/self/exe"),
        task: io::Tasks::default().load("gelu_tanh")?,
        protocol: protocol.clone(),
        key,
        compiler: compiler.clone(),
        interpreter: None,
        cells: Vec::new(),
        cancel: cancel_flag(),
        layers: io::layers()?,
    })
    .map_err(failed)?;
    let handoff = lab.handoff().map_err(failed)?;
    let delay = lab.delay_reading().map_err(failed)?;
    // A window of one call is off by at most the hand-off; with K calls by the K-th part.
    let single_us = handoff.get() as f64 / 0.01 / 1e3;
    let batched_ns = handoff.get() as f64 / 0.01 / protocol.kernel_calls_max() as f64;
    let floor_ns = protocol.kernel_window_floor_us() as f64 * 1e3 / protocol.kernel_calls_max() as f64;
    let smallest_us = batched_ns.max(floor_ns) / 1e3;
    let crew = lab.crew();
    let landlock_abi = jail::landlock_abi();
    let delay_off = (delay.get() as f64 / 1e6 - 1.0) * 100.0;
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:22} {value}");
    };
    line("machine", format!("{} ({})", machine.cpu, machine.fingerprint.short()));
    line("processors", format!("{}; measuring on {}, helper {}", machine.cpus, crew.measure, helper(crew.helper)));
    line("memory", format!("{} MiB", machine.memory_mib));
    line("kernel", machine.kernel.clone());
    line("governor", machine.governor.clone());
    line("virtual machine", if machine.virtual_machine { "yes" } else { "no" }.to_owned());
    line("compiler", compiler.version().to_owned());
    line("load now", format!("{:.1} % busy, {:.1} % steal: {}", load.busy * 100.0, load.steal * 100.0, verdict(quiet)));
    line("clock", "CLOCK_MONOTONIC_RAW, read by the parent".to_owned());
    line("hand-off", format!("{handoff} per window"));
    line("1 ms delay reads", format!("{delay} ({delay_off:+.2} %)"));
    line(
        "smallest kernel at 1 %",
        format!("{single_us:.0} us alone, {smallest_us:.1} us with {} calls a window", protocol.kernel_calls_max()),
    );
    let isolation = lab.isolation().map_err(failed)?;
    let refused = isolation.running.count_ones();
    line("isolation", format!("{isolation}: the canary was refused {refused} of {} actions", canary::COUNT));
    line("Landlock", if landlock_abi == 0 { "none".to_owned() } else { format!("version {landlock_abi}") });
    for action in isolation.allowed() {
        line("not refused", action.to_owned());
    }
    let json = json!({
        "machine": machine,
        "compiler": compiler.version(),
        "busy": round(load.busy),
        "steal": round(load.steal),
        "quiet": quiet,
        "handoff_ns": handoff.get(),
        "delay_1ms_ns": delay.get(),
        "smallest_single_us": round(single_us),
        "smallest_batched_us": round(smallest_us),
        "isolation": isolation.to_string(),
        "canary": isolation.canary(),
        "not_refused": isolation.allowed(),
        "landlock_abi": landlock_abi,
    });
    context.output.result(&text, &json)
}

/// Measures the machine's peaks and keeps the greatest of all measurements.
pub(super) fn peaks(context: &Context) -> Result<u8> {
    let console = Console::new(context.quiet);
    let load = preflight::look(Duration::from_secs(1));
    let protocol = io::load_protocol("certified-1")?;
    let quiet = load.busy + load.steal <= protocol.machine_busy_max().get();
    let now = crate::peaks::measure(&protocol, &cancel_flag(), &|line| console.line(line))?;
    let kept = io::load_peaks(now.fingerprint)?.map_or(now, |before| now.or_more(before));
    let path = io::keep_peaks(&kept)?;
    let mut text = String::new();
    for (name, now, kept, unit) in [
        ("copy", now.copy_mb_s, kept.copy_mb_s, "MB/s"),
        ("read", now.read_mb_s, kept.read_mb_s, "MB/s"),
        ("write", now.write_mb_s, kept.write_mb_s, "MB/s"),
        ("f32 FMA", now.fma_mflop_s, kept.fma_mflop_s, "MFLOP/s"),
    ] {
        let _ = writeln!(text, "{name:8} {now:>9} {unit:8} kept {kept:>9}");
    }
    let _ = writeln!(text, "one core of {}; the machine was {}", now.fingerprint.short(), verdict(quiet));
    let _ = writeln!(text, "kept in {}", path.display());
    let json = json!({ "peaks": kept, "measured": now, "quiet": quiet, "path": path.display().to_string() });
    context.output.result(&text, &json)
}

fn helper(cpu: Option<usize>) -> String {
    cpu.map_or_else(|| "none".to_owned(), |cpu| cpu.to_string())
}

fn verdict(quiet: bool) -> &'static str {
    if quiet { "quiet" } else { "not quiet" }
}

fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
