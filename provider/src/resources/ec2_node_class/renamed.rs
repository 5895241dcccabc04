//! A class that is replaced by one of another name while nodes use it. Cores destroy the old class first unless told otherwise; that waits for
//! its NodeClaims, and those go only once their pool refers to the new class, which comes after.

use super::schema::Ec2NodeClass;
use crate::cluster::{Cluster, Kind, Objects};
use crate::objects::{Custom, node_claims};
use crate::provider::{Joiner, Part};
use serde_json::Value as Json;
use tfplugin::{Diagnostic, PlanRequest};

/// A warning when the planned class has another name than the one in the state, and that one is in use. Where the cluster cannot be asked
/// the destroy's own wait tells it.
pub(super) async fn check(
    data: &Joiner,
    request: &PlanRequest<Ec2NodeClass>,
    planned: &Ec2NodeClass,
) -> Option<Diagnostic> {
    let prior = request.prior.as_ref()?;
    let Part::Known(cluster) = &data.cluster else {
        return None;
    };
    if !prior.is_replaced_by(planned) {
        return None;
    }
    let old = prior.common.name();
    let claims = listed(cluster, node_claims(), Ec2NodeClass::claims(old)).await?;
    let pools = Kind::new("karpenter.sh", "v1", "NodePool", "nodepools");
    let pools: Vec<Json> = listed(cluster, pools, None).await?;
    told(old, claims.len(), &names_of_users(&pools, old))
}

async fn listed(cluster: &Cluster, kind: Kind, labels: Option<String>) -> Option<Vec<Json>> {
    let listed = async { Objects::all(cluster, kind).await?.list(labels.as_deref()).await };
    match listed.await {
        Ok(found) => Some(found),
        Err(error) => {
            tracing::info!(%error, "whether nodes use the class that is replaced is not known");
            None
        }
    }
}

/// The pools that refer to the class.
fn names_of_users(pools: &[Json], class: &str) -> Vec<String> {
    let users = pools
        .iter()
        .filter(|pool| pool["spec"]["template"]["spec"]["nodeClassRef"]["name"] == class);
    let mut names: Vec<String> = users
        .filter_map(|pool| pool["metadata"]["name"].as_str().map(str::to_owned))
        .collect();
    names.sort();
    names
}

fn told(old: &str, claims: usize, pools: &[String]) -> Option<Diagnostic> {
    let mut users = Vec::new();
    if !pools.is_empty() {
        users.push(format!("node pools {}", pools.join(", ")));
    }
    if claims > 0 {
        users.push(format!("{claims} NodeClaims"));
    }
    if users.is_empty() {
        return None;
    }
    let told = Diagnostic::warning(
        format!("EC2NodeClass {old} is replaced while it is in use"),
        format!(
            "{} use it. Without create_before_destroy it is destroyed first, and that waits for its NodeClaims, which go only once their node \
             pool refers to the new class: that comes after, so the apply would wait until its time limit. Write lifecycle {{ \
             create_before_destroy = true }} in this resource, and let the node pools refer to its name (node_class_ref = {{ name = \
             joiner_ec2_node_class.NAME.name }}): then one apply makes the new class, moves the nodes to it and deletes the old one. With \
             that written, all is well.",
            users.join(" and ")
        ),
    );
    Some(told.at("name"))
}

#[cfg(test)]
mod tests {
    use crate::cluster::Cluster;
    use crate::cluster::mock::MockApi;
    use crate::provider::JoinerProvider;
    use serde_json::{Value as Json, json};
    use std::sync::Arc;
    use tfplugin::testing::{Action, Core, UNKNOWN};

    fn class(name: &str) -> Json {
        let tags = json!([{ "tags": { "a": "b" } }]);
        json!({
            "name": name, "subnet_selector_terms": tags, "security_group_selector_terms": tags, "role": "nodes",
            "ami_selector_terms": [{ "alias": "al2023@latest" }], "wait": { "ready": false },
        })
    }

    #[tokio::test]
    async fn a_rename_of_a_class_in_use_is_told_with_its_remedy() {
        let api = MockApi::new("c");
        let client = Arc::clone(&api);
        let provider = JoinerProvider::reaching(move |_| Cluster::from_client("https://c", client.client()));
        let core = Core::new(provider).await.expect("the schemas are valid");
        let settings = json!({
            "kubernetes": { "host": "https://c" }, "checks": { "account": "off" }, "aws": { "region": "eu-central-1" },
        });
        core.configure(settings).await.expect("configured");
        let mut session = core.resource("joiner_ec2_node_class").expect("the type exists");
        session.apply(class("default")).await.expect("applied");
        let mut of = async |name: &str| {
            let planned = session.plan(class(name)).await.expect("planned");
            let warnings = planned.warnings.iter().filter(|it| it.summary.contains("in use"));
            (
                planned.action,
                warnings.map(|it| it.detail.clone()).collect::<Vec<_>>(),
            )
        };
        assert_eq!(of("def2").await, (Action::Replace, Vec::new()), "nobody uses it");
        let pool = |class: &str| json!({ "metadata": { "name": format!("of-{class}") }, "spec": { "template": { "spec": { "nodeClassRef": { "name": class } } } } });
        api.put("/apis/karpenter.sh/v1/nodepools/of-other", pool("other"));
        assert_eq!(of("def2").await.1, Vec::<String>::new(), "nobody uses it");
        api.put("/apis/karpenter.sh/v1/nodepools/of-default", pool("default"));
        for claims in 0..2 {
            for name in ["def2", UNKNOWN] {
                let (_, told) = of(name).await;
                let told = told.first().expect("it is in use");
                assert!(told.starts_with("node pools of-default"), "{told}");
                assert_eq!(told.contains("1 NodeClaims"), claims == 1, "{told}");
                assert!(told.contains("create_before_destroy = true"), "{told}");
            }
            let labels = json!({ "karpenter.k8s.aws/ec2nodeclass": "default" });
            let claim = json!({ "metadata": { "name": "x", "labels": labels } });
            api.put("/apis/karpenter.sh/v1/nodeclaims/x", claim);
        }
        assert_eq!(of("default").await, (Action::NoOp, Vec::new()));
    }
}
