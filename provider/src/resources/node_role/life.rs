//! A node role's life under a core, with access entry and instance profile, in an account in memory.

use super::OWNER_TAG;
use super::schema::NodeRole;
use crate::account::{Account, Entry, Profile, World};
use crate::provider::JoinerProvider;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use tfplugin::Field;
use tfplugin::testing::{Action, Session, UNKNOWN};

const ARN: &str = "arn:aws:iam::123456789012:role/nodes";

impl World {
    fn entry(&self, cluster: &str) -> Option<Entry> {
        let key = (cluster.to_owned(), ARN.to_owned());
        self.account.clusters().entries.get(&key).cloned()
    }
}

fn config(change: impl FnOnce(&mut Json)) -> Json {
    let mut config = json!({ "name": "nodes", "cluster_name": "c" });
    change(&mut config);
    config
}

async fn action(role: &mut Session<JoinerProvider>, config: Json) -> Action {
    role.plan(config).await.expect("planned").action
}

fn model(role: &Session<JoinerProvider>) -> NodeRole {
    role.model().expect("a role")
}

#[tokio::test]
async fn create_plan_change_and_destroy() {
    let world = World::of("joiner_node_role").await;
    let mut role = world.session();
    assert_eq!(action(&mut role, config(|_| {})).await, Action::Create);
    assert!(world.account.calls().is_empty(), "a plan makes no call");
    role.apply(config(|_| {})).await.expect("created");
    let live = world.account.roles()["nodes"].clone();
    assert!(live.trust.contains("ec2.amazonaws.com"), "{}", live.trust);
    assert_eq!(
        live.attached.iter().map(String::as_str).collect::<Vec<_>>(),
        [
            "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly",
            "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy",
            "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy",
            "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
        ]
    );
    assert_eq!(
        world.entry("c").map(|entry| entry.kind).as_deref(),
        Some("EC2_LINUX")
    );
    assert!(world.account.profiles().is_empty());
    assert_eq!(action(&mut role, config(|_| {})).await, Action::NoOp);

    let full = config(|config| {
        config["create_instance_profile"] = json!(true);
        config["access_entry_type"] = json!("EC2_WINDOWS");
        config["managed_policies"] = json!(["AmazonEKSWorkerNodePolicy"]);
        config["policy_arns"] = json!(["arn:aws:iam::123456789012:policy/cni"]);
    });
    role.apply(full.clone()).await.expect("changed");
    assert_eq!(world.account.roles()["nodes"].attached.len(), 2);
    assert_eq!(world.account.profiles()["nodes"].role.as_deref(), Some("nodes"));
    assert_eq!(
        world.entry("c").map(|entry| entry.kind).as_deref(),
        Some("EC2_WINDOWS")
    );
    assert_eq!(model(&role).instance_profile_name, "nodes".into());
    assert_eq!(action(&mut role, full).await, Action::NoOp);

    let bare = config(|config| config["create_access_entry"] = json!(false));
    role.apply(bare.clone()).await.expect("changed");
    assert!(world.account.profiles().is_empty() && world.entry("c").is_none());
    assert_eq!(model(&role).access_entry_arn, Field::Null);
    assert_eq!(action(&mut role, bare).await, Action::NoOp);
    // Another cluster gets an entry, too.
    let moved = config(|config| config["cluster_name"] = json!("d"));
    role.apply(moved.clone()).await.expect("changed");
    assert!(world.entry("d").is_some());
    assert_eq!(action(&mut role, moved).await, Action::NoOp);
    role.destroy().await.expect("destroyed");
    assert!(world.account.roles().is_empty() && world.entry("d").is_none());
}

#[tokio::test]
async fn china_has_its_own_principal_and_policies() {
    let world = World::of("joiner_node_role").await;
    let mut settings = Account::settings(&world.url);
    settings["region"] = json!("cn-north-1");
    world.configure(settings).await;
    let mut role = world.session();
    role.apply(config(|_| {})).await.expect("created");
    let live = world.account.roles()["nodes"].clone();
    assert!(live.trust.contains("ec2.amazonaws.com.cn"), "{}", live.trust);
    let all_of_china = live
        .attached
        .iter()
        .all(|arn| arn.starts_with("arn:aws-cn:iam::aws:policy/"));
    assert!(all_of_china, "{:?}", live.attached);
}

#[tokio::test]
async fn what_is_gone_is_made_anew() {
    let world = World::of("joiner_node_role").await;
    let with_profile = || config(|config| config["create_instance_profile"] = json!(true));
    let mut role = world.session();
    role.apply(with_profile()).await.expect("created");
    for change in [
        (|account: &Account| account.clusters().entries.clear()) as fn(&Account),
        |account| account.profiles().clear(),
        |account| {
            for role in account.roles().values_mut() {
                role.attached.clear();
            }
        },
        |account| {
            for entry in account.clusters().entries.values_mut() {
                entry.kind = "STANDARD".into();
            }
        },
    ] {
        change(&world.account);
        assert_eq!(action(&mut role, with_profile()).await, Action::Update);
        role.apply(with_profile()).await.expect("made anew");
        assert_eq!(action(&mut role, with_profile()).await, Action::NoOp);
    }
    assert_eq!(
        world.entry("c").map(|entry| entry.kind).as_deref(),
        Some("EC2_LINUX")
    );
}

#[tokio::test]
async fn an_entry_of_others_is_not_touched() {
    let world = World::of("joiner_node_role").await;
    let theirs = Entry {
        kind: "STANDARD".into(),
        ..Entry::default()
    };
    let key = ("c".to_owned(), ARN.to_owned());
    world
        .account
        .clusters()
        .entries
        .insert(key.clone(), theirs.clone());
    let mut role = world.session();
    let failure = role
        .apply(config(|_| {}))
        .await
        .expect_err("the role has an entry");
    let words = failure.diagnostics().to_string();
    assert!(
        words.contains("create_access_entry") && words.contains("delete-access-entry"),
        "{words}"
    );
    assert_eq!(world.entry("c"), Some(theirs));
    // One that an earlier role of ours left belongs to that role, and is made anew.
    let ours = Entry {
        kind: "EC2_LINUX".into(),
        tags: BTreeMap::from([(OWNER_TAG.into(), "c".into())]),
    };
    world.account.clusters().entries.insert(key, ours);
    world.account.calls();
    role.apply(config(|_| {})).await.expect("made anew");
    let calls = world.account.calls();
    assert!(calls.contains(&"DeleteAccessEntry".to_owned()), "{calls:?}");
    assert_eq!(action(&mut role, config(|_| {})).await, Action::NoOp);
}

#[tokio::test]
async fn a_destroy_takes_what_the_controller_left_and_names_what_others_put_there() {
    let world = World::of("joiner_node_role").await;
    let mut role = world.session();
    role.apply(config(|_| {})).await.expect("created");
    let on_role = |path: &str, tags: &[(&str, &str)]| Profile {
        path: path.into(),
        role: Some("nodes".into()),
        tags: tags
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
    };
    let left = on_role(
        "/karpenter/eu-central-1/c/uid/",
        &[("kubernetes.io/cluster/c", "owned")],
    );
    world.account.profiles().insert("c_123".into(), left);
    world
        .account
        .profiles()
        .insert("theirs".into(), on_role("/", &[]));
    let failure = role.destroy().await.expect_err("it is in use");
    let words = failure.diagnostics().to_string();
    assert!(
        words.contains("instance profile theirs") && !words.contains("c_123"),
        "{words}"
    );
    assert!(world.entry("c").is_some(), "nothing was changed");
    world.account.profiles().remove("theirs");
    let warnings = role.destroy().await.expect("destroyed");
    assert!(warnings.to_string().contains("c_123"), "{warnings}");
    assert!(world.account.profiles().is_empty() && world.account.roles().is_empty());
}

#[tokio::test]
async fn what_is_unknown_waits_for_the_apply() {
    let world = World::of("joiner_node_role").await;
    for unknown in [
        "name",
        "cluster_name",
        "managed_policies",
        "create_access_entry",
        "access_entry_type",
        "create_instance_profile",
        "policy_arns",
    ] {
        let mut role = world.session();
        let unknowing = config(|config| config[unknown] = json!(UNKNOWN));
        let planned = role.plan(unknowing).await.expect("planned");
        assert_eq!(planned.action, Action::Create, "{unknown}");
        let known = config(|config| match unknown {
            "create_instance_profile" => config[unknown] = json!(true),
            "create_access_entry" => config[unknown] = json!(false),
            _ => {}
        });
        if ["cluster_name", "create_instance_profile", "create_access_entry"].contains(&unknown) {
            role.apply_plan(planned, known).await.expect("created");
            role.destroy().await.expect("destroyed");
        }
    }
    let mut role = world.session();
    role.apply(config(|_| {})).await.expect("created");
    world.account.calls();
    world.configure(Account::settings(UNKNOWN)).await;
    assert_eq!(action(&mut role, config(|_| {})).await, Action::NoOp);
    assert!(world.account.calls().is_empty());
}

#[tokio::test]
async fn an_import_reads_everything() {
    let world = World::of("joiner_node_role").await;
    let whole = || {
        config(|config| {
            config["create_instance_profile"] = json!(true);
            config["tags"] = json!({ "cost": "1" });
            config["policy_arns"] = json!(["arn:aws:iam::123456789012:policy/cni"]);
            config["policies"] = json!({ "extra": "{\"Version\":\"2012-10-17\",\"Statement\":[]}" });
        })
    };
    world.session().apply(whole()).await.expect("created");
    let mut by_id = world.session();
    by_id.import("nodes").await.expect("imported");
    assert_eq!(model(&by_id).cluster_name, "c".into());
    assert_eq!(action(&mut by_id, whole()).await, Action::NoOp);
    let mut by_identity = world.session();
    let identity = json!({ "name": "nodes" });
    by_identity.import_by_identity(identity).await.expect("imported");
    assert_eq!(action(&mut by_identity, whole()).await, Action::NoOp);
}
