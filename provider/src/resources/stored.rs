//! States as earlier versions of the provider stored them: read without loss, and planned without a change.
//!
//! `stored/` holds what the first release wrote. Its schemas lacked attributes that are there now (`forecast`, `nodes_drifted`, `tags_all`,
//! `chart_name`, `set_wo`), and had some that are gone (`timeouts.read` and others). It knew no identities.

use crate::account::Account;
use crate::cluster::Cluster;
use crate::cluster::mock::MockApi;
use crate::helm::FakeHelm;
use crate::provider::{Fakes, JoinerProvider};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::sync::Arc;
use tfplugin::Value;
use tfplugin::testing::{Action, Core, Stored};

const KNOWN: &str = "https://cluster";
/// Stands in a stored state for what the cluster or the account made up.
const LIVE: &str = "(live)";

/// Each type with its configuration and what the first release stored of it.
fn states() -> [(&'static str, Json, &'static str); 4] {
    let team = json!([{ "tags": { "team": "a" } }]);
    [
        (
            "joiner_node_pool",
            json!({
                "name": "p", "labels": { "team": "a" },
                "template": {
                    "metadata": { "labels": { "team": "a" } },
                    "spec": {
                        "node_class_ref": { "name": "c" },
                        "requirements": [
                            { "key": "kubernetes.io/arch", "operator": "In", "values": ["arm64", "amd64"] },
                            { "key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": ["4"] },
                        ],
                        "taints": [{ "key": "a", "value": "b", "effect": "NoSchedule" }],
                    },
                },
                "limits": { "cpu": "16000m" }, "weight": 10, "wait": { "ready": false },
                "timeouts": { "create": "20m", "delete": "1h" },
            }),
            include_str!("stored/node_pool.json"),
        ),
        (
            "joiner_ec2_node_class",
            json!({
                "name": "c", "role": "node", "ami_selector_terms": [{ "alias": "al2023@latest" }],
                "subnet_selector_terms": team, "security_group_selector_terms": team, "tags": { "team": "a" },
                "wait": { "ready": false }, "timeouts": { "delete": "1h" },
            }),
            include_str!("stored/ec2_node_class.json"),
        ),
        (
            "joiner_irsa_role",
            json!({
                "name": "r", "cluster_name": "c", "tags": { "cost": "1" },
                "oidc_provider_arn": "arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/A",
                "node_role_arns": ["arn:aws:iam::123456789012:role/node"],
            }),
            include_str!("stored/irsa_role.json"),
        ),
        (
            "joiner_helm_release",
            json!({
                "name": "r", "namespace": "n", "timeout": "0s", "install_crds": false, "values": { "replicas": 2 },
                "set": [{ "name": "replicas", "value": "3" }], "timeouts": { "delete": "20m" },
            }),
            include_str!("stored/helm_release.json"),
        ),
    ]
}

/// A provider with a cluster, a Helm and an account in memory.
async fn core() -> Core<JoinerProvider> {
    let api = MockApi::new("c");
    let fakes = Fakes {
        helm: Some(FakeHelm::new(&api)),
        ..Account::fakes()
    };
    let provider =
        JoinerProvider::reaching(move |_| Cluster::from_client(KNOWN, Arc::clone(&api).client())).with(fakes);
    let core = Core::new(provider).await.expect("the schemas are valid");
    let (_account, url) = Account::start().await;
    let settings = json!({ "kubernetes": { "host": KNOWN }, "aws": Account::settings(&url) });
    core.configure(settings).await.expect("configured");
    core
}

/// The stored attributes, with what was made up taken from `live`.
fn filled(stored: &str, live: &Value) -> Json {
    let mut stored: Json = serde_json::from_str(stored).expect("a JSON object");
    for (name, value) in stored.as_object_mut().expect("an object") {
        if value == LIVE {
            *value = json!(live.attribute(name).as_str());
        }
    }
    stored
}

#[tokio::test]
async fn states_of_the_first_release_plan_no_change() {
    let core = core().await;
    for (kind, config, stored) in states() {
        let mut maker = core.resource(kind).expect("the type exists");
        maker
            .apply(config.clone())
            .await
            .unwrap_or_else(|failure| panic!("{kind}: {failure}"));
        maker.refresh().await.expect("read");
        let mut old = core.resource(kind).expect("the type exists");
        let warnings = old
            .restore(0, Stored::Json(filled(stored, maker.state())))
            .await
            .unwrap_or_else(|failure| panic!("{kind}: {failure}"));
        assert!(warnings.is_empty(), "{kind}: {warnings}");
        assert_eq!(old.state(), maker.state(), "{kind}: nothing is lost");
        let planned = old.plan(config).await.expect("planned");
        assert_eq!(planned.action, Action::NoOp, "{kind}: {:?}", planned.planned);
        old.destroy()
            .await
            .unwrap_or_else(|failure| panic!("{kind}: {failure}"));
    }
}

#[tokio::test]
async fn what_a_later_release_stored_beside_is_left_out() {
    let core = core().await;
    for (kind, config, stored) in states() {
        let mut maker = core.resource(kind).expect("the type exists");
        maker.apply(config.clone()).await.expect("applied");
        let mut later = filled(stored, maker.state());
        later["of_the_future"] = json!({ "nested": [1, "two"] });
        let mut read = core.resource(kind).expect("the type exists");
        read.restore(0, Stored::Json(later)).await.expect("read");
        let planned = read.plan(config).await.expect("planned");
        assert_eq!(planned.action, Action::NoOp, "{kind}");
    }
}

#[tokio::test]
async fn states_of_other_schemas_are_refused_with_the_remedy() {
    let core = core().await;
    for (kind, _, stored) in states() {
        let mut session = core.resource(kind).expect("the type exists");
        let newer = Stored::Json(serde_json::from_str(stored).expect("a JSON object"));
        let failure = session.restore(7, newer).await.expect_err("a newer schema");
        let text = failure.to_string();
        assert!(
            text.contains("version 7") && text.contains("Use the provider version that wrote it"),
            "{kind}: {text}"
        );
        let old = Stored::Flatmap(HashMap::from([("name".to_owned(), "p".to_owned())]));
        let failure = session.restore(0, old).await.expect_err("a flat state");
        assert!(
            failure.to_string().contains("Terraform 0.11"),
            "{kind}: {failure}"
        );
        let mut wrong: Json = serde_json::from_str(stored).expect("a JSON object");
        wrong["name"] = json!(["p"]);
        let failure = session
            .restore(0, Stored::Json(wrong))
            .await
            .expect_err("no text");
        assert_eq!(failure.diagnostics().paths(), ["name"], "{kind}: {failure}");
    }
}
