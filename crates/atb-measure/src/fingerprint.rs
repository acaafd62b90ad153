//! The machine's fingerprint: what must be equal for two ratios to be comparable.

use std::fs;

use atb_core::canon::Digest;
use atb_core::entry::MachineBody;

use crate::sys::cpu;

/// Reads the machine's fingerprint; what cannot be read is `unknown` or 0.
pub fn machine() -> MachineBody {
    let cpuinfo = read("/proc/cpuinfo");
    let field = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            line.strip_prefix(name)?.trim_start().strip_prefix(':').map(|value| value.trim().to_owned())
        })
    };
    let cpu = match field("model name") {
        Some(name) => {
            let number = |key: &str| field(key).unwrap_or_else(|| "?".to_owned());
            format!(
                "{name} (family {} model {} stepping {})",
                number("cpu family"),
                number("model"),
                number("stepping")
            )
        }
        None => "unknown".to_owned(),
    };
    let virtual_machine = field("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let cpus = cpu::allowed().map_or(0, |cpus| cpus.len() as u64);
    let memory_mib = read("/proc/meminfo")
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse::<u64>().ok())
        .map_or(0, |kib| kib / 1024);
    let kernel = first_line("/proc/sys/kernel/osrelease");
    let governor = match first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").as_str() {
        "unknown" => "none".to_owned(),
        governor => governor.to_owned(),
    };
    let fingerprint = Digest::of_parts(&[
        b"atb-machine-1",
        cpu.as_bytes(),
        &cpus.to_le_bytes(),
        &memory_mib.to_le_bytes(),
        kernel.as_bytes(),
        governor.as_bytes(),
        &[u8::from(virtual_machine)],
    ]);
    let boot = first_line("/proc/sys/kernel/random/boot_id");
    MachineBody { fingerprint, cpu, cpus, memory_mib, kernel, governor, virtual_machine, boot }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn first_line(path: &str) -> String {
    match read(path).lines().next() {
        Some(line) if !line.is_empty() => line.to_owned(),
        _ => "unknown".to_owned(),
    }
}

/// Digest of the program that measures; of nothing if it cannot be read.
pub fn program() -> Digest {
    Digest::of(&fs::read("/proc/self/exe").unwrap_or_default())
}
