//! The text of a file that an argument names.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use anyhow::{Context as _, Result};

/// The file's name for messages, and its text; `-` is standard input.
pub(crate) fn text(file: &Path) -> Result<(String, String)> {
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
