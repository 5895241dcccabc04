//! A NodePool, by all that can be told of it.

use super::finding::{Finding, spec};
use super::types::Types;
use super::{Weight, budgets, keys, lifetime, limits, requirements};
use joiner_api::{EC2NodeClass, NodePool};
use serde_json::{Value as Json, json};

/// Which node classes are known: those that were planned before the pool.
pub(crate) type Classes<'a> = &'a dyn Fn(&str) -> Option<EC2NodeClass>;

/// What is known for sure of the object's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// All requirements.
    requirements: bool,
    /// All limits.
    limits: bool,
}

/// What of the pool can never work. `unknown` tells whether something at or below a path of fields is not known yet.
pub(crate) fn pool(
    object: &Json,
    unknown: &dyn Fn(&[&str]) -> bool,
    region: Option<&str>,
    classes: Classes<'_>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let known = Known {
        requirements: !unknown(&["spec", "template", "spec", "requirements"]),
        limits: !unknown(&["spec", "limits"]),
    };
    let Some(pool) = read(object) else { return found };
    let core = joiner_map::pool(&pool);
    if !unknown(&["spec", "disruption", "budgets"]) {
        let written = pool
            .spec
            .disruption
            .as_ref()
            .and_then(|disruption| disruption.budgets.as_ref())
            .map_or(0, Vec::len);
        budgets::check(&core, written, &mut found);
    }
    let lifetime = ["expireAfter", "terminationGracePeriod"];
    if !lifetime
        .iter()
        .any(|name| unknown(&["spec", "template", "spec", *name]))
    {
        lifetime::check(&core, &mut found);
    }
    if known.limits {
        limits::check_names(&pool, &mut found);
        if !unknown(&["spec", "replicas"]) {
            limits::check_count(&pool, &mut found);
        }
    }
    let mut words = Vec::new();
    if known.requirements && !unknown(&["spec", "template", "metadata"]) {
        keys::check(&pool, &mut words);
    }
    let has_wrong_words = words.iter().any(|it: &Finding| it.weight == Weight::Wrong);
    found.append(&mut words);
    // Another cloud's classes have other types.
    let reference = &pool.spec.template.spec.node_class_ref;
    if !known.requirements || reference.group != "karpenter.k8s.aws" {
        return found;
    }
    let before = found.len();
    let types = Types::of(region, None);
    let written = &pool.spec.template.spec.requirements;
    let list = spec(&["template", "spec", "requirements"]);
    let fitting = requirements::check(written, &types, &list, &mut found);
    if fitting.is_empty() {
        return found;
    }
    limits::check_room(&fitting, &types, &list, &mut found);
    if known.limits {
        limits::check_limits(&pool, &fitting, &types, &mut found);
    }
    if found.len() == before
        && !has_wrong_words
        && !unknown(&["spec", "template", "spec", "nodeClassRef"])
        && let Some(class) = classes(&reference.name)
    {
        check_class(&class, &core.requirements, region, &mut found);
    }
    found
}

/// Types that meet the pool's requirements and that the class can launch.
fn check_class(
    class: &EC2NodeClass,
    requirements: &joiner_core::requirements::Requirements,
    region: Option<&str>,
    found: &mut Vec<Finding>,
) {
    let types = Types::of(region, Some(class));
    let fitting = types.fitting(requirements);
    if !fitting.is_empty() {
        // What the class' kubelet keeps back may leave nothing of any of them.
        let name = spec(&["template", "spec", "nodeClassRef", "name"]);
        limits::check_room(&fitting, &types, &name, found);
        return;
    }
    let family = joiner_aws::node_class::family(&class.spec)
        .map_or("its image family".to_owned(), |family| family.to_string());
    let name = class.metadata.name.clone().unwrap_or_default();
    found.push(Finding::wrong(
        spec(&["template", "spec", "nodeClassRef", "name"]),
        "The node class cannot launch what the pool wants",
        format!(
            "No type in {} both meets the pool's requirements and runs with EC2NodeClass {name:?} ({family}): its images, network interfaces or \
             virtual machines need other types. Use another class, or requirements on architecture and operating system that fit it.",
            types.source()
        ),
    ));
}

/// The object as its type; parts that are not known yet are filled in where it cannot do without.
pub(super) fn read(object: &Json) -> Option<NodePool> {
    let mut object = object.clone();
    let spec = object.pointer_mut("/spec/template/spec")?;
    let reference = &mut spec["nodeClassRef"];
    for (field, value) in [
        ("group", "karpenter.k8s.aws"),
        ("kind", "EC2NodeClass"),
        ("name", ""),
    ] {
        if !reference[field].is_string() {
            reference[field] = json!(value);
        }
    }
    if !spec["requirements"].is_array() {
        spec["requirements"] = json!([]);
    }
    serde_json::from_value(object).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feasible::Weight;

    fn object(change: impl FnOnce(&mut Json)) -> Json {
        let mut spec = json!({
            "template": { "spec": {
                "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "c" },
                "requirements": [
                    { "key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"] },
                    { "key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["m5", "c5"] },
                ],
            } },
            "disruption": { "consolidateAfter": "0s" },
        });
        change(&mut spec);
        json!({ "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": { "name": "p" }, "spec": spec })
    }

    fn find(object: &Json) -> Vec<Finding> {
        pool(object, &|_| false, Some("eu-central-1"), &|_| None)
    }

    fn require(requirement: Json) -> Json {
        object(|spec| {
            let list = spec["template"]["spec"]["requirements"]
                .as_array_mut()
                .expect("a list");
            list.push(requirement);
        })
    }

    #[test]
    fn a_pool_that_works_is_quiet() {
        assert_eq!(find(&object(|_| {})), []);
        assert_eq!(
            find(&require(
                json!({ "key": "team", "operator": "In", "values": ["a"] })
            )),
            []
        );
    }

    #[test]
    fn reserved_capacity_is_a_way_of_paying() {
        let ways = |values: Json| {
            require(json!({ "key": "karpenter.sh/capacity-type", "operator": "In", "values": values }))
        };
        assert_eq!(find(&ways(json!(["reserved"]))), []);
        assert_eq!(find(&ways(json!(["reserved", "on-demand"]))), []);
        let found = find(&ways(json!(["reservd"])));
        assert_eq!(found[0].weight, Weight::Wrong, "{found:?}");
    }

    #[test]
    fn what_cannot_work_is_found_with_its_place_and_a_remedy() {
        use Weight::{Doubtful, Wrong};
        let family =
            |values: Json| object(|spec| spec["template"]["spec"]["requirements"][1]["values"] = values);
        for (object, path, weight, words) in [
            (
                family(json!(["m5x"])),
                "spec.template.spec.requirements[1].values",
                Wrong,
                "did you mean \"m5\"",
            ),
            (
                family(json!(["m5", "c55"])),
                "spec.template.spec.requirements[1].values",
                Doubtful,
                "did you mean \"c5\"",
            ),
            (
                object(|spec| spec["template"]["spec"]["requirements"][0]["values"] = json!(["x86_64"])),
                "spec.template.spec.requirements[0].values",
                Wrong,
                "did you mean \"amd64\"",
            ),
            (
                require(
                    json!({ "key": "topology.kubernetes.io/zone", "operator": "In", "values": ["eu-central-1d"] }),
                ),
                "spec.template.spec.requirements[2].values",
                Wrong,
                "eu-central-1a",
            ),
            (
                require(
                    json!({ "key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": ["5000"] }),
                ),
                "spec.template.spec.requirements[2].values",
                Wrong,
                "whose values go from 1 to",
            ),
            (
                require(
                    json!({ "key": "karpenter.k8s.aws/instance-gpu-count", "operator": "Gt", "values": ["0"] }),
                ),
                "spec.template.spec.requirements[1].values",
                Wrong,
                "Without it",
            ),
            (
                object(|spec| spec["template"]["spec"]["requirements"][1]["minValues"] = json!(3)),
                "spec.template.spec.requirements[1].minValues",
                Wrong,
                "Write at most 2",
            ),
            (
                object(|spec| spec["limits"] = json!({ "cpu": "1" })),
                "spec.limits.cpu",
                Wrong,
                "has 2",
            ),
            (
                object(|spec| spec["limits"] = json!({ "memory": "1000" })),
                "spec.limits.memory",
                Wrong,
                "1000Gi",
            ),
            (
                object(|spec| spec["disruption"]["budgets"] = json!([{ "nodes": "0" }])),
                "spec.disruption.budgets[0].nodes",
                Doubtful,
                "more than 0 nodes",
            ),
            (
                object(|spec| {
                    spec["disruption"]["budgets"] =
                        json!([{ "nodes": "0", "schedule": "@daily", "duration": "24h" }])
                }),
                "spec.disruption.budgets[0].nodes",
                Doubtful,
                "shorter duration",
            ),
            (
                object(|spec| {
                    spec["disruption"]["budgets"] =
                        json!([{ "nodes": "1", "schedule": "0 0 30 2 *", "duration": "1h" }]);
                }),
                "spec.disruption.budgets[0].schedule",
                Wrong,
                "No date fits",
            ),
            (
                object(|spec| {
                    spec["template"]["spec"]["expireAfter"] = json!("1h");
                    spec["template"]["spec"]["terminationGracePeriod"] = json!("24h");
                }),
                "spec.template.spec.expireAfter",
                Wrong,
                "terminationGracePeriod",
            ),
            (
                require(json!({ "key": "kubernetes.io/os", "operator": "In", "values": ["Linux"] })),
                "spec.template.spec.requirements[2].values",
                Wrong,
                "did you mean \"linux\"",
            ),
            (
                require(
                    json!({ "key": "kubernetes.io/architecture", "operator": "In", "values": ["amd64"] }),
                ),
                "spec.template.spec.requirements[2].key",
                Doubtful,
                "did you mean \"kubernetes.io/arch\"",
            ),
            (
                require(json!({ "key": "kubernetes.io/arch", "operator": "Exists", "values": ["amd64"] })),
                "spec.template.spec.requirements[2].values",
                Doubtful,
                "Write In",
            ),
            (
                object(|spec| spec["limits"] = json!({ "CPU": "100" })),
                "spec.limits.CPU",
                Doubtful,
                "did you mean \"cpu\"",
            ),
            (
                object(|spec| spec["limits"] = json!({ "cpus": "100" })),
                "spec.limits.cpus",
                Doubtful,
                "did you mean \"cpu\"",
            ),
            (
                object(|spec| spec["limits"] = json!({ "nodes": "0" })),
                "spec.limits.nodes",
                Doubtful,
                "buys no node",
            ),
            (
                object(|spec| {
                    spec["replicas"] = json!(5);
                    spec["limits"] = json!({ "nodes": "3" });
                }),
                "spec.replicas",
                Doubtful,
                "at most 3",
            ),
            (
                object(|spec| {
                    spec["disruption"]["budgets"] = json!([
                        { "nodes": "0", "schedule": "0 0 * * *", "duration": "12h" },
                        { "nodes": "0", "schedule": "0 12 * * *", "duration": "12h", "reasons": ["Drifted"] },
                    ]);
                }),
                "spec.disruption.budgets[1].nodes",
                Doubtful,
                "together with disruption.budgets[0]",
            ),
            (
                object(|spec| spec["template"]["spec"]["expireAfter"] = json!("5m")),
                "spec.template.spec.expireAfter",
                Doubtful,
                "720h",
            ),
        ] {
            let found = find(&object);
            let first = found.first().unwrap_or_else(|| panic!("{path}: {object}"));
            assert_eq!(
                (first.path.to_string().as_str(), first.weight),
                (path, weight),
                "{found:?}"
            );
            assert!(
                found.iter().any(|it| it.detail.contains(words)),
                "{words:?} is not in {found:?}"
            );
        }
        assert_eq!(
            find(&object(|spec| spec["limits"] = json!({ "cpu": "0" }))),
            [],
            "switched off"
        );
        for sometimes in [
            json!([{ "nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h" }]),
            // What one keeps from consolidation, the other does not.
            json!([
                { "nodes": "0", "schedule": "0 0 * * *", "duration": "12h", "reasons": ["Empty"] },
                { "nodes": "0", "schedule": "0 12 * * *", "duration": "12h", "reasons": ["Drifted"] },
            ]),
            json!([
                { "nodes": "0", "schedule": "0 0 * * *", "duration": "12h" },
                { "nodes": "1", "schedule": "0 12 * * *", "duration": "12h" },
            ]),
        ] {
            assert_eq!(
                find(&object(|spec| spec["disruption"]["budgets"] = sometimes)),
                []
            );
        }
    }

    #[test]
    fn tiny_nodes_have_no_room() {
        let tiny = object(|spec| {
            spec["template"]["spec"]["requirements"] = json!([{ "key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["t3.nano"] }]);
        });
        let found = find(&tiny);
        assert!(
            found
                .iter()
                .any(|it| it.weight == Weight::Doubtful && it.detail.contains("CoreDNS")),
            "{found:?}"
        );
    }

    #[test]
    fn a_class_narrows_what_a_pool_can_have() {
        let class = |family: &str| {
            let alias = if family == "AL2023" {
                "al2023@latest"
            } else {
                "windows2022@latest"
            };
            serde_json::from_value(json!({
                "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": { "name": "c" },
                "spec": {
                    "amiSelectorTerms": [{ "alias": alias }], "subnetSelectorTerms": [], "securityGroupSelectorTerms": [],
                },
            }))
            .ok()
        };
        let arm = object(|spec| {
            spec["template"]["spec"]["requirements"] =
                json!([{ "key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"] }]);
        });
        assert_eq!(pool(&arm, &|_| false, None, &|_| class("AL2023")), []);
        let found = pool(&arm, &|_| false, None, &|_| class("Windows2022"));
        assert_eq!(
            found[0].path.to_string(),
            "spec.template.spec.nodeClassRef.name",
            "{found:?}"
        );
        let greedy = |_: &str| {
            let mut greedy: EC2NodeClass = class("AL2023")?;
            let kubelet = json!({ "kubeReserved": { "memory": "1000Gi" } });
            greedy.spec.kubelet = serde_json::from_value(kubelet).ok();
            Some(greedy)
        };
        let found = pool(&object(|_| {}), &|_| false, None, &greedy);
        assert_eq!(found[0].weight, Weight::Doubtful, "{found:?}");
        assert!(
            found[0].detail.contains("leaves") && found.len() == 1,
            "{found:?}"
        );
        let windows = require(json!({ "key": "kubernetes.io/os", "operator": "In", "values": ["windows"] }));
        let found = pool(&windows, &|_| false, None, &|_| class("AL2023"));
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn what_is_unknown_is_left_alone() {
        let wrong = object(|spec| {
            spec["template"]["spec"]["requirements"][1]["values"] = json!(["nonsense"]);
            spec["disruption"]["budgets"] = json!([{ "nodes": "0" }]);
        });
        assert_eq!(find(&wrong).len(), 2);
        let unknown = |path: &[&str]| path.contains(&"requirements") || path.contains(&"budgets");
        assert_eq!(pool(&wrong, &unknown, None, &|_| None), []);
    }
}
