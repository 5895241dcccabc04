//! A queue's life under a core, with its rules, in an account in memory.

use super::OWNER_TAG;
use super::schema::InterruptionQueue;
use crate::account::{Account, Queue, Rule, World};
use crate::provider::JoinerProvider;
use serde_json::{Value as Json, json};
use tfplugin::testing::{Action, Session, UNKNOWN};

const ARN: &str = "arn:aws:sqs:eu-central-1:123456789012:q";

impl World {
    fn queue(&self) -> Queue {
        self.account
            .queues()
            .get("q")
            .cloned()
            .expect("the queue is there")
    }
}

fn config(change: impl FnOnce(&mut Json)) -> Json {
    let mut config = json!({ "name": "q" });
    change(&mut config);
    config
}

async fn action(queue: &mut Session<JoinerProvider>, config: Json) -> Action {
    queue.plan(config).await.expect("planned").action
}

fn model(queue: &Session<JoinerProvider>) -> InterruptionQueue {
    queue.model().expect("a queue")
}

#[tokio::test]
async fn create_plan_change_and_destroy() {
    let world = World::of("joiner_interruption_queue").await;
    let mut queue = world.session();
    assert_eq!(action(&mut queue, config(|_| {})).await, Action::Create);
    assert!(world.account.calls().is_empty(), "a plan makes no call");
    queue.apply(config(|_| {})).await.expect("created");
    let live = world.queue();
    assert_eq!(live.attributes["MessageRetentionPeriod"], "300");
    assert_eq!(live.attributes["SqsManagedSseEnabled"], "true");
    assert!(
        live.attributes["Policy"].contains("arn:aws:events:eu-central-1:123456789012:rule/*"),
        "{}",
        live.attributes["Policy"]
    );
    assert_eq!(
        (live.tags["team"].as_str(), live.tags[OWNER_TAG].as_str()),
        ("a", "q")
    );
    let rules = world.account.rules().clone();
    assert_eq!(
        rules.keys().map(String::as_str).collect::<Vec<_>>(),
        ["q-health", "q-rebalance", "q-reservation", "q-spot", "q-state"]
    );
    for rule in rules.values() {
        assert_eq!(rule.targets.values().collect::<Vec<_>>(), [ARN]);
        assert_eq!(
            (rule.tags["team"].as_str(), rule.state.as_str()),
            ("a", "ENABLED")
        );
    }
    assert!(
        rules["q-spot"]
            .pattern
            .contains("EC2 Spot Instance Interruption Warning")
    );
    assert_eq!(model(&queue).rules.known().map(|rules| rules.len()), Some(5));
    assert_eq!(action(&mut queue, config(|_| {})).await, Action::NoOp);

    let full = config(|config| {
        config["message_retention_seconds"] = json!(600);
        config["kms_key_id"] = json!("alias/k");
        config["tags"] = json!({ "cost": "1" });
    });
    queue.apply(full.clone()).await.expect("changed");
    let live = world.queue();
    assert_eq!(live.attributes["KmsMasterKeyId"], "alias/k");
    assert_eq!(
        (
            live.attributes["MessageRetentionPeriod"].as_str(),
            live.tags["cost"].as_str()
        ),
        ("600", "1")
    );
    assert_eq!(world.account.rules()["q-state"].tags["cost"], "1");
    assert_eq!(action(&mut queue, full).await, Action::NoOp);

    let moved = config(|config| config["rule_name_prefix"] = json!("p"));
    assert_eq!(action(&mut queue, moved).await, Action::Replace);
    queue.destroy().await.expect("destroyed");
    assert!(world.account.queues().is_empty() && world.account.rules().is_empty());
}

#[tokio::test]
async fn drift_is_set_right() {
    let world = World::of("joiner_interruption_queue").await;
    let mut queue = world.session();
    queue.apply(config(|_| {})).await.expect("created");
    // Another order and tags of others are no difference.
    if let Some(live) = world.account.queues().get_mut("q") {
        live.tags.insert("theirs".into(), "x".into());
        let policy: Json = serde_json::from_str(&live.attributes["Policy"]).expect("JSON");
        let mut statements = policy["Statement"].as_array().cloned().expect("statements");
        statements.reverse();
        let turned = json!({ "Statement": statements, "Version": "2012-10-17" });
        live.attributes.insert("Policy".into(), turned.to_string());
    }
    assert_eq!(action(&mut queue, config(|_| {})).await, Action::NoOp);
    for change in [
        (|account: &Account| drop(account.rules().remove("q-spot"))) as fn(&Account),
        |account| {
            account
                .rules()
                .values_mut()
                .for_each(|rule| rule.state = "DISABLED".into())
        },
        |account| account.rules().values_mut().for_each(|rule| rule.targets.clear()),
        |account| {
            account
                .rules()
                .values_mut()
                .for_each(|rule| rule.pattern = "{\"source\":[\"x\"]}".into())
        },
        |account| {
            for queue in account.queues().values_mut() {
                queue.attributes.insert("Policy".into(), String::new());
            }
        },
        |account| {
            for queue in account.queues().values_mut() {
                queue
                    .attributes
                    .insert("SqsManagedSseEnabled".into(), "false".into());
            }
        },
        |account| {
            for queue in account.queues().values_mut() {
                queue
                    .attributes
                    .insert("MessageRetentionPeriod".into(), "60".into());
            }
        },
    ] {
        change(&world.account);
        assert_eq!(action(&mut queue, config(|_| {})).await, Action::Update);
        queue.apply(config(|_| {})).await.expect("set right");
        assert_eq!(action(&mut queue, config(|_| {})).await, Action::NoOp);
    }
    assert_eq!(world.queue().tags["theirs"], "x");
}

#[tokio::test]
async fn what_others_made_is_not_touched() {
    let world = World::of("joiner_interruption_queue").await;
    let theirs = Rule {
        pattern: "{}".into(),
        state: "ENABLED".into(),
        ..Rule::default()
    };
    world.account.rules().insert("q-spot".into(), theirs.clone());
    let failure = world
        .session()
        .apply(config(|_| {}))
        .await
        .expect_err("the name is taken");
    let words = failure.diagnostics().to_string();
    assert!(
        words.contains("rule_name_prefix") && words.contains("rule/q-spot"),
        "{words}"
    );
    assert_eq!(world.account.rules()["q-spot"], theirs);
    assert!(world.account.queues().is_empty(), "nothing was made");
    world.account.rules().clear();
    let attributes = [("QueueArn".to_owned(), ARN.to_owned())].into();
    let queue = Queue {
        attributes,
        ..Queue::default()
    };
    world.account.queues().insert("q".into(), queue);
    let failure = world
        .session()
        .apply(config(|_| {}))
        .await
        .expect_err("the name is taken");
    assert!(
        failure.diagnostics().to_string().contains("import the queue"),
        "{failure}"
    );
    // What a killed run of ours left is finished.
    if let Some(live) = world.account.queues().get_mut("q") {
        live.tags.insert(OWNER_TAG.into(), "q".into());
    }
    let mut queue = world.session();
    queue.apply(config(|_| {})).await.expect("finished");
    assert_eq!(world.account.rules().len(), 5);
    assert_eq!(action(&mut queue, config(|_| {})).await, Action::NoOp);
    // A target that somebody else put there keeps the rules.
    if let Some(rule) = world.account.rules().get_mut("q-state") {
        rule.targets
            .insert("t".into(), "arn:aws:lambda:r:1:function:f".into());
    }
    let failure = queue.destroy().await.expect_err("it is in use");
    assert!(failure.to_string().contains("function:f"), "{failure}");
    assert_eq!(
        world.account.rules()["q-state"].targets.len(),
        2,
        "nothing was changed"
    );
    if let Some(rule) = world.account.rules().get_mut("q-state") {
        rule.targets.remove("t");
    }
    queue.destroy().await.expect("destroyed");
    assert!(world.account.rules().is_empty());
}

#[tokio::test]
async fn a_create_that_fails_half_way_is_in_the_state() {
    let world = World::of("joiner_interruption_queue").await;
    let mut queue = world.session();
    world.account.refuse("PutTargets");
    let failure = queue
        .apply(config(|_| {}))
        .await
        .expect_err("a target is refused");
    assert!(
        failure.diagnostics().to_string().contains("events:PutTargets"),
        "{failure}"
    );
    assert!(queue.is_tainted());
    queue.apply(config(|_| {})).await.expect("made anew");
    assert_eq!(action(&mut queue, config(|_| {})).await, Action::NoOp);
}

#[tokio::test]
async fn what_is_unknown_waits_for_the_apply() {
    let world = World::of("joiner_interruption_queue").await;
    for unknown in [
        "name",
        "rule_name_prefix",
        "message_retention_seconds",
        "kms_key_id",
        "tags",
    ] {
        let mut queue = world.session();
        let config = config(|config| config[unknown] = json!(UNKNOWN));
        assert_eq!(action(&mut queue, config).await, Action::Create, "{unknown}");
    }
    let mut queue = world.session();
    let planned = queue
        .plan(config(|config| config["name"] = json!(UNKNOWN)))
        .await
        .expect("planned");
    queue.apply_plan(planned, config(|_| {})).await.expect("created");
    world.account.calls();
    world.configure(Account::settings(UNKNOWN)).await;
    assert_eq!(action(&mut queue, config(|_| {})).await, Action::NoOp);
    assert!(world.account.calls().is_empty());
}

#[tokio::test]
async fn an_import_finds_queue_and_rules() {
    let world = World::of("joiner_interruption_queue").await;
    let named = config(|config| {
        config["rule_name_prefix"] = json!("p");
        config["tags"] = json!({ "cost": "1" });
    });
    world.session().apply(named.clone()).await.expect("created");
    let mut by_id = world.session();
    by_id.import("q").await.expect("imported");
    assert_eq!(model(&by_id).rule_name_prefix, "p".into());
    assert_eq!(action(&mut by_id, named.clone()).await, Action::NoOp);
    let mut by_identity = world.session();
    let identity = json!({ "name": "q", "account_id": "123456789012", "region": "eu-central-1" });
    by_identity.import_by_identity(identity).await.expect("imported");
    assert_eq!(action(&mut by_identity, named).await, Action::NoOp);
    let elsewhere = json!({ "name": "q", "region": "eu-west-1" });
    let failure = world
        .session()
        .import_by_identity(elsewhere)
        .await
        .expect_err("elsewhere");
    assert!(failure.to_string().contains("eu-west-1"), "{failure}");
    assert!(world.session().import("other").await.is_err());
}
