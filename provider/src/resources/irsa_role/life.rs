//! A role's life under a core, by the core's own rules, with an account in memory.

use super::schema::IrsaRole;
use crate::account::{Account, Role, World};
use crate::provider::JoinerProvider;
use serde_json::{Value as Json, json};
use tfplugin::Field;
use tfplugin::testing::{Action, Failure, Session, UNKNOWN};

const TYPE: &str = "joiner_irsa_role";
const OIDC: &str = "arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/A";

impl World {
    fn role(&self, name: &str) -> Role {
        self.account
            .roles()
            .get(name)
            .cloned()
            .expect("the role is there")
    }

    /// A session of a role that is there.
    async fn made(&self) -> Session<JoinerProvider> {
        let mut role = self.session();
        role.apply(config(|_| {})).await.expect("created");
        self.account.calls();
        role
    }
}

fn config(change: impl FnOnce(&mut Json)) -> Json {
    let mut config = json!({
        "name": "r", "cluster_name": "c", "oidc_provider_arn": OIDC,
        "node_role_arns": ["arn:aws:iam::123456789012:role/node"],
    });
    change(&mut config);
    config
}

/// With every attribute that can be changed in place.
fn full() -> Json {
    config(|config| {
        config["description"] = json!("the controller");
        config["permissions_boundary"] = json!("arn:aws:iam::123456789012:policy/b");
        config["tags"] = json!({ "cost": "1" });
        config["policies"] = json!({ "volumes": policy(&json!(["kms:CreateGrant"])) });
        config["policy_arns"] = json!(["arn:aws:iam::aws:policy/P"]);
        config["service_account"] = json!("other");
        config["interruption_queue_arn"] = json!("arn:aws:sqs:eu-central-1:123456789012:q");
    })
}

async fn action(role: &mut Session<JoinerProvider>, config: Json) -> Action {
    role.plan(config).await.expect("planned").action
}

fn model(role: &Session<JoinerProvider>) -> IrsaRole {
    role.model().expect("a role")
}

fn words(failure: &Failure) -> String {
    failure.diagnostics().to_string()
}

fn policy(actions: &Json) -> String {
    json!({ "Version": "2012-10-17", "Statement": [{ "Effect": "Allow", "Action": actions, "Resource": "*" }] }).to_string()
}

#[tokio::test]
async fn create_plan_change_and_destroy() {
    let world = World::of(TYPE).await;
    let mut role = world.session();
    assert_eq!(action(&mut role, config(|_| {})).await, Action::Create);
    assert!(world.account.calls().is_empty(), "a plan makes no call");
    role.apply(config(|_| {})).await.expect("created");
    let live = world.role("r");
    assert_eq!(live.tags["team"], "a", "the provider's default tags");
    assert_eq!(live.tags["joiner.dev/irsa-role"], "kube-system/joiner@c");
    assert!(
        live.trust.contains("system:serviceaccount:kube-system:joiner"),
        "{}",
        live.trust
    );
    assert!(
        live.inline["JoinerController"].contains("ec2:CreateFleet"),
        "{:?}",
        live.inline
    );
    assert_eq!(
        model(&role).role.arn.as_str(),
        Some("arn:aws:iam::123456789012:role/r")
    );
    assert_eq!(action(&mut role, config(|_| {})).await, Action::NoOp);

    let full = full();
    assert_eq!(action(&mut role, full.clone()).await, Action::Update);
    role.apply(full.clone()).await.expect("changed");
    let live = world.role("r");
    assert_eq!(
        (live.description.as_str(), live.tags["cost"].as_str()),
        ("the controller", "1")
    );
    assert_eq!(
        live.boundary.as_deref(),
        Some("arn:aws:iam::123456789012:policy/b")
    );
    assert!(
        live.trust.contains("kube-system:other")
            && live.inline["JoinerController"].contains("sqs:ReceiveMessage")
    );
    assert_eq!(live.inline.len() + live.attached.len(), 3);
    assert_eq!(action(&mut role, full).await, Action::NoOp);

    role.apply(config(|_| {})).await.expect("changed back");
    let live = world.role("r");
    assert_eq!(
        (live.inline.len(), live.attached.len(), live.boundary),
        (1, 0, None)
    );
    assert!(!live.tags.contains_key("cost"), "{:?}", live.tags);
    for (attribute, value) in [("name", "q"), ("path", "/joiner/")] {
        let other = config(|config| config[attribute] = json!(value));
        assert_eq!(action(&mut role, other).await, Action::Replace, "{attribute}");
    }
    role.destroy().await.expect("destroyed");
    assert!(world.account.roles().is_empty());
}

#[tokio::test]
async fn drift_by_meaning() {
    let world = World::of(TYPE).await;
    let extra = |document: String| config(|config| config["policies"] = json!({ "extra": document }));
    let mut role = world.session();
    role.apply(extra(policy(&json!(["a:B", "a:C"]))))
        .await
        .expect("created");
    // Another order and a single text are the same; so is what others put there.
    if let Some(live) = world.account.roles().get_mut("r") {
        live.inline.insert("extra".into(), policy(&json!(["a:C", "a:B"])));
        live.inline.insert("theirs".into(), policy(&json!("x:Y")));
        live.attached.insert("arn:aws:iam::aws:policy/Theirs".into());
        live.tags.insert("theirs".into(), "x".into());
    }
    assert_eq!(
        action(&mut role, extra(policy(&json!(["a:B", "a:C"])))).await,
        Action::NoOp
    );
    assert_eq!(
        action(&mut role, extra(policy(&json!(["a:C", "a:B"])))).await,
        Action::NoOp
    );
    // What means something else is set right.
    for change in [
        (|live: &mut Role| live.description = "mine".into()) as fn(&mut Role),
        |live| live.trust = policy(&json!("sts:AssumeRole")),
        |live| drop(live.inline.insert("extra".into(), policy(&json!("a:D")))),
        |live| drop(live.inline.remove("JoinerController")),
        |live| live.boundary = Some("arn:aws:iam::123456789012:policy/b".into()),
    ] {
        if let Some(live) = world.account.roles().get_mut("r") {
            change(live);
        }
        let wanted = extra(policy(&json!(["a:B", "a:C"])));
        assert_eq!(action(&mut role, wanted.clone()).await, Action::Update);
        role.apply(wanted.clone()).await.expect("set right");
        assert_eq!(action(&mut role, wanted).await, Action::NoOp);
    }
    assert!(
        world.role("r").inline.contains_key("theirs"),
        "what others put there stays"
    );
}

#[tokio::test]
async fn a_role_of_others_is_not_touched() {
    let world = World::of(TYPE).await;
    let theirs = Role {
        id: "AROATHEIRS".into(),
        path: "/".into(),
        trust: policy(&json!("sts:AssumeRole")),
        ..Role::default()
    };
    world.account.roles().insert("r".into(), theirs.clone());
    let failure = world
        .session()
        .apply(config(|_| {}))
        .await
        .expect_err("the name is taken");
    assert!(
        words(&failure).contains("name") && words(&failure).contains("import"),
        "{failure}"
    );
    assert_eq!(world.role("r"), theirs);
    // What a killed run of ours left is finished.
    if let Some(live) = world.account.roles().get_mut("r") {
        live.tags
            .insert("joiner.dev/irsa-role".into(), "kube-system/joiner@c".into());
    }
    let mut role = world.session();
    role.apply(config(|_| {})).await.expect("finished");
    assert!(world.role("r").inline.contains_key("JoinerController"));
    assert_eq!(action(&mut role, config(|_| {})).await, Action::NoOp);
}

#[tokio::test]
async fn a_delete_names_what_others_attached() {
    let world = World::of(TYPE).await;
    let mut role = world.made().await;
    let before = world.role("r");
    if let Some(live) = world.account.roles().get_mut("r") {
        live.attached.insert("arn:aws:iam::aws:policy/Theirs".into());
    }
    let failure = role.destroy().await.expect_err("it is in use");
    assert!(
        words(&failure).contains("arn:aws:iam::aws:policy/Theirs"),
        "{failure}"
    );
    assert_eq!(world.role("r").inline, before.inline, "nothing was changed");
    if let Some(live) = world.account.roles().get_mut("r") {
        live.attached.clear();
    }
    role.destroy().await.expect("destroyed");
    assert!(world.account.roles().is_empty());
    // One that was made anew by someone else is left alone.
    let mut role = world.made().await;
    if let Some(live) = world.account.roles().get_mut("r") {
        *live = Role {
            id: "AROANEW".into(),
            path: "/".into(),
            ..Role::default()
        };
    }
    role.destroy().await.expect("ours is gone");
    assert_eq!(world.role("r").id, "AROANEW");
}

#[tokio::test]
async fn a_create_that_fails_half_way_is_in_the_state() {
    let world = World::of(TYPE).await;
    let mut role = world.session();
    world.account.refuse("PutRolePolicy");
    let failure = role.apply(config(|_| {})).await.expect_err("a policy is refused");
    assert!(words(&failure).contains("iam:PutRolePolicy"), "{failure}");
    assert!(role.is_tainted());
    role.apply(config(|_| {})).await.expect("made anew");
    assert_eq!(action(&mut role, config(|_| {})).await, Action::NoOp);
    // An update that fails leaves the rest to the next one.
    let wider = config(|config| config["policies"] = json!({ "extra": policy(&json!("a:B")) }));
    world.account.refuse("PutRolePolicy");
    role.apply(wider.clone()).await.expect_err("refused");
    assert_eq!(action(&mut role, wider.clone()).await, Action::Update);
    role.apply(wider).await.expect("changed");
}

#[tokio::test]
async fn what_is_unknown_waits_for_the_apply() {
    let world = World::of(TYPE).await;
    for unknown in [
        "name",
        "cluster_name",
        "oidc_provider_arn",
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
        .plan(config(|config| config["oidc_provider_arn"] = json!(UNKNOWN)))
        .await
        .expect("planned");
    role.apply_plan(planned, config(|_| {})).await.expect("created");
    assert!(model(&role).controller.policy_json.is_known());
    // With an account that is not known yet nothing is asked.
    world.account.calls();
    world.configure(Account::settings(UNKNOWN)).await;
    assert_eq!(action(&mut role, config(|_| {})).await, Action::NoOp);
    assert!(world.account.calls().is_empty());
}

#[tokio::test]
async fn a_plan_after_an_import_is_empty() {
    let world = World::of(TYPE).await;
    for made in [
        full(),
        config(|config| config["manage_instance_profiles"] = json!(false)),
        config(|config| config["region"] = json!("eu-west-1")),
    ] {
        let mut role = world.session();
        role.apply(made.clone()).await.expect("created");
        let mut imported = world.session();
        imported.import("r").await.expect("imported");
        assert_eq!(action(&mut imported, made.clone()).await, Action::NoOp, "{made}");
        role.destroy().await.expect("destroyed");
    }
    // What the configuration leaves out shows, the tag of somebody else, too.
    world.session().apply(full()).await.expect("created");
    if let Some(live) = world.account.roles().get_mut("r") {
        live.tags.insert("theirs".into(), "x".into());
    }
    let mut imported = world.session();
    imported.import("r").await.expect("imported");
    assert_eq!(action(&mut imported, full()).await, Action::Update);
}

#[tokio::test]
async fn drift_of_tags_is_seen() {
    let world = World::of(TYPE).await;
    let mut role = world.session();
    role.apply(full()).await.expect("created");
    for change in [
        (|live: &mut Role| drop(live.tags.insert("cost".into(), "2".into()))) as fn(&mut Role),
        |live| drop(live.tags.remove("cost")),
    ] {
        if let Some(live) = world.account.roles().get_mut("r") {
            change(live);
        }
        assert_eq!(action(&mut role, full()).await, Action::Update);
        role.apply(full()).await.expect("set right");
        assert_eq!(world.role("r").tags["cost"], "1");
    }
}

#[tokio::test]
async fn an_import_reads_the_role() {
    let world = World::of(TYPE).await;
    world.made().await;
    let mut by_id = world.session();
    by_id.import("r").await.expect("imported");
    assert_eq!(
        (
            model(&by_id).oidc_provider_arn,
            model(&by_id).controller.cluster_name
        ),
        (Field::Known(OIDC.to_owned()), "c".into())
    );
    for (account, fits) in [
        (Json::Null, true),
        (json!("123456789012"), true),
        (json!("999999999999"), false),
    ] {
        let mut by_identity = world.session();
        let imported = by_identity
            .import_by_identity(json!({ "name": "r", "account_id": account }))
            .await;
        match imported {
            Ok(_) => {
                assert!(fits, "{account}");
                assert_eq!(action(&mut by_identity, config(|_| {})).await, Action::NoOp);
            }
            Err(failure) => assert!(!fits && words(&failure).contains("999999999999"), "{failure}"),
        }
    }
    let failure = world.session().import("other").await.expect_err("no such role");
    assert!(words(&failure).contains("\"other\""), "{failure}");
}
