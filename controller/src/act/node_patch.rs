//! Writes to a Node: labels, annotations, taints, finalizers, owner; and its deletion.

use jiff::Timestamp;
use joiner_core::snapshot::NodeObject;
use joiner_core::taints::{Effect, Taint};
use joiner_core::text::{Labels, Text};
use k8s_openapi::api::core::v1 as k8s;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use serde_json::{Map, Value, json};

use super::{Act, Failed, gone_is_fine};
use crate::observe::{NodeEntry, map};

/// What to change about a Node. What is empty or `None` stays as it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeChange {
    pub labels: Labels,
    pub annotations: Labels,
    /// All taints it is to have.
    pub taints: Option<Vec<Taint>>,
    pub add_finalizer: Option<&'static str>,
    pub remove_finalizer: Option<&'static str>,
    /// Name and uid of the NodeClaim that owns it.
    pub owner: Option<(Text, Text)>,
}

impl Act {
    /// Changes a Node. Fails with a conflict where taints are to change and the node has changed since `entry`, as the list of
    /// taints can only be written as a whole.
    pub(crate) async fn change_node(&self, entry: &NodeEntry, change: &NodeChange) -> Result<(), Failed> {
        let Some(patch) = patch(entry, change) else {
            return Ok(());
        };
        let api: Api<k8s::Node> = Api::all(self.client.clone());
        let params = PatchParams {
            field_manager: Some(super::FIELD_MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let answer = api
            .patch(&entry.node.name, &params, &Patch::Strategic(&patch))
            .await;
        let object = answer.map_err(|cause| Failed::api(format!("node {}", entry.node.name), cause))?;
        let finalizers = object.metadata.finalizers.as_ref();
        if object.metadata.deletion_timestamp.is_none() || finalizers.is_some_and(|it| !it.is_empty()) {
            self.index.node(&object);
        } else {
            self.index
                .node_gone(&entry.node.name, crate::observe::version(&object));
        }
        Ok(())
    }

    /// Says that the node's instance, whose reservation has ended, runs on demand.
    pub(crate) async fn demote_node(&self, entry: &NodeEntry) -> Result<(), Failed> {
        let api: Api<k8s::Node> = Api::all(self.client.clone());
        let params = PatchParams {
            field_manager: Some(super::FIELD_MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let name = &entry.node.name;
        let answer = api.patch(name, &params, &Patch::Merge(super::on_demand())).await;
        let object = answer.map_err(|cause| Failed::api(format!("node {name}"), cause))?;
        self.index.node(&object);
        Ok(())
    }

    /// Deletes that very Node and no later one of its name; its finalizer keeps it while it drains.
    pub(crate) async fn delete_node(&self, node: &NodeObject) -> Result<(), Failed> {
        let api: Api<k8s::Node> = Api::all(self.client.clone());
        let params = DeleteParams {
            preconditions: Some(Preconditions {
                uid: Some(node.uid.to_string()),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        let answer = api.delete(&node.name, &params).await;
        match answer {
            Ok(either) => {
                if let Some(object) = either.left() {
                    self.index.node(&object);
                }
                Ok(())
            }
            Err(cause) => gone_is_fine(Err(Failed::api(format!("node {}", node.name), cause))),
        }
    }
}

/// The strategic merge patch, or nothing where nothing is to change.
fn patch(entry: &NodeEntry, change: &NodeChange) -> Option<Value> {
    let NodeChange {
        labels,
        annotations,
        taints: wanted,
        add_finalizer,
        remove_finalizer,
        owner,
    } = change;
    let node = &entry.node;
    let mut metadata = Map::new();
    let mut spec = Map::new();
    for (field, wanted, there) in [
        ("labels", labels, &node.labels),
        ("annotations", annotations, &node.annotations),
    ] {
        let new: Map<String, Value> = wanted
            .iter()
            .filter(|(key, value)| there.get(*key) != Some(value))
            .map(|(key, value)| (key.to_string(), Value::from(&**value)))
            .collect();
        if !new.is_empty() {
            metadata.insert(field.to_owned(), Value::Object(new));
        }
    }
    let has = |name: &str| node.finalizers.iter().any(|it| &**it == name);
    if let Some(name) = add_finalizer.filter(|name| !has(name)) {
        metadata.insert("finalizers".to_owned(), json!([name]));
    }
    if let Some(name) = remove_finalizer.filter(|name| has(name)) {
        metadata.insert("$deleteFromPrimitiveList/finalizers".to_owned(), json!([name]));
    }
    if let Some((name, uid)) = owner {
        let reference = json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": &**name, "uid": &**uid, "blockOwnerDeletion": true,
        });
        metadata.insert("ownerReferences".to_owned(), json!([reference]));
    }
    if let Some(taints) = wanted.as_ref().and_then(|wanted| taints(&entry.taints, wanted)) {
        metadata.insert(
            "resourceVersion".to_owned(),
            entry.resource_version.clone().into(),
        );
        spec.insert("taints".to_owned(), json!(taints));
    }
    let mut patch = Map::new();
    for (field, content) in [("metadata", metadata), ("spec", spec)] {
        if !content.is_empty() {
            patch.insert(field.to_owned(), Value::Object(content));
        }
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// The list of taints as it is to be written, where it differs from the one that is there. Taints that stay keep the time
/// since when they are there.
fn taints(there: &[k8s::Taint], wanted: &[Taint]) -> Option<Vec<k8s::Taint>> {
    let of = |taint: &Taint| {
        there
            .iter()
            .find(|written| map::taint(written).as_ref() == Some(taint))
            .cloned()
    };
    let after: Vec<k8s::Taint> = wanted
        .iter()
        .map(|taint| of(taint).unwrap_or_else(|| written(taint)))
        .collect();
    let same = after.len() == there.len() && after.iter().all(|taint| there.contains(taint));
    (!same).then_some(after)
}

fn written(taint: &Taint) -> k8s::Taint {
    k8s::Taint {
        key: taint.key.to_string(),
        value: (!taint.value.is_empty()).then(|| taint.value.to_string()),
        effect: taint.effect.as_str().to_owned(),
        time_added: (taint.effect == Effect::NoExecute).then(|| Time(whole_second())),
    }
}

fn whole_second() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use joiner_core::text::labels;

    use super::*;

    fn entry() -> NodeEntry {
        let object: k8s::Node = serde_json::from_value(json!({
            "metadata": {
                "name": "n", "resourceVersion": "7", "labels": {"a": "1"}, "finalizers": ["karpenter.sh/termination"],
            },
            "spec": {"taints": [
                {"key": "karpenter.sh/unregistered", "effect": "NoExecute"},
                {"key": "own", "value": "x", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"},
            ]},
        }))
        .unwrap();
        NodeEntry::of(&object)
    }

    #[test]
    fn nothing_to_change_is_no_call() {
        let change = NodeChange {
            labels: labels([("a", "1")]),
            taints: Some(vec![
                Taint::new("own", "x", Effect::NoExecute),
                Taint::new("karpenter.sh/unregistered", "", Effect::NoExecute),
            ]),
            add_finalizer: Some("karpenter.sh/termination"),
            ..NodeChange::default()
        };
        assert_eq!(patch(&entry(), &change), None);
    }

    #[test]
    fn a_change_of_taints_keeps_the_others_and_guards_against_races() {
        let change = NodeChange {
            labels: labels([("a", "1"), ("b", "2")]),
            taints: Some(vec![Taint::new("own", "x", Effect::NoExecute)]),
            remove_finalizer: Some("karpenter.sh/termination"),
            ..NodeChange::default()
        };
        let want = json!({
            "metadata": {
                "labels": {"b": "2"},
                "$deleteFromPrimitiveList/finalizers": ["karpenter.sh/termination"],
                "resourceVersion": "7",
            },
            "spec": {"taints": [
                {"key": "own", "value": "x", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"},
            ]},
        });
        assert_eq!(patch(&entry(), &change), Some(want));
    }
}
