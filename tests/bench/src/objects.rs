//! Kubernetes objects as a cluster serves them, reduced to what a person would keep in a snapshot.

use serde_json::{Map, Value, json};

pub const ZONE: &str = "topology.kubernetes.io/zone";
pub const REGION: &str = "topology.kubernetes.io/region";
pub const ARCH: &str = "kubernetes.io/arch";
pub const OS: &str = "kubernetes.io/os";
pub const HOSTNAME: &str = "kubernetes.io/hostname";
pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
pub const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
pub const NODE_POOL: &str = "karpenter.sh/nodepool";
pub const CREATED: &str = "2026-08-01T12:00:00Z";

/// Which controller made a pod.
#[derive(Clone, Copy, Debug)]
pub struct OwnedBy<'a> {
    pub kind: &'a str,
    pub name: &'a str,
}

/// A pod that waits and that the scheduler could not place. `spec` holds everything but the containers' names and
/// images, which are filled in; `spec.containers` may be absent where `requests` says all.
pub fn pending(namespace: &str, name: &str, labels: &Value, owner: OwnedBy<'_>, spec: Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata(namespace, name, labels, owner),
        "spec": spec,
        "status": {
            "phase": "Pending",
            "conditions": [{
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": CREATED,
                "message": "0/0 nodes are available.",
            }],
        },
    })
}

/// A pod that runs on `node`.
pub fn running(
    namespace: &str,
    name: &str,
    labels: &Value,
    owner: OwnedBy<'_>,
    mut spec: Value,
    node: &str,
) -> Value {
    spec["nodeName"] = json!(node);
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata(namespace, name, labels, owner),
        "spec": spec,
        "status": {
            "phase": "Running",
            "startTime": CREATED,
            "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": CREATED}],
        },
    })
}

fn metadata(namespace: &str, name: &str, labels: &Value, owner: OwnedBy<'_>) -> Value {
    let version = if owner.kind == "Job" {
        "batch/v1"
    } else {
        "apps/v1"
    };
    json!({
        "namespace": namespace,
        "name": name,
        "uid": format!("{namespace}.{name}"),
        "creationTimestamp": CREATED,
        "labels": labels,
        "ownerReferences": [{
            "apiVersion": version, "kind": owner.kind, "name": owner.name, "uid": format!("uid-{}", owner.name),
            "controller": true, "blockOwnerDeletion": true,
        }],
    })
}

/// A pod's spec with one container that asks for so much. `cpu` and `memory` as Kubernetes writes them.
pub fn spec(cpu: &str, memory: &str) -> Value {
    json!({
        "containers": [{
            "name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": cpu, "memory": memory}},
        }],
        "tolerations": [
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        ],
    })
}

/// `{key, operator, values}`.
pub fn requirement(key: &str, operator: &str, values: &[&str]) -> Value {
    match operator {
        "Exists" | "DoesNotExist" => json!({"key": key, "operator": operator}),
        _ => json!({"key": key, "operator": operator, "values": values}),
    }
}

/// A pool of EC2 nodes with the class `default`.
pub fn pool(name: &str, requirements: Vec<Value>) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "uid": format!("pool-{name}"), "creationTimestamp": CREATED},
        "spec": {
            "template": {"spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": requirements,
                "expireAfter": "720h",
            }},
            "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s"},
        },
        "status": {"conditions": [
            {"type": "ValidationSucceeded", "status": "True", "reason": "ValidationSucceeded", "message": "", "lastTransitionTime": CREATED},
            {"type": "NodeClassReady", "status": "True", "reason": "NodeClassReady", "message": "", "lastTransitionTime": CREATED},
            {"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": CREATED},
        ]},
    })
}

/// A DaemonSet of one container.
pub fn daemon_set(namespace: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"namespace": namespace, "name": name, "uid": format!("uid-{name}"), "creationTimestamp": CREATED},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec},
        },
    })
}

/// A namespace with labels.
pub fn namespace(name: &str, labels: Value) -> Value {
    let mut all = labels;
    all["kubernetes.io/metadata.name"] = json!(name);
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": all}})
}

/// What is known of a node that runs.
#[derive(Clone, Debug)]
pub struct Machine {
    pub name: String,
    /// The pool it belongs to; a node that no pool made has none.
    pub pool: Option<String>,
    pub labels: Map<String, Value>,
    pub taints: Vec<Value>,
    pub capacity: Value,
    pub allocatable: Value,
}

/// The node, and its claim where a pool made it.
pub fn machine(it: &Machine) -> Vec<Value> {
    let mut labels = it.labels.clone();
    labels.insert(HOSTNAME.into(), json!(it.name));
    let provider_id = format!("aws:///zone/i-{}", it.name);
    let mut objects = Vec::new();
    if let Some(pool) = &it.pool {
        labels.insert(NODE_POOL.into(), json!(pool));
        labels.insert("karpenter.k8s.aws/ec2nodeclass".into(), json!("default"));
        objects.push(claim(it, pool, &labels, &provider_id));
        labels.insert("karpenter.sh/registered".into(), json!("true"));
        labels.insert("karpenter.sh/initialized".into(), json!("true"));
    }
    objects.push(json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": it.name, "uid": format!("node-{}", it.name), "creationTimestamp": CREATED, "labels": labels},
        "spec": {"providerID": provider_id, "taints": it.taints},
        "status": {
            "capacity": it.capacity, "allocatable": it.allocatable,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": CREATED}],
        },
    }));
    objects
}

fn claim(it: &Machine, pool: &str, labels: &Map<String, Value>, provider_id: &str) -> Value {
    let condition = |kind: &str| json!({"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": CREATED});
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {
            "name": format!("{pool}-{}", it.name), "uid": format!("claim-{}", it.name), "creationTimestamp": CREATED,
            "labels": labels, "finalizers": ["karpenter.sh/termination"],
        },
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [], "taints": it.taints, "expireAfter": "720h",
        },
        "status": {
            "providerID": provider_id, "nodeName": it.name, "capacity": it.capacity, "allocatable": it.allocatable,
            "conditions": (["Launched", "Registered", "Initialized", "Ready"].map(condition)),
        },
    })
}
