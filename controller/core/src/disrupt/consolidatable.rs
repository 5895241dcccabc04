//! The condition Consolidatable: a node has been left alone for its pool's `consolidateAfter`.

use jiff::Timestamp;

use crate::conditions::{CONSOLIDATABLE, INITIALIZED};
use crate::snapshot::{Claim, Pool};

/// What becomes of the condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consolidatable {
    /// It holds, and says so already.
    Holds,
    /// It holds from now on: set it to true.
    Set,
    /// It does not hold, and does not say so; look again then, if nothing happens before. Without a time there is nothing to
    /// wait for: the node has not started completely, or the pool keeps its nodes.
    Wait {
        /// When.
        wake: Option<Timestamp>,
    },
    /// It is taken away; look again then.
    Clear {
        /// When.
        wake: Option<Timestamp>,
    },
}

/// Decides on the condition of one claim.
pub fn consolidatable(claim: &Claim, pool: &Pool, now: Timestamp) -> Consolidatable {
    let there = claim.conditions.is_true(CONSOLIDATABLE);
    let any = claim.conditions.get(CONSOLIDATABLE).is_some();
    let not_now = |wake| {
        if any {
            Consolidatable::Clear { wake }
        } else {
            Consolidatable::Wait { wake }
        }
    };
    let (Some(after), Some(initialised)) = (
        pool.disruption.consolidate_after,
        claim.conditions.get(INITIALIZED),
    ) else {
        return not_now(None);
    };
    if !claim.conditions.is_true(INITIALIZED) {
        return not_now(None);
    }
    let since = claim.last_pod_event.unwrap_or(initialised.since);
    match since.checked_add(after) {
        Ok(due) if due > now => not_now(Some(due)),
        Ok(_) if there => Consolidatable::Holds,
        Ok(_) => Consolidatable::Set,
        Err(_) => not_now(None),
    }
}
