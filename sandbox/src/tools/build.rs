//! Building one Go tool into the cache.
//!
//! Invariant: `bin/<tool>` appears complete (built beside, then renamed), so an interrupted build leaves nothing half done.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

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

/// Builds `tool` into `bin`.
pub(super) fn one(go: &Path, tool: &GoTool, cache: &Path, bin: &Path, progress: &dyn Progress) -> Result<()> {
    let begin = Instant::now();
    progress.tell(Event::Started { step: tool.name });
    let group = tool.group.folder();
    let source = folder(cache).join("src").join(group);
    embedded::unpack(&format!("tools/{group}"), &source).map_err(Error::file("write", &source))?;
    std::fs::create_dir_all(bin).map_err(Error::file("create", bin))?;
    let staging = tempfile::Builder::new()
        .prefix(STAGING)
        .tempdir_in(bin)
        .map_err(Error::file("create", bin))?;
    let staged = staging.path().join(tool.name);

    let mut command = Command::new(go);
    command
        .args([
            "build",
            "-mod=readonly",
            "-trimpath",
            "-buildvcs=false",
            "-ldflags",
            &catalogue::linker_flags(),
            "-o",
        ])
        .arg(&staged)
        .arg(tool.package)
        .current_dir(&source)
        .env("GOFLAGS", "")
        .env("GOWORK", "off");
    run(&mut command, tool.name, progress)?;

    let ready = bin.join(tool.name);
    std::fs::rename(&staged, &ready).map_err(Error::file("write", &ready))?;
    progress.tell(Event::Finished {
        step: tool.name,
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
