//! The chart's CRDs: applied before the release, each time, since Helm installs them once and never upgrades them.

use super::{HelmError, command, manifest, run::Helm};
use crate::cluster::{ApplyOptions, Cluster, Served, name_of, put_definitions};
use serde_json::Value;
use std::path::Path;
use tokio_util::sync::CancellationToken;

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
    let options = ApplyOptions {
        field_manager: field_manager.to_owned(),
        force_conflicts: true,
        dry_run: false,
    };
    match put_definitions(cluster, &definitions, &options, cancel).await? {
        Served::Yes => {}
        Served::Cancelled => {
            return Err(HelmError::Cancelled {
                verb: "crds".to_owned(),
            });
        }
        Served::NotYet { name, after } => {
            return Err(HelmError::Chart(format!(
                "CRD {name} was applied but is not served after {} s; see kubectl describe crd {name}",
                after.as_secs()
            )));
        }
    }
    let mut names: Vec<String> = definitions
        .iter()
        .map(|definition| name_of(definition).to_owned())
        .collect();
    names.sort();
    Ok(names)
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
    }
}
