//! Static pools: as many nodes as `replicas` says, whatever pods want.
//!
//! Scale-out makes claims that differ in nothing; scale-in takes first what has no instance yet, then what has drifted, then what is
//! empty, then what is cheapest to move, and last what holds a pod that asks to be left alone: whoever sets the number has the last word.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::Timestamp;

use crate::catalogue::Catalogue;
use crate::conditions::DRIFTED;
use crate::eviction::{is_active, needs_another_node};
use crate::resources::{Limits, ResourceName, Resources};
use crate::schedule::{NewClaim, schedule};
use crate::snapshot::{Node, Phase, Pod, PodKey, Pool, Readiness, Settings, Snapshot, Strategy};
use crate::taints::Toleration;
use crate::text::Text;

/// What is to be done for a static pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scale {
    /// How many claims to make.
    pub make: u32,
    /// The claims to let go.
    pub delete: Vec<Text>,
    /// How many claims are wanted beyond what the pool's limit on nodes allows.
    pub beyond_limit: u32,
}

/// What brings `pool` to its number of nodes; nothing for a pool without one, or one that is on its way out. A pool that is not
/// ready gives nodes back and buys none.
pub fn scale(snapshot: &Snapshot, pool: &Pool, now: Timestamp) -> Scale {
    let Some(wanted) = pool.replicas.filter(|_| !pool.deleting) else {
        return Scale::default();
    };
    let ours = snapshot
        .nodes
        .iter()
        .filter(|node| node.claim.is_some() && node.pool() == Some(&pool.name));
    let (going, staying): (Vec<&Node>, Vec<&Node>) = ours.partition(|node| node.is_going());
    let count = |nodes: &[&Node]| u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let there = count(&staying);
    if there > wanted {
        return Scale {
            delete: dispensable(staying, there - wanted, now),
            ..Scale::default()
        };
    }
    if pool.readiness != Readiness::Ready {
        return Scale::default();
    }
    let bound = pool
        .limits
        .iter()
        .find(|(name, _)| **name == ResourceName::nodes());
    let most = bound.map_or(u32::MAX, |(_, most)| {
        u32::try_from(most.max(0)).unwrap_or(u32::MAX)
    });
    let room = most.saturating_sub(there.saturating_add(count(&going)));
    let missing = wanted - there;
    Scale {
        make: missing.min(room),
        beyond_limit: missing.saturating_sub(room),
        ..Scale::default()
    }
}

/// The claims to give up first.
fn dispensable(mut nodes: Vec<&Node>, count: u32, now: Timestamp) -> Vec<Text> {
    nodes.sort_by_key(|node| {
        let refuses = node.pods.iter().any(|pod| pod.refuses_disruption(now));
        let empty = !refuses && !node.pods.iter().any(|pod| needs_another_node(pod));
        let cost: i64 = node
            .pods
            .iter()
            .filter(|pod| is_active(pod))
            .map(|pod| cost(pod))
            .sum();
        let launched = node.phase() > Phase::Planned;
        let drifted = node
            .claim
            .as_ref()
            .is_some_and(|claim| claim.conditions.is_true(DRIFTED));
        // The youngest of equal ones, which has had the least time to matter to anybody.
        let created = node.claim.as_ref().map(|claim| claim.created);
        (
            launched,
            !drifted,
            !empty,
            refuses,
            cost,
            Reverse(created),
            node.name().clone(),
        )
    });
    let claims = nodes.iter().filter_map(|node| node.claim.as_ref());
    let first = claims.take(usize::try_from(count).unwrap_or(usize::MAX));
    first.map(|claim| claim.name.clone()).collect()
}

/// What it costs to move a pod, as Karpenter counts it: one, more or less by its deletion cost and its priority, from minus ten to
/// ten; in 2^27ths.
fn cost(pod: &Pod) -> i64 {
    const ONE: i64 = 1 << 27;
    let by_priority = i64::from(pod.priority) * 4;
    (ONE + i64::from(pod.deletion_cost) + by_priority).clamp(-10 * ONE, 10 * ONE)
}

/// A claim as the pool's template makes it, with room for the daemons that belong on its node; none where nothing of it is on sale.
pub fn claim(snapshot: &Snapshot, catalogue: &Catalogue, pool: &Pool, now: Timestamp) -> Option<NewClaim> {
    let mut nobody = Pod::new(PodKey::new("", "nobody"), Resources::new(), now);
    nobody.placement.tolerations = vec![Toleration::everything()];
    let requests = nobody.requests.clone();
    // The scheduler's own answer for a pod that wants nothing, were the pool not static.
    let open = Pool {
        replicas: None,
        limits: Limits::default(),
        ..pool.clone()
    };
    let alone = Snapshot {
        pools: vec![Arc::new(open)],
        daemon_sets: snapshot.daemon_sets.clone(),
        pending: vec![Arc::new(nobody)],
        settings: Settings {
            strategy: Strategy::FirstFit,
            ..snapshot.settings.clone()
        },
        ..Snapshot::default()
    };
    let made = schedule(&alone, catalogue, now).new_claims.into_iter().next()?;
    Some(NewClaim {
        pods: Vec::new(),
        requests: made.requests.minus(&requests),
        ..made
    })
}
