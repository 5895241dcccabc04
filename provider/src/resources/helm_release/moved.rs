//! Taking over the state of a `helm_release` of hashicorp/helm, by a `moved` block.
//!
//! Input: that resource's stored state, of its versions 2 (blocks) and 3 (nested attributes). Output: the release with the values that
//! made it, so that a configuration that says the same plans no change. What only says how Helm is run (time-outs, hooks, verification)
//! is this resource's own; what would change the release itself and has no counterpart is refused by name.

use super::identity::ReleaseIdentity;
use super::plan::digest;
use super::schema::{HelmRelease, SetEntry};
use crate::helm::OCI;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use tfplugin::json::dynamic_from_json;
use tfplugin::{Diagnostics, Field, MoveRequest, State};

/// Helm's own default of `timeout`, in seconds.
const TIMEOUT: u64 = 300;

/// The state of a release that hashicorp/helm managed; `None` for any other resource.
pub(super) fn moved(
    resource: &str,
    request: &MoveRequest,
) -> Result<Option<State<HelmRelease, ReleaseIdentity>>, Diagnostics> {
    let provider = request.source_provider.rsplit('/').next().unwrap_or_default();
    if (provider, request.source_type.as_str()) != ("helm", "helm_release") {
        return Ok(None);
    }
    let state = &request.state;
    refuse(resource, state)?;
    let text = |value: &Json| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let Some(name) = text(&state["name"]) else {
        return Err(Diagnostics::error(
            "The release has no name",
            "The stored state of the helm_release has no name. Remove it from the state and import the release as NAMESPACE/NAME.",
        ));
    };
    let namespace = text(&state["namespace"]).unwrap_or_else(|| "default".to_owned());
    let metadata = one(&state["metadata"]);
    let flag = |key: &str, default: bool| Field::Known(state[key].as_bool().unwrap_or(default));
    let chart = chart(state);
    let is_oci = chart.as_deref().is_some_and(|chart| chart.starts_with(OCI));
    let mut model = HelmRelease {
        id: Field::Known(format!("{namespace}/{name}")),
        name: name.into(),
        namespace: namespace.into(),
        version: Field::from_option(text(&state["version"]).filter(|_| is_oci)),
        chart: Field::from_option(chart),
        values: values(&state["values"]),
        set: entries(&state["set"], &state["set_list"]),
        set_sensitive: entries(&state["set_sensitive"], &Json::Null),
        create_namespace: flag("create_namespace", false),
        install_crds: Field::Known(!state["skip_crds"].as_bool().unwrap_or(false)),
        wait: flag("wait", true),
        timeout: Field::Known(timeout(state["timeout"].as_u64().unwrap_or(TIMEOUT))),
        atomic: flag("atomic", false),
        // 0 is that provider's default and keeps all; this one's keeps ten.
        history_max: Field::Known(
            state["max_history"]
                .as_i64()
                .filter(|kept| *kept > 0)
                .unwrap_or(10),
        ),
        take_ownership: flag("take_ownership", false),
        adopt: Field::Known(false),
        detect_drift: Field::Known(true),
        allow_orphans: Field::Known(false),
        // Known, so that the refresh does not take the release for an imported one and its merged values for the written ones.
        status: Field::Known(text(&state["status"]).unwrap_or_else(|| "deployed".to_owned())),
        revision: Field::from_option(metadata["revision"].as_i64()),
        chart_name: Field::from_option(text(&metadata["chart"])),
        chart_version: Field::from_option(text(&metadata["version"])),
        app_version: Field::from_option(text(&metadata["app_version"])),
        crds: Field::Known(Vec::new()),
        ready: Field::Known(true),
        drift: Field::Known(BTreeMap::new()),
        ..HelmRelease::default()
    };
    model.chart_digest = digest(&model);
    Ok(Some(State {
        identity: ReleaseIdentity::of(&model),
        ..State::new(model)
    }))
}

/// Refuses what shaped the release and cannot be said here.
fn refuse(resource: &str, state: &Json) -> Result<(), Diagnostics> {
    let postrender = match &state["postrender"] {
        Json::Array(blocks) => !blocks.is_empty(),
        other => other.is_object(),
    };
    if postrender {
        return Err(Diagnostics::error(
            "The release goes through a post-renderer",
            format!(
                "The helm_release has postrender, and a {resource} has not: its next upgrade would undo what the post-renderer changed. Say \
                 the same with values, or leave the release where it is."
            ),
        ));
    }
    Ok(())
}

/// Where the chart comes from: that provider splits an OCI reference in two.
fn chart(state: &Json) -> Option<String> {
    let chart = state["chart"].as_str().filter(|chart| !chart.is_empty())?;
    match state["repository"]
        .as_str()
        .filter(|repository| !repository.is_empty())
    {
        Some(repository) if !chart.contains("://") => {
            Some(format!("{}/{chart}", repository.trim_end_matches('/')))
        }
        _ => Some(chart.to_owned()),
    }
}

/// A list of YAML texts; none is null.
fn values(values: &Json) -> Field<tfplugin::Value> {
    let texts: Vec<Json> = values
        .as_array()
        .into_iter()
        .flatten()
        .filter(|text| text.is_string())
        .cloned()
        .collect();
    if texts.is_empty() {
        Field::Null
    } else {
        Field::Known(dynamic_from_json(&Json::Array(texts)))
    }
}

/// Single values, then those of `set_list`, each element by its index.
fn entries(set: &Json, lists: &Json) -> Field<Vec<SetEntry>> {
    let items = |json: &Json| json.as_array().cloned().unwrap_or_default();
    let text = |value: &Json| match value {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        other => other.to_string(),
    };
    let entry = |name: String, value: String, as_string: bool| SetEntry {
        name: Field::Known(name),
        value: Field::Known(value),
        r#type: Field::Known(if as_string { "string" } else { "auto" }.to_owned()),
    };
    let mut found: Vec<SetEntry> = items(set)
        .iter()
        .map(|item| {
            entry(
                text(&item["name"]),
                text(&item["value"]),
                item["type"] == "string",
            )
        })
        .collect();
    for list in items(lists) {
        let elements = items(&list["value"]);
        found.extend(elements.iter().enumerate().map(|(index, element)| {
            entry(format!("{}[{index}]", text(&list["name"])), text(element), false)
        }));
    }
    if found.is_empty() {
        Field::Null
    } else {
        Field::Known(found)
    }
}

/// A block that stands once, in a list or by itself.
fn one(json: &Json) -> &Json {
    json.get(0).unwrap_or(json)
}

/// Seconds as a duration: `5m`, `90s`.
fn timeout(seconds: u64) -> String {
    if seconds > 0 && seconds.is_multiple_of(60) {
        format!("{}m", seconds / 60)
    } else {
        format!("{seconds}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(state: Json) -> MoveRequest {
        MoveRequest {
            source_provider: "registry.terraform.io/hashicorp/helm".to_owned(),
            source_type: "helm_release".to_owned(),
            source_version: 1,
            state,
            private: Vec::new(),
        }
    }

    fn taken(state: Json) -> HelmRelease {
        moved("joiner_helm_release", &request(state))
            .expect("it fits")
            .expect("a type to move from")
            .model
    }

    #[test]
    fn a_release_keeps_its_values() {
        let of_version_2 = taken(json!({
            "id": "karpenter", "name": "karpenter", "namespace": "kube-system", "chart": "karpenter",
            "repository": "oci://public.ecr.aws/karpenter", "version": "1.14.3", "values": ["a: 1\n"],
            "set": [{ "name": "x.y", "value": "1", "type": "" }], "set_list": [{ "name": "l", "value": ["p", "q"] }],
            "timeout": 90, "max_history": 0, "wait": true, "skip_crds": true, "status": "deployed", "postrender": [],
            "metadata": [{ "name": "karpenter", "chart": "karpenter", "version": "1.14.3", "app_version": "1.14.3", "revision": 3 }],
        }));
        let text = |field: &Field<String>| field.as_str().unwrap_or_default().to_owned();
        assert_eq!(text(&of_version_2.id), "kube-system/karpenter");
        assert_eq!(
            text(&of_version_2.chart),
            "oci://public.ecr.aws/karpenter/karpenter"
        );
        assert_eq!(text(&of_version_2.version), "1.14.3");
        assert_eq!(text(&of_version_2.timeout), "90s");
        assert_eq!(text(&of_version_2.chart_name), "karpenter");
        assert_eq!(of_version_2.revision, Field::Known(3));
        assert_eq!(of_version_2.history_max, Field::Known(10));
        assert_eq!(of_version_2.install_crds, Field::Known(false));
        let names: Vec<String> = of_version_2
            .set
            .known()
            .into_iter()
            .flatten()
            .map(|entry| text(&entry.name))
            .collect();
        assert_eq!(names, ["x.y", "l[0]", "l[1]"]);

        let of_version_3 = taken(json!({
            "id": "c", "name": "c", "namespace": "default", "chart": "./chart", "repository": null, "version": "0.1.0", "values": null,
            "set": null, "timeout": 300, "status": "deployed",
            "metadata": { "name": "c", "chart": "chart", "version": "0.1.0", "app_version": "", "revision": 1 },
        }));
        assert_eq!(text(&of_version_3.chart), "./chart");
        assert!(
            of_version_3.version.is_null(),
            "a path has the version that it has"
        );
        assert!(of_version_3.set.is_null() && of_version_3.values.is_null());
        assert_eq!(text(&of_version_3.timeout), "5m");
        assert_eq!(of_version_3.revision, Field::Known(1));
    }

    #[test]
    fn what_would_be_undone_is_refused() {
        for postrender in [json!([{ "binary_path": "x" }]), json!({ "binary_path": "x" })] {
            let state = json!({ "name": "c", "namespace": "n", "chart": "c", "postrender": postrender });
            let error = moved("joiner_helm_release", &request(state)).expect_err("a post-renderer");
            assert!(error.to_string().contains("postrender"), "{error}");
        }
        let unnamed = moved("joiner_helm_release", &request(json!({ "chart": "c" })));
        assert!(
            unnamed
                .expect_err("no name")
                .to_string()
                .contains("NAMESPACE/NAME")
        );
        let other = MoveRequest {
            source_type: "helm_template".to_owned(),
            ..request(json!({}))
        };
        assert!(matches!(moved("joiner_helm_release", &other), Ok(None)));
    }
}
