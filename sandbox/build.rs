//! Embeds what the sandbox builds and starts, so that one binary is enough: the Go tools' module files, the emulator's
//! Python package with its requirements, and kwok's stages.
//!
//! Output: `$OUT_DIR/embedded.rs` with `pub(crate) static FILES: &[(&str, &[u8])]`, sorted by path (relative to this
//! package), so that the same tree gives the same binary.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders and files that are embedded, relative to this package; one that does not exist is left out.
const ROOTS: [&str; 4] = [
    "tools",
    "aws/joiner_cloud",
    "aws/requirements.txt",
    "src/control_plane/stages",
];

fn main() -> io::Result<()> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut files = Vec::new();
    for root in ROOTS {
        println!("cargo:rerun-if-changed={root}");
        collect(&package.join(root), &mut files)?;
    }
    // Judged below the package: the checkout itself may lie in a folder of any name.
    files.retain(|file| file.strip_prefix(&package).is_ok_and(is_wanted));
    files.sort();

    let mut text = String::from("pub(crate) static FILES: &[(&str, &[u8])] = &[\n");
    for file in files {
        let name = file
            .strip_prefix(&package)
            .unwrap_or(&file)
            .to_string_lossy()
            .replace('\\', "/");
        // Not the path itself: checkouts at several places may share a target folder, and this text.
        let from_package = format!("/{name}");
        text.push_str(&format!(
            "    ({name:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {from_package:?}))),\n"
        ));
    }
    text.push_str("];\n");
    fs::write(out.join("embedded.rs"), text)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else if path.is_file() {
        files.push(path.to_path_buf());
    }
    Ok(())
}

/// Python's caches and tests stay out: they differ from machine to machine, or are of no use at run time.
fn is_wanted(path: &Path) -> bool {
    let text = path.to_string_lossy();
    !(text.contains("__pycache__")
        || text.ends_with(".pyc")
        || text.contains("/tests/")
        || text.ends_with('~'))
}
