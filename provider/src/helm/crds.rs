//! The chart's CRDs: applied before the release, each time, since Helm installs them once and never upgrades them.

use super::{HelmError, command, manifest, run::Helm};
use crate::cluster::{ApplyOptions, Cluster, Ended, Kind, Objects, Pace, Waiting};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Time until an applied CRD must be served.
const ESTABLISH_WITHIN: Duration = Duration::from_secs(60);

/// Applies the CRDs in the `crds/` directory of `chart` and waits until they are served. Answers their names.
///
/// Existing CRDs are adopted whoever made them: two definitions of one kind cannot live side by side.
pub(crate) async fn apply_crds(
    helm: &Helm<'_>,
    cluster: &Cluster,
    chart: &Path,
    field_manager: &str,
    cancel: &CancellationToken,
) -> Result<Vec<String>, HelmError> {
    let shown = helm.run(&command::show_crds(&chart.to_string_lossy())).await?;
    let definitions = definitions(manifest::objects(&shown)?);
    if definitions.is_empty() {
        return Ok(Vec::new());
    }
    let kind = Kind::new(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
    );
    let objects = Objects::all(cluster, kind).await?;
    let options = ApplyOptions {
        field_manager: field_manager.to_owned(),
        force_conflicts: true,
        dry_run: false,
    };
    let mut names = Vec::new();
    for definition in &definitions {
        let name = definition["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        objects.apply(&name, definition, &options).await?;
        names.push(name);
    }
    for name in &names {
        establish(&objects, name, cancel).await?;
    }
    names.sort();
    Ok(names)
}

/// Waits until a CRD is served.
async fn establish(objects: &Objects<'_>, name: &str, cancel: &CancellationToken) -> Result<(), HelmError> {
    let mut waiting = Waiting::new(Pace::QUICK, ESTABLISH_WITHIN, cancel);
    loop {
        if objects
            .get(name)
            .await?
            .is_some_and(|definition| is_established(&definition))
        {
            return Ok(());
        }
        match waiting.pause().await {
            Ok(()) => {}
            Err(Ended::Cancelled) => {
                return Err(HelmError::Cancelled {
                    verb: "crds".to_owned(),
                });
            }
            Err(Ended::TimedOut) => {
                return Err(HelmError::Chart(format!(
                    "CRD {name} was applied but is not served after {} s; see kubectl describe crd {name}",
                    ESTABLISH_WITHIN.as_secs()
                )));
            }
        }
    }
}

fn definitions(objects: Vec<Value>) -> Vec<Value> {
    objects
        .into_iter()
        .filter(|object| object["kind"] == "CustomResourceDefinition")
        .map(without_status)
        .collect()
}

/// A definition without what only the server may set.
fn without_status(mut definition: Value) -> Value {
    if let Some(map) = definition.as_object_mut() {
        map.remove("status");
    }
    if let Some(metadata) = definition["metadata"].as_object_mut() {
        metadata.remove("creationTimestamp");
    }
    definition
}

fn is_established(definition: &Value) -> bool {
    let conditions = definition["status"]["conditions"].as_array();
    conditions.is_some_and(|list| {
        list.iter()
            .any(|item| item["type"] == "Established" && item["status"] == "True")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_definitions_are_applied_and_without_status() {
        let objects = vec![
            json!({ "kind": "ConfigMap" }),
            json!({ "kind": "CustomResourceDefinition", "metadata": { "name": "a", "creationTimestamp": null }, "status": {} }),
        ];
        assert_eq!(
            definitions(objects),
            [json!({ "kind": "CustomResourceDefinition", "metadata": { "name": "a" } })]
        );
        let established =
            json!({ "status": { "conditions": [{ "type": "Established", "status": "True" }] } });
        assert!(is_established(&established) && !is_established(&json!({})));
    }
}
