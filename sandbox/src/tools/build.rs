//! Building the Go tools into the cache.
//!
//! Invariant: `bin/<tool>` appears complete (built beside, then renamed), so an interrupted build leaves nothing half done; what Go has
//! compiled by then is in its own cache.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::catalogue::{self, GoTool};
use super::progress::{Event, Progress};
use crate::embedded;
use crate::error::{Error, Result};

/// The folder of this version's tools: `<cache>/tools/<hash of the module files and linker flags>`.
pub(super) fn folder(cache: &Path) -> PathBuf {
    cache
        .join("tools")
        .join(embedded::fingerprint(&["tools/"], &catalogue::linker_flags()))
}

const STAGING: &str = ".build-";

/// Removes what an interrupted build left. The caller holds the turn, so nobody builds there.
pub(super) fn clear_interrupted(bin: &Path) {
    let entries = std::fs::read_dir(bin).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(STAGING)) {
        // Left where it is when that fails: it takes space, and nothing else.
        let _ = std::fs::remove_dir_all(entry.path());
    }
}

/// How the step is called that all Go programs are built in.
const STEP: &str = "Go programs";
/// How often a person is told what has got ready.
const LOOK: Duration = Duration::from_millis(250);

/// Builds `tools` into `bin`, all in one run of Go, so that both cores have work to the end and nothing is compiled twice.
pub(super) fn all(
    go: &Path,
    tools: &[GoTool],
    cache: &Path,
    bin: &Path,
    progress: &dyn Progress,
) -> Result<()> {
    let begin = Instant::now();
    progress.tell(Event::Started { step: STEP });
    let source = folder(cache).join("src");
    embedded::unpack("tools", &source).map_err(Error::file("write", &source))?;
    std::fs::create_dir_all(bin).map_err(Error::file("create", bin))?;
    let staging = tempfile::Builder::new()
        .prefix(STAGING)
        .tempdir_in(bin)
        .map_err(Error::file("create", bin))?;

    let mut command = Command::new(go);
    command
        .args([
            "build",
            "-mod=readonly",
            "-trimpath",
            "-buildvcs=false",
            catalogue::COMPILER_FLAGS,
            "-ldflags",
            &catalogue::linker_flags(),
            "-o",
        ])
        .arg(staging.path())
        .args(tools.iter().map(|tool| tool.package))
        .current_dir(&source)
        .env("GOFLAGS", "")
        // The compiler's own memory: collected seldom while there is little of it, a sixth of the time is saved.
        .env("GOGC", "400")
        .env("GOMEMLIMIT", "2GiB")
        .env("GOWORK", "off");
    thread::scope(|scope| {
        let build = scope.spawn(|| run(&mut command, STEP, progress));
        let mut waited_for = tools.to_vec();
        while !build.is_finished() {
            thread::sleep(LOOK);
            waited_for.retain(|tool| {
                let is_there = staging.path().join(tool.built_as()).is_file();
                if is_there {
                    let (step, took) = (tool.name, begin.elapsed());
                    progress.tell(Event::Finished { step, took });
                }
                !is_there
            });
        }
        build.join().unwrap_or_else(|panic| resume_unwind(panic))
    })?;

    for tool in tools {
        let ready = bin.join(tool.name);
        std::fs::rename(staging.path().join(tool.built_as()), &ready)
            .map_err(Error::file("write", &ready))?;
    }
    progress.tell(Event::Finished {
        step: STEP,
        took: begin.elapsed(),
    });
    Ok(())
}

/// Runs a build command; its last lines go into the error.
pub(super) fn run(command: &mut Command, step: &'static str, progress: &dyn Progress) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|cause| Error::Start { program, cause })?;
    if output.status.success() {
        return Ok(());
    }
    progress.tell(Event::Failed { step });
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if text.contains("no space left on device") {
        return Err(Error::DiskFull {
            dir: command.get_current_dir().unwrap_or(Path::new("/")).to_path_buf(),
        });
    }
    let lines: Vec<&str> = text.lines().collect();
    let output = lines[lines.len().saturating_sub(20)..].join("\n");
    Err(Error::Build {
        step: step.to_owned(),
        output,
    })
}
