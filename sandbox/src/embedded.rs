//! Files that travel inside the binary (see build.rs), and their unpacking.
//!
//! Input: a path prefix. Output: files on disk. Invariant: unpacking is atomic per folder (written beside, then renamed),
//! so an interrupted run never leaves half a tree.

use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The embedded files below `prefix` as (path relative to the prefix, content), in order of path.
pub(crate) fn below(prefix: &str) -> impl Iterator<Item = (&'static str, &'static [u8])> {
    FILES.iter().filter_map(move |(path, bytes)| {
        let rest = path.strip_prefix(prefix)?.strip_prefix('/')?;
        Some((rest, *bytes))
    })
}

/// One embedded file by its full path.
pub(crate) fn file(path: &str) -> Option<&'static [u8]> {
    FILES
        .iter()
        .find(|(name, _)| *name == path)
        .map(|(_, bytes)| *bytes)
}

/// Sixteen hex digits of a hash over the files below `prefixes` and `extra`; a changed byte or name changes it.
pub(crate) fn fingerprint(prefixes: &[&str], extra: &str) -> String {
    let mut hash = Sha256::new();
    for prefix in prefixes {
        for (path, bytes) in FILES.iter().filter(|(path, _)| path.starts_with(prefix)) {
            hash.update(path.as_bytes());
            hash.update([0]);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
    }
    hash.update(extra.as_bytes());
    hex::encode(hash.finalize())[..16].to_owned()
}

/// Writes the files below `prefix` into `target`, which is complete when it exists.
pub(crate) fn unpack(prefix: &str, target: &Path) -> io::Result<()> {
    if target.is_dir() {
        return Ok(());
    }
    let parent = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let staging = tempfile::Builder::new().prefix(".unpack-").tempdir_in(parent)?;
    for (path, bytes) in below(prefix) {
        let file = staging.path().join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(file, bytes)?;
    }
    let staged = staging.keep();
    match fs::rename(&staged, target) {
        // Another process was faster; its tree has the same content.
        Err(_) if target.is_dir() => fs::remove_dir_all(&staged),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_files_are_embedded_and_unpacked_whole() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a/tools");
        unpack("tools", &target).unwrap();
        unpack("tools", &target).unwrap();
        assert_eq!(
            fs::read(target.join("go.mod")).unwrap(),
            file("tools/go.mod").unwrap()
        );
        assert!(target.join("go.sum").is_file());
        assert_eq!(
            fs::read_dir(folder.path().join("a")).unwrap().count(),
            1,
            "no staging folder left"
        );
    }

    #[test]
    fn fingerprint_depends_on_files_and_settings() {
        assert_eq!(fingerprint(&["tools/"], "x"), fingerprint(&["tools/"], "x"));
        assert_ne!(fingerprint(&["tools/"], "x"), fingerprint(&["tools/"], "y"));
        assert_ne!(fingerprint(&["tools/"], "x"), fingerprint(&["aws/"], "x"));
    }
}
