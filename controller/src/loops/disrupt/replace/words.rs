//! What people are told of a replacement, as events with Karpenter's reasons.

use std::collections::BTreeSet;

use joiner_core::disrupt::drift::{Roll, Why};
use joiner_core::disrupt::{Blocker, Doomed};
use joiner_core::snapshot::{Claim, DisruptionReason};
use joiner_core::text::Text;

use crate::act::{Act, Event, Object};

const DRIFTED: &str = DisruptionReason::Drifted.as_str();

/// Successors are launched.
pub(super) fn launching<'a>(act: &Act, claims: impl Iterator<Item = &'a Text>) {
    for entry in claims.filter_map(|name| act.index.claim_entry(name)) {
        act.events.publish(Event::normal(
            Object::claim(&entry.claim),
            "DisruptionLaunching",
            format!("Launching NodeClaim: {DRIFTED}"),
        ));
    }
}

/// Successors start.
pub(super) fn waiting(act: &Act, starting: &[Text]) {
    for entry in starting.iter().filter_map(|name| act.index.claim_entry(name)) {
        act.events.publish(Event::normal(
            Object::claim(&entry.claim),
            "DisruptionWaitingReadiness",
            "Waiting on readiness to continue disruption",
        ));
    }
}

/// A node goes.
pub(super) fn terminating(act: &Act, doomed: &Doomed, claim: &Claim) {
    for (about, what) in [
        (Object::node(&doomed.node), "Node"),
        (Object::claim(claim), "NodeClaim"),
    ] {
        let message = format!("Disrupting {what}: {DRIFTED}");
        act.events
            .publish(Event::normal(about, "DisruptionTerminating", message));
    }
}

/// A node that was to go stays.
pub(super) fn staying(act: &Act, doomed: &Doomed, why: &Why) {
    let claim = act.index.claim_entry(&doomed.claim);
    let claim = claim.map(|entry| (Object::claim(&entry.claim), "NodeClaim"));
    for (about, what) in std::iter::once((Object::node(&doomed.node), "Node")).chain(claim) {
        let message = format!("Cannot disrupt {what}: {why}");
        act.events
            .publish(Event::normal(about, "DisruptionBlocked", message));
    }
}

/// A pool whose budgets let no drifted node go says so, unless one of it is on its way; `busy` are the pools of those.
pub(super) fn closed<'a>(act: &Act, busy: impl Iterator<Item = &'a Text>, roll: &'a Roll) {
    let busy: BTreeSet<&Text> = busy.chain(roll.nodes.iter().map(|it| &it.doomed.pool)).collect();
    let waiting = roll.blocked.iter().filter_map(|it| match &it.blocker {
        Blocker::Budget { pool } => Some(pool),
        _ => None,
    });
    let closed: BTreeSet<&Text> = waiting.filter(|pool| !busy.contains(pool)).collect();
    for entry in closed.into_iter().filter_map(|pool| act.index.pool_entry(pool)) {
        let message =
            format!("No allowed disruptions for disruption reason {DRIFTED} due to blocking budget");
        act.events.publish(Event::normal(
            Object::pool(&entry.pool.name, &entry.pool.uid),
            "DisruptionBlocked",
            message,
        ));
    }
}
