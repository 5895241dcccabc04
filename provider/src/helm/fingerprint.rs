//! Noticing that a chart on this machine changed.

use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

/// A hash over names and contents below `path`, or of the file itself; `None` when something cannot be read.
pub(super) fn of_path(path: &Path) -> Option<String> {
    let files = files(path)?;
    let mut hash = Sha256::new();
    for file in &files {
        let name = file.strip_prefix(path).unwrap_or(file).to_string_lossy();
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        let content = std::fs::read(file).ok()?;
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    }
    Some(hex::encode(hash.finalize()))
}

/// The files below `path`, or the file itself, in order; `None` when a directory cannot be read.
pub(super) fn files(path: &Path) -> Option<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(path, &mut files)?;
    files.sort();
    Some(files)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Option<()> {
    if path.is_file() {
        files.push(path.to_path_buf());
        return Some(());
    }
    for entry in std::fs::read_dir(path).ok()? {
        collect(&entry.ok()?.path(), files)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_name_or_content_is_noticed() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("a"), "1").expect("written");
        let first = of_path(dir.path());
        assert_eq!(of_path(dir.path()), first, "the same files, the same hash");
        std::fs::write(dir.path().join("a"), "2").expect("written");
        let second = of_path(dir.path());
        std::fs::rename(dir.path().join("a"), dir.path().join("b")).expect("renamed");
        assert!(first != second && second != of_path(dir.path()) && first.is_some());
        assert_eq!(of_path(Path::new("/nonexistent")), None);
    }
}
