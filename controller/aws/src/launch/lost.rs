//! Instances of a controller that was killed between CreateFleet and the status of the claims.
//!
//! Each instance says which claims its order was for. Claims of one order are equal, so any instance of the order that no
//! claim holds serves any of its claims that holds none.

use super::order::ClaimKey;
use crate::instances::Instance;
use crate::tags;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Most claims of one order, so that the tag holds them all (256 characters).
pub const MAX_BATCH: usize = 19;

/// Value of the tag [`tags::LAUNCH`]: a short hash of each claim's uid, in the order of their names.
pub fn launch_tag(claims: &[ClaimKey]) -> String {
    sorted(claims)
        .iter()
        .map(|claim| short(&claim.uid))
        .collect::<Vec<_>>()
        .join(".")
}

/// The token by which EC2 recognises an order that is given again. `attempt` counts orders that are meant to be new.
pub(super) fn client_token(claims: &[ClaimKey], attempt: u32) -> String {
    let mut hash = Sha256::new();
    for claim in sorted(claims) {
        hash.update(claim.uid.as_bytes());
        hash.update(b"\n");
    }
    hash.update(attempt.to_be_bytes());
    hex::encode(&hash.finalize()[..20])
}

/// Claims in the order in which instances are handed out.
pub(super) fn sorted(claims: &[ClaimKey]) -> Vec<&ClaimKey> {
    let mut claims: Vec<&ClaimKey> = claims.iter().collect();
    claims.sort();
    claims
}

/// Which instance belongs to which of the claims that hold none: name of the claim and instance. `held` are the ids that
/// other claims hold.
pub fn find_lost<'a>(
    instances: &'a [Instance],
    held: &BTreeSet<&str>,
    claims: &[ClaimKey],
) -> BTreeMap<String, &'a Instance> {
    let mut found = BTreeMap::new();
    let mut taken: BTreeSet<&str> = held.clone();
    let free = |instance: &Instance, taken: &BTreeSet<&str>| {
        !instance.state.is_ending() && !taken.contains(instance.id.as_str())
    };
    for claim in sorted(claims) {
        let own = instances
            .iter()
            .find(|instance| free(instance, &taken) && instance.node_claim() == Some(claim.name.as_str()));
        if let Some(instance) = own {
            taken.insert(&instance.id);
            found.insert(claim.name.clone(), instance);
        }
    }
    for claim in sorted(claims) {
        if found.contains_key(&claim.name) {
            continue;
        }
        let hash = short(&claim.uid);
        let of_order = instances.iter().find(|instance| {
            free(instance, &taken)
                && instance.node_claim().is_none()
                && instance
                    .tags
                    .get(tags::LAUNCH)
                    .is_some_and(|tag| tag.split('.').any(|part| part == hash))
        });
        if let Some(instance) = of_order {
            taken.insert(&instance.id);
            found.insert(claim.name.clone(), instance);
        }
    }
    found
}

fn short(uid: &str) -> String {
    hex::encode(&Sha256::digest(uid)[..6])
}
