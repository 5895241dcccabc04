//! Pods that would find no node if theirs went: each asked as if it waited already.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::catalogue::Catalogue;
use crate::disrupt::candidate::Blocker;
use crate::disrupt::drift::Waves;
use crate::eviction::needs_another_node;
use crate::explain;
use crate::schedule::{Schedule, schedule};
use crate::snapshot::{Node, Pod, PodKey, PodState, Pool, Snapshot};
use crate::text::Text;

/// A pod that would find no node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homeless {
    /// The pod.
    pub pod: PodKey,
    /// Why, pool by pool, in words for a person.
    pub why: Text,
}

/// What becomes of pods when pools go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// The nodes that go, by name.
    pub nodes: Vec<Text>,
    /// How many pods must leave them.
    pub pods: usize,
    /// Those of them that no other node takes and for which none would be bought.
    pub homeless: Vec<Homeless>,
}

/// What becomes of pods when `pools` go with all of their nodes at once. `planned` are the pools that are there then, new or changed, in
/// place of those of the same name, also of one that goes.
pub fn gone(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    pools: &BTreeSet<Text>,
    planned: &[Arc<Pool>],
    now: Timestamp,
) -> Gone {
    let goes = |node: &Node| node.claim.is_some() && node.pool().is_some_and(|pool| pools.contains(pool));
    let mut nodes: Vec<Text> = snapshot
        .nodes
        .iter()
        .filter(|node| goes(node))
        .map(|node| node.name().clone())
        .collect();
    nodes.sort();
    let mut rest = snapshot.clone();
    let is_planned = |name: &Text| planned.iter().any(|pool| pool.name == *name);
    rest.pools
        .retain(|pool| !pools.contains(&pool.name) && !is_planned(&pool.name));
    rest.pools.extend(planned.iter().cloned());
    rest.pools.sort_by(|a, b| a.name.cmp(&b.name));
    let pods = leave(&mut rest, goes);
    Gone {
        nodes,
        pods,
        homeless: homeless(&schedule(&rest, catalogue, now)),
    }
}

/// The pods that keep nodes from going at the end of a roll-out.
pub(super) fn of(waves: &Waves, catalogue: &Catalogue, now: Timestamp) -> Vec<Homeless> {
    let kept: BTreeSet<&Text> = waves
        .left
        .iter()
        .filter(|left| matches!(left.blocker, Blocker::Unplaceable { .. }))
        .map(|left| &left.node)
        .collect();
    if kept.is_empty() {
        return Vec::new();
    }
    let mut rest = waves.after.clone();
    leave(&mut rest, |node| kept.contains(node.name()));
    let mut found = homeless(&schedule(&rest, catalogue, now));
    // A pod may fit without the others of the nodes that stay; whoever was named as the reason is told in any case.
    for left in &waves.left {
        if let Blocker::Unplaceable { pod, why } = &left.blocker
            && found.iter().all(|it| it.pod != *pod)
        {
            found.push(Homeless {
                pod: pod.clone(),
                why: shortened(why),
            });
        }
    }
    found.sort_by(|a, b| a.pod.cmp(&b.pod));
    found
}

/// Takes nodes away and lets their pods wait for others; nobody else waits. Returns how many there are.
fn leave(snapshot: &mut Snapshot, goes: impl Fn(&Node) -> bool) -> usize {
    let (going, staying): (Vec<Node>, Vec<Node>) =
        std::mem::take(&mut snapshot.nodes).into_iter().partition(goes);
    snapshot.nodes = staying;
    let pods = going.iter().flat_map(|node| &node.pods);
    snapshot.pending = pods
        .filter(|pod| needs_another_node(pod))
        .map(|pod| {
            Arc::new(Pod {
                state: PodState::Unschedulable,
                deletion: None,
                ..Pod::clone(pod)
            })
        })
        .collect();
    // What matters is whether there is a place, not how cheap it is.
    snapshot.settings.effort = 0;
    snapshot.pending.len()
}

fn homeless(schedule: &Schedule) -> Vec<Homeless> {
    let left = schedule.unschedulable.iter();
    left.map(|(pod, refusal)| Homeless {
        pod: pod.clone(),
        why: shortened(&explain::refusal(refusal)),
    })
    .collect()
}

/// The beginning that events have says what is known here.
fn shortened(why: &str) -> Text {
    why.strip_prefix("Failed to schedule pod: ").unwrap_or(why).into()
}
