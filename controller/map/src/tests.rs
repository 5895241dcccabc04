use joiner_core::resources::{ResourceName, Resources};
use joiner_core::snapshot::{DoNotDisrupt, Owner, PodState};
use joiner_core::taints::Effect;
use k8s_openapi::api::core::v1 as k8s;
use serde_json::{Value, json};

use crate::*;

fn pod_of(spec: Value, more: Value) -> joiner_core::snapshot::Pod {
    let mut object = json!({
        "metadata": {"name": "web", "namespace": "shop", "uid": "u", "labels": {"app": "web"},
            "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": spec,
    });
    merge(&mut object, more);
    let object: k8s::Pod = serde_json::from_value(object).unwrap();
    pod(&object).0
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

fn container(name: &str, cpu: &str, memory: &str) -> Value {
    json!({"name": name, "resources": {"requests": {"cpu": cpu, "memory": memory}}})
}

#[test]
fn what_a_pod_asks_for() {
    let always = |mut container: Value| {
        container["restartPolicy"] = "Always".into();
        container
    };
    let mebi = 1 << 20;
    for (name, spec, cpu, memory) in [
        ("nothing", json!({"containers": [{"name": "a"}]}), 0, 0),
        (
            "sum of containers",
            json!({"containers": [container("a", "100m", "64Mi"), container("b", "1", "1Gi")]}),
            1100,
            1088 * mebi,
        ),
        (
            "an init container larger than the sum",
            json!({"initContainers": [container("i", "2", "1Mi")], "containers": [container("a", "100m", "64Mi")]}),
            2000,
            64 * mebi,
        ),
        (
            "a sidecar runs beside init and main containers",
            json!({
                "initContainers": [always(container("s", "50m", "10Mi")), container("i", "500m", "1Mi")],
                "containers": [container("a", "100m", "64Mi")],
            }),
            550,
            74 * mebi,
        ),
        (
            "overhead on top",
            json!({"containers": [container("a", "100m", "64Mi")], "overhead": {"cpu": "250m", "memory": "120Mi"}}),
            350,
            184 * mebi,
        ),
        (
            "limits stand for requests that are not written",
            json!({"containers": [{"name": "a", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "0"}}}]}),
            0,
            1024 * mebi,
        ),
        (
            "requests of the whole pod",
            json!({"containers": [container("a", "100m", "64Mi")], "resources": {"requests": {"cpu": "900m"}}}),
            900,
            64 * mebi,
        ),
    ] {
        let got = pod_of(spec, json!({})).requests;
        assert_eq!(
            got,
            Resources::cpu_memory(cpu, memory).with(ResourceName::Pods, 1),
            "{name}"
        );
    }
}

#[test]
fn where_a_pod_stands() {
    let unschedulable = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]);
    let gated = json!([{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]);
    for (name, spec, status, want) in [
        (
            "just made",
            json!({}),
            json!({"phase": "Pending"}),
            PodState::Waiting,
        ),
        (
            "no node fits",
            json!({}),
            json!({"phase": "Pending", "conditions": unschedulable}),
            PodState::Unschedulable,
        ),
        (
            "gated",
            json!({}),
            json!({"phase": "Pending", "conditions": gated}),
            PodState::Waiting,
        ),
        (
            "about to preempt",
            json!({}),
            json!({"phase": "Pending", "conditions": unschedulable, "nominatedNodeName": "n"}),
            PodState::Waiting,
        ),
        (
            "bound",
            json!({"nodeName": "n"}),
            json!({"phase": "Pending"}),
            PodState::Bound { started: None },
        ),
        (
            "done",
            json!({"nodeName": "n"}),
            json!({"phase": "Succeeded"}),
            PodState::Done,
        ),
    ] {
        let mut spec = spec;
        spec["containers"] = json!([]);
        assert_eq!(pod_of(spec, json!({"status": status})).state, want, "{name}");
    }
}

#[test]
fn who_made_it_and_whether_it_may_move() {
    for (owner, want) in [
        (json!([]), Owner::None),
        (
            json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "1"}]),
            Owner::DaemonSet,
        ),
        (
            json!([{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "1"}]),
            Owner::Node,
        ),
        (
            json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "1"}]),
            Owner::Controller,
        ),
    ] {
        let got = pod_of(
            json!({"containers": []}),
            json!({"metadata": {"ownerReferences": owner}}),
        );
        assert_eq!(got.owner, want);
    }
    for (written, want) in [
        ("true", DoNotDisrupt::Always),
        ("90m", DoNotDisrupt::For(jiff::SignedDuration::from_mins(90))),
        ("false", DoNotDisrupt::No),
        ("soon", DoNotDisrupt::No),
    ] {
        let more = json!({"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": written}}});
        assert_eq!(
            pod_of(json!({"containers": []}), more).do_not_disrupt,
            want,
            "{written}"
        );
    }
}

#[test]
fn where_a_pod_may_run() {
    let spec = json!({
        "containers": [{"name": "a", "ports": [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81}]}],
        "nodeSelector": {"team": "a"},
        "tolerations": [{"key": "networkNode", "value": "true", "effect": "NoSchedule"}, {"operator": "Exists"}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}]},
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]},
        ]}}},
        "topologySpreadConstraints": [{
            "maxSkew": 2, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"x": "y"}}, "matchLabelKeys": ["app", "absent"],
        }],
    });
    let placement = pod_of(spec, json!({})).placement;
    assert_eq!(placement.node_selector.get("team").map(|it| &**it), Some("a"));
    assert_eq!(placement.tolerations.len(), 2);
    assert_eq!(placement.tolerations[0].effect, Some(Effect::NoSchedule));
    assert_eq!(placement.host_ports.len(), 1);
    let terms = placement.node_affinity.unwrap();
    assert_eq!((terms[0].expressions.len(), terms[1].fields.len()), (1, 1));
    let spread = &placement.spread[0];
    assert_eq!(spread.max_skew, 2);
    assert_eq!(
        spread.selector.labels.len(),
        2,
        "the selector and the pod's own value of app"
    );
    assert!(placement.unsupported.is_empty());
}

#[test]
fn a_node_affinity_that_makes_no_sense_is_said_in_words() {
    let spec = json!({"containers": [], "affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]}]}}}});
    assert_eq!(pod_of(spec, json!({})).placement.unsupported.len(), 1);
}

#[test]
fn a_cordoned_node_is_tainted() {
    let object: k8s::Node = serde_json::from_value(json!({
        "metadata": {"name": "n"},
        "spec": {"unschedulable": true, "providerID": "aws:///us-west-2a/i-1"},
        "status": {"capacity": {"cpu": "2", "memory": "8Gi", "pods": "29"},
            "conditions": [{"type": "Ready", "status": "True"}]},
    }))
    .unwrap();
    let node = node(&object);
    assert_eq!(&*node.taints[0].key, "node.kubernetes.io/unschedulable");
    assert!(node.ready);
    assert_eq!(node.provider_id.as_deref(), Some("aws:///us-west-2a/i-1"));
    assert_eq!(
        node.capacity,
        Resources::cpu_memory(2000, 8 << 30).with(ResourceName::Pods, 29)
    );
}

#[test]
fn a_pool_without_disruption_has_the_default_budget() {
    let object: joiner_api::NodePool = serde_json::from_value(json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {
            "limits": {"cpu": "16", "nodes": "3"},
            "template": {
                "metadata": {"labels": {"team": "a"}},
                "spec": {
                    "expireAfter": "Never",
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                    "requirements": [
                        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"], "minValues": 1}],
                    "taints": [{"key": "a", "effect": "NoSchedule"}],
                },
            },
        },
    }))
    .unwrap();
    let pool = pool(&object);
    assert_eq!(pool.disruption.budgets.len(), 1);
    assert_eq!(pool.expire_after, None);
    assert_eq!(pool.limits.get(&ResourceName::Cpu), Some(16_000));
    assert_eq!(pool.limits.get(&ResourceName::nodes()), Some(3));
    assert_eq!(
        pool.requirements
            .get("karpenter.sh/capacity-type")
            .unwrap()
            .min_values(),
        Some(1)
    );
    assert!(matches!(
        pool.readiness,
        joiner_core::snapshot::Readiness::NotReady { .. }
    ));
}

#[test]
fn amounts_survive_the_way_to_an_object_and_back() {
    let amounts = Resources::cpu_memory(1930, 3_221_225_472)
        .with(ResourceName::Pods, 29)
        .with(ResourceName::EphemeralStorage, 20 << 30)
        .with("nvidia.com/gpu", 1);
    assert_eq!(from_api(&to_api(&amounts)), amounts);
}
