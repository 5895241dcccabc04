//! The controller's chart, compiled in, so that the default release needs no registry.

use super::HelmError;
use std::fs;
use std::path::{Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/chart.rs"));

/// Writes the chart below `directory` and answers its path.
pub(crate) fn unpack(directory: &Path) -> Result<PathBuf, HelmError> {
    let root = directory.join("chart");
    for (name, content) in FILES {
        let path = root.join(name);
        let write = || -> std::io::Result<()> {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, content)
        };
        write().map_err(|error| HelmError::Start {
            cause: format!("{}: {error}", path.display()),
        })?;
    }
    Ok(root)
}

/// The text of its `Chart.yaml`.
pub(crate) fn chart_yaml() -> Option<&'static str> {
    text("Chart.yaml")
}

/// The text of its `values.schema.json`.
pub(crate) fn values_schema() -> Option<&'static str> {
    text("values.schema.json")
}

fn text(file: &str) -> Option<&'static str> {
    let (_, content) = FILES.iter().find(|(name, _)| *name == file)?;
    std::str::from_utf8(content).ok()
}

/// A fingerprint of the embedded chart: it changes when any of its files does.
pub(crate) fn fingerprint() -> &'static str {
    FINGERPRINT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chart_is_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = unpack(dir.path()).expect("written");
        let chart = fs::read_to_string(root.join("Chart.yaml")).expect("a chart has a Chart.yaml");
        assert!(chart.contains("name:"), "{chart}");
        assert_eq!(fingerprint().len(), 64);
    }
}
