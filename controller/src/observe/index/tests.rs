use jiff::Timestamp;
use joiner_core::snapshot::{Phase, PodKey};
use k8s_openapi::api::core::v1 as k8s;
use serde_json::{Value, json};

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + second).unwrap()
}

fn pod(name: &str, version: u32, node: Option<&str>, phase: &str) -> k8s::Pod {
    let conditions = match node {
        Some(_) => json!([]),
        None => json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]),
    };
    read(json!({
        "metadata": {"name": name, "namespace": "shop", "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"containers": [], "nodeName": node},
        "status": {"phase": phase, "conditions": conditions, "startTime": node.map(|_| "2026-01-01T00:00:07Z")},
    }))
}

fn claim(version: u32, provider: Option<&str>) -> joiner_api::NodeClaim {
    read(json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": "default-abcde", "resourceVersion": version.to_string(), "labels": {"karpenter.sh/nodepool": "default"}},
        "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []},
        "status": {"providerID": provider},
    }))
}

fn node(version: u32) -> k8s::Node {
    read(json!({
        "metadata": {"name": "ip-10-0-1-5", "resourceVersion": version.to_string()},
        "spec": {"providerID": "aws:///us-west-2a/i-1"},
    }))
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_pod_waits_from_the_first_time_no_node_fits_it() {
    let index = Index::new(Settings::default());
    index.pod(&pod("web", 1, None, "Pending"), at(1));
    index.pod(&pod("web", 2, None, "Pending"), at(5));
    assert_eq!(index.waiting(), (1, Some(at(1))));
    assert_eq!(index.snapshot(at(5)).pending.len(), 1);
    index.pod(&pod("web", 3, Some("ip-10-0-1-5"), "Pending"), at(6));
    assert_eq!(index.waiting(), (0, None));
    let took = index.pod(&pod("web", 4, Some("ip-10-0-1-5"), "Running"), at(8));
    assert_eq!(took.map(|took| took.as_secs()), Some(7));
    assert_eq!(
        index.pod(&pod("web", 5, Some("ip-10-0-1-5"), "Running"), at(9)),
        None,
        "said once"
    );
}

#[test]
fn a_finished_pod_takes_nothing() {
    let index = Index::new(Settings::default());
    index.pod(&pod("job", 1, Some("ip-10-0-1-5"), "Running"), at(1));
    index.node(&node(2));
    assert_eq!(index.snapshot(at(2)).nodes[0].pods.len(), 1);
    index.pod(&pod("job", 3, Some("ip-10-0-1-5"), "Succeeded"), at(3));
    assert!(index.snapshot(at(3)).nodes[0].pods.is_empty());
    assert_eq!(index.last_pod_event("ip-10-0-1-5"), Some(at(3)));
}

#[test]
fn a_claim_and_its_node_are_one_place() {
    let index = Index::new(Settings::default());
    index.claim(&claim(1, None));
    assert_eq!(index.snapshot(at(0)).nodes[0].phase(), Phase::Planned);
    index.claim(&claim(2, Some("aws:///us-west-2a/i-1")));
    index.node(&node(3));
    let snapshot = index.snapshot(at(0));
    assert_eq!(snapshot.nodes.len(), 1);
    assert!(snapshot.nodes[0].object.is_some());
    assert!(index.changes.lifecycle.take().contains("default-abcde"));
}

#[test]
fn a_pod_meant_for_a_claim_holds_its_room_until_it_is_bound() {
    let index = Index::new(Settings::default());
    index.claim(&claim(1, None));
    index.pod(&pod("web", 2, None, "Pending"), at(1));
    let key = PodKey::new("shop", "web");
    index.nominate(std::slice::from_ref(&key), &"default-abcde".into());
    assert_eq!(index.snapshot(at(2)).nodes[0].nominated, [key]);
    index.pod(&pod("web", 3, Some("ip-10-0-1-5"), "Pending"), at(3));
    assert!(index.snapshot(at(4)).nodes[0].nominated.is_empty());
}

#[test]
fn a_list_forgets_what_is_gone() {
    let index = Index::new(Settings::default());
    assert_eq!(index.unsynced().len(), 9);
    index.claim(&claim(1, Some("aws:///us-west-2a/i-1")));
    index.begin(Kind::Claim);
    index.finish(Kind::Claim, at(1));
    assert!(index.snapshot(at(1)).nodes.is_empty());
    assert_eq!(index.unsynced().len(), 8);
}

#[test]
fn a_pod_whose_room_was_taken_is_decided_on_anew() {
    let index = Index::new(Settings::default());
    index.claim(&claim(1, Some("aws:///us-west-2a/i-1")));
    let mut small = node(2);
    small.status = read(json!({"allocatable": {"pods": "1"}}));
    index.node(&small);
    index.pod(&pod("meant", 3, None, "Pending"), at(1));
    let key = PodKey::new("shop", "meant");
    index.nominate(std::slice::from_ref(&key), &"default-abcde".into());
    assert_eq!(index.snapshot(at(2)).nodes[0].nominated.len(), 1);
    index.pod(&pod("thief", 4, Some("ip-10-0-1-5"), "Pending"), at(3));
    assert!(index.snapshot(at(4)).nodes[0].nominated.is_empty());
}

#[test]
fn pods_of_a_node_that_goes_are_work() {
    let index = Index::new(Settings::default());
    index.node(&node(1));
    index.pod(&pod("web", 2, Some("ip-10-0-1-5"), "Running"), at(1));
    let mut object = claim(3, Some("aws:///us-west-2a/i-1"));
    object.status.as_mut().unwrap().node_name = Some("ip-10-0-1-5".to_owned());
    index.claim(&object);
    assert!(!index.has_work());
    index.mark(&"default-abcde".into());
    assert!(index.has_work());
}

#[test]
fn claims_of_other_clouds_are_not_ours() {
    let index = Index::new(Settings::default());
    let mut object = claim(1, None);
    object.spec.node_class_ref.group = "karpenter.azure.com".to_owned();
    index.claim(&object);
    assert!(index.snapshot(at(0)).nodes.is_empty());
}

#[test]
fn a_pod_that_is_gone_holds_no_room() {
    let index = Index::new(Settings::default());
    index.claim(&claim(1, None));
    index.pod(&pod("web", 2, None, "Pending"), at(1));
    let key = PodKey::new("shop", "web");
    index.pod_gone(&key, 3, at(2));
    index.nominate(std::slice::from_ref(&key), &"default-abcde".into());
    assert!(index.snapshot(at(3)).nodes[0].nominated.is_empty());
}
