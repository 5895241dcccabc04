//! A barrier's life under a core, with an API server and an account in memory.

use crate::account::Account;
use crate::cluster::Cluster;
use crate::cluster::mock::MockApi;
use crate::provider::JoinerProvider;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tfplugin::Diagnostics;
use tfplugin::testing::{Action, Core, Failure, Session, UNKNOWN};

const CLAIM: &str = "/apis/karpenter.sh/v1/nodeclaims/a";

struct World {
    api: Arc<MockApi>,
    account: Arc<Account>,
    core: Core<JoinerProvider>,
}

impl World {
    async fn new() -> Self {
        let api = MockApi::new("c");
        let (account, url) = Account::start().await;
        let reached = Arc::clone(&api);
        let provider = JoinerProvider::reaching(move |_| Cluster::from_client("https://c", reached.client()))
            .with(Account::fakes());
        let core = Core::new(provider).await.expect("the schemas are valid");
        let settings = json!({ "aws": Account::settings(&url), "kubernetes": { "host": "https://c" } });
        core.configure(settings).await.expect("configured");
        Self { api, account, core }
    }

    async fn made(&self, config: Json) -> Session<JoinerProvider> {
        let mut teardown = self.core.resource("joiner_teardown").expect("the type exists");
        teardown.apply(config).await.expect("made");
        teardown
    }
}

/// A destroy that looks once.
fn at_once(orphans: bool) -> Json {
    json!({ "cluster_name": "c", "terminate_orphans": orphans, "timeouts": { "delete": "0s" } })
}

#[tokio::test]
async fn a_create_does_nothing_and_a_destroy_of_nothing_neither() {
    let world = World::new().await;
    let config = json!({ "cluster_name": "c" });
    let mut teardown = world.made(config.clone()).await;
    assert_eq!(
        world.account.calls(),
        ["DescribeCluster"],
        "it only notes which cluster it is"
    );
    assert!(world.api.calls().is_empty());
    assert_eq!(teardown.plan(config).await.expect("planned").action, Action::NoOp);
    let changed = teardown.plan(at_once(true)).await.expect("planned").action;
    assert_eq!(changed, Action::Update);
    teardown.destroy().await.expect("nothing is left");
    let calls = world.account.calls();
    for call in [
        "DescribeInstances",
        "DescribeNetworkInterfaces",
        "DescribeLaunchTemplates",
        "ListInstanceProfiles",
    ] {
        assert!(calls.contains(&call.to_owned()), "{call} in {calls:?}");
    }
}

#[tokio::test]
async fn what_is_left_is_named() {
    let world = World::new().await;
    world.api.put(
        CLAIM,
        json!({ "kind": "NodeClaim", "metadata": { "name": "a" }, "status": { "nodeName": "n" } }),
    );
    let pod = json!({
        "kind": "Pod", "metadata": { "name": "p", "namespace": "d", "annotations": { "karpenter.sh/do-not-disrupt": "true" } },
        "spec": { "nodeName": "n" },
    });
    world.api.put("/api/v1/namespaces/d/pods/p", pod);
    {
        let mut ec2 = world.account.ec2();
        ec2.instances.insert("i-1".into(), "running");
        ec2.interfaces.insert("eni-1".into(), "in-use");
        ec2.templates.push("karpenter.k8s.aws/1".into());
    }
    let mut teardown = world.made(at_once(true)).await;
    let failure = teardown
        .destroy()
        .await
        .expect_err("something is left")
        .to_string();
    for part in [
        "1 NodeClaims must go first",
        "NodeClaim a (node n)",
        "pod d/p carries karpenter.sh/do-not-disrupt",
        "i-1 (Running, NodeClaim claim-i-1)",
        "eni-1",
        "karpenter.k8s.aws/1",
    ] {
        assert!(failure.contains(part), "{part:?} in {failure}");
    }
    assert_eq!(
        world.account.ec2().instances["i-1"],
        "running",
        "its controller ends it"
    );
}

#[tokio::test]
async fn orphans_are_ended_on_request() {
    let world = World::new().await;
    {
        let mut ec2 = world.account.ec2();
        ec2.instances.insert("i-1".into(), "running");
        ec2.interfaces.insert("eni-1".into(), "available");
        ec2.templates.push("t".into());
    }
    let mut teardown = world.made(at_once(false)).await;
    let failure = teardown
        .destroy()
        .await
        .expect_err("something is left")
        .to_string();
    assert!(failure.contains("terminate_orphans = true"), "{failure}");
    let mut config = at_once(true);
    config["timeouts"]["delete"] = json!("30s");
    teardown.apply(config).await.expect("changed");
    teardown.destroy().await.expect("ended");
    let ec2 = world.account.ec2();
    assert!(ec2.instances.is_empty() && ec2.interfaces.is_empty() && ec2.templates.is_empty());
}

#[tokio::test]
async fn an_import_needs_nothing_but_the_name() {
    let world = World::new().await;
    let config = json!({ "cluster_name": "c" });
    let mut by_id = world.core.resource("joiner_teardown").expect("the type exists");
    by_id.import("c").await.expect("imported");
    assert_eq!(
        by_id.plan(config.clone()).await.expect("planned").action,
        Action::NoOp
    );
    let mut by_identity = world.core.resource("joiner_teardown").expect("the type exists");
    by_identity
        .import_by_identity(config.clone())
        .await
        .expect("imported");
    assert_eq!(
        by_identity.plan(config).await.expect("planned").action,
        Action::NoOp
    );
    let unknown = json!({ "cluster_name": UNKNOWN });
    let mut new = world.core.resource("joiner_teardown").expect("the type exists");
    assert_eq!(new.plan(unknown).await.expect("planned").action, Action::Create);
}

/// Lets EKS know a cluster of the name that was made at this second.
fn cluster_of(world: &World, created: i64) {
    let cluster = json!({ "name": "c", "status": "ACTIVE", "createdAt": created });
    world.account.clusters().described.insert("c".into(), cluster);
}

/// When a cluster was made, and when the one after it: at 2026-11-30T07:00:00Z, before the instance profiles of the account in memory.
const OLD: i64 = 1_790_000_000;
const NEW: i64 = 1_796_022_000;

/// Two clusters of one name, and what each has in the account; carries the barrier's replacement out, which was planned while there was the
/// first one.
async fn replace(world: &World, config: Json) -> (Session<JoinerProvider>, Result<Diagnostics, Failure>) {
    cluster_of(world, OLD);
    let mut teardown = world.made(config.clone()).await;
    let mut open = config.clone();
    open["cluster_name"] = json!(UNKNOWN);
    let planned = teardown.plan(open).await.expect("planned");
    assert_eq!(planned.action, Action::Replace);
    cluster_of(world, NEW);
    world.api.put(
        CLAIM,
        json!({ "kind": "NodeClaim", "metadata": { "name": "a" }, "status": { "nodeName": "n" } }),
    );
    {
        let mut ec2 = world.account.ec2();
        for (id, made) in [("old", "2026-11-29T08:00:00Z"), ("new", "2026-11-30T08:00:00Z")] {
            ec2.instances.insert(format!("i-{id}"), "running");
            ec2.interfaces.insert(format!("eni-{id}"), "available");
            ec2.templates.push(format!("t-{id}"));
            for kind in ["i", "eni", "t"] {
                ec2.made.insert(format!("{kind}-{id}"), made);
            }
        }
        // Whose it is, is not known: it may be the new cluster's.
        ec2.interfaces.insert("eni-ageless".into(), "available");
    }
    let profile = crate::account::Profile {
        path: "/karpenter/eu-central-1/c/uid/".into(),
        ..Default::default()
    };
    world.account.profiles().insert("c_new".into(), profile);
    let result = teardown.apply_plan(planned, config).await;
    (teardown, result)
}

#[tokio::test]
async fn what_a_new_cluster_of_the_name_has_is_neither_waited_for_nor_removed() {
    let world = World::new().await;
    let mut config = at_once(true);
    config["timeouts"]["delete"] = json!("30s");
    let (_, replaced) = replace(&world, config).await;
    replaced.expect("the old cluster's is ended");
    let ec2 = world.account.ec2();
    let interfaces: Vec<&String> = ec2.interfaces.keys().collect();
    assert_eq!(ec2.instances.keys().collect::<Vec<_>>(), ["i-new"]);
    assert_eq!(interfaces, ["eni-ageless", "eni-new"]);
    assert_eq!(ec2.templates, ["t-new"]);
    assert!(world.account.profiles().contains_key("c_new"));
}

#[tokio::test]
async fn what_nobody_ends_after_a_cluster_was_replaced_is_told_at_once() {
    let world = World::new().await;
    let (mut teardown, replaced) = replace(&world, json!({ "cluster_name": "c" })).await;
    let failure = replaced.expect_err("nobody ends it").to_string();
    for part in [
        "earlier cluster c",
        "i-old",
        "eni-old",
        "t-old",
        "terminate-instances",
    ] {
        assert!(failure.contains(part), "{part:?} in {failure}");
    }
    for part in ["-new", "ageless", "NodeClaims must"] {
        assert!(!failure.contains(part), "{part:?} in {failure}");
    }
    // The next plan finds nothing to do for the barrier, and it stands before the new cluster: all under its name is waited for.
    assert_eq!(
        teardown
            .plan(json!({ "cluster_name": "c" }))
            .await
            .expect("planned")
            .action,
        Action::NoOp
    );
    teardown.apply(at_once(false)).await.expect("changed");
    let failure = teardown.destroy().await.expect_err("all is left").to_string();
    assert!(
        failure.contains("i-new") && failure.contains("i-old"),
        "{failure}"
    );
}

#[tokio::test]
async fn a_template_of_a_replaced_cluster_holds_nobody_up() {
    let world = World::new().await;
    cluster_of(&world, OLD);
    let config = json!({ "cluster_name": "c" });
    let mut teardown = world.made(config.clone()).await;
    let planned = teardown
        .plan(json!({ "cluster_name": UNKNOWN }))
        .await
        .expect("planned");
    cluster_of(&world, NEW);
    world.account.ec2().templates.push("t-old".into());
    world
        .account
        .ec2()
        .made
        .insert("t-old".into(), "2026-11-29T08:00:00Z");
    let warned = teardown.apply_plan(planned, config).await.expect("replaced");
    assert!(warned.to_string().contains("t-old"), "{warned}");
}

#[tokio::test]
async fn a_refresh_notes_the_cluster_that_is_there() {
    let world = World::new().await;
    let config = at_once(false);
    // There was no cluster yet, or the state is of an earlier release.
    let mut teardown = world.made(config.clone()).await;
    cluster_of(&world, OLD);
    let mut open = config.clone();
    open["cluster_name"] = json!(UNKNOWN);
    let planned = teardown.plan(open).await.expect("planned");
    cluster_of(&world, NEW);
    world.account.ec2().instances.insert("i-new".into(), "running");
    world
        .account
        .ec2()
        .made
        .insert("i-new".into(), "2026-11-30T08:00:00Z");
    teardown
        .apply_plan(planned, config)
        .await
        .expect("none of the old cluster's is left");
    teardown.destroy().await.expect_err("the new cluster's is left");
}
