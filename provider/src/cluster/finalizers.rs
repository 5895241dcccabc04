//! What finalizers keep an object: whose they are, and how a user takes one away whose owner is gone.
//!
//! A finalizer is somebody's promise to clean up. To take it away in silence would leak what it guards, so none is removed here: one of
//! another program is named, with the command.

use joiner_api::labels::{AWS_TERMINATION_FINALIZER, TERMINATION_FINALIZER};
use serde_json::{Value, json};

/// The finalizers of an object but for those of the garbage collector, which stand for dependants.
pub(crate) fn finalizers(object: &Value) -> Vec<&str> {
    let all = all(object);
    all.filter(|name| !matches!(*name, "foregroundDeletion" | "orphan"))
        .collect()
}

/// What to do about the finalizers that neither Kubernetes nor the controller has set on `object`, which kubectl calls `resource`; nothing
/// without one.
pub(crate) fn of_others(resource: &str, object: &Value) -> Option<String> {
    let (known, others): (Vec<&str>, Vec<&str>) = all(object).partition(|name| is_known(name));
    if others.is_empty() {
        return None;
    }
    let metadata = &object["metadata"];
    let place = metadata["namespace"]
        .as_str()
        .map_or_else(String::new, |namespace| format!(" -n {namespace}"));
    let name = metadata["name"].as_str().unwrap_or_default();
    let kept = json!({ "metadata": { "finalizers": known } });
    Some(format!(
        "{} was set by another program, which takes it away when it has cleaned up. Where that program is gone for good and nothing is left \
         to clean up, this takes it away: kubectl{place} patch {resource} {name} --type=merge -p '{kept}'",
        others.join(", ")
    ))
}

/// What kubectl calls an object that says its type.
pub(crate) fn resource_of(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    let group = object["apiVersion"]
        .as_str()
        .and_then(|version| version.split_once('/'));
    match group {
        Some((group, _)) => format!("{kind}.{group}"),
        None => kind,
    }
}

fn all(object: &Value) -> impl Iterator<Item = &str> {
    let list = object["metadata"]["finalizers"].as_array();
    list.into_iter().flatten().filter_map(Value::as_str)
}

fn is_known(finalizer: &str) -> bool {
    let domain = finalizer.split('/').next().unwrap_or_default();
    let of_kubernetes =
        !finalizer.contains('/') || domain == "kubernetes.io" || domain.ends_with(".kubernetes.io");
    of_kubernetes || matches!(finalizer, TERMINATION_FINALIZER | AWS_TERMINATION_FINALIZER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_of_other_programs_come_with_a_command_which_keeps_the_rest() {
        let object = |finalizers: Value| json!({ "metadata": { "name": "p", "namespace": "n", "finalizers": finalizers } });
        for known in [
            json!(null),
            json!(["foregroundDeletion"]),
            json!([
                "orphan",
                "kubernetes.io/pvc-protection",
                "service.kubernetes.io/load-balancer-cleanup"
            ]),
            json!(["karpenter.sh/termination", "karpenter.k8s.aws/termination"]),
        ] {
            assert_eq!(of_others("pools", &object(known.clone())), None, "{known}");
        }
        let held = object(json!([
            "foregroundDeletion",
            "a.example/b",
            "karpenter.sh/termination"
        ]));
        assert_eq!(finalizers(&held), ["a.example/b", "karpenter.sh/termination"]);
        let told = of_others("pools.x", &held).expect("one of another program");
        assert!(
            told.starts_with("a.example/b was set by another program"),
            "{told}"
        );
        let command = r#": kubectl -n n patch pools.x p --type=merge -p '{"metadata":{"finalizers":["foregroundDeletion","karpenter.sh/termination"]}}'"#;
        assert!(told.ends_with(command), "{told}");
    }

    #[test]
    fn kubectl_knows_a_kind_by_its_group() {
        for (object, want) in [
            (
                json!({ "apiVersion": "karpenter.sh/v1", "kind": "NodePool" }),
                "nodepool.karpenter.sh",
            ),
            (json!({ "apiVersion": "v1", "kind": "ConfigMap" }), "configmap"),
        ] {
            assert_eq!(resource_of(&object), want);
        }
    }
}
