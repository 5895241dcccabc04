//! Custom resource definitions: applied, and waited for until they are served.

use super::{ApplyOptions, Cluster, ClusterError, Ended, Kind, Objects, Pace, Waiting};
use serde_json::Value;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Time until an applied definition must be served.
const ESTABLISH_WITHIN: Duration = Duration::from_secs(60);

/// How the wait for definitions ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Served {
    /// All are served.
    Yes,
    /// This one is not, after so long.
    NotYet { name: String, after: Duration },
    /// The core asked to stop.
    Cancelled,
}

/// The kind of definitions.
pub(crate) fn definition_kind() -> Kind {
    Kind::new(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
    )
}

/// Applies definitions and waits until each is served.
pub(crate) async fn put_definitions(
    cluster: &Cluster,
    definitions: &[Value],
    options: &ApplyOptions,
    cancel: &CancellationToken,
) -> Result<Served, ClusterError> {
    let objects = Objects::all(cluster, definition_kind()).await?;
    for definition in definitions {
        objects.apply(name_of(definition), definition, options).await?;
    }
    for definition in definitions {
        let name = name_of(definition);
        let mut waiting = Waiting::new(Pace::QUICK, ESTABLISH_WITHIN, cancel);
        while !objects.get(name).await?.as_ref().is_some_and(is_established) {
            match waiting.pause().await {
                Ok(()) => {}
                Err(Ended::Cancelled) => return Ok(Served::Cancelled),
                Err(Ended::TimedOut) => {
                    return Ok(Served::NotYet {
                        name: name.to_owned(),
                        after: ESTABLISH_WITHIN,
                    });
                }
            }
        }
    }
    Ok(Served::Yes)
}

/// The name of a definition, such as `nodepools.karpenter.sh`.
pub(crate) fn name_of(definition: &Value) -> &str {
    definition["metadata"]["name"].as_str().unwrap_or_default()
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
    fn a_definition_is_served_when_it_is_established() {
        let established =
            json!({ "status": { "conditions": [{ "type": "Established", "status": "True" }] } });
        assert!(is_established(&established) && !is_established(&json!({})));
    }
}
