use serde_json::{Value, json};

use super::*;

/// What is changed, whether the hash stays the same, the change.
type Row = (&'static str, bool, fn(&mut Value));

fn pool(change: impl Fn(&mut Value)) -> String {
    let mut pool = json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {"template": {
            "metadata": {"labels": {"team": "a"}},
            "spec": {
                "expireAfter": "720h",
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}],
                "taints": [
                    {"key": "a", "effect": "NoSchedule"},
                    {"key": "b", "value": "c", "effect": "NoExecute"},
                ],
            },
        }},
    });
    change(&mut pool);
    node_pool(&serde_json::from_value(pool).unwrap())
}

fn class(change: impl Fn(&mut Value)) -> String {
    let mut class = json!({
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {
            "role": "node",
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": [{"id": "subnet-1"}],
            "securityGroupSelectorTerms": [{"id": "sg-1"}],
            "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "20Gi", "volumeType": "gp3"}}],
            "tags": {"a": "b"},
        },
    });
    change(&mut class);
    ec2_node_class(&serde_json::from_value(class).unwrap())
}

/// A new hash for the same object replaces every node of every user: change [`VERSION`] with it.
#[test]
fn the_hash_of_an_object_never_changes() {
    assert_eq!(pool(|_| {}), POOL_HASH);
    assert_eq!(class(|_| {}), CLASS_HASH);
}
const POOL_HASH: &str = "5897656524433810305";
const CLASS_HASH: &str = "12295461952931771299";

#[test]
fn pools_that_launch_the_same_have_the_same_hash() {
    let base = pool(|_| {});
    let cases: &[Row] = &[
        ("expiry as another text", true, |p| {
            p["spec"]["template"]["spec"]["expireAfter"] = "43200m".into()
        }),
        ("expiry by default", true, |p| {
            p["spec"]["template"]["spec"]
                .as_object_mut()
                .unwrap()
                .remove("expireAfter");
        }),
        ("requirements", true, |p| {
            p["spec"]["template"]["spec"]["requirements"] = json!([])
        }),
        ("limits", true, |p| p["spec"]["limits"] = json!({"cpu": 4})),
        ("weight", true, |p| p["spec"]["weight"] = 4.into()),
        ("disruption", true, |p| {
            p["spec"]["disruption"] = json!({"consolidateAfter": "1m"})
        }),
        ("order of taints", true, |p| {
            p["spec"]["template"]["spec"]["taints"]
                .as_array_mut()
                .unwrap()
                .reverse()
        }),
        ("empty annotations", true, |p| {
            p["spec"]["template"]["metadata"]["annotations"] = json!({})
        }),
        ("another label", false, |p| {
            p["spec"]["template"]["metadata"]["labels"]["team"] = "b".into()
        }),
        ("an annotation", false, |p| {
            p["spec"]["template"]["metadata"]["annotations"] = json!({"x": "y"})
        }),
        ("no taints", false, |p| {
            p["spec"]["template"]["spec"]["taints"] = json!([])
        }),
        ("a startup taint", false, |p| {
            p["spec"]["template"]["spec"]["startupTaints"] = json!([{"key": "s", "effect": "NoSchedule"}]);
        }),
        ("another class", false, |p| {
            p["spec"]["template"]["spec"]["nodeClassRef"]["name"] = "other".into()
        }),
        ("expiry", false, |p| {
            p["spec"]["template"]["spec"]["expireAfter"] = "Never".into()
        }),
        ("grace", false, |p| {
            p["spec"]["template"]["spec"]["terminationGracePeriod"] = "1h".into()
        }),
    ];
    for (what, same, change) in cases {
        assert_eq!(pool(change) == base, *same, "{what}");
    }
}

#[test]
fn classes_that_launch_the_same_have_the_same_hash() {
    let base = class(|_| {});
    let cases: &[Row] = &[
        ("subnets", true, |c| {
            c["spec"]["subnetSelectorTerms"] = json!([{"id": "subnet-2"}])
        }),
        ("security groups", true, |c| {
            c["spec"]["securityGroupSelectorTerms"] = json!([{"id": "sg-2"}])
        }),
        ("image version", true, |c| {
            c["spec"]["amiSelectorTerms"] = json!([{"alias": "al2023@v20260801"}])
        }),
        ("the alias' family spelt out", true, |c| {
            c["spec"]["amiFamily"] = "AL2023".into()
        }),
        ("prefixes", true, |c| c["spec"]["ipPrefixCount"] = 2.into()),
        ("size in other units", true, |c| {
            c["spec"]["blockDeviceMappings"][0]["ebs"]["volumeSize"] = "20480Mi".into();
        }),
        ("default metadata options", true, |c| {
            c["spec"]["metadataOptions"] = json!({"httpEndpoint": "enabled", "httpPutResponseHopLimit": 1});
        }),
        ("empty kubelet", true, |c| c["spec"]["kubelet"] = json!({})),
        ("another family", false, |c| {
            c["spec"]["amiFamily"] = "Custom".into()
        }),
        ("role", false, |c| c["spec"]["role"] = "other".into()),
        ("tags", false, |c| c["spec"]["tags"] = json!({"a": "c"})),
        ("user data", false, |c| c["spec"]["userData"] = "#!".into()),
        ("size", false, |c| {
            c["spec"]["blockDeviceMappings"][0]["ebs"]["volumeSize"] = "30Gi".into()
        }),
        ("hops", false, |c| {
            c["spec"]["metadataOptions"] = json!({"httpPutResponseHopLimit": 2})
        }),
        ("kubelet", false, |c| {
            c["spec"]["kubelet"] = json!({"maxPods": 20})
        }),
        ("open kubelet", false, |c| {
            c["spec"]["kubelet"] = json!({"maxOpenFiles": 20})
        }),
        ("public address", false, |c| {
            c["spec"]["associatePublicIPAddress"] = false.into()
        }),
        ("monitoring", false, |c| {
            c["spec"]["detailedMonitoring"] = true.into()
        }),
        ("local disks", false, |c| {
            c["spec"]["instanceStorePolicy"] = "RAID0".into()
        }),
    ];
    for (what, same, change) in cases {
        assert_eq!(class(change) == base, *same, "{what}");
    }
}

#[test]
fn no_two_sets_of_fields_look_alike() {
    let line = |fields: &[(&str, &str)]| {
        Fields(
            fields
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
        )
        .line()
    };
    assert_ne!(line(&[("a", "b"), ("c", "d")]), line(&[("a", "b1:c1:d")]));
    assert_ne!(line(&[("ab", "c")]), line(&[("a", "bc")]));
}

/// They say which fields differ, and are short enough for an annotation.
#[test]
fn fields_that_are_set_have_a_short_hash_each() {
    let of = |tags: Value| {
        let class = json!({
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
            "spec": {"role": "node", "amiSelectorTerms": [], "subnetSelectorTerms": [], "securityGroupSelectorTerms": [], "tags": tags},
        });
        ec2_node_class_fields(&serde_json::from_value(class).unwrap())
    };
    let (before, after) = (of(json!({"a": "b"})), of(json!({"a": "c"})));
    let names: Vec<&str> = before.keys().map(String::as_str).collect();
    assert_eq!(names, ["metadataOptions", "role", "tags"]);
    assert!(before.values().all(|hash| hash.len() == 8));
    assert_ne!(before["tags"], after["tags"]);
    assert_eq!(before["role"], after["role"]);
}
