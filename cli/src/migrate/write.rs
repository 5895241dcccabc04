//! Writing the files of a configuration.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::configuration::Configuration;
use super::hcl::render;

/// What becomes of files that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overwrite {
    /// They are overwritten.
    Yes,
    /// They are an error, before anything is written.
    No,
}

/// Writes each file into the folder, which is made when it is absent.
pub(super) fn files(folder: &Path, configuration: &Configuration, overwrite: Overwrite) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let taken: Vec<&str> = configuration
        .files
        .iter()
        .map(|(file, _)| *file)
        .filter(|file| folder.join(file).exists())
        .collect();
    if overwrite == Overwrite::No && !taken.is_empty() {
        bail!(
            "{} has {} already: choose another folder, or overwrite with --force",
            folder.display(),
            taken.join(", ")
        );
    }
    for (file, blocks) in &configuration.files {
        let path = folder.join(file);
        let text = render(blocks);
        let mut options = OpenOptions::new();
        options.write(true);
        match overwrite {
            Overwrite::Yes => options.create(true).truncate(true),
            Overwrite::No => options.create_new(true),
        };
        options
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .with_context(|| path.display().to_string())?;
        eprintln!("{}", path.display());
    }
    Ok(())
}
