use joiner_core::conditions::{INITIALIZED, REGISTERED};
use serde_json::{Value, json};

use super::lifecycle;
use crate::act::testing::{Seen, act, patched};

fn claim() -> Value {
    let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "reason": kind, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": "default-abcde", "uid": "u-1", "resourceVersion": "5", "generation": 1,
            "labels": {"karpenter.sh/nodepool": "default", "team": "a"}, "finalizers": ["karpenter.sh/termination"]},
        "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": [],
            "taints": [{"key": "own", "effect": "NoSchedule"}]},
        "status": {"providerID": "aws:///us-west-2a/i-1", "conditions": [condition("Launched", "True")]},
    })
}

fn node() -> Value {
    json!({
        "metadata": {"name": "ip-10-0-1-5", "uid": "n-1", "resourceVersion": "3", "labels": {"kubernetes.io/os": "linux"}},
        "spec": {"providerID": "aws:///us-west-2a/i-1", "taints": [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    })
}

fn answer(asked: &Seen) -> (u16, Value) {
    let object = if asked.path.starts_with("/api/v1/nodes/") {
        node()
    } else {
        claim()
    };
    (200, patched(&object, &asked.body))
}

/// The node is freed for pods first, and then the claim says so; the next step completes it.
#[tokio::test]
async fn a_node_that_joins_is_registered_and_then_initialised() {
    let (act, log) = act(answer);
    act.index.claim(&serde_json::from_value(claim()).unwrap());
    act.index.node(&serde_json::from_value(node()).unwrap());
    lifecycle::step(act.clone(), "default-abcde".into())
        .await
        .unwrap();

    let asked = log.lock().unwrap().clone();
    let paths: Vec<&str> = asked.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "/api/v1/nodes/ip-10-0-1-5",
            "/apis/karpenter.sh/v1/nodeclaims/default-abcde/status"
        ]
    );
    assert_eq!(
        asked[0].body["spec"]["taints"],
        json!([{"key": "own", "effect": "NoSchedule"}])
    );
    assert_eq!(
        asked[0].body["metadata"]["labels"]["karpenter.sh/registered"],
        "true"
    );
    assert_eq!(asked[0].body["metadata"]["labels"]["team"], "a");
    assert_eq!(asked[0].body["metadata"]["ownerReferences"][0]["uid"], "u-1");
    assert_eq!(asked[1].body["status"]["nodeName"], "ip-10-0-1-5");
    let entry = act.index.claim_entry("default-abcde").unwrap();
    assert!(entry.claim.conditions.is_true(REGISTERED) && !entry.claim.conditions.is_true(INITIALIZED));
}

/// A complete node whose pool asks for something else by now has drifted, and the claim says by what; when it asks for that no more,
/// the condition is taken away.
#[tokio::test]
async fn a_claim_says_that_its_node_has_drifted() {
    let mut complete = claim();
    let initialised = json!({"type": "Initialized", "status": "True", "reason": "Initialized", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let registered = json!({"type": "Registered", "status": "True", "reason": "Registered", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let conditions = complete["status"]["conditions"].as_array_mut().unwrap();
    conditions.extend([initialised, registered]);
    let pool = |version: u32, values: &[&str]| -> joiner_api::NodePool {
        serde_json::from_value(json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
            "metadata": {"name": "default", "resourceVersion": version.to_string(), "generation": version},
            "spec": {"template": {"spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [{"key": "team", "operator": "In", "values": values}]}}},
        }))
        .unwrap()
    };
    let known = complete.clone();
    let version = std::sync::atomic::AtomicU32::new(5);
    let (act, _log) = act(move |asked| {
        let mut after = match asked.path.starts_with("/api/v1/nodes/") {
            true => patched(&node(), &asked.body),
            false => patched(&known, &asked.body),
        };
        let next = version.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        after["metadata"]["resourceVersion"] = next.to_string().into();
        (200, after)
    });
    act.index.claim(&serde_json::from_value(complete).unwrap());
    act.index.node(&serde_json::from_value(node()).unwrap());
    for (version, values, want) in [
        (
            1,
            &["b"][..],
            Some("RequirementsDrifted: the node has team=a; NodePool default now asks for team In [b]"),
        ),
        (2, &["a", "b"], None),
    ] {
        act.index.pool(&pool(version, values));
        lifecycle::step(act.clone(), "default-abcde".into())
            .await
            .unwrap();
        let entry = act.index.claim_entry("default-abcde").unwrap();
        let drifted = entry.claim.conditions.get("Drifted");
        let told = drifted.map(|it| format!("{}: {}", it.reason, it.message));
        assert_eq!(told.as_deref(), want);
    }
}

#[tokio::test]
async fn a_claim_that_is_gone_is_nothing_to_do() {
    let (act, log) = act(answer);
    assert_eq!(lifecycle::step(act, "default-abcde".into()).await.unwrap(), None);
    assert!(log.lock().unwrap().is_empty());
}
