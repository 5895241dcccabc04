//! Manifests that people read and copy: upstream's published examples, and those in our docs and examples.

use std::{
    fs,
    path::{Path, PathBuf},
};

use joiner_api::rules::Kind;
use serde_json::Value;

use crate::support::upstream;

/// A manifest and where it is from.
pub(crate) struct Manifest {
    pub(crate) kind: Kind,
    pub(crate) from: String,
    pub(crate) object: Value,
}

/// Karpenter's own examples.
pub(crate) fn upstreams() -> Vec<Manifest> {
    let folder = upstream::module("github.com/aws/karpenter-provider-aws").join("examples/v1");
    let found = in_folder(&folder, false);
    assert!(found.len() > 30, "upstream's examples are gone");
    found
}

/// The manifests in docs/, examples/ and the README: YAML files, and YAML blocks of Markdown files.
pub(crate) fn ours() -> Vec<Manifest> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = in_folder(&root.join("docs"), true);
    found.extend(in_folder(&root.join("examples"), true));
    found.extend(in_file(&root.join("README.md")));
    found
}

fn in_folder(folder: &Path, deep: bool) -> Vec<Manifest> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            if deep {
                found.extend(in_folder(&path, deep));
            }
        } else {
            found.extend(in_file(&path));
        }
    }
    found
}

fn in_file(path: &Path) -> Vec<Manifest> {
    let Ok(text) = fs::read_to_string(path) else {
        return Vec::new();
    };
    let blocks: Vec<String> = match path.extension().and_then(|extension| extension.to_str()) {
        Some("yaml" | "yml") => vec![text],
        Some("md") => text
            .split("```yaml")
            .skip(1)
            .filter_map(|rest| rest.split("```").next().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    for block in blocks
        .into_iter()
        .filter(|block| block.contains("apiVersion: karpenter."))
    {
        let documents: Vec<Value> =
            serde_saphyr::from_multiple(&block).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for object in documents {
            let Some(kind) = Kind::ALL.into_iter().find(|kind| object["kind"] == kind.as_str()) else {
                continue;
            };
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            found.push(Manifest {
                kind,
                from: format!("{file} {}", kind.as_str()),
                object,
            });
        }
    }
    found
}
