//! Upstream's Go modules, read where Go keeps them.

use std::{path::PathBuf, process::Command};

use serde_json::Value;

/// The folder of a Go module in the version that tests/peers asks for.
pub(crate) fn module(name: &str) -> PathBuf {
    let peers = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/peers");
    let output = Command::new("go")
        .args(["mod", "download", "-json", name])
        .current_dir(peers)
        .env("GOTOOLCHAIN", "go1.27.3")
        .output()
        .expect("`go` is needed to read upstream's CRDs; install Go from https://go.dev/dl");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "go mod download {name}: {error}\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
    });
    let folder = answer["Dir"]
        .as_str()
        .unwrap_or_else(|| panic!("go mod download {name}: {answer}"));
    PathBuf::from(folder)
}
