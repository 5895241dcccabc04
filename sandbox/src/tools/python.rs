//! The emulator's Python environment: a venv from `sandbox/aws/requirements.txt`, and the embedded package `joiner_cloud`.
//!
//! Invariant: `bin/joiner-python` exists only in a finished environment. A venv holds absolute paths, so it cannot be built
//! elsewhere and renamed; this link to its interpreter is made last.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::build::run;
use super::progress::{Event, Progress};
use super::version::Version;
use crate::embedded;
use crate::error::{Error, Result};

const NEEDED: Version = Version(3, 10, 0);
const STEP: &str = "AWS emulator";

/// The folder of this version's environment.
fn folder(cache: &Path) -> PathBuf {
    cache
        .join("python")
        .join(embedded::fingerprint(&["aws/requirements.txt"], "venv"))
}

/// The interpreter of a finished environment.
pub(super) fn interpreter(cache: &Path) -> PathBuf {
    folder(cache).join("bin/joiner-python")
}

/// The folder that holds this version's package `joiner_cloud`.
pub(super) fn package_folder(cache: &Path) -> PathBuf {
    cache
        .join("emulator")
        .join(embedded::fingerprint(&["aws/joiner_cloud/"], ""))
}

/// Writes the embedded package, if it is not there.
pub(super) fn unpack_package(folder: &Path) -> Result<()> {
    let package = folder.join("joiner_cloud");
    embedded::unpack("aws/joiner_cloud", &package).map_err(Error::file("write", &package))
}

/// Finds a Python that can make environments.
pub(super) fn find() -> Result<PathBuf> {
    const ASK: &str = "import sys, venv, ensurepip; print('%d.%d.%d' % sys.version_info[:3])";
    let mut found = "is not installed (no `python3` in PATH)".to_owned();
    for name in [
        "python3",
        "python3.14",
        "python3.13",
        "python3.12",
        "python3.11",
        "python3.10",
        "python",
    ] {
        let Ok(output) = Command::new(name).args(["-c", ASK]).output() else {
            continue;
        };
        match Version::parse(&String::from_utf8_lossy(&output.stdout)) {
            Some(version) if version >= NEEDED => return Ok(PathBuf::from(name)),
            Some(version) => found = format!("is version {version}"),
            None => found = "has no `venv` module".to_owned(),
        }
    }
    Err(Error::Toolchain {
        tool: "Python",
        found,
        needed: format!("{NEEDED} or newer with venv"),
        remedy: remedy(),
    })
}

fn remedy() -> String {
    let has = |program: &str| {
        std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
    };
    let command = match () {
        () if has("apt-get") => "sudo apt-get install -y python3 python3-venv",
        () if has("dnf") => "sudo dnf install -y python3",
        () if has("pacman") => "sudo pacman -S --noconfirm python",
        () if has("apk") => "sudo apk add python3",
        () if has("brew") => "brew install python",
        () => "see https://www.python.org/downloads/",
    };
    command.to_owned()
}

/// Makes the environment.
pub(super) fn environment(python: &Path, cache: &Path, progress: &dyn Progress) -> Result<()> {
    let begin = Instant::now();
    progress.tell(Event::Started { step: STEP });
    let target = folder(cache);
    // What an interrupted build left.
    if target.exists() {
        std::fs::remove_dir_all(&target).map_err(Error::file("remove", &target))?;
    }
    run(
        Command::new(python).args(["-m", "venv"]).arg(&target),
        STEP,
        progress,
    )?;

    let requirements = target.join("requirements.txt");
    let text = embedded::file("aws/requirements.txt").unwrap_or_default();
    std::fs::write(&requirements, text).map_err(Error::file("write", &requirements))?;
    let mut pip = Command::new(target.join("bin/python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "-r",
    ])
    .arg(&requirements);
    run(&mut pip, STEP, progress)?;

    let ready = interpreter(cache);
    std::os::unix::fs::symlink("python", &ready).map_err(Error::file("write", &ready))?;
    progress.tell(Event::Finished {
        step: STEP,
        took: begin.elapsed(),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_is_unpacked_once() {
        let folder = tempfile::tempdir().unwrap();
        unpack_package(folder.path()).unwrap();
        unpack_package(folder.path()).unwrap();
        assert!(folder.path().join("joiner_cloud").is_dir());
    }
}
