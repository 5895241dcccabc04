//! The functions: pure, of their arguments alone.

mod from_yaml;
mod instance_types;
mod node_pool_hash;
mod normalize;
mod requirements;
mod to_manifest;

use crate::provider::Joiner;
use tfplugin::Offers;

/// Adds every function of the provider.
pub(crate) fn add(offers: Offers<Joiner>) -> Offers<Joiner> {
    offers
        .function(from_yaml::NodePoolFromYaml)
        .function(from_yaml::Ec2NodeClassFromYaml)
        .function(instance_types::CompatibleInstanceTypes)
        .function(node_pool_hash::NodePoolHash)
        .function(normalize::NormalizeDuration)
        .function(normalize::ParseQuantity)
        .function(requirements::RequirementsMatch)
        .function(to_manifest::ToManifest)
}

#[cfg(test)]
mod tests {
    use crate::provider::JoinerProvider;
    use serde_json::{Value as Json, json};
    use tfplugin::Value;
    use tfplugin::json::dynamic_from_json;
    use tfplugin::testing::Core;

    async fn call(name: &str, arguments: &[Json]) -> Result<Json, String> {
        let core = Core::new(JoinerProvider::new()).await.expect("valid");
        let arguments = arguments
            .iter()
            .map(|argument| match argument {
                Json::String(text) => Value::string(text.clone()),
                other => dynamic_from_json(other),
            })
            .collect();
        let answer = core
            .call(name, arguments)
            .await
            .map_err(|failure| failure.to_string())?;
        Ok(crate::plain::json_of(&answer, str::to_owned).expect("known"))
    }

    #[tokio::test]
    async fn quantities_and_durations_are_numbers_and_canonical() {
        for (text, want) in [
            ("1500m", json!(1.5)),
            ("2", json!(2)),
            ("1Gi", json!(1_073_741_824_i64)),
        ] {
            assert_eq!(call("parse_quantity", &[json!(text)]).await, Ok(want), "{text}");
        }
        assert!(call("parse_quantity", &[json!("much")]).await.is_err());
        for (text, want) in [("24h", "24h0m0s"), ("90s", "1m30s"), ("Never", "Never")] {
            assert_eq!(
                call("normalize_duration", &[json!(text)]).await,
                Ok(json!(want)),
                "{text}"
            );
        }
        assert!(call("normalize_duration", &[json!("soon")]).await.is_err());
    }

    #[tokio::test]
    async fn requirements_are_matched() {
        let requirements = json!([
            { "key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"] },
            { "key": "team", "operator": "NotIn", "values": ["b"] },
        ]);
        for (labels, want) in [
            (json!({ "kubernetes.io/arch": "amd64", "team": "a" }), true),
            (json!({ "kubernetes.io/arch": "amd64" }), true),
            (json!({ "kubernetes.io/arch": "arm64" }), false),
            (json!({ "kubernetes.io/arch": "amd64", "team": "b" }), false),
        ] {
            let answer = call("requirements_match", &[requirements.clone(), labels.clone()]).await;
            assert_eq!(answer, Ok(json!(want)), "{labels}");
        }
        let types = call(
            "compatible_instance_types",
            &[json!([{ "key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["m5"] }])],
        )
        .await
        .expect("types");
        assert!(
            types
                .as_array()
                .is_some_and(|types| types.contains(&json!("m5.large"))),
            "{types}"
        );
        let wrong = json!([{ "key": "a", "operator": "Inn" }]);
        let error = call("compatible_instance_types", &[wrong])
            .await
            .expect_err("no operator");
        assert!(error.contains("Inn"), "{error}");
    }

    #[tokio::test]
    async fn yaml_becomes_attributes() {
        let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: p\n  labels: { team: a }\nspec:\n  limits: { cpu: 10 }\n  \
                    template:\n    spec:\n      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: c }\n      expireAfter: 720h\n      \
                    requirements:\n        - { key: a.b/c, operator: Exists }\n";
        let answer = call("node_pool_from_yaml", &[json!(pool)])
            .await
            .expect("attributes");
        assert_eq!(answer["name"], "p");
        assert_eq!(answer["labels"], json!({ "team": "a" }));
        assert_eq!(answer["template"]["spec"]["expire_after"], "720h");
        assert_eq!(answer["template"]["spec"]["node_class_ref"]["name"], "c");
        assert_eq!(answer["limits"]["cpu"], "10");
        let error = call("ec2_node_class_from_yaml", &[json!(pool)])
            .await
            .expect_err("another kind");
        assert!(error.contains("NodePool"), "{error}");
        assert!(call("node_pool_from_yaml", &[json!("a: [")]).await.is_err());
    }

    #[tokio::test]
    async fn attributes_become_manifests() {
        let requirements = json!([{ "key": "a.b/c", "operator": "Exists" }]);
        let pool = json!({
            "name": "p", "labels": { "team": "a" }, "id": "p", "wait": { "ready": false },
            "template": { "spec": { "node_class_ref": { "name": "c" }, "requirements": requirements, "expire_after": "720h" } },
            "limits": { "cpu": 10 },
        });
        let manifest = call("to_manifest", std::slice::from_ref(&pool))
            .await
            .expect("a manifest");
        let want = json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": { "name": "p", "labels": { "team": "a" } },
            "spec": {
                "template": { "spec": {
                    "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "c" },
                    "requirements": requirements, "expireAfter": "720h",
                } },
                "limits": { "cpu": "10" },
            },
        });
        assert_eq!(manifest, want);
        let yaml = json!(manifest.to_string());
        let back = call("node_pool_from_yaml", &[yaml]).await.expect("attributes");
        assert_eq!(
            call("to_manifest", &[back]).await,
            Ok(want.clone()),
            "there and back"
        );
        let class = json!({
            "name": "c", "role": "r", "ami_selector_terms": [{ "alias": "al2023@latest" }],
            "subnet_selector_terms": [{ "id": "subnet-1" }], "security_group_selector_terms": [{ "id": "sg-1" }],
            "kubelet": { "max_pods": 5, "other": { "registryPullQPS": 3 } },
        });
        let manifest = call("to_manifest", &[class]).await.expect("a manifest");
        assert_eq!(manifest["kind"], "EC2NodeClass");
        assert_eq!(
            manifest["spec"]["kubelet"],
            json!({ "maxPods": 5, "registryPullQPS": 3 })
        );
        let overlay = json!({ "name": "o", "requirements": requirements, "price": "0.5" });
        let manifest = call("to_manifest", &[overlay]).await.expect("a manifest");
        assert_eq!(manifest["apiVersion"], "karpenter.sh/v1alpha1");
        for (wrong, words) in [
            (json!({ "name": "x" }), "no node pool"),
            (
                json!({ "template": { "spec": { "expireAfter": "1h" } } }),
                "no attribute template.spec.expireAfter",
            ),
        ] {
            let error = call("to_manifest", &[wrong]).await.expect_err(words);
            assert!(error.contains(words), "{error}");
        }
        // The hash is the same from either.
        let hash = call("node_pool_hash", &[pool]).await.expect("a hash");
        assert_eq!(call("node_pool_hash", &[want]).await, Ok(hash));
    }
}
