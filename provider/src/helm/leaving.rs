//! Which objects of a removed release are still on their way out, and what each waits for.

use super::places::Places;
use super::{HelmError, manifest};
use crate::cluster::Cluster;
use crate::cluster::finalizers::{finalizers, of_others, resource_of};
use serde_json::Value;

/// Those of `objects`, the rendered objects of a release in `namespace`, whose deletion was asked for and has not ended. What
/// nobody deletes, such as what the chart keeps, is not among them.
///
/// # Errors
/// When the cluster does not answer.
pub(crate) async fn leaving(
    cluster: &Cluster,
    namespace: &str,
    objects: &[Value],
) -> Result<Vec<String>, HelmError> {
    let mut places = Places::new(cluster, namespace);
    let mut found = Vec::new();
    for object in objects {
        let mut object = object.clone();
        let Some(place) = places.of(&mut object).await? else {
            continue;
        };
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let live = place.get(name).await?;
        found.extend(live.and_then(|live| reason(&manifest::title(&object), &live)));
    }
    Ok(found)
}

fn reason(title: &str, live: &Value) -> Option<String> {
    live["metadata"]["deletionTimestamp"].as_str()?;
    let finalizers = finalizers(live);
    let told = match finalizers.as_slice() {
        [] if live["metadata"]["finalizers"]
            .as_array()
            .is_some_and(|all| !all.is_empty()) =>
        {
            format!("{title} waits for the end of what it owns")
        }
        [] => format!("{title} is ending"),
        _ => format!("{title} waits for its finalizers {}", finalizers.join(", ")),
    };
    Some(match of_others(&resource_of(live), live) {
        Some(others) => format!("{told}; {others}"),
        None => told,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_is_being_deleted_is_waited_for() {
        let live = |finalizers: Value| json!({ "metadata": { "deletionTimestamp": "2026-11-30T08:00:00Z", "finalizers": finalizers } });
        for (live, want) in [
            (json!({ "metadata": { "name": "kept" } }), None),
            (live(Value::Null), Some("A/n/a is ending")),
            (
                live(json!(["foregroundDeletion"])),
                Some("A/n/a waits for the end of what it owns"),
            ),
            (
                live(json!(["kubernetes.io/y", "z"])),
                Some("A/n/a waits for its finalizers kubernetes.io/y, z"),
            ),
        ] {
            assert_eq!(reason("A/n/a", &live).as_deref(), want, "{live}");
        }
        let held = reason("A/n/a", &live(json!(["x/y"]))).expect("it waits");
        assert!(
            held.starts_with("A/n/a waits for its finalizers x/y; x/y was set by another program"),
            "{held}"
        );
    }
}
