//! Why a deletion takes its time: what must go first, and what keeps that from going.
//!
//! Input: what the cluster holds at one moment. Output: sentences, sorted. Invariant: reads no clock and no network.

use crate::cluster::finalizers::{finalizers, of_others, resource_of};
use jiff::Timestamp;
use serde_json::Value;
use std::time::Duration;

/// How long a controller's lease may be silent before it counts as not running. Leases are renewed every few seconds.
const LEASE_SILENCE: Duration = Duration::from_secs(40);
/// How many NodeClaims are described one by one.
const MOST_CLAIMS: usize = 5;
/// How many blocking pods of one node are named.
const MOST_PODS: usize = 3;
/// The annotation with which a pod forbids its disruption.
const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";

/// What the cluster holds.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// The object that is being deleted.
    pub object: Value,
    /// The NodeClaims that must go before it.
    pub claims: Vec<Value>,
    /// All pods; empty when they may not be read.
    pub pods: Vec<Value>,
    /// All PodDisruptionBudgets; empty when they may not be read.
    pub budgets: Vec<Value>,
    /// The controller's lease, when there is one.
    pub lease: Option<Value>,
}

/// Whether a controller is there to do the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Controller {
    /// Its lease is fresh.
    Running,
    /// Its lease is old: who held it, and for how long it is silent.
    Silent { holder: String, silence: Duration },
    /// There is no lease: a controller without leader election, or none.
    Unknown,
}

/// Judges the controller's lease.
pub(crate) fn controller(lease: Option<&Value>, now: Timestamp) -> Controller {
    let Some(lease) = lease else {
        return Controller::Unknown;
    };
    let holder = lease["spec"]["holderIdentity"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let renewed = lease["spec"]["renewTime"]
        .as_str()
        .and_then(|text| text.parse::<Timestamp>().ok());
    let silence = match renewed {
        Some(renewed) => Duration::try_from(now.duration_since(renewed)).unwrap_or(Duration::ZERO),
        None => LEASE_SILENCE,
    };
    // A controller that ends in order gives its lease up by emptying the holder.
    if holder.is_empty() || silence >= LEASE_SILENCE {
        return Controller::Silent { holder, silence };
    }
    Controller::Running
}

/// Sentences that tell what the deletion waits for. Empty when nothing is known to be in the way.
pub(crate) fn blockers(view: &View, now: Timestamp) -> Vec<String> {
    let mut sentences = Vec::new();
    let finalizers = finalizers(&view.object);
    let others = of_others(&resource_of(&view.object), &view.object);
    if !finalizers.is_empty() && (view.claims.is_empty() || others.is_some()) {
        sentences.push(format!(
            "its finalizers {} are not removed yet",
            finalizers.join(", ")
        ));
    }
    sentences.extend(others);
    if !view.claims.is_empty() {
        sentences.push(format!("{} NodeClaims must go first", view.claims.len()));
    }
    let mut claims: Vec<&Value> = view.claims.iter().collect();
    claims.sort_by_key(|claim| claim["metadata"]["name"].as_str());
    sentences.extend(
        claims
            .iter()
            .take(MOST_CLAIMS)
            .map(|claim| claim_sentence(claim, view)),
    );
    if claims.len() > MOST_CLAIMS {
        sentences.push(format!("and {} more", claims.len() - MOST_CLAIMS));
    }
    let is_kept = claims
        .iter()
        .any(|claim| claim["metadata"]["deletionTimestamp"].is_null());
    if view.object["kind"] == "EC2NodeClass" && is_kept {
        sentences.push(
            "NodeClaims that are not being deleted go once their node pool refers to another class or is deleted. Where this class is \
             replaced, as by a new name, write lifecycle { create_before_destroy = true } in it and apply again: then the pools change first"
                .to_owned(),
        );
    }
    if let Controller::Silent { holder, silence } = controller(view.lease.as_ref(), now)
        && !sentences.is_empty()
    {
        let last = if holder.is_empty() {
            "its last holder gave it up".to_owned()
        } else {
            format!("{holder} held it last")
        };
        sentences.push(format!(
            "no controller is running: the lease karpenter-leader-election was last renewed {} s ago ({last}). Start the controller again \
             (apply its joiner_helm_release), then repeat the destroy",
            silence.as_secs()
        ));
    }
    sentences
}

fn claim_sentence(claim: &Value, view: &View) -> String {
    let name = claim["metadata"]["name"].as_str().unwrap_or("?");
    let node = claim["status"]["nodeName"].as_str();
    let mut text = match node {
        Some(node) => format!("NodeClaim {name} (node {node})"),
        None => format!("NodeClaim {name} (no node yet)"),
    };
    text.push_str(if claim["metadata"]["deletionTimestamp"].is_null() {
        " is not being deleted yet"
    } else {
        " is ending"
    });
    for condition in claim["status"]["conditions"].as_array().into_iter().flatten() {
        let kind = condition["type"].as_str().unwrap_or_default();
        let waits = matches!(kind, "Drained" | "VolumesDetached" | "InstanceTerminating")
            && condition["status"] != "True"
            && !condition["message"].as_str().unwrap_or_default().is_empty();
        if waits {
            text.push_str(&format!(
                "; {kind}: {}",
                condition["message"].as_str().unwrap_or_default()
            ));
        }
    }
    if let Some(others) = of_others("nodeclaim.karpenter.sh", claim) {
        text.push_str("; ");
        text.push_str(&others);
    }
    let pods: Vec<String> = match node {
        Some(node) => view
            .pods
            .iter()
            .filter_map(|pod| pod_blocker(pod, node, &view.budgets))
            .collect(),
        None => Vec::new(),
    };
    for pod in pods.iter().take(MOST_PODS) {
        text.push_str("; ");
        text.push_str(pod);
    }
    if pods.len() > MOST_PODS {
        text.push_str(&format!("; and {} more such pods", pods.len() - MOST_PODS));
    }
    text
}

/// Why a pod keeps its node; `None` when it does not.
fn pod_blocker(pod: &Value, node: &str, budgets: &[Value]) -> Option<String> {
    let metadata = &pod["metadata"];
    let over = matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
    if pod["spec"]["nodeName"] != node || over || is_daemon(pod) {
        return None;
    }
    let (namespace, name) = (metadata["namespace"].as_str()?, metadata["name"].as_str()?);
    if metadata["annotations"][DO_NOT_DISRUPT] == "true" {
        return Some(format!("pod {namespace}/{name} carries {DO_NOT_DISRUPT}"));
    }
    let budget = budgets.iter().find(|budget| {
        budget["metadata"]["namespace"] == namespace
            && budget["status"]["disruptionsAllowed"] == 0
            && matches(&budget["spec"]["selector"], &metadata["labels"])
    })?;
    Some(format!(
        "pod {namespace}/{name} is protected by PodDisruptionBudget {} (no disruption allowed now)",
        budget["metadata"]["name"].as_str().unwrap_or("?")
    ))
}

fn is_daemon(pod: &Value) -> bool {
    let owners = pod["metadata"]["ownerReferences"].as_array();
    owners.is_some_and(|owners| {
        owners
            .iter()
            .any(|owner| owner["kind"] == "DaemonSet" || owner["kind"] == "Node")
    })
}

/// Whether a selector's `matchLabels` fit; expressions are taken to fit, since this only explains.
fn matches(selector: &Value, labels: &Value) -> bool {
    selector["matchLabels"]
        .as_object()
        .is_none_or(|wanted| wanted.iter().all(|(key, value)| labels[key] == *value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: &str = "2026-11-30T08:10:00Z";

    fn now() -> Timestamp {
        NOW.parse().expect("a time")
    }

    fn lease(holder: &str, renewed: &str) -> Value {
        json!({ "spec": { "holderIdentity": holder, "renewTime": renewed } })
    }

    #[test]
    fn a_controller_is_judged_by_its_lease() {
        for (given, running) in [
            (Some(lease("a", "2026-11-30T08:09:58.000000Z")), true),
            (Some(lease("a", "2026-11-30T08:00:00.000000Z")), false),
            (Some(lease("", "2026-11-30T08:09:58.000000Z")), false),
        ] {
            assert_eq!(
                controller(given.as_ref(), now()) == Controller::Running,
                running,
                "{given:?}"
            );
        }
        assert_eq!(controller(None, now()), Controller::Unknown);
    }

    #[test]
    fn every_blocker_is_told() {
        let view = View {
            object: json!({ "metadata": { "finalizers": ["foregroundDeletion"] } }),
            claims: vec![json!({
                "metadata": { "name": "pool-x", "deletionTimestamp": NOW, "finalizers": ["karpenter.sh/termination", "a.example/b"] },
                "status": { "nodeName": "n1", "conditions": [{ "type": "Drained", "status": "Unknown", "message": "draining" }] },
            })],
            pods: vec![
                json!({ "metadata": { "namespace": "d", "name": "p1", "labels": { "app": "x" } }, "spec": { "nodeName": "n1" }, "status": {} }),
                json!({ "metadata": { "namespace": "d", "name": "p2", "annotations": { DO_NOT_DISRUPT: "true" } }, "spec": { "nodeName": "n1" }, "status": {} }),
                json!({ "metadata": { "namespace": "d", "name": "ds", "ownerReferences": [{ "kind": "DaemonSet" }], "annotations": { DO_NOT_DISRUPT: "true" } },
                    "spec": { "nodeName": "n1" }, "status": {} }),
            ],
            budgets: vec![json!({
                "metadata": { "namespace": "d", "name": "b" }, "spec": { "selector": { "matchLabels": { "app": "x" } } },
                "status": { "disruptionsAllowed": 0 },
            })],
            lease: Some(lease("pod-1", "2026-11-30T08:00:00Z")),
        };
        let text = blockers(&view, now()).join("\n");
        for part in [
            "1 NodeClaims must go first",
            "NodeClaim pool-x (node n1) is ending; Drained: draining",
            "a.example/b was set by another program",
            "kubectl patch nodeclaim.karpenter.sh pool-x --type=merge -p '{\"metadata\":{\"finalizers\":[\"karpenter.sh/termination\"]}}'",
            "pod d/p1 is protected by PodDisruptionBudget b",
            "pod d/p2 carries karpenter.sh/do-not-disrupt",
            "no controller is running",
            "600 s ago (pod-1 held it last)",
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
        assert!(
            !text.contains("d/ds") && !text.contains("foregroundDeletion"),
            "{text}"
        );
    }

    #[test]
    fn a_class_that_is_replaced_waits_for_pools_that_change_after_it() {
        for (kind, deleted, told) in [
            ("EC2NodeClass", false, true),
            ("EC2NodeClass", true, false),
            ("NodePool", false, false),
        ] {
            let mut claim = json!({ "metadata": { "name": "a" } });
            if deleted {
                claim["metadata"]["deletionTimestamp"] = json!(NOW);
            }
            let view = View {
                object: json!({ "kind": kind, "metadata": { "name": "c" } }),
                claims: vec![claim],
                ..View::default()
            };
            let text = blockers(&view, now()).join("\n");
            assert_eq!(
                text.contains("create_before_destroy = true"),
                told,
                "{kind}: {text}"
            );
        }
    }

    #[test]
    fn a_bare_object_waits_for_its_finalizers() {
        let view = View {
            object: json!({ "metadata": { "finalizers": ["karpenter.k8s.aws/termination"] } }),
            ..View::default()
        };
        assert_eq!(
            blockers(&view, now()),
            ["its finalizers karpenter.k8s.aws/termination are not removed yet"]
        );
        let held = View {
            object: json!({
                "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": { "name": "p", "finalizers": ["a.example/b"] },
            }),
            // What must go first is no reason to be silent about it.
            claims: vec![json!({ "metadata": { "name": "p-x" } })],
            ..View::default()
        };
        let told = blockers(&held, now());
        assert_eq!(told[0], "its finalizers a.example/b are not removed yet");
        assert!(
            told[1].contains("kubectl patch nodepool.karpenter.sh p "),
            "{told:?}"
        );
        assert!(blockers(&View::default(), now()).is_empty());
    }
}
