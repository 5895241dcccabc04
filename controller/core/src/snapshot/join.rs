//! Puts what the watches see together: claims with their nodes, pods with the node they are bound to, earlier
//! decisions with the place they chose.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::claim::Claim;
use super::node::{Node, NodeObject};
use super::pod::{Pod, PodKey};
use crate::text::Text;

/// What the watches see.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Every claim.
    pub claims: Vec<Arc<Claim>>,
    /// Every node.
    pub nodes: Vec<Arc<NodeObject>>,
    /// Bound pods with the name of their node; finished ones may be left out.
    pub bound: Vec<(Text, Arc<Pod>)>,
    /// Earlier decisions that still hold.
    pub nominations: Vec<Nomination>,
    /// Names of claims or nodes that a disruption command has chosen.
    pub marked_for_deletion: Vec<Text>,
    /// Attached volumes: name of the node, name of the volume.
    pub attachments: Vec<(Text, Text)>,
}

/// An earlier decision: this pod goes to that claim or node. Made with the claim's name, it stays true when the
/// claim's node has joined under another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nomination {
    /// Name of the claim or of the node.
    pub place: Text,
    /// The pod.
    pub pod: PodKey,
    /// Until when it keeps the place from being disrupted.
    pub until: Timestamp,
}

/// The places for pods, sorted by name. A claim and a node are one place when their provider ids are equal.
pub fn join(parts: Parts) -> Vec<Node> {
    let mut objects: BTreeMap<Text, Arc<NodeObject>> = BTreeMap::new();
    let mut unknown = Vec::new();
    for object in parts.nodes {
        match &object.provider_id {
            Some(id) => drop(objects.insert(id.clone(), object)),
            None => unknown.push(object),
        }
    }
    let mut nodes = Vec::new();
    for claim in parts.claims {
        let object = claim.provider_id.as_ref().and_then(|id| objects.remove(id));
        nodes.extend(Node::new(Some(claim), object));
    }
    nodes.extend(
        objects
            .into_values()
            .chain(unknown)
            .filter_map(|object| Node::new(None, Some(object))),
    );
    nodes.sort_by(|a, b| a.name().cmp(b.name()));

    let mut by_node: BTreeMap<Text, usize> = BTreeMap::new();
    let mut by_any: BTreeMap<Text, usize> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        if let Some(claim) = &node.claim {
            by_any.insert(claim.name.clone(), index);
        }
        if let Some(object) = &node.object {
            by_node.insert(object.name.clone(), index);
            by_any.insert(object.name.clone(), index);
        }
    }
    for (name, pod) in parts.bound {
        if let Some(node) = by_node.get(&name).and_then(|index| nodes.get_mut(*index)) {
            node.pods.push(pod);
        }
    }
    for nomination in parts.nominations {
        if let Some(node) = by_any
            .get(&nomination.place)
            .and_then(|index| nodes.get_mut(*index))
        {
            node.nominated.push(nomination.pod);
            node.nominated_until = node.nominated_until.max(Some(nomination.until));
        }
    }
    for name in parts.marked_for_deletion {
        if let Some(node) = by_any.get(&name).and_then(|index| nodes.get_mut(*index)) {
            node.marked_for_deletion = true;
        }
    }
    for (name, volume) in parts.attachments {
        if let Some(node) = by_node.get(&name).and_then(|index| nodes.get_mut(*index)) {
            node.attached_volumes.push(volume);
        }
    }
    for node in &mut nodes {
        node.pods.sort_by(|a, b| a.key.cmp(&b.key));
        node.nominated.sort();
        node.nominated.dedup();
        node.attached_volumes.sort();
    }
    nodes
}
