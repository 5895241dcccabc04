//! A barrier's life under a core, with an API server and an account in memory.

use crate::account::Account;
use crate::cluster::Cluster;
use crate::cluster::mock::MockApi;
use crate::provider::JoinerProvider;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tfplugin::testing::{Action, Core, Session, UNKNOWN};

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
    assert!(world.account.calls().is_empty() && world.api.calls().is_empty());
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
