//! Claims that have reached their age go, whatever the budgets.

use jiff::Timestamp;

use crate::snapshot::{Claim, Snapshot};
use crate::text::Text;

/// What expiration decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expiration {
    /// Claims to delete, by name.
    pub expired: Vec<Text>,
    /// When the next one expires.
    pub wake: Option<Timestamp>,
}

/// Finds the claims whose `expireAfter` has passed.
pub fn expiration(snapshot: &Snapshot, now: Timestamp) -> Expiration {
    let mut result = Expiration::default();
    for claim in snapshot.nodes.iter().filter_map(|node| node.claim.as_ref()) {
        match expires(claim) {
            Some(at) if at <= now => result.expired.push(claim.name.clone()),
            Some(at) => result.wake = Some(result.wake.map_or(at, |wake| wake.min(at))),
            None => {}
        }
    }
    result.expired.sort();
    result
}

fn expires(claim: &Claim) -> Option<Timestamp> {
    match (claim.deletion, claim.expire_after) {
        (None, Some(age)) => claim.created.checked_add(age).ok(),
        _ => None,
    }
}
