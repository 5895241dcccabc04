//! Files and standard input.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use joiner_map::{Objects, read};

use crate::input::text;

/// The objects of all files; standard input for `-`, and where no file is named.
pub(crate) fn from_files(files: &[PathBuf]) -> Result<Objects> {
    let stdin = [PathBuf::from("-")];
    let files = if files.is_empty() { &stdin } else { files };
    let mut objects = Objects::default();
    for file in files {
        let (name, text) = text(file)?;
        read::read(&name, &text, &mut objects)?;
    }
    Ok(objects)
}

/// The pools of a file, which must hold some.
pub(crate) fn read_pools(file: &Path) -> Result<Objects> {
    let mut objects = Objects::default();
    let (name, text) = text(file)?;
    read::read(&name, &text, &mut objects).context("--pool-file")?;
    if objects.counts().2 == 0 {
        bail!("--pool-file: there is no NodePool in {name}");
    }
    Ok(objects)
}
