//! What has lost its other half: instances without a claim, claims without an instance.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::conditions::REGISTERED;
use crate::snapshot::{Claim, Node};
use crate::text::Text;

/// An instance younger than this may belong to a claim that has not been written yet.
const YOUNG: SignedDuration = SignedDuration::from_secs(30);

/// An instance of this cluster, as the cloud lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// `aws:///us-west-2a/i-...`.
    pub provider_id: Text,
    /// When it was launched.
    pub launched: Timestamp,
    /// The claim it was bought for, where its tags say so.
    pub claim: Option<Text>,
    /// Whether it is shutting down already.
    pub terminating: bool,
}

/// What to clear up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collect {
    /// Claims whose instance was bought but not noted, with its provider id: note it.
    pub adopt: Vec<(Text, Text)>,
    /// Instances to terminate, by provider id.
    pub terminate: Vec<Text>,
    /// Claims to delete, by name.
    pub delete_claims: Vec<Text>,
}

/// Compares `instances`, a complete list, with the claims and nodes of the cluster. A claim counts as without an
/// instance once it has registered; before, its timeouts decide.
pub fn collect(instances: &[Instance], nodes: &[Node], now: Timestamp) -> Collect {
    let claims = || nodes.iter().filter_map(|node| node.claim.as_deref());
    let known: BTreeSet<&Text> = claims().filter_map(|claim| claim.provider_id.as_ref()).collect();
    let mut unlaunched: BTreeMap<&Text, &Claim> = claims()
        .filter(|claim| claim.provider_id.is_none())
        .map(|claim| (&claim.name, claim))
        .collect();
    let mut result = Collect::default();
    let mut orphans: Vec<&Instance> = instances
        .iter()
        .filter(|it| !it.terminating && !known.contains(&it.provider_id))
        .collect();
    orphans.sort_by(|a, b| (a.launched, &a.provider_id).cmp(&(b.launched, &b.provider_id)));
    for orphan in orphans {
        match orphan.claim.as_ref().and_then(|claim| unlaunched.remove(claim)) {
            Some(claim) => result
                .adopt
                .push((claim.name.clone(), orphan.provider_id.clone())),
            None if now.duration_since(orphan.launched) > YOUNG => {
                result.terminate.push(orphan.provider_id.clone())
            }
            None => {}
        }
    }
    let running: BTreeSet<&Text> = instances
        .iter()
        .filter(|it| !it.terminating)
        .map(|it| &it.provider_id)
        .collect();
    for node in nodes {
        let Some(claim) = &node.claim else { continue };
        let gone = claim.provider_id.as_ref().is_some_and(|id| !running.contains(id));
        let alive = node.object.as_ref().is_some_and(|object| object.ready);
        if gone && !alive && claim.deletion.is_none() && claim.conditions.is_true(REGISTERED) {
            result.delete_claims.push(claim.name.clone());
        }
    }
    result.delete_claims.sort();
    result
}
