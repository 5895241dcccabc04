//! A NodePool that another provider's resource managed, under a core's rules: moved, it plans no change.

use crate::cluster::Cluster;
use crate::cluster::mock::MockApi;
use crate::provider::JoinerProvider;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tfplugin::testing::{Action, Core, Session};

const POOL: &str = "/apis/karpenter.sh/v1/nodepools/p";

/// As the API server has it after `kubectl apply`: with the defaults that the manifest leaves out.
fn live() -> Json {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {
            "name": "p", "uid": "u", "labels": { "team": "a" },
            "annotations": { "karpenter.sh/nodepool-hash": "1", "kubectl.kubernetes.io/last-applied-configuration": "{}" },
            "managedFields": [{ "manager": "kubectl", "operation": "Update" }],
        },
        "spec": {
            "template": { "spec": {
                "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "c" },
                "requirements": [{ "key": "kubernetes.io/arch", "operator": "In", "values": ["arm64", "amd64"] }],
                "expireAfter": "720h",
            } },
            "disruption": {
                "consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s", "budgets": [{ "nodes": "10%" }],
            },
            "limits": { "cpu": "10" },
        },
        "status": { "conditions": [{ "type": "Ready", "status": "True" }] },
    })
}

fn yaml() -> Json {
    let mut manifest = live();
    manifest.as_object_mut().expect("an object").remove("status");
    manifest["metadata"] = json!({ "name": "p", "labels": { "team": "a" } });
    manifest["spec"]
        .as_object_mut()
        .expect("an object")
        .remove("disruption");
    manifest
}

fn config() -> Json {
    json!({
        "name": "p",
        "labels": { "team": "a" },
        "template": { "spec": {
            "node_class_ref": { "name": "c" },
            "requirements": [{ "key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", "arm64"] }],
        } },
        "limits": { "cpu": "10000m" },
    })
}

async fn session(api: &Arc<MockApi>, type_name: &str) -> Session<JoinerProvider> {
    let api = Arc::clone(api);
    let provider = JoinerProvider::reaching(move |_| Cluster::from_client("https://cluster", api.client()));
    let core = Core::new(provider).await.expect("the schemas are valid");
    core.configure(json!({ "kubernetes": { "host": "https://cluster" } }))
        .await
        .expect("configured");
    core.resource(type_name).expect("the type exists")
}

#[tokio::test]
async fn a_moved_pool_plans_no_change() {
    let typed = json!({ "value": yaml(), "type": "dynamic" });
    for (provider, source, attributes) in [
        (
            "registry.opentofu.org/gavinbunney/kubectl",
            "kubectl_manifest",
            json!({ "yaml_body": yaml().to_string() }),
        ),
        (
            "registry.terraform.io/hashicorp/kubernetes",
            "kubernetes_manifest",
            json!({ "manifest": typed, "object": typed }),
        ),
    ] {
        let api = MockApi::new("c");
        api.put(POOL, live());
        let mut pool = session(&api, "joiner_node_pool").await;
        pool.move_from(provider, source, attributes).await.expect(source);
        let planned = pool.plan(config()).await.expect("planned");
        assert_eq!(planned.action, Action::NoOp, "{source}: {:?}", planned.planned);
        let mut wider = config();
        wider["limits"]["cpu"] = json!("20");
        assert_eq!(
            pool.plan(wider.clone()).await.expect("planned").action,
            Action::Update
        );
        pool.apply(wider).await.expect("applied");
        let after = api.get(POOL).expect("it is there");
        assert_eq!(after["spec"]["limits"]["cpu"], "20");
        assert_eq!(after["metadata"]["uid"], "u", "it is the same object");
    }
}

#[tokio::test]
async fn what_does_not_fit_is_refused_with_the_kind() {
    let api = MockApi::new("c");
    api.put(POOL, live());
    let mut class = session(&api, "joiner_ec2_node_class").await;
    let state = json!({ "yaml_body": yaml().to_string() });
    let failure = class
        .move_from(
            "registry.opentofu.org/alekc/kubectl",
            "kubectl_manifest",
            state.clone(),
        )
        .await
        .expect_err("a NodePool is no EC2NodeClass");
    let said = failure.to_string();
    assert!(
        said.contains("NodePool in karpenter.sh/v1") && said.contains("joiner_node_pool"),
        "{said}"
    );
    let failure = class
        .move_from("registry.opentofu.org/hashicorp/aws", "aws_instance", state)
        .await
        .expect_err("an instance is no object of a cluster");
    assert!(failure.to_string().contains("Move not supported"), "{failure}");
}
