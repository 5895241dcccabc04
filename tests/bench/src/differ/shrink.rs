//! From a snapshot that shows something to the smallest that still does: objects, types, offerings and constraints are
//! taken away one at a time as long as the finding stays.

use anyhow::Result;
use serde_json::Value;

use super::Differ;
use super::finding::{Finding, Kind};
use crate::generate::Set;

/// So many smaller snapshots are tried in one process of the peer.
const BATCH: usize = 64;

/// Keys that an object can do without.
const OPTIONAL: [&str; 29] = [
    "nodeSelector",
    "tolerations",
    "affinity",
    "nodeAffinity",
    "podAffinity",
    "podAntiAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
    "topologySpreadConstraints",
    "initContainers",
    "overhead",
    "ports",
    "volumes",
    "taints",
    "startupTaints",
    "limits",
    "weight",
    "minDomains",
    "nodeTaintsPolicy",
    "nodeAffinityPolicy",
    "matchLabelKeys",
    "namespaces",
    "namespaceSelector",
    "minValues",
    "ephemeral-storage",
    "example.com/team",
    "version",
    "kubeReserved",
    "deletionTimestamp",
];

/// Lists of which elements can be taken, and how many must stay.
const LISTS: [(&str, usize); 12] = [
    ("tolerations", 0),
    ("topologySpreadConstraints", 0),
    ("requirements", 0),
    ("matchExpressions", 1),
    ("nodeSelectorTerms", 1),
    ("requiredDuringSchedulingIgnoredDuringExecution", 1),
    ("preferredDuringSchedulingIgnoredDuringExecution", 1),
    ("taints", 0),
    ("offerings", 1),
    ("instanceTypes", 1),
    ("values", 1),
    ("initContainers", 1),
];

/// A way to make a set smaller.
#[derive(Clone, Debug)]
enum Step {
    /// Without this object, and what hangs on it.
    Object(usize),
    /// Without the value at this path of the object; the catalogue is the one after the last.
    Part(usize, Vec<String>),
}

/// The smallest set that still shows a finding of this kind with this strategy.
///
/// # Errors
/// When the peer cannot be run.
pub fn shrink(differ: &Differ, set: Set, kind: Kind, strategy: &str) -> Result<(Set, Finding)> {
    let shows = |found: &[Finding]| {
        found
            .iter()
            .find(|it| it.kind == kind && it.strategy == strategy)
            .cloned()
    };
    let mut last = differ.findings(std::slice::from_ref(&set))?;
    let mut finding = last.pop().as_deref().and_then(shows).unwrap_or(Finding {
        kind,
        strategy: "",
        words: "it does not show".into(),
    });
    let mut best = set;
    loop {
        let steps = steps(&best);
        let mut smaller = None;
        for batch in steps.chunks(BATCH) {
            let sets: Vec<Set> = batch.iter().map(|step| without(&best, step)).collect();
            let found = differ.findings(&sets)?;
            smaller = sets
                .into_iter()
                .zip(&found)
                .find_map(|(set, found)| Some((set, shows(found)?)));
            if smaller.is_some() {
                break;
            }
        }
        let Some((set, found)) = smaller else {
            return Ok((best, finding));
        };
        (best, finding) = (set, found);
    }
}

/// Every way to make it smaller, the boldest first.
fn steps(set: &Set) -> Vec<Step> {
    let mut all: Vec<Step> = (0..set.objects.len()).map(Step::Object).collect();
    for (index, object) in set.objects.iter().chain([&set.catalogue]).enumerate() {
        let mut paths = Vec::new();
        parts(object, &mut Vec::new(), &mut paths);
        all.extend(paths.into_iter().map(|path| Step::Part(index, path)));
    }
    all
}

fn parts(value: &Value, at: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                at.push(key.clone());
                if OPTIONAL.contains(&key.as_str()) {
                    found.push(at.clone());
                }
                parts(inner, at, found);
                at.pop();
            }
        }
        Value::Array(list) => {
            let least = at
                .last()
                .and_then(|name| LISTS.iter().find(|(list, _)| list == name));
            for (index, inner) in list.iter().enumerate() {
                at.push(index.to_string());
                if least.is_some_and(|(_, least)| list.len() > *least) {
                    found.push(at.clone());
                }
                parts(inner, at, found);
                at.pop();
            }
        }
        _ => {}
    }
}

fn without(set: &Set, step: &Step) -> Set {
    let mut made = set.clone();
    match step {
        Step::Object(index) => {
            let gone = made.objects.remove(*index);
            // A node goes with its claim and its pods.
            if gone["kind"] == "Node" {
                let (name, id) = (&gone["metadata"]["name"], &gone["spec"]["providerID"]);
                made.objects
                    .retain(|it| it["spec"]["nodeName"] != *name && it["status"]["providerID"] != *id);
            }
        }
        Step::Part(index, path) => {
            let object = match made.objects.get_mut(*index) {
                Some(object) => object,
                None => &mut made.catalogue,
            };
            remove(object, path);
        }
    }
    made
}

fn remove(value: &mut Value, path: &[String]) {
    match (path, value) {
        ([last], Value::Object(map)) => drop(map.remove(last)),
        ([last], Value::Array(list)) => {
            if let Some(index) = last.parse().ok().filter(|index| *index < list.len()) {
                list.remove(index);
            }
        }
        ([first, rest @ ..], Value::Object(map)) => {
            if let Some(inner) = map.get_mut(first) {
                remove(inner, rest);
            }
        }
        ([first, rest @ ..], Value::Array(list)) => {
            if let Some(inner) = first.parse().ok().and_then(|index: usize| list.get_mut(index)) {
                remove(inner, rest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Step, steps, without};
    use crate::generate::Set;

    #[test]
    fn a_node_goes_with_all_that_hangs_on_it() {
        let set = Set {
            objects: vec![
                json!({"kind": "Node", "metadata": {"name": "n"}, "spec": {"providerID": "p"}}),
                json!({"kind": "NodeClaim", "status": {"providerID": "p"}}),
                json!({"kind": "Pod", "spec": {"nodeName": "n"}}),
                json!({"kind": "Pod", "spec": {}}),
            ],
            catalogue: json!({}),
        };
        assert_eq!(without(&set, &Step::Object(0)).objects.len(), 1);
    }

    #[test]
    fn optional_parts_are_found_and_can_be_taken_away() {
        let set = Set {
            objects: vec![
                json!({"kind": "Pod", "spec": {"tolerations": [{"key": "a"}], "containers": [{}]}}),
            ],
            catalogue: json!({"instanceTypes": [{"name": "a"}, {"name": "b"}]}),
        };
        let sizes: Vec<usize> = steps(&set)
            .iter()
            .map(|step| {
                let made = without(&set, step);
                made.objects.iter().map(|it| it.to_string().len()).sum::<usize>()
                    + made.catalogue.to_string().len()
            })
            .collect();
        let whole = set.objects[0].to_string().len() + set.catalogue.to_string().len();
        // The pod, its list of tolerations, the one toleration, either type.
        assert_eq!(sizes.len(), 5);
        assert!(sizes.iter().all(|size| *size < whole));
    }
}
