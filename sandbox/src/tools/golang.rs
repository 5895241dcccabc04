//! Finding a Go that can build the tools.
//!
//! Since 1.21 Go fetches the toolchain that a go.mod asks for, unless `GOTOOLCHAIN=local` forbids it; so an older Go is
//! good enough when it may do that, and only then.

use std::env::consts::{ARCH, OS};
use std::path::PathBuf;
use std::process::Command;

use super::version::{self, Version};
use crate::embedded;
use crate::error::{Error, Result};

/// The first Go that can switch to another toolchain.
const SWITCHING: Version = Version(1, 21, 0);

/// Finds `go` in `PATH` and checks its version.
pub(super) fn find() -> Result<PathBuf> {
    let needed = needed();
    let Some(output) = answer(&["version"]) else {
        return Err(complaint("is not installed (no `go` in PATH)".to_owned(), needed));
    };
    let found = version::of_go(&output).unwrap_or(Version(1, 0, 0));
    let switching = answer(&["env", "GOTOOLCHAIN"]).is_some_and(|setting| setting.trim() != "local");
    if is_enough(found, switching, needed) {
        Ok(PathBuf::from("go"))
    } else {
        Err(complaint(format!("is version {found}"), needed))
    }
}

fn is_enough(found: Version, switching: bool, needed: Version) -> bool {
    found >= needed || (switching && found >= SWITCHING)
}

fn needed() -> Version {
    embedded::file("tools/go.mod")
        .and_then(|module| version::wanted_by(&String::from_utf8_lossy(module)))
        .unwrap_or(SWITCHING)
}

fn answer(args: &[&str]) -> Option<String> {
    let output = Command::new("go")
        .args(args)
        .env("GOTOOLCHAIN", toolchain(args))
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// `go version` is asked for the installed Go, not for the one it would switch to.
fn toolchain(args: &[&str]) -> String {
    if args == ["version"] {
        "local".to_owned()
    } else {
        std::env::var("GOTOOLCHAIN").unwrap_or_default()
    }
}

fn complaint(found: String, needed: Version) -> Error {
    let arch = match ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let os = if OS == "macos" { "darwin" } else { OS };
    Error::Toolchain {
        tool: "Go",
        found,
        needed: format!("{needed} or newer"),
        remedy: format!(
            "curl -fsSL https://go.dev/dl/go{needed}.{os}-{arch}.tar.gz | sudo tar -C /usr/local -xz && export PATH=$PATH:/usr/local/go/bin"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_go_is_enough_only_when_it_may_switch() {
        let needed = Version(1, 26, 8);
        for (found, switching, want) in [
            (Version(1, 26, 8), false, true),
            (Version(1, 27, 0), false, true),
            (Version(1, 26, 7), false, false),
            (Version(1, 22, 0), true, true),
            (Version(1, 20, 9), true, false),
        ] {
            assert_eq!(is_enough(found, switching, needed), want, "{found} {switching}");
        }
    }

    #[test]
    fn the_complaint_names_version_and_command() {
        let text = complaint("is version 1.20.0".into(), Version(1, 26, 8)).to_string();
        assert!(
            text.contains("1.26.8 or newer") && text.contains("go.dev/dl/go1.26.8."),
            "{text}"
        );
    }
}
