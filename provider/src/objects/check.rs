//! Every rule of the API, checked on a configuration, with attribute paths.

use super::custom::{Custom, object_of};
use super::wording::in_attributes;
use joiner_api::rules::{self, JsonPath, Segment, UnknownPaths};
use tfplugin::json::{JsonStep, locate};
use tfplugin::{AttributePath, Diagnostic, Diagnostics};

/// What is wrong with a configuration. Unknown parts are left to the apply.
pub(crate) fn check<M: Custom>(model: &M) -> Diagnostics {
    let mut model = model.clone();
    model.complete();
    let object = match object_of(&model) {
        Ok(object) => object,
        Err(diagnostics) => return diagnostics,
    };
    let unknown: UnknownPaths = object.unknown.iter().map(|steps| json_path(steps)).collect();
    let violations = rules::check(M::RULES, &object.json, &unknown, None);
    violations
        .into_iter()
        .map(|violation| {
            let path = attribute_path::<M>(&violation.path);
            let place = if path.is_root() {
                String::new()
            } else {
                format!("{path}: ")
            };
            Diagnostic::error(
                format!("Invalid {}", M::RULES.as_str()),
                format!("{place}{}", in_attributes::<M>(&violation.message)),
            )
            .at(path)
        })
        .collect()
}

/// The attribute at a place of the object.
pub(crate) fn attribute_path<M: Custom>(path: &JsonPath) -> AttributePath {
    let steps: Vec<JsonStep> = path
        .0
        .iter()
        .map(|segment| match segment {
            Segment::Field(name) => JsonStep::Key(name.clone()),
            Segment::Index(index) => JsonStep::Index(*index),
        })
        .collect();
    let root = AttributePath::root();
    match steps.split_first() {
        Some((JsonStep::Key(root_key), rest)) if root_key == "spec" => locate::<M>(&root, rest),
        Some((JsonStep::Key(root_key), rest)) if root_key == "metadata" => match rest {
            [JsonStep::Key(map), JsonStep::Key(key), ..] if map == "labels" || map == "annotations" => {
                root.attribute(map.as_str()).key(key.as_str())
            }
            [JsonStep::Key(name), ..] if matches!(name.as_str(), "name" | "labels" | "annotations") => {
                root.attribute(name.as_str())
            }
            _ => root,
        },
        _ => root,
    }
}

fn json_path(steps: &[JsonStep]) -> JsonPath {
    JsonPath(
        steps
            .iter()
            .map(|step| match step {
                JsonStep::Key(name) => Segment::Field(name.clone()),
                JsonStep::Index(index) => Segment::Index(*index),
            })
            .collect(),
    )
}
