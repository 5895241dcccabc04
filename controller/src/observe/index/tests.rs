use jiff::Timestamp;
use joiner_core::buffers::Asked;
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
    let index = Index::new(Settings::default(), Wanted::default());
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
    let index = Index::new(Settings::default(), Wanted::default());
    index.pod(&pod("job", 1, Some("ip-10-0-1-5"), "Running"), at(1));
    index.node(&node(2));
    assert_eq!(index.snapshot(at(2)).nodes[0].pods.len(), 1);
    index.pod(&pod("job", 3, Some("ip-10-0-1-5"), "Succeeded"), at(3));
    assert!(index.snapshot(at(3)).nodes[0].pods.is_empty());
    assert_eq!(index.last_pod_event("ip-10-0-1-5"), Some(at(3)));
}

#[test]
fn a_claim_and_its_node_are_one_place() {
    let index = Index::new(Settings::default(), Wanted::default());
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
    let index = Index::new(Settings::default(), Wanted::default());
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
    let index = Index::new(Settings::default(), Wanted::default());
    assert_eq!(index.unsynced().len(), 9);
    index.claim(&claim(1, Some("aws:///us-west-2a/i-1")));
    index.begin(Kind::Claim);
    index.finish(Kind::Claim, at(1));
    assert!(index.snapshot(at(1)).nodes.is_empty());
    assert_eq!(index.unsynced().len(), 8);
}

#[test]
fn a_pod_whose_room_was_taken_is_decided_on_anew() {
    let index = Index::new(Settings::default(), Wanted::default());
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
    let index = Index::new(Settings::default(), Wanted::default());
    index.node(&node(1));
    index.pod(&pod("web", 2, Some("ip-10-0-1-5"), "Running"), at(1));
    let mut object = claim(3, Some("aws:///us-west-2a/i-1"));
    object.status.as_mut().unwrap().node_name = Some("ip-10-0-1-5".to_owned());
    index.claim(&object);
    assert!(!index.has_work());
    index.mark(&"default-abcde".into());
    assert!(index.has_work());
}

/// Whoever is chosen by a disruption and its pods' places are seen together; a place that a pod was given meanwhile is kept.
#[test]
fn the_pods_of_chosen_nodes_are_handed_over() {
    let index = Index::new(Settings::default(), Wanted::default());
    index.claim(&claim(1, Some("aws:///us-west-2a/i-1")));
    index.node(&node(2));
    index.pod(&pod("web", 3, Some("ip-10-0-1-5"), "Running"), at(1));
    let mut next = claim(4, None);
    next.metadata.name = Some("default-next".to_owned());
    index.claim(&next);
    let web = PodKey::new("shop", "web");
    let nominated = |at: Timestamp| {
        let snapshot = index.snapshot(at);
        let next = snapshot.node("default-next").map(|node| node.nominated.clone());
        (
            snapshot.nodes.iter().any(|node| node.marked_for_deletion),
            next.unwrap_or_default(),
        )
    };
    index.nominate(std::slice::from_ref(&web), &"default-next".into());
    assert_eq!(
        nominated(at(2)),
        (false, vec![]),
        "a pod that stays where it is needs no place"
    );
    index.hand_over(&["default-abcde".into()], &[(web.clone(), "default-next".into())]);
    assert_eq!(nominated(at(3)), (true, vec![web.clone()]));
    index.nominate_again(&[(web.clone(), "elsewhere".into())].into());
    assert_eq!(nominated(at(4)), (true, vec![web]));
}

/// What claims are compared with wakes those who compare them; what does not matter to that does not.
#[test]
fn an_edited_pool_or_class_wakes_its_claims() {
    let index = Index::new(Settings::default(), Wanted::default());
    index.claim(&claim(1, Some("aws:///us-west-2a/i-1")));
    let pool = |version: u32, generation: u32, name: &str| -> joiner_api::NodePool {
        read(json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
            "metadata": {"name": name, "resourceVersion": version.to_string(), "generation": generation},
            "spec": {"template": {"spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []}}},
        }))
    };
    let class = |version: u32, subnet: &str| -> EC2NodeClass {
        read(json!({
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
            "metadata": {"name": "default", "resourceVersion": version.to_string(), "generation": 1},
            "spec": {"amiSelectorTerms": [], "subnetSelectorTerms": [], "securityGroupSelectorTerms": []},
            "status": {"subnets": [{"id": subnet, "zone": "us-west-2a"}]},
        }))
    };
    let woken = || index.changes.lifecycle.take().contains("default-abcde");
    woken();
    for (what, wakes) in [
        (Ok(pool(2, 1, "default")), true),
        (Ok(pool(3, 1, "default")), false),
        (Ok(pool(4, 2, "default")), true),
        (Ok(pool(5, 1, "other")), false),
        (Err(class(6, "subnet-1")), true),
        (Err(class(7, "subnet-1")), false),
        (Err(class(8, "subnet-2")), true),
    ] {
        let name = format!("{what:?}");
        match what {
            Ok(pool) => index.pool(&pool),
            Err(class) => index.class(&class),
        }
        assert_eq!(woken(), wakes, "{name}");
    }
}

#[test]
fn claims_of_other_clouds_are_not_ours() {
    let index = Index::new(Settings::default(), Wanted::default());
    let mut object = claim(1, None);
    object.spec.node_class_ref.group = "karpenter.azure.com".to_owned();
    index.claim(&object);
    assert!(index.snapshot(at(0)).nodes.is_empty());
}

#[test]
fn a_pod_that_is_gone_holds_no_room() {
    let index = Index::new(Settings::default(), Wanted::default());
    index.claim(&claim(1, None));
    index.pod(&pod("web", 2, None, "Pending"), at(1));
    let key = PodKey::new("shop", "web");
    index.pod_gone(&key, 3, at(2));
    index.nominate(std::slice::from_ref(&key), &"default-abcde".into());
    assert!(index.snapshot(at(3)).nodes[0].nominated.is_empty());
}

/// A pod of the ReplicaSet `web` as its controller makes it, and as the scheduler then judges it.
fn of_set(name: &str, version: u32, refused: bool) -> k8s::Pod {
    let conditions = match refused {
        true => json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]),
        false => json!([]),
    };
    read(json!({
        "metadata": {"name": name, "namespace": "shop", "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-01-01T00:00:01Z",
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "w", "controller": true}]},
        "spec": {"containers": [{"name": "web", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": "Pending", "conditions": conditions},
    }))
}

fn set(replicas: u32) -> k8s_openapi::api::apps::v1::ReplicaSet {
    read(json!({
        "metadata": {"name": "web", "namespace": "shop", "resourceVersion": "1"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}},
    }))
}

/// An index that knows of the ReplicaSet and that there is no quota.
fn with_set(replicas: u32) -> Index {
    let index = Index::new(Settings::default(), Wanted::default());
    index.begin(Kind::Quota);
    index.finish(Kind::Quota, at(0));
    index.replica_set(&set(replicas));
    index
}

fn names(index: &Index, second: i64) -> Vec<String> {
    let pending = index.snapshot(at(second)).pending;
    let waiting = pending.iter().filter(|pod| pod.is_provisionable());
    waiting.map(|pod| pod.key.name.to_string()).collect()
}

#[test]
fn of_a_workload_that_is_scaled_all_pods_wait() {
    let index = with_set(4);
    index.pod(&of_set("a", 2, false), at(1));
    index.pod(&of_set("b", 3, false), at(1));
    assert!(names(&index, 1).is_empty(), "there may be room for all of them");
    index.pod(&of_set("a", 4, true), at(1));
    assert_eq!(
        names(&index, 1),
        ["a", "b", "replicasets.web#00000", "replicasets.web#00001"]
    );
    // Those that come take the place of those that were announced.
    index.pod(&of_set("c", 5, false), at(1));
    assert_eq!(names(&index, 1), ["a", "b", "c", "replicasets.web#00000"]);
    // Whatever keeps the last one from being made: nothing is bought for it for long.
    assert_eq!(names(&index, 4), ["a", "b", "c"]);
}

#[test]
fn where_a_quota_may_keep_pods_from_being_made_none_is_announced() {
    let index = with_set(4);
    let quota: k8s::ResourceQuota =
        read(json!({"metadata": {"name": "q", "namespace": "shop", "resourceVersion": "1"}}));
    index.quota(&quota);
    index.pod(&of_set("a", 2, true), at(1));
    assert_eq!(names(&index, 1), ["a"]);
    index.quota_gone(&"shop/q".into(), 2);
    assert_eq!(names(&index, 1).len(), 4);
}

#[test]
fn a_room_is_held_for_an_announced_pod_until_it_is_there() {
    let index = with_set(2);
    index.claim(&claim(1, None));
    index.pod(&of_set("a", 2, true), at(1));
    let meant = [
        PodKey::new("shop", "a"),
        PodKey::new("shop", "replicasets.web#00000"),
    ];
    assert_eq!(index.snapshot(at(1)).pending.len(), 2);
    index.nominate(&meant, &"default-abcde".into());
    assert_eq!(index.snapshot(at(1)).nodes[0].nominated, meant);
    index.pod(&of_set("b", 3, false), at(2));
    assert_eq!(index.snapshot(at(2)).nodes[0].nominated, meant[..1]);
    // It is meant for the room before the scheduler has looked at it, and when it has.
    let b = PodKey::new("shop", "b");
    index.nominate(std::slice::from_ref(&b), &"default-abcde".into());
    index.pod(&of_set("b", 4, true), at(2));
    assert_eq!(index.snapshot(at(2)).nodes[0].nominated, [meant[0].clone(), b]);
}

#[test]
fn the_first_pod_of_a_workload_wakes_the_provisioner_for_all() {
    let index = with_set(3);
    let rings = |index: &Index, pod: &k8s::Pod| {
        index.changes.provision.silence();
        index.pod(pod, at(1));
        index.changes.provision.has_rung()
    };
    assert!(rings(&index, &of_set("a", 2, true)));
    assert!(!rings(&index, &of_set("b", 3, true)));
    index.snapshot_to_provision(at(1));
    assert!(
        rings(&index, &of_set("c", 4, true)),
        "the decision may have been made without it"
    );
    // Pods that nobody announces speak for themselves.
    let alone = |name: &str| {
        let mut pod = of_set(name, 5, true);
        pod.metadata.owner_references = None;
        pod
    };
    assert!(rings(&index, &alone("d")) && rings(&index, &alone("e")));
}

#[test]
fn a_buffer_is_pods_that_hold_room_until_a_real_one_takes_it() {
    let wanted = Wanted {
        buffers: true,
        ..Wanted::default()
    };
    let index = Index::new(Settings::default(), wanted);
    index.buffers_served(kube::api::ApiResource::erase::<k8s::Pod>(&()));
    index.buffer(&read(json!({
        "apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer",
        "metadata": {"name": "spare", "namespace": "shop", "resourceVersion": "1", "generation": 1},
        "spec": {"podTemplateRef": {"name": "unit"}, "replicas": 2},
    })));
    let state = |index: &Index| {
        let (_, states) = index.buffer_states().unwrap();
        let placed = states[0].placed;
        (
            states[0].asked.clone(),
            placed.there,
            placed.coming,
            placed.nowhere,
        )
    };
    assert!(matches!(
        state(&index).0,
        Asked::NotFound {
            reason: "PodTemplateNotFound",
            ..
        }
    ));
    index.pod_template(&read(json!({
        "metadata": {"name": "unit", "namespace": "shop", "resourceVersion": "2"},
        "template": {"spec": {"containers": [{"name": "unit", "resources": {"requests": {"cpu": "1"}}}]}},
    })));
    assert!(index.has_work(), "room is to be found for it");
    let pending = index.snapshot(at(1)).pending;
    assert!(
        pending.len() == 2
            && pending
                .iter()
                .all(|pod| pod.is_provisionable() && pod.is_virtual())
    );
    let keys: Vec<PodKey> = pending.iter().map(|pod| pod.key.clone()).collect();
    assert_eq!(state(&index), (Asked::Units(2), 0, 0, 2));

    // A node for both is bought, and complete.
    index.claim(&claim(3, None));
    index.nominate(&keys, &"default-abcde".into());
    assert_eq!(state(&index), (Asked::Units(2), 0, 2, 0));
    let mut object = claim(4, Some("aws:///us-west-2a/i-1"));
    object.status.as_mut().unwrap().conditions = read(
        json!([{"type": "Initialized", "status": "True", "reason": "Initialized",
        "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]),
    );
    index.claim(&object);
    let mut big = node(5);
    big.status = read(json!({"allocatable": {"cpu": "2", "pods": "10"}}));
    index.node(&big);
    for second in [2, 3000] {
        assert_eq!(
            index.snapshot(at(second)).nodes[0].nominated.len(),
            2,
            "second {second}"
        );
    }
    assert_eq!(state(&index), (Asked::Units(2), 2, 0, 0));

    // A real pod takes the room of one of them, which looks for another.
    let mut taker = of_set("taker", 6, false);
    taker.spec.as_mut().unwrap().node_name = Some("ip-10-0-1-5".to_owned());
    index.pod(&taker, at(3001));
    assert_eq!(index.snapshot(at(3001)).nodes[0].nominated.len(), 1);
    assert_eq!(state(&index), (Asked::Units(2), 1, 0, 1));
    index.buffer_gone(&"shop/spare".into(), 7);
    assert!(index.snapshot(at(3002)).nodes[0].nominated.is_empty());
    assert!(!index.has_work());
}

#[test]
fn default_spread_follows_services_and_sets_that_come_after_the_pod() {
    let settings = Settings {
        default_spread: vec![joiner_core::snapshot::DefaultSpread {
            topology_key: "topology.kubernetes.io/zone".into(),
            max_skew: 1,
            strength: joiner_core::snapshot::Strength::Required,
            min_domains: None,
            node_affinity_policy: joiner_core::snapshot::InclusionPolicy::Honor,
            node_taints_policy: joiner_core::snapshot::InclusionPolicy::Ignore,
        }],
        ..Settings::default()
    };
    let wanted = Wanted {
        services: true,
        ..Wanted::default()
    };
    let index = Index::new(settings, wanted);
    assert!(index.unsynced().contains(&"workloads and services"));
    let mut pod = of_set("web-1", 1, true);
    pod.metadata.labels = Some([("app".to_owned(), "web".to_owned())].into());
    index.pod(&pod, at(1));
    let selector = |index: &Index| {
        index.snapshot(at(1)).pending[0]
            .workload
            .as_ref()
            .and_then(|it| it.selector.clone())
    };
    assert!(selector(&index).is_none(), "nothing selects it yet");
    index.replica_set(&set(3));
    assert!(selector(&index).is_some());
    index.replica_set_gone(&"shop/web".into(), 9);
    index.service(&read(json!({
        "metadata": {"name": "front", "namespace": "shop", "resourceVersion": "2"}, "spec": {"selector": {"app": "web"}},
    })));
    assert!(selector(&index).is_some());
    index.service_gone(&"shop/front".into(), 9);
    assert!(selector(&index).is_none());
}
