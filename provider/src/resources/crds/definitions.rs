//! The definitions as they shall be, and whether those in a cluster are so. Pure.

use crate::cluster::{Kind, name_of};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// The annotation with the version of the provider whose definition it is.
pub(super) const VERSION: &str = "joiner.dev/crds-version";
/// This provider's version.
pub(super) const OURS: &str = env!("CARGO_PKG_VERSION");
/// The manager of the definitions' fields, for each manager of other fields: a release that applies its chart's definitions does not take
/// our annotation away.
pub(super) fn field_manager(base: &str) -> String {
    format!("{base}-crds")
}

/// All definitions, by name.
pub(super) fn wanted() -> Vec<Json> {
    let mut all: Vec<Json> = joiner_api::crds()
        .iter()
        .filter_map(|definition| serde_json::to_value(definition).ok())
        .map(|mut definition| {
            definition["metadata"]["annotations"][VERSION] = json!(OURS);
            if let Some(map) = definition.as_object_mut() {
                map.remove("status");
            }
            definition
        })
        .collect();
    all.sort_by(|left, right| name_of(left).cmp(name_of(right)));
    all
}

/// The names of all definitions.
pub(super) fn names() -> BTreeSet<String> {
    wanted()
        .iter()
        .map(|definition| name_of(definition).to_owned())
        .collect()
}

/// The kind that a definition defines, in the version that it stores.
pub(super) fn kind_of(definition: &Json) -> Kind {
    let spec = &definition["spec"];
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let versions = spec["versions"].as_array().into_iter().flatten();
    let stored = versions
        .filter(|version| version["storage"] == true)
        .map(|version| text(&version["name"]))
        .next();
    Kind::new(
        &text(&spec["group"]),
        stored.as_deref().unwrap_or("v1"),
        &text(&spec["names"]["kind"]),
        &text(&spec["names"]["plural"]),
    )
}

/// Whether a live definition says all that the wanted one does. The server adds defaults of its own.
pub(super) fn is_as_wanted(live: &Json, wanted: &Json) -> bool {
    covers(&live["spec"], &wanted["spec"])
}

fn covers(live: &Json, wanted: &Json) -> bool {
    match (live, wanted) {
        (Json::Object(live), Json::Object(wanted)) => wanted
            .iter()
            .filter(|(_, wanted)| !wanted.is_null())
            .all(|(key, wanted)| live.get(key).is_some_and(|live| covers(live, wanted))),
        (Json::Array(live), Json::Array(wanted)) => {
            live.len() == wanted.len() && live.iter().zip(wanted).all(|(live, wanted)| covers(live, wanted))
        }
        (Json::Number(live), Json::Number(wanted)) => live.as_f64() == wanted.as_f64(),
        (live, wanted) => live == wanted,
    }
}

/// The version that a live definition carries.
pub(super) fn version_of(live: &Json) -> Option<&str> {
    live["metadata"]["annotations"][VERSION].as_str()
}

/// Whether a version is newer than another. Versions that cannot be read are not.
pub(super) fn is_newer(version: &str, than: &str) -> bool {
    match (numbers(version), numbers(than)) {
        (Some(version), Some(than)) => version > than,
        _ => false,
    }
}

fn numbers(version: &str) -> Option<Vec<u64>> {
    let plain = version.split(['-', '+']).next()?;
    plain.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_is_whole() {
        let names: Vec<String> = names().into_iter().collect();
        assert_eq!(
            names,
            [
                "ec2nodeclasses.karpenter.k8s.aws",
                "nodeclaims.karpenter.sh",
                "nodeoverlays.karpenter.sh",
                "nodepools.karpenter.sh"
            ]
        );
        let kinds: Vec<String> = wanted()
            .iter()
            .map(|definition| kind_of(definition).kind().to_owned())
            .collect();
        assert_eq!(kinds, ["EC2NodeClass", "NodeClaim", "NodeOverlay", "NodePool"]);
        assert!(
            wanted()
                .iter()
                .all(|definition| version_of(definition) == Some(OURS))
        );
    }

    #[test]
    fn defaults_of_the_server_are_no_difference_and_a_change_is() {
        for wanted in wanted() {
            let mut live = wanted.clone();
            live["spec"]["conversion"] = json!({ "strategy": "None" });
            live["spec"]["preserveUnknownFields"] = json!(false);
            assert!(is_as_wanted(&live, &wanted));
            live["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["type"] =
                json!("string");
            assert!(!is_as_wanted(&live, &wanted));
        }
    }

    #[test]
    fn versions_are_compared_by_number() {
        for (version, than, newer) in [
            ("0.10.0", "0.9.9", true),
            ("1.0.0", "1.0.0", false),
            ("1.0.0-rc.1", "1.0.0", false),
            ("x", "1.0.0", false),
        ] {
            assert_eq!(is_newer(version, than), newer, "{version} {than}");
        }
    }
}
