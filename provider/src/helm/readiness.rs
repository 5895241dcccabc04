//! Whether a release's workloads are ready, and if not, why.

use super::HelmError;
use crate::cluster::{Cluster, Kind, Objects};
use serde_json::Value;

/// The answer, with reasons that a user can act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Readiness {
    /// One entry for each workload or pod that is not ready; empty when all are.
    pub reasons: Vec<String>,
}

impl Readiness {
    /// Whether every workload is ready.
    pub(crate) fn is_ready(&self) -> bool {
        self.reasons.is_empty()
    }
}

/// Looks at the workloads among `objects`, the rendered objects of a release in `namespace`.
pub(crate) async fn readiness_of(
    cluster: &Cluster,
    namespace: &str,
    objects: &[Value],
) -> Result<Readiness, HelmError> {
    let mut reasons = Vec::new();
    for object in objects {
        let Some(kind) = workload_kind(object) else {
            continue;
        };
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let place = object["metadata"]["namespace"].as_str().unwrap_or(namespace);
        let Some(live) = Objects::within(cluster, kind, place).await?.get(name).await? else {
            reasons.push(format!(
                "{} {name} does not exist",
                object["kind"].as_str().unwrap_or_default()
            ));
            continue;
        };
        if let Some(reason) = workload_reason(&live) {
            reasons.push(reason);
            reasons.extend(pod_reasons(cluster, place, &live).await?);
        }
    }
    Ok(Readiness { reasons })
}

async fn pod_reasons(cluster: &Cluster, namespace: &str, workload: &Value) -> Result<Vec<String>, HelmError> {
    let Some(selector) = selector(workload) else {
        return Ok(Vec::new());
    };
    let pods = Objects::within(cluster, Kind::new("", "v1", "Pod", "pods"), namespace).await?;
    let events = Objects::within(cluster, Kind::new("", "v1", "Event", "events"), namespace).await?;
    let mut pods = pods.list(Some(&selector)).await?;
    pods.retain(|pod| pod["metadata"]["deletionTimestamp"].is_null());
    if pods.iter().all(is_pod_ready) {
        return Ok(Vec::new());
    }
    // Events are a help, not a must: a role may lack the permission.
    let events = events.list(None).await.unwrap_or_default();
    Ok(pods.iter().filter_map(|pod| pod_reason(pod, &events)).collect())
}

fn workload_kind(object: &Value) -> Option<Kind> {
    match (object["apiVersion"].as_str()?, object["kind"].as_str()?) {
        ("apps/v1", "Deployment") => Some(Kind::new("apps", "v1", "Deployment", "deployments")),
        ("apps/v1", "StatefulSet") => Some(Kind::new("apps", "v1", "StatefulSet", "statefulsets")),
        ("apps/v1", "DaemonSet") => Some(Kind::new("apps", "v1", "DaemonSet", "daemonsets")),
        _ => None,
    }
}

fn selector(workload: &Value) -> Option<String> {
    let labels = workload["spec"]["selector"]["matchLabels"].as_object()?;
    let pairs: Vec<String> = labels
        .iter()
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect();
    Some(pairs.join(","))
}

/// Why a workload is not ready; `None` when it is.
fn workload_reason(live: &Value) -> Option<String> {
    let kind = live["kind"].as_str().unwrap_or_default();
    let name = live["metadata"]["name"].as_str().unwrap_or_default();
    let status = &live["status"];
    let number = |value: &Value| value.as_i64().unwrap_or_default();
    if number(&status["observedGeneration"]) < number(&live["metadata"]["generation"]) {
        return Some(format!(
            "{kind} {name}: the controller manager has not seen the change yet"
        ));
    }
    let (wanted, updated, ready) = match kind {
        "DaemonSet" => (
            number(&status["desiredNumberScheduled"]),
            number(&status["updatedNumberScheduled"]),
            number(&status["numberReady"]),
        ),
        "StatefulSet" => (
            replicas(live),
            number(&status["updatedReplicas"]),
            number(&status["readyReplicas"]),
        ),
        _ => (
            replicas(live),
            number(&status["updatedReplicas"]),
            number(&status["availableReplicas"]),
        ),
    };
    // While new pods of a Deployment are not ready, the old ones stay, and count as available.
    let old = match kind {
        "Deployment" => (number(&status["replicas"]) - updated).max(0),
        _ => 0,
    };
    if updated >= wanted && ready >= wanted && old == 0 {
        return None;
    }
    let mut text = if old > 0 {
        format!("{kind} {name}: {ready} of {wanted} pods ready, and {old} of the old ones still there")
    } else {
        format!("{kind} {name}: {ready} of {wanted} pods ready, {updated} of them new")
    };
    for condition in status["conditions"].as_array().into_iter().flatten() {
        let (kind, state) = (&condition["type"], &condition["status"]);
        let bad =
            (kind == "ReplicaFailure" && state == "True") || (kind == "Progressing" && state == "False");
        if let (true, Some(message)) = (bad, condition["message"].as_str()) {
            text.push_str("; ");
            text.push_str(message);
        }
    }
    Some(text)
}

fn replicas(live: &Value) -> i64 {
    live["spec"]["replicas"].as_i64().unwrap_or(1)
}

fn is_pod_ready(pod: &Value) -> bool {
    condition(pod, "Ready").is_some_and(|ready| ready["status"] == "True")
}

fn condition<'a>(pod: &'a Value, kind: &str) -> Option<&'a Value> {
    pod["status"]["conditions"]
        .as_array()?
        .iter()
        .find(|condition| condition["type"] == kind)
}

/// Why a pod is not ready; `None` when it is.
fn pod_reason(pod: &Value, events: &[Value]) -> Option<String> {
    if is_pod_ready(pod) {
        return None;
    }
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    let mut parts = Vec::new();
    if let Some(scheduled) = condition(pod, "PodScheduled").filter(|scheduled| scheduled["status"] == "False")
    {
        parts.push(format!(
            "not scheduled: {}",
            scheduled["message"].as_str().unwrap_or("no reason given")
        ));
    }
    for list in ["initContainerStatuses", "containerStatuses"] {
        parts.extend(
            pod["status"][list]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(container_reason),
        );
    }
    if let Some(event) = last_warning(events, pod["metadata"]["uid"].as_str(), name) {
        parts.push(event);
    }
    if parts.is_empty() {
        parts.push(format!(
            "phase {}",
            pod["status"]["phase"].as_str().unwrap_or("unknown")
        ));
    }
    Some(format!("pod {name}: {}", parts.join("; ")))
}

fn container_reason(status: &Value) -> Option<String> {
    let name = status["name"].as_str().unwrap_or_default();
    let ended = &status["lastState"]["terminated"];
    let earlier = ended["exitCode"].as_i64().map(|code| {
        let message = ended["message"]
            .as_str()
            .map(|message| format!(": {}", message.trim()))
            .unwrap_or_default();
        format!(
            ", last ended with exit code {code} ({}){message}",
            ended["reason"].as_str().unwrap_or("Error")
        )
    });
    let state = &status["state"];
    if let Some(waiting) = state["waiting"].as_object() {
        let text = |key: &str| waiting.get(key).and_then(Value::as_str);
        // An init container's successors wait without a fault of their own.
        if matches!(text("reason"), Some("PodInitializing" | "ContainerCreating")) && earlier.is_none() {
            return None;
        }
        let message = text("message")
            .map(|message| format!(": {message}"))
            .unwrap_or_default();
        let reason = text("reason").unwrap_or("waiting");
        return Some(format!(
            "container {name} {reason}{message}{}",
            earlier.unwrap_or_default()
        ));
    }
    if let Some(code) = state["terminated"]["exitCode"].as_i64().filter(|&code| code != 0) {
        return Some(format!("container {name} ended with exit code {code}"));
    }
    if state["running"].is_object() && status["ready"] == false {
        return Some(format!(
            "container {name} runs but its readiness probe does not pass{}",
            earlier.unwrap_or_default()
        ));
    }
    None
}

fn last_warning(events: &[Value], uid: Option<&str>, name: &str) -> Option<String> {
    let about = |event: &&Value| {
        let object = &event["involvedObject"];
        event["type"] == "Warning"
            && object["name"] == name
            && (uid.is_none() || object["uid"].as_str() == uid)
    };
    let time = |event: &&Value| {
        let text = |key: &str| {
            event[key]
                .as_str()
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        text("lastTimestamp").or_else(|| text("eventTime"))
    };
    let event = events.iter().filter(about).max_by_key(time)?;
    Some(format!(
        "event {}: {}",
        event["reason"].as_str().unwrap_or_default(),
        event["message"].as_str().unwrap_or_default().trim()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_workload_is_ready_when_all_its_pods_are_new_and_ready() {
        let deployment = |generation: i64, observed: i64, updated: i64, available: i64| {
            json!({
                "kind": "Deployment", "metadata": { "name": "d", "generation": generation },
                "spec": { "replicas": 2 },
                "status": { "observedGeneration": observed, "updatedReplicas": updated, "availableReplicas": available },
            })
        };
        for (live, want) in [
            (deployment(2, 2, 2, 2), None),
            (deployment(3, 2, 2, 2), Some("has not seen")),
            (deployment(2, 2, 1, 2), Some("1 of them new")),
            (deployment(2, 2, 2, 0), Some("0 of 2 pods ready")),
        ] {
            let got = workload_reason(&live);
            match want {
                None => assert_eq!(got, None),
                Some(text) => assert!(got.as_deref().is_some_and(|got| got.contains(text)), "{got:?}"),
            }
        }
        // A rolling update whose new pod does not get ready: the old ones make it look available.
        let mut rolling = deployment(3, 3, 2, 2);
        rolling["status"]["replicas"] = json!(3);
        let got = workload_reason(&rolling);
        assert!(
            got.as_deref()
                .is_some_and(|got| got.contains("1 of the old ones still there")),
            "{got:?}"
        );
        let daemons = json!({ "kind": "DaemonSet", "metadata": {}, "status": {} });
        assert_eq!(
            workload_reason(&daemons),
            None,
            "no node, no pod, nothing to wait for"
        );
    }

    #[test]
    fn a_failing_quota_is_told() {
        let live = json!({
            "kind": "Deployment", "metadata": { "name": "d" },
            "status": { "conditions": [{ "type": "ReplicaFailure", "status": "True", "message": "exceeded quota" }] },
        });
        assert!(workload_reason(&live).is_some_and(|reason| reason.contains("exceeded quota")));
    }

    #[test]
    fn a_pod_tells_why() {
        let pod = |status: Value| json!({ "metadata": { "name": "p", "uid": "u" }, "status": status });
        let event = json!({
            "type": "Warning", "involvedObject": { "name": "p", "uid": "u" }, "lastTimestamp": "2026-01-01T00:00:01Z",
            "reason": "FailedMount", "message": "no such secret",
        });
        let rows = [
            (
                json!({ "conditions": [{ "type": "Ready", "status": "True" }] }),
                None,
            ),
            (
                json!({ "conditions": [{ "type": "PodScheduled", "status": "False", "message": "0/1 nodes are available" }] }),
                Some("not scheduled: 0/1 nodes are available"),
            ),
            (
                json!({ "containerStatuses": [{ "name": "c", "state": { "waiting": { "reason": "ImagePullBackOff", "message": "no image" } } }] }),
                Some("container c ImagePullBackOff: no image"),
            ),
            (
                json!({ "containerStatuses": [{ "name": "c", "state": { "waiting": { "reason": "CrashLoopBackOff" } },
                    "lastState": { "terminated": { "exitCode": 1, "reason": "Error", "message": "no credentials\n" } } }] }),
                Some("CrashLoopBackOff, last ended with exit code 1 (Error): no credentials"),
            ),
            (
                json!({ "containerStatuses": [{ "name": "c", "ready": false, "state": { "running": {} } }] }),
                Some("readiness probe does not pass"),
            ),
            (json!({ "phase": "Pending" }), Some("phase Pending")),
        ];
        for (status, want) in rows {
            let got = pod_reason(&pod(status), &[]);
            match want {
                None => assert_eq!(got, None),
                Some(text) => assert!(
                    got.as_deref().is_some_and(|got| got.contains(text)),
                    "{got:?} lacks {text}"
                ),
            }
        }
        let got = pod_reason(&pod(json!({ "phase": "Pending" })), &[event]);
        assert_eq!(got.as_deref(), Some("pod p: event FailedMount: no such secret"));
    }
}
