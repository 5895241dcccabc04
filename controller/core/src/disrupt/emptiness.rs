//! Nodes without pods go, as many at once as budgets allow.

use jiff::Timestamp;

use super::budget::allowances;
use super::candidate::{Blocked, Blocker, blocker};
use super::consolidatable::{Consolidatable, consolidatable};
use super::{Command, Doomed, earliest};
use crate::eviction::needs_another_node;
use crate::snapshot::{DisruptionReason, Node, Snapshot};
use crate::text::Text;

/// What emptiness decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Emptiness {
    /// Nodes to give back.
    pub command: Option<Command>,
    /// Empty nodes that stay, and why.
    pub blocked: Vec<Blocked>,
    /// When the next node may have been empty for long enough.
    pub wake: Option<Timestamp>,
}

/// Finds the nodes that have no pods and have been left alone for `consolidateAfter`. Nodes are taken in the order of
/// their names.
pub fn emptiness(snapshot: &Snapshot, now: Timestamp) -> Emptiness {
    let mut result = Emptiness::default();
    let mut doomed = Vec::new();
    let mut left: std::collections::BTreeMap<Text, u32> = allowances(snapshot, DisruptionReason::Empty, now)
        .into_iter()
        .map(|(pool, allowance)| (pool, allowance.left()))
        .collect();
    let mut nodes: Vec<&Node> = snapshot.nodes.iter().filter(|node| is_empty(node)).collect();
    nodes.sort_by(|a, b| a.name().cmp(b.name()));
    for node in nodes {
        let Some((claim, pool)) = node
            .claim
            .as_ref()
            .zip(node.pool().and_then(|name| snapshot.pool(name)))
        else {
            continue;
        };
        if pool.replicas.is_some() || pool.disruption.consolidate_after.is_none() {
            continue;
        }
        let blocked = |blocker| Blocked {
            node: node.name().clone(),
            claim: Some(claim.name.clone()),
            blocker,
        };
        match (blocker(node, snapshot, now), consolidatable(claim, pool, now)) {
            (Some(Blocker::Uninitialized | Blocker::Going), _) => {}
            (None, Consolidatable::Set | Consolidatable::Holds) => match left.get_mut(&pool.name) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    doomed.push(Doomed {
                        pool: pool.name.clone(),
                        claim: claim.name.clone(),
                        node: node.name().clone(),
                    });
                }
                _ => result.blocked.push(blocked(Blocker::Budget {
                    pool: pool.name.clone(),
                })),
            },
            (Some(blocker), Consolidatable::Set | Consolidatable::Holds) => {
                if blocker == Blocker::Nominated {
                    result.wake = earliest(result.wake, node.nominated_until);
                }
                result.blocked.push(blocked(blocker));
            }
            (_, Consolidatable::Wait { wake } | Consolidatable::Clear { wake }) => {
                result.wake = earliest(result.wake, wake);
            }
        }
    }
    if !doomed.is_empty() {
        result.command = Some(Command {
            reason: DisruptionReason::Empty,
            nodes: doomed,
        });
    }
    result
}

/// The nodes of `command` that are still empty and may still go; asked again once they are tainted. That the command
/// has marked them itself does not count.
pub fn still_empty(command: &Command, snapshot: &Snapshot, now: Timestamp) -> Vec<Doomed> {
    let holds = |doomed: &&Doomed| {
        snapshot.node(&doomed.node).is_some_and(|node| {
            let mut unmarked = node.clone();
            unmarked.marked_for_deletion = false;
            is_empty(&unmarked) && blocker(&unmarked, snapshot, now).is_none()
        })
    };
    command.nodes.iter().filter(holds).cloned().collect()
}

fn is_empty(node: &Node) -> bool {
    !node.pods.iter().any(|pod| needs_another_node(pod))
}
