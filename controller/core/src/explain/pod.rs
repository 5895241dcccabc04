//! Why one pod has a node, or has none: node by node in sum, pool by pool in detail.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::detail::{Detail, detail};
use crate::catalogue::Catalogue;
use crate::money::Price;
use crate::schedule::{self, Schedule};
use crate::snapshot::{Node, NodeTerm, Pod, PodKey, Snapshot};
use crate::taints::{Taint, untolerated};
use crate::text::Text;

/// What is decided for a pod, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The pod.
    pub pod: PodKey,
    /// What becomes of it.
    pub outcome: Outcome,
    /// Why nodes that are there do not take it: the constraint, how many nodes it excludes first, and one of them.
    pub nodes: Vec<NodeFinding>,
    /// Every pool in the order in which they are asked; without a detail where it could buy a node for the pod.
    pub pools: Vec<(Text, Option<Detail>)>,
    /// Wishes that were given up.
    pub dropped: Vec<Text>,
}

/// What becomes of a pod.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It runs already, or waits for something else than a node.
    Settled(String),
    /// It goes to a node or claim that is there.
    Existing(Text),
    /// It goes to a new node.
    New {
        /// The pool.
        pool: Text,
        /// The instance types, cheapest first.
        instance_types: Vec<Text>,
        /// The lowest price.
        price: Price,
    },
    /// It gets none.
    Nowhere,
}

/// A constraint that keeps a pod off nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFinding {
    /// Which constraint, in words.
    pub constraint: String,
    /// How many nodes it excludes.
    pub nodes: usize,
    /// One of them.
    pub example: Text,
}

/// Explains what `schedule`, the decision for the snapshot, does with a pod; `None` where there is no such pod.
pub fn pod(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    decided: &Schedule,
    key: &PodKey,
    now: Timestamp,
) -> Option<Explanation> {
    let running = snapshot.nodes.iter().find_map(|node| {
        let pod = node.pods.iter().find(|pod| pod.key == *key)?;
        Some((&**pod, node))
    });
    let pending = snapshot
        .pending
        .iter()
        .find(|pod| pod.key == *key)
        .map(|pod| &**pod);
    let (it, outcome) = match (pending, running) {
        (Some(it), _) => (it, outcome(decided, it)),
        (None, Some((it, node))) if node.is_going() => (it, outcome(decided, it)),
        (None, Some((it, node))) => (it, Outcome::Settled(format!("it runs on {}", node.name()))),
        (None, None) => return None,
    };
    let mut found: BTreeMap<String, (usize, Text)> = BTreeMap::new();
    for node in snapshot.nodes.iter().filter(|node| !node.is_going()) {
        if let Some(constraint) = excludes(node, it) {
            let entry = found
                .entry(constraint)
                .or_insert_with(|| (0, node.name().clone()));
            entry.0 += 1;
        }
    }
    let mut nodes: Vec<NodeFinding> = found
        .into_iter()
        .map(|(constraint, (nodes, example))| NodeFinding {
            constraint,
            nodes,
            example,
        })
        .collect();
    nodes.sort_by_key(|finding| std::cmp::Reverse(finding.nodes));
    let pools = schedule::by_pool(snapshot, catalogue, it, now)
        .into_iter()
        .map(|(pool, misfit)| (pool, misfit.map(|misfit| detail(&misfit, Some(it)))))
        .collect();
    Some(Explanation {
        pod: key.clone(),
        outcome,
        nodes,
        pools,
        dropped: decided
            .relaxed
            .get(key)
            .map(|all| all.to_vec())
            .unwrap_or_default(),
    })
}

fn outcome(decided: &Schedule, pod: &Pod) -> Outcome {
    if let Some((name, _)) = decided.existing.iter().find(|(_, pods)| pods.contains(&pod.key)) {
        return Outcome::Existing(name.clone());
    }
    if let Some(claim) = decided
        .new_claims
        .iter()
        .find(|claim| claim.pods.contains(&pod.key))
    {
        return Outcome::New {
            pool: claim.pool.clone(),
            instance_types: claim.instance_types.to_vec(),
            price: claim.price,
        };
    }
    if decided.unschedulable.contains_key(&pod.key) {
        return Outcome::Nowhere;
    }
    Outcome::Settled("it does not wait for a node: the scheduler has not said that it fits nowhere".into())
}

/// The first constraint that keeps a pod off a node; none where only its company may.
fn excludes(node: &Node, pod: &Pod) -> Option<String> {
    let it = &pod.placement;
    let taints = node.taints();
    if let Some(taint) = untolerated(&taints, &it.tolerations).find(|taint: &&Taint| taint.is_hard()) {
        return Some(format!("spec.tolerations: its taint {taint} is not tolerated"));
    }
    let labels = node.labels()?;
    let label = |key: &Text| labels.get(key);
    if let Some((key, value)) = it
        .node_selector
        .iter()
        .find(|(key, value)| label(key) != Some(value))
    {
        return Some(format!("spec.nodeSelector: it is not labelled {key}={value}"));
    }
    let usable = |term: &&NodeTerm| term.fields.is_empty() && !term.expressions.is_empty();
    let affine = it.node_affinity.as_ref().is_none_or(|terms| {
        terms
            .iter()
            .filter(usable)
            .any(|term| term.expressions.allow_labels(labels))
    });
    if !affine {
        return Some("spec.affinity.nodeAffinity: no term matches its labels".into());
    }
    let volumes = it.volumes.iter().find(|volume| {
        !volume.alternatives.is_empty() && !volume.alternatives.iter().any(|one| one.allow_labels(labels))
    });
    if let Some(volume) = volumes {
        return Some(format!(
            "spec.volumes: volume {} cannot be attached there",
            volume.claim
        ));
    }
    let free = node.allocatable().minus(&node.used());
    if let Some(row) = pod.requests.shortfalls(&free).first() {
        return Some(format!("resources: too little {} is left", row.resource));
    }
    let taken = |port: &&crate::snapshot::HostPort| {
        let there = node.pods.iter().flat_map(|other| &other.placement.host_ports);
        there.into_iter().any(|other| other.conflicts(port))
    };
    it.host_ports
        .iter()
        .find(taken)
        .map(|port| format!("hostPort: {}/{} is taken", port.port, port.protocol))
}
