//! One run of a command: its output, how long it took, how much memory it held at most.
//!
//! The kernel tells the peak of the *largest* child only, so each command runs as the only child of a process of its
//! own: this program, called with `measure`.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};

/// What one run took.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// From start to end, reading and writing included.
    pub wall_millis: f64,
    /// Processor time of all its threads.
    pub cpu_millis: f64,
    /// The most memory it held, in MiB.
    pub peak_mib: f64,
}

/// Runs `command` (program and arguments) with standard output into `output`.
///
/// # Errors
/// When it cannot be started or fails; the message holds the end of what it said.
pub fn run(command: &[String], output: &Path) -> Result<Cost> {
    let told = output.with_extension("cost");
    let this = std::env::current_exe().context("cannot find this program's own file")?;
    let mut child = Command::new(this);
    child
        .arg("measure")
        .arg("--cost")
        .arg(&told)
        .arg("--output")
        .arg(output)
        .arg("--")
        .args(command);
    let done = child
        .output()
        .with_context(|| format!("cannot run {}", command.join(" ")))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let tail: String = said.lines().rev().take(5).collect::<Vec<_>>().join(" | ");
        bail!("{} failed: {tail}", command.join(" "));
    }
    let text = fs::read(&told).with_context(|| format!("cannot read {}", told.display()))?;
    drop(fs::remove_file(&told));
    Ok(serde_json::from_slice(&text)?)
}

/// The other side of [`run`]: runs `command` as the only child and writes what it took.
///
/// # Errors
/// When the command cannot be started or fails.
pub fn only_child(command: &[String], output: &Path, cost: &Path) -> Result<()> {
    let (program, arguments) = command.split_first().context("name a command after --")?;
    let out = File::create(output).with_context(|| format!("cannot write {}", output.display()))?;
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(out)
        .status()
        .with_context(|| format!("cannot start {program}"))?;
    let wall = start.elapsed();
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("the kernel does not tell what was used")?;
    let seconds = |time: nix::sys::time::TimeVal| seconds(time.tv_sec(), time.tv_usec());
    let took = Cost {
        wall_millis: wall.as_secs_f64() * 1000.0,
        cpu_millis: (seconds(usage.user_time()) + seconds(usage.system_time())) * 1000.0,
        peak_mib: number(usage.max_rss()) / 1024.0,
    };
    fs::write(cost, serde_json::to_vec(&took)?).with_context(|| format!("cannot write {}", cost.display()))
}

fn seconds(whole: i64, micros: i64) -> f64 {
    number(whole) + number(micros) / 1e6
}

/// Exact for what is measured here: seconds and KiB are far below 2^52.
fn number(value: i64) -> f64 {
    let value = u32::try_from(value).unwrap_or(u32::MAX);
    f64::from(value)
}
