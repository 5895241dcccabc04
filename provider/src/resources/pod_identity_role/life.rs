//! A role's life under a core, with its association, in an account in memory.

use super::schema::PodIdentityRole;
use crate::account::{Account, Association, World};
use crate::provider::JoinerProvider;
use serde_json::{Value as Json, json};
use tfplugin::testing::{Action, Session, UNKNOWN};

impl World {
    fn associations(&self) -> Vec<Association> {
        self.account.clusters().associations.values().cloned().collect()
    }
}

fn config(change: impl FnOnce(&mut Json)) -> Json {
    let mut config = json!({
        "name": "r", "cluster_name": "c", "node_role_arns": ["arn:aws:iam::123456789012:role/node"],
    });
    change(&mut config);
    config
}

async fn action(role: &mut Session<JoinerProvider>, config: Json) -> Action {
    role.plan(config).await.expect("planned").action
}

fn model(role: &Session<JoinerProvider>) -> PodIdentityRole {
    role.model().expect("a role")
}

#[tokio::test]
async fn create_plan_change_and_destroy() {
    let world = World::of("joiner_pod_identity_role").await;
    let mut role = world.session();
    assert_eq!(action(&mut role, config(|_| {})).await, Action::Create);
    assert!(world.account.calls().is_empty(), "a plan makes no call");
    role.apply(config(|_| {})).await.expect("created");
    let live = world.account.roles()["r"].clone();
    assert!(live.trust.contains("pods.eks.amazonaws.com"), "{}", live.trust);
    assert!(live.inline["JoinerController"].contains("arn:aws:ec2:eu-central-1:123456789012:"));
    let [association] = &world.associations()[..] else {
        panic!("one association")
    };
    assert_eq!(
        (
            association.namespace.as_str(),
            association.service_account.as_str()
        ),
        ("kube-system", "joiner")
    );
    assert_eq!(association.role_arn, "arn:aws:iam::123456789012:role/r");
    assert_eq!(association.tags["team"], "a", "the provider's default tags");
    assert_eq!(action(&mut role, config(|_| {})).await, Action::NoOp);

    let queue = config(|config| {
        config["interruption_queue_arn"] = json!("arn:aws:sqs:eu-central-1:123456789012:q");
    });
    let planned = role.plan(queue.clone()).await.expect("planned");
    assert_eq!(planned.action, Action::Update);
    let shown = format!("{:?}", planned.planned);
    assert!(
        shown.contains("sqs:ReceiveMessage"),
        "the plan shows the policy: {shown}"
    );
    role.apply(queue.clone()).await.expect("changed");
    assert_eq!(action(&mut role, queue).await, Action::NoOp);

    let other = config(|config| config["service_account"] = json!("other"));
    role.apply(other.clone()).await.expect("changed");
    assert_eq!(world.associations().len(), 1);
    assert_eq!(world.associations()[0].service_account, "other");
    assert_eq!(action(&mut role, other).await, Action::NoOp);

    role.destroy().await.expect("destroyed");
    assert!(world.account.roles().is_empty() && world.associations().is_empty());
}

#[tokio::test]
async fn an_association_that_is_gone_is_made_anew() {
    let world = World::of("joiner_pod_identity_role").await;
    let mut role = world.session();
    role.apply(config(|_| {})).await.expect("created");
    // As with a cluster that was replaced by one of the same name.
    world.account.clusters().associations.clear();
    assert_eq!(action(&mut role, config(|_| {})).await, Action::Update);
    role.apply(config(|_| {})).await.expect("made anew");
    assert_eq!(world.associations().len(), 1);
    assert_eq!(action(&mut role, config(|_| {})).await, Action::NoOp);
    // Someone gave the service account another role.
    for association in world.account.clusters().associations.values_mut() {
        association.role_arn = "arn:aws:iam::123456789012:role/other".into();
    }
    assert_eq!(action(&mut role, config(|_| {})).await, Action::Update);
    role.apply(config(|_| {})).await.expect("set right");
    assert_eq!(
        world.associations()[0].role_arn,
        "arn:aws:iam::123456789012:role/r"
    );
    // With its cluster gone, nothing is left of the association to delete.
    world.account.clusters().associations.clear();
    role.destroy().await.expect("destroyed");
    assert!(world.account.roles().is_empty());
}

#[tokio::test]
async fn an_association_of_others_is_not_touched() {
    let world = World::of("joiner_pod_identity_role").await;
    let theirs = Association {
        cluster: "c".into(),
        namespace: "kube-system".into(),
        service_account: "joiner".into(),
        role_arn: "arn:aws:iam::123456789012:role/theirs".into(),
        ..Association::default()
    };
    let key = "a-theirs".to_owned();
    world.account.clusters().associations.insert(key, theirs.clone());
    let mut role = world.session();
    let failure = role
        .apply(config(|_| {}))
        .await
        .expect_err("the account has a role");
    let words = failure.diagnostics().to_string();
    assert!(
        words.contains("service_account") && words.contains("role/theirs") && words.contains("a-theirs"),
        "{words}"
    );
    assert_eq!(world.associations(), [theirs]);
    // The role was made, so it is in the state, and the next apply makes it whole.
    assert!(role.is_tainted());
    world.account.clusters().associations.clear();
    role.apply(config(|_| {})).await.expect("made anew");
    assert_eq!(action(&mut role, config(|_| {})).await, Action::NoOp);
}

#[tokio::test]
async fn what_is_unknown_waits_for_the_apply() {
    let world = World::of("joiner_pod_identity_role").await;
    for unknown in [
        "name",
        "cluster_name",
        "node_role_arns",
        "interruption_queue_arn",
        "region",
        "tags",
    ] {
        let mut role = world.session();
        let config = config(|config| config[unknown] = json!(UNKNOWN));
        assert_eq!(action(&mut role, config).await, Action::Create, "{unknown}");
    }
    let mut role = world.session();
    let planned = role
        .plan(config(|config| config["cluster_name"] = json!(UNKNOWN)))
        .await
        .expect("planned");
    role.apply_plan(planned, config(|_| {})).await.expect("created");
    assert!(model(&role).association_id.is_known());
    // With an account that is not known yet nothing is asked.
    world.account.calls();
    world.configure(Account::settings(UNKNOWN)).await;
    assert_eq!(action(&mut role, config(|_| {})).await, Action::NoOp);
    assert!(world.account.calls().is_empty());
}

#[tokio::test]
async fn an_import_reads_role_and_association() {
    let world = World::of("joiner_pod_identity_role").await;
    let whole = config(|config| {
        config["tags"] = json!({ "cost": "1" });
        config["policy_arns"] = json!(["arn:aws:iam::aws:policy/P"]);
        config["region"] = json!("eu-west-1");
    });
    let mut role = world.session();
    role.apply(whole.clone()).await.expect("created");
    let mut by_id = world.session();
    by_id.import("r").await.expect("imported");
    assert_eq!(model(&by_id).controller.cluster_name, "c".into());
    assert_eq!(model(&by_id).association_id, model(&role).association_id);
    assert_eq!(action(&mut by_id, whole.clone()).await, Action::NoOp);
    let mut by_identity = world.session();
    let identity = json!({ "name": "r", "account_id": "123456789012" });
    by_identity.import_by_identity(identity).await.expect("imported");
    assert_eq!(action(&mut by_identity, whole).await, Action::NoOp);
    let elsewhere = json!({ "name": "r", "account_id": "999999999999" });
    let failure = world.session().import_by_identity(elsewhere).await;
    assert!(
        failure
            .expect_err("elsewhere")
            .to_string()
            .contains("999999999999")
    );
}
