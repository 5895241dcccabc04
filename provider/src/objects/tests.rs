//! A NodePool's life against an API server in memory.

use super::{Common, ObjectIdentity};
use crate::cluster::Cluster;
use crate::cluster::mock::MockApi;
use crate::provider::{Joiner, Part};
use crate::resources::{NodePool, NodePoolResource};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use tfplugin::json::from_json;
use tfplugin::{
    ApplyRequest, CancellationToken, ClientCapabilities, Configured, Context, Diagnostics, Field, ImportBy,
    Private, Resource as _, State,
};

const POOL: &str = "/apis/karpenter.sh/v1/nodepools/p";
const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";

fn context(cluster: Part<Cluster>) -> Context<Joiner> {
    let data = Joiner::new(cluster, Part::Absent);
    Context::new(
        Configured::ready(data),
        CancellationToken::new(),
        ClientCapabilities::default(),
    )
}

fn reaching(api: &Arc<MockApi>) -> Context<Joiner> {
    context(Part::Known(Cluster::from_client("https://mock", api.client())))
}

/// A planned pool: what a core hands to an apply.
fn planned() -> NodePool {
    let spec = json!({
        "template": { "spec": {
            "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "c" },
            "requirements": [
                { "key": "b", "operator": "In", "values": ["y", "x"] },
                { "key": "a", "operator": "Exists" },
            ],
            "expireAfter": "1440m",
        } },
        "disruption": { "consolidationPolicy": "WhenEmpty", "consolidateAfter": "60s", "budgets": [{ "nodes": "10%" }] },
        "limits": { "cpu": "16000m" },
    });
    let wait = super::Wait {
        ready: Field::Known(false),
        timeout: "1m".into(),
    };
    NodePool {
        common: Common {
            name: "p".into(),
            adopt: Field::Known(false),
            wait: Field::Known(wait),
            id: "p".into(),
            uid: Field::Unknown,
            cluster_uid: Field::Unknown,
            ready: Field::Unknown,
            ..Common::default()
        },
        ..from_json::<NodePool>(&spec).expect("a spec").model
    }
}

fn with(mut pool: NodePool, change: impl FnOnce(&mut Common)) -> NodePool {
    change(&mut pool.common);
    pool
}

fn request(planned: NodePool) -> ApplyRequest<NodePool, ObjectIdentity> {
    ApplyRequest {
        config: planned.clone(),
        planned,
        private: Private::default(),
        identity: None,
    }
}

async fn created(api: &Arc<MockApi>) -> NodePool {
    NodePoolResource
        .create(&reaching(api), request(planned()))
        .await
        .expect("created")
        .model
}

async fn read(ctx: &Context<Joiner>, model: NodePool) -> Option<NodePool> {
    NodePoolResource
        .read(ctx, State::new(model))
        .await
        .expect("read")
        .map(|state| state.model)
}

fn text(diagnostics: &Diagnostics) -> String {
    diagnostics.to_string()
}

#[tokio::test]
async fn a_created_pool_reads_as_it_was_written() {
    let api = MockApi::new("cluster-1");
    let model = created(&api).await;
    assert_eq!(
        (model.common.uid.as_str(), model.common.cluster_uid.as_str()),
        (Some("uid-1"), Some("cluster-1"))
    );
    assert_eq!(model.common.ready, Field::Known(false));
    let live = api.get(POOL).expect("it is there");
    assert_eq!(live["spec"]["limits"], json!({ "cpu": "16000m" }));
    // The server and others rewrite what means the same, and add what is theirs.
    api.change(POOL, |pool| {
        pool["spec"]["limits"] = json!({ "cpu": "16", "memory": "1Gi" });
        pool["spec"]["template"]["spec"]["expireAfter"] = json!("24h0m0s");
        pool["spec"]["template"]["spec"]["requirements"] = json!([
            { "key": "a", "operator": "Exists" },
            { "key": "b", "operator": "In", "values": ["x", "y"] },
        ]);
        pool["spec"]["weight"] = json!(5);
        pool["metadata"]["annotations"] = json!({ "karpenter.sh/nodepool-hash": "1" });
    });
    assert_eq!(read(&reaching(&api), model.clone()).await, Some(model.clone()));
    // What means something else shows.
    api.change(POOL, |pool| pool["spec"]["limits"]["cpu"] = json!("32"));
    let drifted = read(&reaching(&api), model).await.expect("there");
    assert_eq!(
        drifted.limits,
        Field::Known(BTreeMap::from([("cpu".to_owned(), "32".to_owned())]))
    );
}

#[tokio::test]
async fn gone_and_elsewhere_are_gone() {
    let api = MockApi::new("cluster-1");
    let model = created(&api).await;
    let other = MockApi::new("cluster-2");
    let ctx = reaching(&other);
    assert_eq!(read(&ctx, model.clone()).await, None);
    let (warnings, _) = ctx.take_report();
    assert!(
        text(&warnings).contains("cluster-1") && text(&warnings).contains("cluster-2"),
        "{warnings}"
    );
    api.remove(POOL);
    assert_eq!(read(&reaching(&api), model.clone()).await, None);
    api.unserve("/apis/karpenter.sh/v1/nodepools");
    assert_eq!(
        read(&reaching(&api), model.clone()).await,
        None,
        "no CRD, no pool"
    );
    assert_eq!(
        read(&context(Part::Unknown), model.clone()).await,
        Some(model),
        "an unknown cluster changes nothing"
    );
}

#[tokio::test]
async fn an_object_of_others_is_not_taken_over() {
    let api = MockApi::new("c");
    api.put(
        POOL,
        json!({ "metadata": { "name": "p", "uid": "theirs" }, "spec": {} }),
    );
    let refused = NodePoolResource
        .create(&reaching(&api), request(planned()))
        .await
        .expect_err("refused");
    assert!(text(&refused).contains("adopt = true"), "{refused}");
    let adopting = with(planned(), |common| {
        common.adopt = Field::Known(true);
    });
    let adopted = NodePoolResource
        .create(&reaching(&api), request(adopting))
        .await
        .expect("adopted");
    assert_eq!(adopted.model.common.uid.as_str(), Some("theirs"));
    let again = NodePoolResource.create(&reaching(&api), request(planned())).await;
    assert!(
        again.is_ok(),
        "what we applied before, as a killed run does, is ours"
    );
}

#[tokio::test]
async fn a_conflict_names_field_and_manager() {
    let api = MockApi::new("c");
    api.own("kubectl-edit", ".spec.weight");
    let refused = NodePoolResource
        .create(&reaching(&api), request(planned()))
        .await
        .expect_err("refused");
    let first = refused.iter().next().expect("a diagnostic");
    assert_eq!(
        first.path.as_ref().map(ToString::to_string).as_deref(),
        Some("weight")
    );
    assert!(
        first.detail.contains("kubectl-edit") && first.detail.contains("force_conflicts"),
        "{first}"
    );
    let forcing = with(planned(), |common| {
        common.force_conflicts = Field::Known(true);
    });
    assert!(
        NodePoolResource
            .create(&reaching(&api), request(forcing))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_pool_that_is_not_ready_is_a_warning() {
    let api = MockApi::new("c");
    let ctx = reaching(&api);
    let wait = super::Wait {
        ready: Field::Known(true),
        timeout: "0s".into(),
    };
    let pool = with(planned(), |common| {
        common.wait = Field::Known(wait);
    });
    let state = NodePoolResource
        .create(&ctx, request(pool))
        .await
        .expect("created");
    assert_eq!(state.model.common.ready, Field::Known(false));
    let (reported, _) = ctx.take_report();
    assert!(
        !reported.has_errors() && text(&reported).contains("not ready"),
        "{reported}"
    );
}

#[tokio::test]
async fn an_update_of_another_object_is_refused_but_a_provisional_one_is_applied() {
    let api = MockApi::new("c");
    let model = created(&api).await;
    api.remove(POOL);
    let update = |planned: NodePool| {
        let (ctx, prior) = (reaching(&api), State::new(model.clone()));
        async move { NodePoolResource.update(&ctx, prior, request(planned)).await }
    };
    let refused = update(model.clone()).await.expect_err("it is gone");
    assert!(text(&refused).contains("Plan and apply again"), "{refused}");
    let provisional = with(model.clone(), |common| {
        common.uid = Field::Unknown;
        common.cluster_uid = Field::Unknown;
        common.ready = Field::Unknown;
    });
    let state = update(provisional).await.expect("applied anew");
    assert_eq!(state.model.common.uid.as_str(), Some("uid-2"));
}

#[tokio::test]
async fn a_delete_waits_and_says_for_what() {
    let api = MockApi::new("c");
    let model = created(&api).await;
    api.hold(POOL);
    api.put(
        &format!("{CLAIMS}/p-1"),
        json!({ "metadata": { "name": "p-1", "labels": { "karpenter.sh/nodepool": "p" } }, "status": { "nodeName": "n" } }),
    );
    let timeouts = super::Limits {
        delete: "0s".into(),
        ..super::Limits::default()
    };
    let hurried = with(model.clone(), |common| {
        common.timeouts = Field::Known(timeouts);
    });
    let waits = NodePoolResource
        .delete(&reaching(&api), State::new(hurried))
        .await
        .expect_err("it waits");
    assert!(text(&waits).contains("NodeClaim p-1 (node n)"), "{waits}");
    api.remove(POOL);
    assert!(
        NodePoolResource
            .delete(&reaching(&api), State::new(model))
            .await
            .is_ok(),
        "absence is success"
    );
}

#[tokio::test]
async fn a_delete_stops_on_request() {
    let api = MockApi::new("c");
    let model = created(&api).await;
    api.hold(POOL);
    let ctx = reaching(&api);
    let stop = async {
        while !api.calls().iter().any(|call| call == &format!("DELETE {POOL}")) {
            tokio::task::yield_now().await;
        }
        ctx.cancellation().cancel();
    };
    let state = State::new(model);
    let (deleted, ()) = tokio::join!(NodePoolResource.delete(&ctx, state), stop);
    assert!(text(&deleted.expect_err("stopped")).contains("stopped on request"));
}

#[tokio::test]
async fn another_object_of_the_name_is_left_alone() {
    let api = MockApi::new("c");
    let model = created(&api).await;
    api.change(POOL, |pool| pool["metadata"]["uid"] = json!("anew"));
    let ctx = reaching(&api);
    NodePoolResource
        .delete(&ctx, State::new(model))
        .await
        .expect("ours is gone");
    assert!(api.get(POOL).is_some());
    assert!(text(&ctx.take_report().0).contains("left alone"));
}

#[tokio::test]
async fn an_import_reads_the_whole_object() {
    let api = MockApi::new("c");
    let model = created(&api).await;
    api.change(POOL, |pool| {
        pool["metadata"]["labels"] = json!({ "team": "a" });
        pool["metadata"]["annotations"] = json!({ "karpenter.sh/nodepool-hash": "1" });
    });
    let ctx = reaching(&api);
    let imported = NodePoolResource
        .import(&ctx, ImportBy::Id("p".into()))
        .await
        .expect("found")
        .remove(0)
        .model;
    let read = read(&ctx, imported).await.expect("there");
    let want = with(model, |common| {
        common.labels = Field::Known(BTreeMap::from([("team".to_owned(), "a".to_owned())]));
        common.wait = Field::Null;
    });
    assert_eq!(read, want);
    let missing = NodePoolResource
        .import(&ctx, ImportBy::Id("q".into()))
        .await
        .expect_err("no such pool");
    assert!(text(&missing).contains("\"q\""), "{missing}");
}

#[tokio::test]
async fn a_cluster_that_does_not_answer_is_named() {
    let direct = crate::cluster::Direct {
        host: "https://127.0.0.1:1".into(),
        ..Default::default()
    };
    let cluster = Cluster::new(crate::cluster::Access::Direct(Box::new(direct)));
    let ctx = context(Part::Known(cluster));
    let model = with(planned(), |common| {
        common.uid = "u".into();
        common.cluster_uid = "c".into();
    });
    let failed = NodePoolResource
        .read(&ctx, State::new(model))
        .await
        .expect_err("nobody listens");
    assert!(text(&failed).contains("https://127.0.0.1:1"), "{failed}");
}
