//! Changes of pools and classes whose nodes run, by a core's own rules, against an API server in memory.

use crate::cluster::Cluster;
use crate::cluster::mock::MockApi;
use crate::helm::FakeHelm;
use crate::provider::{Fakes, JoinerProvider};
use crate::resources::{Ec2NodeClass, NodePool};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tfplugin::Model as _;
use tfplugin::testing::{Action, Core, Planned, Session};

const POOL: &str = "/apis/karpenter.sh/v1/nodepools/p";
const CLASS: &str = "/apis/karpenter.k8s.aws/v1/ec2nodeclasses/c";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// A pool `p` of a class `c`, applied, in a cluster whose controller has noted its hashes.
struct World {
    api: Arc<MockApi>,
    core: Core<JoinerProvider>,
    pool: Session<JoinerProvider>,
}

impl World {
    async fn new() -> Self {
        let api = MockApi::new("cluster");
        let client = Arc::clone(&api);
        let fakes = Fakes {
            helm: Some(FakeHelm::new(&api)),
            ..Fakes::default()
        };
        let provider =
            JoinerProvider::reaching(move |_| Cluster::from_client("https://c", client.client())).with(fakes);
        let core = Core::new(provider).await.expect("the schemas are valid");
        api.put(CLASS, class());
        let pool = core.resource("joiner_node_pool").expect("the type exists");
        let mut world = Self { api, core, pool };
        world.restart("warning").await;
        world.pool.apply(pool_with(|_| {})).await.expect("applied");
        world.noted(POOL);
        world.restart("warning").await;
        world
    }

    /// Lets the controller look at a pool.
    fn noted(&self, pool: &str) {
        self.api.change(pool, |pool| {
            pool["metadata"]["annotations"] =
                json!({ "karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3" });
            pool["status"] = json!({ "conditions": [{ "type": "Ready", "status": "True", "reason": "Ready", "message": "",
                "lastTransitionTime": "2026-11-30T08:00:00Z" }] });
        });
    }

    /// A pod of the controller with one variable besides those of its chart.
    fn controller(&self, name: &str, value: &str) {
        let env =
            json!([{ "name": "KARPENTER_SERVICE", "value": "joiner" }, { "name": name, "value": value }]);
        self.api.put(
            "/api/v1/namespaces/kube-system/pods/joiner",
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": { "namespace": "kube-system", "name": "joiner", "uid": "joiner", "creationTimestamp": "2026-11-30T08:00:00Z" },
                "spec": { "nodeName": "system", "containers": [{ "name": "controller", "image": "i", "env": env }] },
                "status": { "phase": "Running" },
            }),
        );
    }

    /// A new process of the provider, as a core starts one for each command.
    async fn restart(&self, forecast: &str) {
        self.configure(json!({ "forecast": forecast, "forecast_timeout": "60s" }))
            .await;
    }

    async fn configure(&self, checks: Json) {
        let config = json!({ "kubernetes": { "host": "https://c" }, "checks": checks });
        self.core.configure(config).await.expect("configured");
    }

    /// A complete node of the pool with one pod of so many millicores, which asks for `selector`.
    fn node(&self, name: &str, cpu: u32, selector: Json) {
        let labels = json!({
            "karpenter.sh/nodepool": "p", "karpenter.k8s.aws/ec2nodeclass": "c", "karpenter.sh/capacity-type": "on-demand",
            "node.kubernetes.io/instance-type": "m5.large", "topology.kubernetes.io/zone": "us-west-2a",
            "topology.kubernetes.io/region": "us-west-2", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
            "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true", "kubernetes.io/hostname": name,
        });
        let size = json!({ "cpu": "2", "memory": "7Gi", "pods": "29", "ephemeral-storage": "20Gi" });
        let condition = |kind: &str, status: &str| json!({ "type": kind, "status": status, "reason": kind, "message": "", "lastTransitionTime": "2026-11-30T08:01:00Z" });
        let holds = ["Launched", "Registered", "Initialized", "Ready"].map(|kind| condition(kind, "True"));
        let id = format!("aws:///us-west-2a/i-{name}");
        self.api.put(
            &format!("/apis/karpenter.sh/v1/nodeclaims/claim-{name}"),
            json!({
                "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
                "metadata": {
                    "name": format!("claim-{name}"), "uid": name, "creationTimestamp": "2026-11-30T08:00:00Z", "labels": labels,
                    "annotations": {
                        "karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3",
                        "karpenter.k8s.aws/ec2nodeclass-hash": "7", "karpenter.k8s.aws/ec2nodeclass-hash-version": "v6",
                    },
                },
                "spec": {
                    "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "c" }, "requirements": [],
                    "expireAfter": "720h",
                },
                "status": { "nodeName": name, "providerID": id, "imageID": "ami-1", "capacity": size, "allocatable": size, "conditions": holds },
            }),
        );
        self.api.put(
            &format!("/api/v1/nodes/{name}"),
            json!({
                "apiVersion": "v1", "kind": "Node",
                "metadata": { "name": name, "uid": name, "labels": labels, "creationTimestamp": "2026-11-30T08:00:30Z" },
                "spec": { "providerID": id },
                "status": { "capacity": size, "allocatable": size, "conditions": [condition("Ready", "True")] },
            }),
        );
        self.api.put(
            &format!("{PODS}/pod-{name}"),
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {
                    "namespace": "default", "name": format!("pod-{name}"), "uid": format!("pod-{name}"),
                    "creationTimestamp": "2026-11-30T08:02:00Z",
                    "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "web", "controller": true }],
                },
                "spec": {
                    "nodeName": name, "nodeSelector": selector,
                    "containers": [{ "name": "c", "image": "i", "resources": { "requests": { "cpu": format!("{cpu}m"), "memory": "1Gi" } } }],
                },
                "status": { "phase": "Running", "startTime": "2026-11-30T08:02:10Z" },
            }),
        );
    }

    async fn plan(&mut self, config: Json) -> (Planned, String) {
        let planned = self.pool.plan(config).await.expect("planned");
        let warnings = planned.warnings.to_string();
        (planned, warnings)
    }
}

fn class() -> Json {
    let subnet = |zone: &str| json!({ "id": format!("subnet-{zone}"), "zone": format!("us-west-2{zone}"), "zoneID": format!("usw2-{zone}") });
    let subnets = ["a", "b"].map(subnet);
    json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
        "metadata": {
            "name": "c", "uid": "class",
            "annotations": { "karpenter.k8s.aws/ec2nodeclass-hash": "7", "karpenter.k8s.aws/ec2nodeclass-hash-version": "v6" },
        },
        "spec": {
            "role": "r", "amiSelectorTerms": [{ "alias": "al2023@latest" }], "subnetSelectorTerms": [{ "tags": { "a": "b" } }],
            "securityGroupSelectorTerms": [{ "tags": { "a": "b" } }],
        },
        "status": { "subnets": subnets },
    })
}

fn pool_with(change: impl FnOnce(&mut Json)) -> Json {
    let mut config = json!({
        "name": "p",
        "template": { "spec": {
            "node_class_ref": { "name": "c" },
            "requirements": [{ "key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"] }],
        } },
        "disruption": { "budgets": [{ "nodes": "1" }] },
        "wait": { "ready": false },
    });
    change(&mut config);
    config
}

/// With a taint that the pods do not mind.
fn tainted() -> Json {
    pool_with(|config| {
        config["template"]["spec"]["startup_taints"] = json!([{ "key": "a", "effect": "NoSchedule" }]);
    })
}

fn named(pool: &NodePool) -> Option<Vec<&str>> {
    let forecast = pool.outlook.forecast.known()?;
    let nodes = forecast.nodes.known()?.iter();
    Some(nodes.filter_map(|node| node.name.as_str()).collect())
}

fn replaces(pool: &NodePool) -> Option<&str> {
    pool.outlook.forecast.known()?.replaces.as_str()
}

#[tokio::test]
async fn an_edit_names_the_nodes_that_it_replaces() {
    let mut world = World::new().await;
    world.node("n1", 1500, json!({}));
    world.node("n2", 1500, json!({}));
    world.restart("warning").await;
    let (planned, warnings) = world.plan(tainted()).await;
    let model = NodePool::read(&planned.planned).expect("a pool");
    assert_eq!(replaces(&model), Some("all"));
    for part in [
        "The change of NodePool p replaces 2 nodes",
        "in 2 waves",
        "n1 (wave 1, 1 pod moves; NodePool p has changed",
        "startupTaints",
        "/h now and",
    ] {
        assert!(warnings.contains(part), "{part:?} is not in:\n{warnings}");
    }
    // Until the apply nodes come and go; it is that of the plan all the same.
    world.api.remove("/api/v1/nodes/n1");
    world.api.remove("/apis/karpenter.sh/v1/nodeclaims/claim-n1");
    world.node("n3", 1500, json!({}));
    world.restart("warning").await;
    world.pool.apply_plan(planned, tainted()).await.expect("applied");
    let stored: NodePool = world.pool.model().expect("a pool");
    assert_eq!(
        (replaces(&stored), named(&stored)),
        (Some("all"), Some(vec!["n2", "n3"]))
    );
    let forecast = stored.outlook.forecast.known().expect("known").clone();
    assert_eq!(
        (forecast.waves.known(), forecast.pods_moving.known()),
        (Some(&2), Some(&2))
    );
    assert!(
        forecast
            .cost_per_hour_before
            .as_str()
            .is_some_and(|cost| cost.starts_with("0.")),
        "{forecast:?}"
    );
    // A second plan is empty, and so is one after the nodes were counted, while the controller has not replaced them.
    world.api.change(POOL, |pool| {
        pool["metadata"]["annotations"]["karpenter.sh/nodepool-hash"] = json!("2");
    });
    world.restart("warning").await;
    let (again, warnings) = world.plan(tainted()).await;
    assert_eq!((again.action, warnings.as_str()), (Action::NoOp, ""));
    let counted: NodePool = world.pool.model().expect("a pool");
    assert_eq!(counted.outlook.nodes_drifted.known(), Some(&2));
}

#[tokio::test]
async fn what_makes_no_node_outdated_is_no_news() {
    let mut world = World::new().await;
    world.node("n1", 1500, json!({}));
    world.restart("warning").await;
    let before = world.api.calls().len();
    let limits = pool_with(|config| config["limits"] = json!({ "cpu": "10" }));
    let (planned, warnings) = world.plan(limits).await;
    assert_eq!((planned.action, warnings.as_str()), (Action::Update, ""));
    let calls = world.api.calls().split_off(before);
    assert!(!calls.iter().any(|call| call.contains("pods")), "{calls:?}");
    // More is allowed than before: the node is one of what the pool may have.
    let wider = pool_with(|config| {
        config["template"]["spec"]["requirements"][0]["values"] = json!(["on-demand", "spot"]);
    });
    let (planned, warnings) = world.plan(wider).await;
    let model = NodePool::read(&planned.planned).expect("a pool");
    assert_eq!((replaces(&model), warnings.as_str()), (Some("some"), ""));
    // A shorter life is one of another template.
    let hours = pool_with(|config| config["template"]["spec"]["expire_after"] = json!("30m"));
    let (planned, warnings) = world.plan(hours).await;
    let model = NodePool::read(&planned.planned).expect("a pool");
    assert_eq!(replaces(&model), Some("all"));
    assert!(warnings.contains("replaces 1 node"), "{warnings}");
}

#[tokio::test]
async fn pods_that_would_find_no_node_are_told() {
    let mut world = World::new().await;
    world.node("n1", 1500, json!({ "kubernetes.io/arch": "amd64" }));
    world.restart("warning").await;
    let only_arm = || {
        pool_with(|config| {
            config["template"]["spec"]["requirements"] =
                json!([{ "key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"] }]);
        })
    };
    let (planned, warnings) = world.plan(only_arm()).await;
    for part in [
        "After the change of NodePool p 1 pod would find no node",
        "default/pod-n1",
        "does not reach 1 node",
    ] {
        assert!(warnings.contains(part), "{part:?} is not in:\n{warnings}");
    }
    let model = NodePool::read(&planned.planned).expect("a pool");
    assert_eq!(replaces(&model), Some("some"));
    world.restart("error").await;
    let refused = world.pool.plan(only_arm()).await.expect_err("a pod has no node");
    assert!(refused.to_string().contains("default/pod-n1"), "{refused}");
}

#[tokio::test]
async fn a_forecast_that_cannot_be_had_is_a_warning() {
    let mut world = World::new().await;
    world.node("n1", 1500, json!({}));
    world.api.forbid("/api/v1/pods");
    world.api.forbid("/api/v1/nodes");
    world.restart("warning").await;
    let (planned, warnings) = world.plan(tainted()).await;
    assert!(
        warnings.contains("may not list nodes, pods in https://c") && warnings.contains("forecast = \"off\""),
        "{warnings}"
    );
    // Once in a run is enough.
    let (_, warnings) = world.plan(tainted()).await;
    assert_eq!(warnings, "");
    world.pool.apply_plan(planned, tainted()).await.expect("applied");
    let stored: NodePool = world.pool.model().expect("a pool");
    let forecast = stored.outlook.forecast.known().expect("known").clone();
    assert_eq!(
        (replaces(&stored), named(&stored), forecast.waves.known()),
        (Some("all"), None, None)
    );
    let nothing = json!({ "kubernetes": { "host": "https://c" }, "checks": { "forecast_timeout": "0s" } });
    let refused = world
        .core
        .configure(nothing)
        .await
        .expect_err("no time")
        .to_string();
    assert!(
        refused.contains("checks.forecast_timeout") && refused.contains("above zero"),
        "{refused}"
    );
    world.configure(json!({ "forecast_timeout": "1ns" })).await;
    world.api.allow("/api/v1/pods");
    world.api.allow("/api/v1/nodes");
    let (_, warnings) = world.plan(pool_with(|_| {})).await;
    assert!(warnings.contains("took too long and was left out"), "{warnings}");
}

#[tokio::test]
async fn off_is_off() {
    let mut world = World::new().await;
    world.node("n1", 1500, json!({}));
    world.restart("off").await;
    let before = world.api.calls().len();
    let (planned, warnings) = world.plan(tainted()).await;
    assert_eq!(warnings, "");
    world.pool.apply_plan(planned, tainted()).await.expect("applied");
    let calls = world.api.calls().split_off(before);
    assert!(!calls.iter().any(|call| call.contains("pods")), "{calls:?}");
    let stored: NodePool = world.pool.model().expect("a pool");
    assert_eq!((replaces(&stored), named(&stored)), (Some("all"), None));
}

#[tokio::test]
async fn a_destroy_tells_which_pods_it_leaves_without_a_node() {
    let mut world = World::new().await;
    world.node("n1", 1500, json!({}));
    world.restart("warning").await;
    let warnings = world.pool.destroy().await.expect("destroyed").to_string();
    assert!(
        warnings.contains("Without NodePool p 1 pod would have no node")
            && warnings.contains("default/pod-n1"),
        "{warnings}"
    );
}

/// A pool `q` for pods of one architecture.
fn successor(arch: &str) -> Json {
    pool_with(|config| {
        config["name"] = json!("q");
        config["template"]["spec"]["requirements"] =
            json!([{ "key": "kubernetes.io/arch", "operator": "In", "values": [arch] }]);
    })
}

#[tokio::test]
async fn pods_of_a_pool_that_goes_find_nodes_of_one_that_comes() {
    const LOST: &str = "would have no node";
    let mut world = World::new().await;
    world.node("n1", 1500, json!({ "kubernetes.io/arch": "amd64" }));
    let mut other = world.core.resource("joiner_node_pool").expect("the type exists");
    // One in the place of the other.
    world.restart("warning").await;
    let (planned, warnings) = world.plan(successor("amd64")).await;
    assert_eq!(
        (planned.action, warnings.contains(LOST)),
        (Action::Replace, false),
        "{warnings}"
    );
    // One that does not suit them is no help.
    world.restart("warning").await;
    let (_, warnings) = world.plan(successor("arm64")).await;
    assert!(
        warnings.contains("Without NodePool p 1 pod would have no node") && !warnings.contains("create one"),
        "{warnings}"
    );
    // Another resource, planned after the end of this one.
    world.restart("warning").await;
    let (gone, planned) = tokio::join!(world.pool.destroy(), other.plan(successor("amd64")));
    planned.expect("planned");
    let warnings = gone.expect("destroyed").to_string();
    assert!(!warnings.contains(LOST), "{warnings}");
}

#[tokio::test]
async fn a_class_names_the_nodes_of_its_pools() {
    let world = World::new().await;
    world.node("n1", 1500, json!({}));
    world.restart("warning").await;
    let mut class = world
        .core
        .resource("joiner_ec2_node_class")
        .expect("the type exists");
    class.import("c").await.expect("imported");
    let config = |data: Option<&str>| {
        let selector = json!([{ "tags": { "a": "b" } }]);
        json!({
            "name": "c", "role": "r", "ami_selector_terms": [{ "alias": "al2023@latest" }], "subnet_selector_terms": selector,
            "security_group_selector_terms": selector, "wait": { "ready": false }, "user_data": data,
        })
    };
    let planned = class
        .plan(config(Some("#!/bin/bash\necho")))
        .await
        .expect("planned");
    let model = Ec2NodeClass::read(&planned.planned).expect("a class");
    let forecast = model.outlook.forecast.known().expect("known");
    assert_eq!(forecast.replaces.as_str(), Some("all"));
    let warnings = planned.warnings.to_string();
    assert!(
        warnings.contains("The change of EC2NodeClass c replaces 1 node"),
        "{warnings}"
    );
    class
        .apply_plan(planned, config(Some("#!/bin/bash\necho")))
        .await
        .expect("applied");
    let stored: Ec2NodeClass = class.model().expect("a class");
    let nodes = stored.outlook.forecast.known().expect("known").nodes.clone();
    let node = &nodes.known().expect("known")[0];
    assert_eq!(
        (node.name.as_str(), node.reason.as_str()),
        (Some("n1"), Some("NodeClassDrift"))
    );
}

#[tokio::test]
async fn the_controllers_own_settings_count() {
    const ASSUMED: &str = "It is assumed that the controller has its default settings";
    const OVERHEAD: &str = "VM_MEMORY_OVERHEAD_PERCENT";
    // The pod asks for 1 GiB, of the 8 GiB that a node of the type has.
    let only_large = || {
        pool_with(|config| {
            let spec = &mut config["template"]["spec"];
            spec["startup_taints"] = json!([{ "key": "a", "effect": "NoSchedule" }]);
            let large = json!({ "key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.large"] });
            spec["requirements"].as_array_mut().expect("a list").push(large);
        })
    };
    let mut world = World::new().await;
    world.node("n1", 1500, json!({}));
    world.restart("warning").await;
    let (_, warnings) = world.plan(only_large()).await;
    assert!(
        warnings.contains("replaces 1 node") && warnings.contains(ASSUMED),
        "{warnings}"
    );
    world.controller(OVERHEAD, "0.05");
    world.restart("warning").await;
    let (_, warnings) = world.plan(only_large()).await;
    assert!(
        warnings.contains("replaces 1 node") && !warnings.contains("assumed"),
        "{warnings}"
    );
    world.controller(OVERHEAD, "0.95");
    world.restart("warning").await;
    let (_, warnings) = world.plan(only_large()).await;
    assert!(warnings.contains("1 pod would find no node"), "{warnings}");
    // What the same plan sets comes first.
    world.restart("warning").await;
    let mut release = world
        .core
        .resource("joiner_helm_release")
        .expect("the type exists");
    let values = json!({ "settings": { "clusterName": "c", "vmMemoryOverheadPercent": 0.05 } });
    let config = json!({ "name": "joiner", "namespace": "kube-system", "values": values });
    release.plan(config).await.expect("planned");
    let (_, warnings) = world.plan(only_large()).await;
    assert!(
        warnings.contains("replaces 1 node") && !warnings.contains("no node"),
        "{warnings}"
    );
}

#[tokio::test]
async fn a_static_pool_is_left_alone_without_its_gate() {
    const GATE: &str = "FEATURE_GATES";
    let world = World::new().await;
    let of_static = |config: &mut Json| {
        config["name"] = json!("s");
        config["replicas"] = json!(1);
    };
    let changed = || {
        pool_with(|config| {
            of_static(config);
            config["template"]["spec"]["startup_taints"] = json!([{ "key": "a", "effect": "NoSchedule" }]);
        })
    };
    let mut pool = world.core.resource("joiner_node_pool").expect("the type exists");
    pool.apply(pool_with(of_static)).await.expect("applied");
    world.noted("/apis/karpenter.sh/v1/nodepools/s");
    world.node("n1", 1500, json!({}));
    for path in ["/api/v1/nodes/n1", "/apis/karpenter.sh/v1/nodeclaims/claim-n1"] {
        world.api.change(path, |object| {
            object["metadata"]["labels"]["karpenter.sh/nodepool"] = json!("s");
        });
    }
    for (gates, part) in [
        ("StaticCapacity=false", "its gate StaticCapacity is off"),
        ("StaticCapacity=true", "The change of NodePool s replaces 1 node"),
    ] {
        world.controller(GATE, gates);
        world.restart("warning").await;
        let planned = pool.plan(changed()).await.expect("planned");
        let warnings = planned.warnings.to_string();
        assert!(warnings.contains(part), "{part:?} is not in:\n{warnings}");
    }
}
