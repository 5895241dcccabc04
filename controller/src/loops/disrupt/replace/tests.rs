use joiner_core::disrupt::drift::PATIENCE;
use serde_json::{Value, json};

use super::*;
use crate::act::testing::{Log, Seen, act, patched};

fn condition(kind: &str) -> Value {
    json!({"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"})
}

fn claim(name: &str, conditions: &[&str]) -> Value {
    let conditions: Vec<Value> = conditions.iter().map(|kind| condition(kind)).collect();
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": name, "uid": name, "resourceVersion": "5", "generation": 1,
            "labels": {"karpenter.sh/nodepool": "default"}, "finalizers": ["karpenter.sh/termination"]},
        "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []},
        "status": {"providerID": format!("aws:///us-west-2a/i-{name}"), "nodeName": format!("node-{name}"), "conditions": conditions},
    })
}

fn node(name: &str, taints: Value) -> Value {
    json!({
        "metadata": {"name": format!("node-{name}"), "uid": format!("uid-{name}"), "resourceVersion": "3",
            "labels": {"karpenter.sh/nodepool": "default", "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}},
        "spec": {"providerID": format!("aws:///us-west-2a/i-{name}"), "taints": taints},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    })
}

fn disrupted() -> Value {
    json!([{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}])
}

fn pool() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default", "resourceVersion": "1"},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []}}},
    })
}

/// A cluster with a pool and these claims, each with its conditions and its node's taints; what is written is answered as written.
fn cluster(places: &[(&str, &[&str], Value)]) -> (Act, Log) {
    let objects: BTreeMap<String, Value> = places
        .iter()
        .flat_map(|(name, conditions, taints)| {
            [
                (
                    format!("/apis/karpenter.sh/v1/nodeclaims/{name}"),
                    claim(name, conditions),
                ),
                (format!("/api/v1/nodes/node-{name}"), node(name, taints.clone())),
            ]
        })
        .collect();
    let known = objects.clone();
    let (act, log) = act(move |asked: &Seen| {
        let object = &known[asked.path.trim_end_matches("/status")];
        let mut after = patched(object, &asked.body);
        if asked.method == "DELETE" {
            after = object.clone();
            after["metadata"]["resourceVersion"] = "9".into();
            after["metadata"]["deletionTimestamp"] = "2026-11-30T12:00:00Z".into();
        }
        (200, after)
    });
    act.index.pool(&serde_json::from_value(pool()).unwrap());
    for (path, object) in objects {
        match path.contains("nodeclaims") {
            true => act.index.claim(&serde_json::from_value(object).unwrap()),
            false => act.index.node(&serde_json::from_value(object).unwrap()),
        }
    }
    (act, log)
}

async fn look(act: &Act, replacing: &mut Replacing) {
    let now = Timestamp::now();
    round(act, replacing, &act.index.snapshot(now), now).await;
}

fn written(log: &Log) -> Vec<String> {
    let seen = log.lock().unwrap();
    seen.iter()
        .map(|it| format!("{} {}", it.method, it.path))
        .collect()
}

fn rolling(seconds: i64, places: &[&str]) -> Rolling {
    Rolling {
        doomed: Doomed {
            pool: "default".into(),
            claim: "old".into(),
            node: "node-old".into(),
        },
        since: Timestamp::now() - SignedDuration::from_secs(seconds),
        places: places
            .iter()
            .map(|place| (PodKey::new("shop", *place), Text::from(*place)))
            .collect(),
    }
}

const COMPLETE: &[&str] = &["Launched", "Registered", "Initialized"];
const OLD: &[&str] = &[
    "Launched",
    "Registered",
    "Initialized",
    "Drifted",
    "DisruptionReason",
];

#[tokio::test]
async fn what_an_earlier_process_began_is_undone() {
    let (act, log) = cluster(&[("old", OLD, disrupted()), ("other", COMPLETE, json!([]))]);
    look(&act, &mut Replacing::default()).await;
    assert_eq!(
        written(&log),
        [
            "PATCH /api/v1/nodes/node-old",
            "PATCH /apis/karpenter.sh/v1/nodeclaims/old/status"
        ]
    );
    let kinds: Vec<Value> = log.lock().unwrap()[1].body["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["type"].clone())
        .collect();
    assert_eq!(kinds, ["Drifted", "Initialized", "Launched", "Registered"]);
}

#[tokio::test]
async fn a_node_goes_once_its_successor_is_complete_and_not_before() {
    for (conditions, want) in [
        (&["Launched"][..], vec![]),
        (COMPLETE, vec!["DELETE /apis/karpenter.sh/v1/nodeclaims/old"]),
    ] {
        let (act, log) = cluster(&[("old", OLD, disrupted()), ("next", conditions, json!([]))]);
        let mut replacing = Replacing::default();
        replacing.rolling.insert("old".into(), rolling(30, &["next"]));
        look(&act, &mut replacing).await;
        assert_eq!(written(&log), want, "{conditions:?}");
        assert!(
            replacing.rolling.contains_key("old"),
            "its pods keep their places until it is gone"
        );
    }
}

#[tokio::test]
async fn a_node_whose_successor_is_lost_or_late_is_released_and_rests() {
    let late = PATIENCE.as_secs() + 1;
    for (seconds, place) in [(30, "gone"), (late, "next")] {
        let (act, log) = cluster(&[("old", OLD, disrupted()), ("next", &["Launched"], json!([]))]);
        act.index.mark(&"old".into());
        let mut replacing = Replacing::default();
        replacing.rolling.insert("old".into(), rolling(seconds, &[place]));
        look(&act, &mut replacing).await;
        assert_eq!(
            written(&log),
            [
                "PATCH /api/v1/nodes/node-old",
                "PATCH /apis/karpenter.sh/v1/nodeclaims/old/status"
            ],
            "{place}"
        );
        assert!(
            replacing.rolling.is_empty() && replacing.resting.contains_key("old"),
            "{place}"
        );
        let snapshot = act.index.snapshot(Timestamp::now());
        assert!(!snapshot.node("node-old").unwrap().marked_for_deletion, "{place}");
    }
}
