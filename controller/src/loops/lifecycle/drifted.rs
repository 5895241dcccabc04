//! Whether a claim's node has drifted: looked at whenever the claim, its pool or its class changes, and every few minutes.

use jiff::{SignedDuration, Timestamp};
use joiner_core::conditions::{DRIFTED, INITIALIZED};
use joiner_core::disrupt::drift::{Drift, Machine, drift_of};
use tracing::info;

use crate::act::{Act, ClaimStatus};
use crate::observe::{ClaimEntry, PoolEntry, map};

/// How often it is looked at although nothing has changed. Karpenter's value.
const RECHECK: SignedDuration = SignedDuration::from_mins(5);

/// What can be said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Drifted {
    /// Nothing: what it would be compared with is not known yet.
    Unknown,
    /// The node is what it should be.
    No,
    /// It is not.
    Yes(Drift),
}

/// Compares the claim with its pool and class as they are now.
pub(super) fn look(act: &Act, entry: &ClaimEntry, pool: Option<&PoolEntry>, now: Timestamp) -> Drifted {
    let claim = &entry.claim;
    // One that still starts is not replaced, and many start at a time.
    if !claim.conditions.is_true(INITIALIZED) {
        return Drifted::Unknown;
    }
    let Some(pool) = pool else { return Drifted::Unknown };
    let class = act.index.class_entry(&claim.class.name);
    if class.as_ref().is_some_and(|class| !map::drift::is_settled(class)) {
        return Drifted::Unknown;
    }
    let types = class.as_ref().and_then(|class| act.cloud.types(class, now));
    let described = claim.provider_id.as_ref().and_then(|id| act.cloud.machine(id));
    let machine = Machine {
        image: entry.machine.image.clone(),
        ..described.unwrap_or_default()
    };
    let class = class.as_deref().map(|class| {
        let mut facts = map::drift::class(class);
        if let Some(group) = act.cloud.placement_group(class) {
            facts.placement_group = Some(group.as_str().into());
        }
        facts
    });
    let types = types.as_deref().unwrap_or_default();
    match drift_of(claim, &machine, &pool.pool, class.as_ref(), types, now) {
        Some(drift) => Drifted::Yes(drift),
        None => Drifted::No,
    }
}

impl Drifted {
    /// Puts it into the status that is about to be written; returns when to look again.
    pub(super) fn note(
        &self,
        entry: &ClaimEntry,
        status: &mut ClaimStatus,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let there = &entry.claim.conditions;
        match self {
            Drifted::Unknown => return None,
            Drifted::Yes(drift) => {
                let wanted = drift.wanted();
                if there.differs(&wanted) {
                    status.conditions.push(wanted);
                }
            }
            Drifted::No if there.get(DRIFTED).is_some() => status.drop_conditions.push(DRIFTED),
            Drifted::No => {}
        }
        now.checked_add(RECHECK).ok()
    }

    /// The log line of what is news.
    pub(super) fn tell(&self, entry: &ClaimEntry) {
        let claim = &entry.claim;
        let was = claim.conditions.is_true(DRIFTED);
        match self {
            Drifted::Yes(drift) if !was => {
                info!(NodeClaim = %claim.name, reason = drift.reason.as_str(), detail = %drift.message, "nodeclaim has drifted");
            }
            Drifted::No if was => info!(NodeClaim = %claim.name, "nodeclaim has not drifted any more"),
            _ => {}
        }
    }
}
