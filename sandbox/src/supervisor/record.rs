//! `sandbox.json`: written whole (beside, then renamed), so a reader never sees half of it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::model::Record;

/// The record and its file.
#[derive(Debug)]
pub(crate) struct RecordFile {
    path: PathBuf,
    record: Mutex<Record>,
}

impl RecordFile {
    /// Writes the first record.
    pub(crate) fn create(path: PathBuf, record: Record) -> Result<Self> {
        write(&path, &record)?;
        Ok(Self {
            path,
            record: Mutex::new(record),
        })
    }

    /// Changes the record and writes it.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Record)) -> Result<()> {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut record);
        write(&self.path, &record)
    }

    /// Removes the file.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Reads a sandbox's record; `None` when there is none, or none that can be read.
pub(crate) fn read(path: &Path) -> Option<Record> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn write(path: &Path, record: &Record) -> Result<()> {
    let text = serde_json::to_vec_pretty(record).map_err(|error| Error::Refused(error.to_string()))?;
    write_whole(path, &text)
}

/// Writes a file so that it is either the old or the new one at every moment; readable by its owner only.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    use std::io::Write;
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || {
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.persist(path).map_err(|error| error.error)
    };
    write().map(drop).map_err(Error::file("write", path))
}
