//! What a manifest of an older version must look like, as far as its conversion reads it.
//!
//! Input: the object as it was read, and the shapes of its fields. Output: nothing, or what is wrong with the first field that has
//! another shape. Invariant: a conversion never takes a value of a wrong type for one that is not there.

use anyhow::{Result, bail};
use serde_json::Value as Json;

/// The shape of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// An object.
    Object,
    /// An object of plain values, such as labels.
    Words,
    /// A list.
    List,
    /// A list of objects.
    Objects,
    /// A text, or what YAML reads of one without quotes.
    Text,
    /// `true` or `false`.
    Truth,
    /// A whole number that is not negative.
    Count,
}

use Shape::{Count, List, Object, Objects, Text, Truth, Words};

impl Shape {
    fn fits(self, value: &Json) -> bool {
        let is_plain = |value: &Json| matches!(value, Json::String(_) | Json::Number(_) | Json::Bool(_));
        match self {
            Object => value.is_object(),
            Words => value
                .as_object()
                .is_some_and(|members| members.values().all(is_plain)),
            List => value.is_array(),
            Objects => value
                .as_array()
                .is_some_and(|items| items.iter().all(Json::is_object)),
            Text => is_plain(value),
            Truth => value.is_boolean(),
            Count => value.is_u64(),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Object => "an object",
            Words => "an object of texts",
            List => "a list",
            Objects => "a list of objects",
            Text => "a text",
            Truth => "true or false",
            Count => "a whole number that is not negative",
        }
    }
}

/// A field's path below a base, and its shape.
pub(super) type Field = (&'static str, Shape);

/// What every manifest has.
const METADATA: [Field; 3] = [("", Object), ("labels", Words), ("annotations", Words)];
/// A Provisioner of v1alpha5, below `spec`.
const PROVISIONER: [Field; 20] = [
    ("", Object),
    ("providerRef", Object),
    ("providerRef.name", Text),
    ("provider", Object),
    ("labels", Words),
    ("annotations", Words),
    ("requirements", Objects),
    ("requirements[].key", Text),
    ("requirements[].operator", Text),
    ("requirements[].values", List),
    ("taints", Objects),
    ("startupTaints", Objects),
    ("kubeletConfiguration", Object),
    ("limits", Object),
    ("limits.resources", Words),
    ("consolidation", Object),
    ("consolidation.enabled", Truth),
    ("ttlSecondsAfterEmpty", Count),
    ("ttlSecondsUntilExpired", Count),
    ("weight", Count),
];
/// An AWSNodeTemplate of v1alpha1, below `spec`; the same below `spec.provider` of a Provisioner.
const NODE_TEMPLATE: [Field; 10] = [
    ("", Object),
    ("subnetSelector", Words),
    ("securityGroupSelector", Words),
    ("amiSelector", Words),
    ("amiFamily", Text),
    ("instanceProfile", Text),
    ("userData", Text),
    ("metadataOptions", Object),
    ("blockDeviceMappings", Objects),
    ("tags", Words),
];
/// A NodePool of v1beta1, below `spec`.
const NODE_POOL: [Field; 18] = [
    ("", Object),
    ("template", Object),
    ("template.metadata", Object),
    ("template.metadata.labels", Words),
    ("template.metadata.annotations", Words),
    ("template.spec", Object),
    ("template.spec.nodeClassRef", Object),
    ("template.spec.nodeClassRef.name", Text),
    ("template.spec.requirements", Objects),
    ("template.spec.taints", Objects),
    ("template.spec.startupTaints", Objects),
    ("template.spec.kubelet", Object),
    ("disruption", Object),
    ("disruption.consolidationPolicy", Text),
    ("disruption.consolidateAfter", Text),
    ("disruption.expireAfter", Text),
    ("limits", Words),
    ("weight", Count),
];
/// An EC2NodeClass of v1beta1, below `spec`.
const NODE_CLASS: [Field; 7] = [
    ("", Object),
    ("amiFamily", Text),
    ("amiSelectorTerms", Objects),
    ("subnetSelectorTerms", Objects),
    ("securityGroupSelectorTerms", Objects),
    ("metadataOptions", Object),
    ("tags", Words),
];
/// Kubelet settings that have attributes of their own.
const KUBELET: [Field; 11] = [
    ("clusterDNS", List),
    ("cpuCFSQuota", Truth),
    ("evictionHard", Words),
    ("evictionSoft", Words),
    ("evictionSoftGracePeriod", Words),
    ("imageGCHighThresholdPercent", Count),
    ("imageGCLowThresholdPercent", Count),
    ("kubeReserved", Words),
    ("maxPods", Count),
    ("podsPerCore", Count),
    ("systemReserved", Words),
];

/// Looks at a manifest of a kind and version that are converted; those of others are left to the API's types.
///
/// # Errors
/// The first field of another shape, with the object, the field, its value, what is expected and what to do.
pub(super) fn check(source: &str, kind: &str, version: &str, manifest: &Json) -> Result<()> {
    let tables: &[(&str, &[Field])] = match (kind, version) {
        ("Provisioner", "karpenter.sh/v1alpha5") => &[
            ("spec", &PROVISIONER),
            ("spec.provider", &NODE_TEMPLATE),
            ("spec.kubeletConfiguration", &KUBELET),
        ],
        ("AWSNodeTemplate", "karpenter.k8s.aws/v1alpha1") => &[("spec", &NODE_TEMPLATE)],
        ("NodePool", "karpenter.sh/v1beta1") => {
            &[("spec", &NODE_POOL), ("spec.template.spec.kubelet", &KUBELET)]
        }
        ("EC2NodeClass", "karpenter.k8s.aws/v1beta1") => &[("spec", &NODE_CLASS)],
        _ => return Ok(()),
    };
    let metadata: &[(&str, &[Field])] = &[("metadata", &METADATA)];
    for (base, fields) in metadata.iter().chain(tables) {
        for (path, shape) in *fields {
            let steps: Vec<&str> = base
                .split('.')
                .chain(path.split('.'))
                .filter(|step| !step.is_empty())
                .collect();
            if let Some((place, value)) = misfit(manifest, &steps, String::new(), *shape) {
                bail!(
                    "{source}: {place}: {} found, {} expected; correct it, or leave the object out",
                    short(value),
                    shape.expected()
                );
            }
        }
    }
    Ok(())
}

/// The first value at the end of `steps` that does not fit, with its place. What is null or absent fits, and so does what lies below
/// something of another shape, which is found by itself.
fn misfit<'a>(value: &'a Json, steps: &[&str], place: String, shape: Shape) -> Option<(String, &'a Json)> {
    if value.is_null() {
        return None;
    }
    let Some((step, rest)) = steps.split_first() else {
        return (!shape.fits(value)).then_some((place, value));
    };
    let (key, each) = match step.strip_suffix("[]") {
        Some(key) => (key, true),
        None => (*step, false),
    };
    let place = if place.is_empty() {
        key.to_owned()
    } else {
        format!("{place}.{key}")
    };
    match (&value[key], each) {
        (Json::Array(items), true) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| misfit(item, rest, format!("{place}[{index}]"), shape)),
        (_, true) => None,
        (member, false) => misfit(member, rest, place, shape),
    }
}

fn short(value: &Json) -> String {
    const MOST: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_of_a_wrong_type_is_refused_with_its_place() {
        const PROVISIONER: (&str, &str) = ("Provisioner", "karpenter.sh/v1alpha5");
        const TEMPLATE: (&str, &str) = ("AWSNodeTemplate", "karpenter.k8s.aws/v1alpha1");
        const POOL: (&str, &str) = ("NodePool", "karpenter.sh/v1beta1");
        const CLASS: (&str, &str) = ("EC2NodeClass", "karpenter.k8s.aws/v1beta1");
        for ((kind, version), spec, want) in [
            (
                PROVISIONER,
                json!("hello"),
                "spec: \"hello\" found, an object expected",
            ),
            (
                PROVISIONER,
                json!({ "requirements": "x" }),
                "spec.requirements: \"x\" found, a list of objects expected",
            ),
            (
                PROVISIONER,
                json!({ "limits": 7 }),
                "spec.limits: 7 found, an object expected",
            ),
            (
                PROVISIONER,
                json!({ "limits": { "resources": 7 } }),
                "spec.limits.resources: 7 found, an object of texts expected",
            ),
            (
                PROVISIONER,
                json!({ "requirements": [{ "key": "a" }, { "key": "b", "operator": {} }] }),
                "spec.requirements[1].operator: {} found, a text expected",
            ),
            (
                PROVISIONER,
                json!({ "ttlSecondsAfterEmpty": "soon" }),
                "spec.ttlSecondsAfterEmpty: \"soon\" found, a whole number",
            ),
            (
                PROVISIONER,
                json!({ "ttlSecondsUntilExpired": -5 }),
                "spec.ttlSecondsUntilExpired: -5 found, a whole number",
            ),
            (
                PROVISIONER,
                json!({ "consolidation": { "enabled": "yes" } }),
                "spec.consolidation.enabled: \"yes\" found, true or false expected",
            ),
            (
                PROVISIONER,
                json!({ "labels": "x" }),
                "spec.labels: \"x\" found, an object of texts expected",
            ),
            (
                PROVISIONER,
                json!({ "provider": { "subnetSelector": "x" } }),
                "spec.provider.subnetSelector: \"x\" found",
            ),
            (
                PROVISIONER,
                json!({ "kubeletConfiguration": { "maxPods": "x" } }),
                "spec.kubeletConfiguration.maxPods: \"x\" found, a whole number",
            ),
            (
                TEMPLATE,
                json!({ "metadataOptions": "x" }),
                "spec.metadataOptions: \"x\" found, an object expected",
            ),
            (
                TEMPLATE,
                json!({ "amiSelector": { "a": ["b"] } }),
                "spec.amiSelector: {\"a\":[\"b\"]} found, an object of texts expected",
            ),
            (
                POOL,
                json!({ "template": { "spec": { "kubelet": [1] } } }),
                "spec.template.spec.kubelet: [1] found, an object expected",
            ),
            (POOL, json!({ "disruption": "x" }), "spec.disruption: \"x\" found"),
            (
                CLASS,
                json!({ "metadataOptions": 5 }),
                "spec.metadataOptions: 5 found",
            ),
        ] {
            let error = check("It x (f)", kind, version, &json!({ "spec": spec })).expect_err(want);
            let error = error.to_string();
            assert!(
                error.starts_with("It x (f): ")
                    && error.contains(want)
                    && error.contains("leave the object out"),
                "{error}"
            );
        }
    }

    #[test]
    fn what_fits_and_what_is_absent_is_taken() {
        let provisioner = json!({ "metadata": { "labels": { "a": "b" } }, "spec": {
            "requirements": [{ "key": "a", "operator": "In", "values": ["b"] }], "limits": { "resources": { "cpu": 7 } },
            "weight": null, "ttlSecondsAfterEmpty": 30, "consolidation": {},
        } });
        for (kind, version, manifest) in [
            ("Provisioner", "karpenter.sh/v1alpha5", &provisioner),
            ("Provisioner", "karpenter.sh/v1alpha5", &json!({})),
            // Of another version, and so another's to judge.
            ("Provisioner", "karpenter.sh/v1", &json!({ "spec": 5 })),
        ] {
            assert!(check("it", kind, version, manifest).is_ok(), "{manifest}");
        }
    }
}
