//! What the measurements were made on.

use std::fs;
use std::thread::available_parallelism;

/// One line for the page.
pub(super) fn words() -> String {
    let cpus = available_parallelism().map_or(0, std::num::NonZero::get);
    let model = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "an unknown processor".into());
    let memory = field("/proc/meminfo", "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .map_or(0, |kib| (kib + (1 << 19)) >> 20);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cpus} cores of {model}, {memory} GiB, Linux {}.", kernel.trim())
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}
