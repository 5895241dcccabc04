//! Go test programs, built once into the cache outside the checkout, keyed by their sources and lock files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use joiner_sandbox::layout;
use sha2::{Digest as _, Sha256};

/// The test program of the module in `tests/FOLDER`, built where it is not in the cache.
///
/// # Errors
/// What Go says.
pub fn program(folder: &str) -> Result<PathBuf> {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let programs = layout::cache().join("go-tests");
    let program = programs.join(format!("{folder}-{}", key(&module)?));
    if program.is_file() {
        return Ok(program);
    }
    fs::create_dir_all(&programs).with_context(|| programs.display().to_string())?;
    let part = programs.join(format!("{folder}-{}.part", std::process::id()));
    let output = Command::new("go")
        .args(["test", "-c", "-trimpath", "-o"])
        .arg(&part)
        .arg(".")
        .current_dir(&module)
        .output()
        .context("`go` is needed to build the tests; install Go from https://go.dev/dl")?;
    if !output.status.success() {
        bail!(
            "go test -c in {}: {}",
            module.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    fs::rename(&part, &program).with_context(|| program.display().to_string())?;
    Ok(program)
}

/// Changes when a source or a lock file of the module does.
fn key(module: &Path) -> Result<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(module).with_context(|| module.display().to_string())? {
        let path = entry?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("go" | "mod" | "sum")) {
            files.push(path);
        }
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        hash.update(file.file_name().unwrap_or_default().as_encoded_bytes());
        hash.update([0]);
        hash.update(fs::read(&file).with_context(|| file.display().to_string())?);
    }
    let digest = hash.finalize();
    Ok(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_source_is_another_key() {
        let module = tempfile::tempdir().unwrap();
        let source = module.path().join("a_test.go");
        fs::write(&source, "package a\n").unwrap();
        let before = key(module.path()).unwrap();
        assert_eq!(before.len(), 16);
        fs::write(module.path().join("notes.md"), "not built").unwrap();
        assert_eq!(key(module.path()).unwrap(), before);
        fs::write(&source, "package b\n").unwrap();
        assert_ne!(key(module.path()).unwrap(), before);
    }
}
