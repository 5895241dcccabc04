//! Upstream's Go modules, read where Go keeps them, in the versions that `tests/peers` asks for.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

/// The folder of a Go module.
///
/// # Errors
/// What Go says.
pub fn module(name: &str) -> Result<PathBuf> {
    let output = Command::new("go")
        .args(["mod", "download", "-json", name])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/peers"))
        .env("GOTOOLCHAIN", "go1.27.3")
        .output()
        .context("`go` is needed to read upstream's examples; install Go from https://go.dev/dl")?;
    let said = String::from_utf8_lossy(&output.stderr);
    let answer: Value =
        serde_json::from_slice(&output.stdout).with_context(|| format!("go mod download {name}: {said}"))?;
    let folder = answer["Dir"]
        .as_str()
        .with_context(|| format!("go mod download {name}: {answer}"))?;
    Ok(PathBuf::from(folder))
}
