//! An EC2NodeClass, by all that can be told of it.

use super::finding::Finding;
use super::types::Types;
use super::{images, kubelet, user_data};
use joiner_api::EC2NodeClass;
use joiner_aws::node_class::family;
use serde_json::Value as Json;

/// What of the class can never work. `unknown` tells whether something at or below a path of fields is not known yet.
pub(crate) fn node_class(
    object: &Json,
    unknown: &dyn Fn(&[&str]) -> bool,
    region: Option<&str>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    if unknown(&["spec", "amiSelectorTerms"]) || unknown(&["spec", "amiFamily"]) {
        return found;
    }
    let Ok(class) = serde_json::from_value::<EC2NodeClass>(object.clone()) else {
        return found;
    };
    images::check(&class, &mut found);
    let Some(family) = family(&class.spec) else {
        return found;
    };
    if unknown(&["spec", "kubelet"]) {
        return found;
    }
    if class.spec.kubelet.is_some() {
        kubelet::check(family, &class, &Types::of(region, None), &mut found);
    }
    if !unknown(&["spec", "userData"]) {
        user_data::check(family, &class, &mut found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feasible::Weight::{self, Doubtful, Wrong};
    use serde_json::json;

    fn find_with(change: impl FnOnce(&mut Json)) -> Vec<Finding> {
        let mut spec = json!({
            "amiSelectorTerms": [{ "alias": "al2023@latest" }], "subnetSelectorTerms": [], "securityGroupSelectorTerms": [],
        });
        change(&mut spec);
        let object = json!({
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": { "name": "c" }, "spec": spec,
        });
        node_class(&object, &|_| false, Some("eu-central-1"))
    }

    fn find(alias: &str, user_data: &str) -> Vec<Finding> {
        find_with(|spec| {
            spec["amiSelectorTerms"][0]["alias"] = json!(alias);
            spec["userData"] = json!(user_data);
        })
    }

    #[test]
    fn user_data_of_another_family_is_found() {
        const CONFIG: &str = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n";
        const ENCODED: &str =
            "\"apiVersion\": \"node.eks.aws/v1alpha1\"\n\"kind\": \"NodeConfig\"\n\"spec\": {}\n";
        const JSON: &str = "{\"apiVersion\": \"node.eks.aws/v1alpha1\", \"kind\": \"NodeConfig\"}";
        let marked = format!("---\n{CONFIG}");
        let remarked = format!("# Ours\n{CONFIG}");
        let (none, wrong, doubtful) = (None, Some(Wrong), Some(Doubtful));
        for (alias, text, want) in [
            ("al2023@latest", "#!/bin/bash\necho hello\n", none),
            ("al2023@latest", CONFIG, none),
            ("al2023@latest", ENCODED, none),
            ("al2023@latest", JSON, none),
            ("al2023@latest", &marked, none),
            ("al2023@latest", &remarked, none),
            (
                "al2023@latest",
                "#!/bin/bash\ncat > x <<E\napiVersion: node.eks.aws/v1alpha1\nE\n",
                none,
            ),
            (
                "al2023@latest",
                "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: [\n",
                wrong,
            ),
            (
                "al2023@latest",
                "{\"apiVersion\": \"node.eks.aws/v1alpha1\",",
                wrong,
            ),
            (
                "al2023@latest",
                "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConf\n",
                doubtful,
            ),
            ("al2023@latest", "#cloud-config\npackages: [jq]\n", doubtful),
            ("al2023@latest", "echo hello\n", doubtful),
            ("al2023@latest", "<powershell>ls</powershell>", wrong),
            ("al2023@latest", "[settings.kubernetes]\nmax-pods = 10\n", wrong),
            ("al2@latest", ENCODED, wrong),
            ("al2@latest", "echo hello\n", doubtful),
            (
                "bottlerocket@latest",
                "[settings.kubernetes]\nmax-pods = 10\n",
                none,
            ),
            (
                "bottlerocket@latest",
                "[setting.kubernetes]\nmax-pods = 10\n",
                doubtful,
            ),
            ("bottlerocket@latest", JSON, wrong),
            ("bottlerocket@latest", "#!/bin/bash\necho hello\n", wrong),
            ("bottlerocket@latest", "settings = ", wrong),
            ("windows2022@latest", "#!/bin/bash\n", wrong),
            ("windows2022@latest", "<powershell>ls</powershell>", none),
        ] {
            let found = find(alias, text);
            let weights: Vec<Weight> = found.iter().map(|it| it.weight).collect();
            assert_eq!(weights, Vec::from_iter(want), "{alias} {text:?}: {found:?}");
            assert!(
                found.iter().all(|it| it.path.to_string() == "spec.userData"),
                "{found:?}"
            );
        }
        let long = format!("#!/bin/bash\n{}", "x".repeat(20_000));
        assert!(find("al2023@latest", &long)[0].detail.contains("16384"));
        let typo = find("bottlerocket@latest", "[setting.kubernetes]\n");
        assert!(typo[0].detail.contains("did you mean \"settings\"?"), "{typo:?}");
    }

    #[test]
    fn what_no_node_can_do_is_found_with_its_place_and_a_remedy() {
        let kubelet = |settings: Json| move |spec: &mut Json| spec["kubelet"] = settings;
        let alias =
            |alias: &'static str| move |spec: &mut Json| spec["amiSelectorTerms"][0]["alias"] = json!(alias);
        type Change = Box<dyn FnOnce(&mut Json)>;
        type Want = (&'static str, Weight, &'static str);
        let cases: Vec<(Change, Option<Want>)> = vec![
            (
                Box::new(kubelet(json!({ "maxPods": 0 }))),
                Some(("spec.kubelet.maxPods", Wrong, "at least 1")),
            ),
            (Box::new(kubelet(json!({ "maxPods": 1 }))), None),
            (
                Box::new(kubelet(json!({ "kubeReserved": { "memory": "100000Gi" } }))),
                Some(("spec.kubelet.kubeReserved.memory", Wrong, "Write less")),
            ),
            (
                Box::new(kubelet(json!({ "systemReserved": { "cpu": "10000" } }))),
                Some(("spec.kubelet.systemReserved.cpu", Wrong, "Write less")),
            ),
            (
                Box::new(kubelet(
                    json!({ "kubeReserved": { "memory": "1Gi", "cpu": "100m" } }),
                )),
                None,
            ),
            (
                Box::new(kubelet(json!({ "imageGCLowThresholdPercent": 90 }))),
                Some((
                    "spec.kubelet.imageGCLowThresholdPercent",
                    Doubtful,
                    "default for that is 85",
                )),
            ),
            (
                Box::new(kubelet(json!({ "imageGCHighThresholdPercent": 80 }))),
                Some((
                    "spec.kubelet.imageGCHighThresholdPercent",
                    Doubtful,
                    "default for that is 80",
                )),
            ),
            (
                Box::new(kubelet(json!({ "imageGCLowThresholdPercent": 70 }))),
                None,
            ),
            (
                Box::new(|spec| {
                    spec["kubelet"] = json!({ "podsPerCore": 10 });
                    spec["amiSelectorTerms"][0]["alias"] = json!("bottlerocket@latest");
                }),
                Some((
                    "spec.kubelet.podsPerCore",
                    Doubtful,
                    "Bottlerocket has no such setting",
                )),
            ),
            (Box::new(kubelet(json!({ "podsPerCore": 10 }))), None),
            (
                Box::new(alias("al2023@1.2.3")),
                Some(("spec.amiSelectorTerms[0].alias", Wrong, "like v20260101")),
            ),
            (Box::new(alias("al2023@v20260101")), None),
            (
                Box::new(alias("bottlerocket@v20260101")),
                Some(("spec.amiSelectorTerms[0].alias", Wrong, "like v1.50.0")),
            ),
            (Box::new(alias("bottlerocket@1.50.0")), None),
            (
                Box::new(|spec| {
                    spec["amiFamily"] = json!("AL2023");
                    spec["amiSelectorTerms"] =
                        json!([{ "ssmParameter": "/a/b", "id": "ami-0123456789abcdef0" }]);
                }),
                Some((
                    "spec.amiSelectorTerms[0].ssmParameter",
                    Doubtful,
                    "has id as well",
                )),
            ),
        ];
        for (change, want) in cases {
            let found = find_with(change);
            match want {
                None => assert_eq!(found, []),
                Some((path, weight, words)) => {
                    assert_eq!(found.len(), 1, "{path}: {found:?}");
                    assert_eq!(
                        (found[0].path.to_string().as_str(), found[0].weight),
                        (path, weight)
                    );
                    assert!(found[0].detail.contains(words), "{found:?}");
                }
            }
        }
    }
}
