//! Everything may be unknown while planning: each attribute of each resource, and each setting of the provider.

use crate::provider::JoinerProvider;
use serde_json::{Value as Json, json};
use tfplugin::testing::{Action, Core, UNKNOWN};

/// Each place of a configuration, as steps.
fn places(value: &Json) -> Vec<Vec<Json>> {
    let below = |step: Json, inner: &Json| {
        let mut all = vec![vec![step.clone()]];
        for mut steps in places(inner) {
            steps.insert(0, step.clone());
            all.push(steps);
        }
        all
    };
    match value {
        Json::Object(members) => members
            .iter()
            .flat_map(|(key, inner)| below(json!(key), inner))
            .collect(),
        Json::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, inner)| below(json!(index), inner))
            .collect(),
        _ => Vec::new(),
    }
}

fn with_unknown(config: &Json, place: &[Json]) -> Json {
    let mut config = config.clone();
    let mut target = &mut config;
    for step in place {
        target = match step {
            Json::String(key) => &mut target[key],
            step => &mut target[usize::try_from(step.as_u64().expect("an index")).expect("a small one")],
        };
    }
    *target = json!(UNKNOWN);
    config
}

fn resources() -> Vec<(&'static str, Json)> {
    let selector = json!([{ "tags": { "team": "a" } }]);
    vec![
        (
            "joiner_node_pool",
            json!({
                "name": "p", "labels": { "a": "b" }, "annotations": { "a": "b" },
                "template": {
                    "metadata": { "labels": { "team": "a" }, "annotations": { "a": "b" } },
                    "spec": {
                        "node_class_ref": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "c" },
                        "requirements": [
                            { "key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", "arm64"], "min_values": 1 },
                            { "key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": ["4"] },
                        ],
                        "taints": [{ "key": "a", "value": "b", "effect": "NoSchedule" }],
                        "startup_taints": [{ "key": "c", "effect": "NoExecute" }],
                        "expire_after": "720h", "termination_grace_period": "1h",
                    },
                },
                "disruption": {
                    "consolidation_policy": "WhenEmpty", "consolidate_after": "30s",
                    "budgets": [{ "nodes": "10%", "reasons": ["Empty"], "schedule": "0 9 * * *", "duration": "8h" }],
                },
                "limits": { "cpu": "10" }, "weight": 10, "wait": { "ready": true, "timeout": "1m" }, "adopt": true,
                "force_conflicts": true, "timeouts": { "create": "1m" },
            }),
        ),
        (
            "joiner_ec2_node_class",
            json!({
                "name": "c", "ami_family": "AL2023", "user_data": "x", "role": "r", "tags": { "a": "b" },
                "subnet_selector_terms": selector, "security_group_selector_terms": [{ "id": "sg-0123456789abcdef0" }],
                "ami_selector_terms": [{ "alias": "al2023@latest" }],
                "kubelet": { "max_pods": 10, "system_reserved": { "cpu": "100m" }, "other": { "registryPullQPS": 5 } },
                "block_device_mappings": [{ "device_name": "/dev/xvda", "root_volume": true, "ebs": { "volume_size": "20Gi", "iops": 3000 } }],
                "metadata_options": { "http_tokens": "required" }, "detailed_monitoring": true,
            }),
        ),
        (
            "joiner_node_overlay",
            json!({
                "name": "o", "requirements": [{ "key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"] }],
                "price": "0.5", "capacity": { "a.b/c": "1" }, "weight": 1,
            }),
        ),
        (
            "joiner_irsa_role",
            json!({
                "name": "r", "path": "/", "description": "d", "permissions_boundary": "arn:aws:iam::1:policy/b", "tags": { "a": "b" },
                "cluster_name": "c", "oidc_provider_arn": "arn:aws:iam::123456789012:oidc-provider/h/id/A", "namespace": "n", "service_account": "s",
                "region": "eu-central-1", "node_role_arns": ["arn:aws:iam::1:role/n"], "interruption_queue_arn": "arn:aws:sqs:r:1:q",
                "manage_instance_profiles": true, "policies": { "p": "{\"Statement\":[]}" }, "policy_arns": ["arn:aws:iam::1:policy/p"],
            }),
        ),
        (
            "joiner_pod_identity_role",
            json!({
                "name": "r", "path": "/", "description": "d", "permissions_boundary": "arn:aws:iam::1:policy/b", "tags": { "a": "b" },
                "cluster_name": "c", "namespace": "n", "service_account": "s", "region": "eu-central-1",
                "node_role_arns": ["arn:aws:iam::1:role/n"], "interruption_queue_arn": "arn:aws:sqs:r:1:q",
                "manage_instance_profiles": true, "policies": { "p": "{\"Statement\":[]}" }, "policy_arns": ["arn:aws:iam::1:policy/p"],
            }),
        ),
        (
            "joiner_node_role",
            json!({
                "name": "r", "path": "/", "description": "d", "permissions_boundary": "arn:aws:iam::1:policy/b", "tags": { "a": "b" },
                "cluster_name": "c", "managed_policies": ["AmazonEKSWorkerNodePolicy"], "create_access_entry": true,
                "access_entry_type": "EC2_LINUX", "create_instance_profile": true, "policies": { "p": "{\"Statement\":[]}" },
                "policy_arns": ["arn:aws:iam::1:policy/p"],
            }),
        ),
        (
            "joiner_interruption_queue",
            json!({
                "name": "q", "rule_name_prefix": "p", "message_retention_seconds": 300, "kms_key_id": "alias/k", "tags": { "a": "b" },
            }),
        ),
        (
            "joiner_crds",
            json!({ "adopt": true, "on_destroy": "delete", "timeouts": { "delete": "1m" } }),
        ),
        (
            "joiner_teardown",
            json!({ "cluster_name": "c", "terminate_orphans": true, "timeouts": { "delete": "1m" } }),
        ),
        (
            "joiner_helm_release",
            json!({
                "name": "r", "namespace": "n", "chart": "oci://r/c", "version": "1", "values": [{ "a": { "b": 1 } }, "c: 1"],
                "set": [{ "name": "a", "value": "1", "type": "auto" }], "set_sensitive": [{ "name": "b", "value": "1" }],
                "set_wo": [{ "name": "c", "value": "1" }], "set_wo_version": 1, "create_namespace": true, "install_crds": true, "wait": true,
                "timeout": "1m", "atomic": true, "history_max": 3, "force_conflicts": true, "take_ownership": true, "adopt": true,
                "detect_drift": true, "allow_orphans": true, "timeouts": { "delete": "1m" },
            }),
        ),
    ]
}

#[tokio::test]
async fn every_attribute_may_be_unknown() {
    let core = Core::new(JoinerProvider::new())
        .await
        .expect("the schemas are valid");
    core.configure(json!({ "eks": UNKNOWN, "aws": UNKNOWN, "helm_path": UNKNOWN }))
        .await
        .expect("configured");
    for (name, config) in resources() {
        let all = places(&config);
        assert!(all.len() > 3, "{name}");
        for place in all {
            let unknown = with_unknown(&config, &place);
            let mut session = core.resource(name).expect("the type exists");
            session
                .validate(unknown.clone())
                .await
                .unwrap_or_else(|failure| panic!("{name} {place:?}: {failure}"));
            let planned = session
                .plan(unknown)
                .await
                .unwrap_or_else(|failure| panic!("{name} {place:?}: {failure}"));
            assert_eq!(planned.action, Action::Create, "{name} {place:?}");
        }
    }
}

#[tokio::test]
async fn every_setting_may_be_unknown() {
    let direct = json!({
        "kubernetes": {
            "host": "https://127.0.0.1:1", "cluster_ca_certificate": "-----BEGIN CERTIFICATE-----", "token": "t", "insecure": false,
            "client_certificate": "-----BEGIN CERTIFICATE-----", "client_key": "-----BEGIN KEY-----", "tls_server_name": "n",
        },
        "aws": {
            "region": "r", "profile": "p", "assume_role": { "role_arn": "arn:aws:iam::123456789012:role/r", "external_id": "x" },
            "endpoints": { "all": "http://127.0.0.1:1", "iam": "http://127.0.0.1:1" }, "default_tags": { "a": "b" },
        },
        "field_manager": "m", "force_conflicts": true, "registry_config_path": "/x",
        "registries": [{ "url": "oci://r", "username": "u", "password": "p", "insecure": true }],
    });
    let exec = json!({ "kubernetes": { "host": "h", "exec": {
        "api_version": "client.authentication.k8s.io/v1", "command": "c", "args": ["a"], "env": { "A": "b" },
    } } });
    let file = json!({ "kubernetes": { "config_path": "/x", "config_context": "c" } });
    let eks = json!({ "eks": { "cluster_name": "c", "region": "r", "role_arn": "arn:aws:iam::123456789012:role/r", "profile": "p" } });
    let core = Core::new(JoinerProvider::new())
        .await
        .expect("the schemas are valid");
    for config in [direct, exec, file, eks] {
        for place in places(&config) {
            let unknown = with_unknown(&config, &place);
            let configured = core.configure(unknown).await;
            configured.unwrap_or_else(|failure| panic!("{place:?}: {failure}"));
        }
    }
}
