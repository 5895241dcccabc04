//! A manifest as the attributes of a resource.
//!
//! Input: one object as JSON, as `kubectl` takes it. Output: a model in which everything that the manifest does not set is null, or a
//! text that says what does not fit. Invariant: no field of the manifest is lost without a word.

use super::custom::Custom;
use super::read::without_nulls;
use crate::cluster::Kind;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use tfplugin::Field;
use tfplugin::json::{JsonStep, from_json};

/// The attributes that a manifest stands for.
pub(crate) fn from_manifest<M: Custom>(manifest: &Json) -> Result<M, String> {
    let (wanted, found) = (M::kind(), kind_of(manifest));
    if found != (wanted.kind(), wanted.api_version()) {
        return Err(format!(
            "the manifest is one of {}, and {} is expected",
            told(found),
            kind_told(&wanted)
        ));
    }
    let typed: M::Object = serde_json::from_value(manifest.clone()).map_err(|error| error.to_string())?;
    let typed = serde_json::to_value(typed).map_err(|error| error.to_string())?;
    let spec = M::from_spec(typed["spec"].clone());
    // What the types leave out, and what the attributes do: both are fields that would be lost.
    let unread = from_json::<M>(&M::from_spec(without_nulls(manifest["spec"].clone())));
    let unread = unread.map(|read| read.ignored).unwrap_or_default();
    let read = from_json::<M>(&spec).map_err(|found| found.to_string())?;
    if let Some(unknown) = unread.first().or_else(|| read.ignored.first()) {
        return Err(format!(
            "spec has a field that {} does not know: {}",
            wanted.kind(),
            place(unknown)
        ));
    }
    let mut model = read.model;
    let metadata = &manifest["metadata"];
    let common = model.common_mut();
    common.name = Field::from_option(metadata["name"].as_str().map(str::to_owned));
    common.labels = names(&metadata["labels"]);
    common.annotations = names(&metadata["annotations"]);
    Ok(model)
}

/// Kind and version of a manifest, "" where it has none.
pub(super) fn kind_of(manifest: &Json) -> (&str, &str) {
    let text = |key: &str| manifest[key].as_str().unwrap_or_default();
    (text("kind"), text("apiVersion"))
}

/// `NodePool in karpenter.sh/v1`.
pub(super) fn told((kind, version): (&str, &str)) -> String {
    let kind = if kind.is_empty() { "nothing" } else { kind };
    let version = if version.is_empty() { "no version" } else { version };
    format!("{kind} in {version}")
}

/// `NodePool in karpenter.sh/v1`, of a kind.
pub(super) fn kind_told(kind: &Kind) -> String {
    told((kind.kind(), kind.api_version()))
}

fn names(map: &Json) -> Field<BTreeMap<String, String>> {
    match map.as_object() {
        Some(map) => Field::Known(
            map.iter()
                .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                .collect(),
        ),
        None => Field::Null,
    }
}

fn place(steps: &[JsonStep]) -> String {
    steps.iter().fold("spec".to_owned(), |path, step| match step {
        JsonStep::Key(key) => format!("{path}.{key}"),
        JsonStep::Index(index) => format!("{path}[{index}]"),
    })
}
