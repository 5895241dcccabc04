//! Tags of everything that has them, under a core: the provider's `default_tags`, drift, and what others add.

use super::interruption_queue::InterruptionQueueResource;
use super::irsa_role::IrsaRoleResource;
use super::node_role::NodeRoleResource;
use super::pod_identity_role::PodIdentityRoleResource;
use crate::account::{Account, World};
use crate::provider::JoinerProvider;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use tfplugin::testing::{Action, Session, UNKNOWN};
use tfplugin::{Resource, Value};

type Tags = BTreeMap<String, String>;

/// A resource with tags, and how what it makes is found in the account.
struct Tagged {
    kind: &'static str,
    config: Json,
    owner: &'static str,
}

fn resources() -> [Tagged; 4] {
    let nodes = json!({ "name": "x", "cluster_name": "c", "tags": { "cost": "1" } });
    let mut irsa = nodes.clone();
    irsa["oidc_provider_arn"] =
        json!("arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/A");
    [
        Tagged {
            kind: IrsaRoleResource.name(),
            config: irsa,
            owner: "joiner.dev/irsa-role",
        },
        Tagged {
            kind: PodIdentityRoleResource.name(),
            config: nodes.clone(),
            owner: "joiner.dev/pod-identity-role",
        },
        Tagged {
            kind: NodeRoleResource.name(),
            config: nodes,
            owner: "joiner.dev/node-role",
        },
        Tagged {
            kind: InterruptionQueueResource.name(),
            config: json!({ "name": "x", "tags": { "cost": "1" } }),
            owner: "joiner.dev/interruption-queue",
        },
    ]
}

impl Tagged {
    /// A world in which it was made.
    async fn made(&self) -> (World, Session<JoinerProvider>) {
        let world = World::of(self.kind).await;
        let mut session = world.session();
        session
            .apply(self.config.clone())
            .await
            .unwrap_or_else(|failure| panic!("{}: {failure}", self.kind));
        (world, session)
    }

    /// The tags that the account has, to look at and to change as someone else would.
    fn live<T>(&self, account: &Account, look: impl FnOnce(&mut Tags) -> T) -> T {
        if self.kind == InterruptionQueueResource.name() {
            look(&mut account.queues().get_mut("x").expect("the queue is there").tags)
        } else {
            look(&mut account.roles().get_mut("x").expect("the role is there").tags)
        }
    }

    /// The tags of the account but for the one that the resource sets itself, which has to be there.
    fn others(&self, account: &Account) -> Json {
        let mut tags = self.live(account, |tags| tags.clone());
        assert!(tags.remove(self.owner).is_some(), "{}: {tags:?}", self.kind);
        json!(tags)
    }

    async fn plans(&self, session: &mut Session<JoinerProvider>, action: Action) {
        let planned = session.plan(self.config.clone()).await.expect("planned");
        assert_eq!(planned.action, action, "{}: {:?}", self.kind, planned.planned);
    }
}

/// The provider's `aws` block with these default tags.
fn with_defaults(world: &World, defaults: &Json) -> Json {
    let mut aws = Account::settings(&world.url);
    aws["default_tags"] = defaults.clone();
    aws
}

fn stored(session: &Session<JoinerProvider>) -> Value {
    session.state().attribute("tags_all").clone()
}

#[tokio::test]
async fn a_change_of_default_tags_alone_is_applied() {
    for tagged in resources() {
        let (world, mut session) = tagged.made().await;
        assert_eq!(tagged.others(&world.account), json!({ "team": "a", "cost": "1" }));
        for (defaults, tags) in [
            (
                json!({ "team": "b", "stage": "dev" }),
                json!({ "team": "b", "stage": "dev", "cost": "1" }),
            ),
            // The resource's own win.
            (json!({ "cost": "2" }), json!({ "cost": "1" })),
            (json!(null), json!({ "cost": "1" })),
        ] {
            world.configure(with_defaults(&world, &defaults)).await;
            session.apply(tagged.config.clone()).await.expect("changed");
            assert_eq!(tagged.others(&world.account), tags, "{}", tagged.kind);
            tagged.plans(&mut session, Action::NoOp).await;
        }
        assert!(
            world.account.rules().values().all(|rule| rule.tags.len() == 2),
            "the rules have them, too"
        );
    }
}

#[tokio::test]
async fn default_tags_that_the_apply_knows_are_applied_by_it() {
    for tagged in resources() {
        let (world, mut session) = tagged.made().await;
        for unknown in [
            with_defaults(&world, &json!(UNKNOWN)),
            with_defaults(&world, &json!({ "team": UNKNOWN })),
        ] {
            world.configure(unknown).await;
            tagged.plans(&mut session, Action::Update).await;
        }
        let planned = session.plan(tagged.config.clone()).await.expect("planned");
        assert_eq!(
            *planned.planned.attribute("tags_all"),
            Value::unknown(),
            "{}",
            tagged.kind
        );
        world
            .configure(with_defaults(&world, &json!({ "team": "b" })))
            .await;
        session
            .apply_plan(planned, tagged.config.clone())
            .await
            .expect("applied");
        assert_eq!(tagged.others(&world.account), json!({ "team": "b", "cost": "1" }));
        tagged.plans(&mut session, Action::NoOp).await;
        // What else is unknown is no reason to change anything.
        let mut elsewhere = with_defaults(&world, &json!({ "team": "b" }));
        elsewhere["region"] = json!(UNKNOWN);
        world.configure(elsewhere).await;
        tagged.plans(&mut session, Action::NoOp).await;
    }
}

#[tokio::test]
async fn drift_of_any_tag_is_seen_and_set_right_and_those_of_others_stay() {
    for tagged in resources() {
        let (world, mut session) = tagged.made().await;
        let right = tagged.live(&world.account, |tags| tags.clone());
        let set = stored(&session);
        for foreign in ["theirs", "aws:cloudformation:stack-name"] {
            tagged.live(&world.account, |tags| {
                tags.insert(foreign.to_owned(), "x".to_owned())
            });
            tagged.plans(&mut session, Action::NoOp).await;
            assert_eq!(stored(&session), set, "{}: not shown", tagged.kind);
        }
        for key in ["team", "cost", tagged.owner] {
            for value in [None, Some("wrong")] {
                tagged.live(&world.account, |tags| match value {
                    Some(value) => tags.insert(key.to_owned(), value.to_owned()),
                    None => tags.remove(key),
                });
                session.refresh().await.expect("read");
                assert_ne!(stored(&session), set, "{}: {key} is {value:?}", tagged.kind);
                tagged.plans(&mut session, Action::Update).await;
                session.apply(tagged.config.clone()).await.expect("set right");
                let live = tagged.live(&world.account, |tags| tags.clone());
                assert!(
                    right.iter().all(|(key, value)| live.get(key) == Some(value)),
                    "{live:?}"
                );
                assert_eq!(live.len(), right.len() + 2, "those of others stay: {live:?}");
            }
        }
        tagged.plans(&mut session, Action::NoOp).await;
        session.destroy().await.expect("destroyed");
    }
}

#[tokio::test]
async fn an_import_takes_over_those_of_others() {
    for tagged in resources() {
        let (world, _) = tagged.made().await;
        tagged.live(&world.account, |tags| {
            tags.extend(
                [("theirs", "x"), ("aws:x", "y")].map(|(key, value)| (key.to_owned(), value.to_owned())),
            );
        });
        let mut session = world.session();
        session.import("x").await.expect("imported");
        let all = stored(&session);
        let keys = |value: &Value| match value {
            Value::Map(tags) => tags.keys().cloned().collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        assert_eq!(keys(&all).len(), 4, "{}: {all:?}", tagged.kind);
        assert_eq!(keys(session.state().attribute("tags")), ["cost", "theirs"]);
        // The configuration has no such tag.
        session.apply(tagged.config.clone()).await.expect("applied");
        assert_eq!(
            tagged.others(&world.account),
            json!({ "team": "a", "cost": "1", "aws:x": "y" })
        );
    }
}
