//! What a case expects of its answer: the document of kind Expectation in its file.

use std::collections::{BTreeMap, BTreeSet};

use joiner_map::Answer;
use joiner_map::answer::NewNode;
use serde::Deserialize;

const ZONE: &str = "topology.kubernetes.io/zone";
const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";

/// Everything is optional; what is not said is not looked at. Pods are named without their namespace.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Expectation {
    api_version: String,
    kind: String,
    /// Further arguments.
    pub(crate) args: Vec<String>,
    /// `own`: the case brings its catalogue, or has none.
    catalog: String,
    /// The command fails and says this.
    pub(crate) error: Option<String>,
    /// How many nodes are bought.
    new_nodes: Option<usize>,
    /// Nodes that are bought, each with at least these pods.
    nodes: Vec<Node>,
    /// How many pods are on nodes that are bought.
    pods_on_new_nodes: Option<usize>,
    /// Pods that are on nodes of their own.
    apart: Vec<Vec<String>>,
    /// Pods that are on one node.
    together: Vec<Vec<String>>,
    /// Pods whose nodes cannot be in one zone.
    different_zones: Vec<Vec<String>>,
    /// Pods on new nodes, counted by zone, the smallest first.
    zone_counts: Option<Vec<usize>>,
    /// The same by capacity type.
    capacity_type_counts: Option<Vec<usize>>,
    /// The same by another label.
    label_counts: Option<LabelCounts>,
    /// Pods on nodes that are there.
    existing: BTreeMap<String, Vec<String>>,
    /// Pods without a node, with a part of a reason; exactly these.
    unschedulable: Option<BTreeMap<String, String>>,
    /// How many pods have no node.
    unschedulable_count: Option<usize>,
    /// Pods with a wish that was dropped, with a part of it.
    relaxed: BTreeMap<String, String>,
    /// What all new nodes cost.
    price: Option<f64>,
    /// The fewest types that each new node lists.
    min_types: Option<usize>,
}

/// Counts by a label's value.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LabelCounts {
    key: String,
    counts: Vec<usize>,
}

/// What a node must be.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Node {
    pods: Vec<String>,
    pool: Option<String>,
    types: Option<Vec<String>>,
    without_types: Vec<String>,
    zones: Option<Vec<String>>,
    capacity_types: Option<Vec<String>>,
    labels: BTreeMap<String, String>,
    taints: Vec<String>,
    requests: BTreeMap<String, String>,
    price: Option<f64>,
}

impl Expectation {
    pub(crate) fn read(text: &str) -> Expectation {
        let first = text.split("\n---\n").next().unwrap_or_default();
        let read: Result<Expectation, _> = serde_saphyr::from_str(first);
        let read = read
            .map_err(|error| format!("{error}\n{first}"))
            .expect("an expectation");
        assert_eq!(
            (read.api_version.as_str(), read.kind.as_str()),
            ("joiner.dev/tests", "Expectation")
        );
        read
    }

    pub(crate) fn own_catalog(&self) -> bool {
        self.catalog == "own"
    }

    /// Where the answer is not what is expected.
    pub(crate) fn complaints(&self, answer: &Answer) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut expect = |what: &str, got: String, want: String| {
            if got != want {
                wrong.push(format!("{what}: {got} instead of {want}"));
            }
        };
        let nodes = &answer.new_nodes;
        if let Some(count) = self.new_nodes {
            expect("new nodes", nodes.len().to_string(), count.to_string());
        }
        if let Some(count) = self.pods_on_new_nodes {
            let got: usize = nodes.iter().map(|node| node.pods.len()).sum();
            expect("pods on new nodes", got.to_string(), count.to_string());
        }
        if let Some(count) = self.unschedulable_count {
            expect(
                "pods without a node",
                answer.unschedulable.len().to_string(),
                count.to_string(),
            );
        }
        if let Some(price) = self.price {
            expect(
                "price",
                format!("{:.4}", answer.hourly_cost.new),
                format!("{price:.4}"),
            );
        }
        for (label, want) in [
            (ZONE, &self.zone_counts),
            (CAPACITY_TYPE, &self.capacity_type_counts),
        ] {
            if let Some(want) = want {
                expect(label, format!("{:?}", counts(nodes, label)), format!("{want:?}"));
            }
        }
        if let Some(want) = &self.label_counts {
            expect(
                &want.key,
                format!("{:?}", counts(nodes, &want.key)),
                format!("{:?}", want.counts),
            );
        }
        for node in nodes {
            let enough = self
                .min_types
                .is_none_or(|least| node.instance_types.len() >= least);
            expect("enough types", enough.to_string(), "true".to_owned());
        }
        for (name, pods) in &self.existing {
            let got = answer.existing_nodes.iter().find(|node| node.name == *name);
            let got: Vec<&str> = got
                .iter()
                .flat_map(|node| &node.pods)
                .map(|pod| short(pod))
                .collect();
            expect(name, format!("{got:?}"), format!("{pods:?}"));
        }
        wrong.extend(self.refusals(answer));
        wrong.extend(self.company(nodes));
        for want in &self.nodes {
            match nodes
                .iter()
                .find(|node| want.pods.iter().all(|pod| has(node, pod)))
            {
                Some(node) => wrong.extend(want.complaints(node)),
                None => wrong.push(format!("no new node has {:?}; {}", want.pods, told(answer))),
            }
        }
        wrong
    }

    fn refusals(&self, answer: &Answer) -> Vec<String> {
        let mut wrong = Vec::new();
        let got: BTreeMap<&str, String> = answer
            .unschedulable
            .iter()
            .map(|row| {
                let words: Vec<&str> = row.reasons.iter().map(|reason| reason.reason.as_str()).collect();
                (short(&row.pod), words.join("; "))
            })
            .collect();
        match &self.unschedulable {
            Some(want) => {
                if got.keys().copied().collect::<Vec<_>>()
                    != want.keys().map(String::as_str).collect::<Vec<_>>()
                {
                    wrong.push(format!("without a node are {got:?}, not {want:?}"));
                }
                for (pod, part) in want {
                    let reason = got.get(pod.as_str()).cloned().unwrap_or_default();
                    if !reason.contains(part) {
                        wrong.push(format!(
                            "{pod} has no node because {reason:?}, which does not say {part:?}"
                        ));
                    }
                }
            }
            None if self.unschedulable_count.is_none() && !got.is_empty() => {
                wrong.push(format!("without a node are {got:?}"));
            }
            None => {}
        }
        for (pod, part) in &self.relaxed {
            let mut rows = answer.relaxed.iter().filter(|row| short(&row.pod) == pod);
            if !rows.any(|row| row.dropped.contains(part)) {
                wrong.push(format!(
                    "nothing of {pod} with {part:?} was relaxed: {:?}",
                    answer.relaxed
                ));
            }
        }
        wrong
    }

    fn company(&self, nodes: &[NewNode]) -> Vec<String> {
        let mut wrong = Vec::new();
        let place = |pod: &String| nodes.iter().find(|node| has(node, pod));
        for pods in &self.apart {
            let places: BTreeSet<Option<&str>> = pods
                .iter()
                .map(|pod| place(pod).map(|node| node.name.as_str()))
                .collect();
            if places.len() != pods.len() {
                wrong.push(format!("{pods:?} are on {places:?}"));
            }
        }
        for pods in &self.together {
            let places: BTreeSet<Option<&str>> = pods
                .iter()
                .map(|pod| place(pod).map(|node| node.name.as_str()))
                .collect();
            if places.len() != 1 || places.contains(&None) {
                wrong.push(format!("{pods:?} are on {places:?}"));
            }
        }
        for pods in &self.different_zones {
            let mut seen = BTreeSet::new();
            for pod in pods {
                let zones = place(pod).map(|node| values(node, ZONE)).unwrap_or_default();
                if zones.is_empty() || zones.iter().any(|zone| !seen.insert(zone.clone())) {
                    wrong.push(format!(
                        "{pods:?}: {pod} may be in {zones:?}, where another may be"
                    ));
                }
            }
        }
        wrong
    }
}

impl Node {
    fn complaints(&self, node: &NewNode) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut expect = |what: &str, got: &str, want: &str| {
            if got != want {
                wrong.push(format!("{}: {what} {got} instead of {want}", node.name));
            }
        };
        if let Some(pool) = &self.pool {
            expect("pool", &node.node_pool, pool);
        }
        if let Some(types) = &self.types {
            expect(
                "types",
                &format!("{:?}", node.instance_types),
                &format!("{types:?}"),
            );
        }
        for other in &self.without_types {
            expect(
                other,
                &node.instance_types.iter().any(|it| **it == **other).to_string(),
                "false",
            );
        }
        if let Some(zones) = &self.zones {
            expect(
                "zones",
                &format!("{:?}", values(node, ZONE)),
                &format!("{zones:?}"),
            );
        }
        if let Some(ways) = &self.capacity_types {
            expect(
                "capacity types",
                &format!("{:?}", values(node, CAPACITY_TYPE)),
                &format!("{ways:?}"),
            );
        }
        for (key, value) in &self.labels {
            expect(
                key,
                node.labels.get(key).map(String::as_str).unwrap_or("nothing"),
                value,
            );
        }
        for (name, amount) in &self.requests {
            expect(
                name,
                node.requests.get(name).map(String::as_str).unwrap_or("nothing"),
                amount,
            );
        }
        let taints: Vec<&String> = node.taints.iter().map(|taint| &taint.key).collect();
        if !self.taints.is_empty() {
            expect("taints", &format!("{taints:?}"), &format!("{:?}", self.taints));
        }
        if let Some(price) = self.price {
            expect("price", &format!("{:.4}", node.price), &format!("{price:.4}"));
        }
        wrong
    }
}

fn short(pod: &str) -> &str {
    pod.split('/').next_back().unwrap_or(pod)
}

fn has(node: &NewNode, pod: &str) -> bool {
    node.pods.iter().any(|there| short(there) == pod)
}

/// The values that a node's label may have.
fn values(node: &NewNode, key: &str) -> Vec<String> {
    if let Some(value) = node.labels.get(key) {
        return vec![value.clone()];
    }
    let row = node
        .requirements
        .iter()
        .find(|row| row.key == key && row.operator == "In");
    row.map(|row| row.values.iter().map(ToString::to_string).collect())
        .unwrap_or_default()
}

/// Pods on new nodes by a label's only value, the smallest count first.
fn counts(nodes: &[NewNode], key: &str) -> Vec<usize> {
    let mut by_value: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for node in nodes {
        *by_value.entry(values(node, key)).or_default() += node.pods.len();
    }
    let mut counts: Vec<usize> = by_value.into_values().collect();
    counts.sort_unstable();
    counts
}

fn told(answer: &Answer) -> String {
    let refused = answer
        .unschedulable
        .iter()
        .flat_map(|row| row.reasons.iter().map(|reason| reason.reason.as_str()));
    format!("refused: {:?}", refused.collect::<Vec<_>>())
}
