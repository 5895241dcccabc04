//! The definitions' life under a core, with an API server in memory.

use super::definitions::{OURS, VERSION};
use super::schema::Crds;
use crate::cluster::Cluster;
use crate::cluster::mock::MockApi;
use crate::provider::JoinerProvider;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tfplugin::testing::{Action, Core, Session, UNKNOWN};

const KNOWN: &str = "https://cluster";
const POOLS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodepools.karpenter.sh";

async fn core(api: &Arc<MockApi>) -> Core<JoinerProvider> {
    let reached = Arc::clone(api);
    let provider = JoinerProvider::reaching(move |_| Cluster::from_client(KNOWN, reached.client()));
    let core = Core::new(provider).await.expect("the schemas are valid");
    configure(&core, KNOWN).await;
    core
}

async fn configure(core: &Core<JoinerProvider>, host: &str) {
    let configured = core.configure(json!({ "kubernetes": { "host": host } })).await;
    configured.expect("configured");
}

fn session(core: &Core<JoinerProvider>) -> Session<JoinerProvider> {
    core.resource("joiner_crds").expect("the type exists")
}

async fn action(crds: &mut Session<JoinerProvider>, config: Json) -> Action {
    crds.plan(config).await.expect("planned").action
}

#[tokio::test]
async fn apply_set_right_and_retain() {
    let api = MockApi::new("c");
    let core = core(&api).await;
    let mut crds = session(&core);
    crds.apply(json!({})).await.expect("applied");
    let live = api.get(POOLS).expect("it is there");
    assert_eq!(live["metadata"]["annotations"][VERSION], OURS);
    assert_eq!(action(&mut crds, json!({})).await, Action::NoOp);
    for change in [
        (|api: &MockApi| api.remove(POOLS)) as fn(&MockApi),
        |api| api.change(POOLS, |pools| pools["spec"]["scope"] = json!("Namespaced")),
        |api| {
            api.change(POOLS, |pools| {
                pools["metadata"]["annotations"][VERSION] = json!("0.0.1")
            })
        },
    ] {
        change(&api);
        assert_eq!(action(&mut crds, json!({})).await, Action::Update);
        crds.apply(json!({})).await.expect("set right");
        assert_eq!(action(&mut crds, json!({})).await, Action::NoOp);
    }
    crds.destroy().await.expect("destroyed");
    assert!(api.get(POOLS).is_some(), "a destroy leaves them");
}

#[tokio::test]
async fn a_delete_names_what_would_go_with_them() {
    let api = MockApi::new("c");
    let core = core(&api).await;
    let mut crds = session(&core);
    let deleting = json!({ "on_destroy": "delete" });
    crds.apply(deleting.clone()).await.expect("applied");
    let pool = "/apis/karpenter.sh/v1/nodepools/p";
    api.put(pool, json!({ "kind": "NodePool", "metadata": { "name": "p" } }));
    let failure = crds.destroy().await.expect_err("a pool is there");
    assert!(failure.to_string().contains("NodePool p"), "{failure}");
    assert!(api.get(POOLS).is_some());
    api.remove(pool);
    crds.destroy().await.expect("destroyed");
    assert!(api.get(POOLS).is_none());
}

#[tokio::test]
async fn newer_definitions_are_not_taken_back() {
    let api = MockApi::new("c");
    let core = core(&api).await;
    let mut crds = session(&core);
    crds.apply(json!({})).await.expect("applied");
    api.change(POOLS, |pools| {
        pools["metadata"]["annotations"][VERSION] = json!("99.0.0")
    });
    let failure = crds.plan(json!({})).await.expect_err("a downgrade");
    assert!(failure.to_string().contains("99.0.0"), "{failure}");
    let failure = session(&core).apply(json!({})).await.expect_err("a downgrade");
    assert!(failure.to_string().contains("99.0.0"), "{failure}");
}

#[tokio::test]
async fn those_of_others_are_adopted_unless_they_should_not() {
    let api = MockApi::new("c");
    api.put(
        POOLS,
        json!({ "kind": "CustomResourceDefinition", "metadata": { "name": "nodepools.karpenter.sh", "uid": "x" }, "spec": {} }),
    );
    let core = core(&api).await;
    let failure = session(&core)
        .apply(json!({ "adopt": false }))
        .await
        .expect_err("theirs");
    assert!(failure.to_string().contains("adopt = true"), "{failure}");
    let mut crds = session(&core);
    crds.apply(json!({})).await.expect("adopted");
    assert_eq!(action(&mut crds, json!({})).await, Action::NoOp);
}

#[tokio::test]
async fn a_replaced_cluster_gets_them_again() {
    let api = MockApi::new("c");
    let core = core(&api).await;
    let mut crds = session(&core);
    crds.apply(json!({})).await.expect("applied");
    configure(&core, UNKNOWN).await;
    let planned = crds.plan(json!({})).await.expect("planned");
    assert_eq!(planned.action, Action::Update, "they may be gone after the apply");
    configure(&core, KNOWN).await;
    crds.apply_plan(planned, json!({}))
        .await
        .expect("it was the same cluster");
    assert_eq!(action(&mut crds, json!({})).await, Action::NoOp);
    // A plan of a create needs no cluster.
    configure(&core, UNKNOWN).await;
    assert_eq!(action(&mut session(&core), json!({})).await, Action::Create);
}

#[tokio::test]
async fn an_import_reads_them() {
    let api = MockApi::new("c");
    let core = core(&api).await;
    assert!(session(&core).import("crds").await.is_err(), "none is there");
    session(&core).apply(json!({})).await.expect("applied");
    let mut by_id = session(&core);
    by_id.import("crds").await.expect("imported");
    assert_eq!(action(&mut by_id, json!({})).await, Action::NoOp);
    assert_eq!(by_id.model::<Crds>().expect("a model").version, OURS.into());
    let mut by_identity = session(&core);
    by_identity
        .import_by_identity(json!({ "name": "crds" }))
        .await
        .expect("imported");
    assert_eq!(action(&mut by_identity, json!({})).await, Action::NoOp);
    assert!(session(&core).import("other").await.is_err());
}

#[tokio::test]
async fn definitions_that_a_release_brought_need_no_change_after_an_import() {
    let api = MockApi::new("c");
    let core = core(&api).await;
    for definition in super::definitions::wanted() {
        let mut brought = definition.clone();
        brought["metadata"]["annotations"] = json!({});
        let name = brought["metadata"]["name"].as_str().expect("a name").to_owned();
        api.put(
            &format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"),
            brought,
        );
    }
    let mut imported = session(&core);
    imported.import("crds").await.expect("imported");
    assert_eq!(imported.model::<Crds>().expect("a model").version, OURS.into());
    assert_eq!(action(&mut imported, json!({})).await, Action::NoOp);
    // One that says something else is none of ours.
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodepools.karpenter.sh";
    api.change(path, |pools| pools["spec"]["scope"] = json!("Namespaced"));
    assert_eq!(action(&mut imported, json!({})).await, Action::Update);
}
