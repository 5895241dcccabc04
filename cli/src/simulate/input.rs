//! Files and standard input.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use joiner_map::{Objects, read};

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

fn text(file: &Path) -> Result<(String, String)> {
    if file == Path::new("-") {
        let mut text = String::new();
        io::stdin()
            .lock()
            .read_to_string(&mut text)
            .context("standard input cannot be read")?;
        return Ok(("standard input".to_owned(), text));
    }
    let text = fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    Ok((file.display().to_string(), text))
}
