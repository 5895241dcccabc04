//! The data sources.

mod controller_policy_document;
mod ec2_node_class;
mod instance_types;
mod node_claims;
mod node_pool;
mod objects;
mod versions;

use crate::provider::Joiner;
use tfplugin::Offers;

/// Adds every data source of the provider.
pub(crate) fn add(offers: Offers<Joiner>) -> Offers<Joiner> {
    offers
        .data_source(controller_policy_document::PolicyDocumentData)
        .data_source(ec2_node_class::Ec2NodeClassData)
        .data_source(instance_types::InstanceTypesData)
        .data_source(node_claims::NodeClaimsData)
        .data_source(node_pool::NodePoolData)
        .data_source(node_pool::NodePoolsData)
        .data_source(versions::VersionsData)
}

#[cfg(test)]
mod tests {
    use crate::cluster::Cluster;
    use crate::cluster::mock::MockApi;
    use crate::provider::JoinerProvider;
    use serde_json::{Value as Json, json};
    use std::sync::Arc;
    use tfplugin::testing::{Core, UNKNOWN};

    async fn core(api: &Arc<MockApi>, host: &str) -> Core<JoinerProvider> {
        let reached = Arc::clone(api);
        let provider = JoinerProvider::reaching(move |_| Cluster::from_client("https://c", reached.client()));
        let core = Core::new(provider).await.expect("the schemas are valid");
        core.configure(json!({ "kubernetes": { "host": host } }))
            .await
            .expect("configured");
        core
    }

    async fn read(core: &Core<JoinerProvider>, name: &str, config: Json) -> Result<Json, String> {
        let value = core
            .read_data(name, config)
            .await
            .map_err(|failure| failure.to_string())?;
        Ok(crate::plain::json_of(&value, str::to_owned).expect("known"))
    }

    #[tokio::test]
    async fn what_needs_no_network_is_read_without_one() {
        let api = MockApi::new("c");
        let core = core(&api, UNKNOWN).await;
        let config = json!({
            "region": "eu-central-1",
            "requirements": [{ "key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["m5"] }],
        });
        let types = read(&core, "joiner_instance_types", config).await.expect("types");
        let list = types["instance_types"].as_array().cloned().unwrap_or_default();
        let large = list
            .iter()
            .find(|kind| kind["name"] == "m5.large")
            .expect("there");
        assert_eq!(
            (large["cpu"].as_str(), large["architecture"].as_str()),
            (Some("2"), Some("amd64"))
        );
        assert!(
            large["zones"].as_array().is_some_and(|zones| !zones.is_empty()),
            "{large}"
        );
        let config = json!({
            "cluster_name": "c", "region": "cn-north-1", "account_id": "123456789012",
            "node_role_arns": ["arn:aws-cn:iam::123456789012:role/n"],
        });
        let policy = read(&core, "joiner_controller_policy_document", config)
            .await
            .expect("a policy");
        assert!(
            policy["json"]
                .as_str()
                .is_some_and(|json| json.contains("arn:aws-cn:ec2:cn-north-1")),
            "{policy}"
        );
        let versions = read(&core, "joiner_versions", json!({})).await.expect("versions");
        assert_eq!(versions["provider_version"], env!("CARGO_PKG_VERSION"));
        assert!(api.calls().is_empty());
    }

    #[tokio::test]
    async fn what_is_in_the_cluster_is_read_with_its_status() {
        let api = MockApi::new("c");
        api.put("/apis/karpenter.sh/v1/nodepools/p", json!({
            "kind": "NodePool", "metadata": { "name": "p", "uid": "u", "labels": { "team": "a" } },
            "spec": { "weight": 10 },
            "status": { "nodes": 2, "resources": { "cpu": "4" }, "conditions": [{ "type": "Ready", "status": "True" }] },
        }));
        api.put("/apis/karpenter.k8s.aws/v1/ec2nodeclasses/c", json!({
            "kind": "EC2NodeClass", "metadata": { "name": "c", "uid": "v" }, "spec": {},
            "status": {
                "subnets": [{ "id": "subnet-1", "zone": "a" }], "securityGroups": [{ "id": "sg-1" }], "amis": [{ "id": "ami-1" }],
                "instanceProfile": "prof",
                "conditions": [{ "type": "Ready", "status": "False" }, { "type": "AMIsReady", "status": "True" }],
            },
        }));
        for (name, pool) in [("a", "p"), ("b", "q")] {
            api.put(&format!("/apis/karpenter.sh/v1/nodeclaims/{name}"), json!({
                "kind": "NodeClaim",
                "metadata": { "name": name, "labels": { "karpenter.sh/nodepool": pool, "node.kubernetes.io/instance-type": "m5.large" } },
                "status": { "nodeName": format!("node-{name}"), "providerID": "aws:///a/i-1" },
            }));
        }
        let core = core(&api, "https://c").await;
        let pool = read(&core, "joiner_node_pool", json!({ "name": "p" }))
            .await
            .expect("a pool");
        assert_eq!(
            (pool["ready"].clone(), pool["node_count"].clone()),
            (json!(true), json!(2))
        );
        assert_eq!(pool["resources"], json!({ "cpu": "4" }));
        let pools = read(&core, "joiner_node_pools", json!({ "labels": { "team": "a" } }))
            .await
            .expect("pools");
        assert_eq!(pools["names"], json!(["p"]));
        let class = read(&core, "joiner_ec2_node_class", json!({ "name": "c" }))
            .await
            .expect("a class");
        assert_eq!(class["subnets"][0]["id"], "subnet-1");
        assert_eq!(
            class["conditions"],
            json!({ "AMIsReady": "True", "Ready": "False" })
        );
        let claims = read(&core, "joiner_node_claims", json!({ "node_pool": "p" }))
            .await
            .expect("claims");
        assert_eq!(claims["node_claims"].as_array().map(Vec::len), Some(1));
        assert_eq!(claims["node_claims"][0]["node_name"], "node-a");
        let missing = read(&core, "joiner_node_pool", json!({ "name": "x" }))
            .await
            .expect_err("absent");
        assert!(missing.contains("\"x\""), "{missing}");
    }
}
