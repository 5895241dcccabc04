//! Whether a node may be disrupted at all.

use std::fmt;

use jiff::Timestamp;

use crate::eviction::{guards, is_active, is_evictable};
use crate::snapshot::{Node, Phase, Pod, PodKey, Snapshot};
use crate::text::{Labels, Text};
use crate::well_known;

/// A node that would go but for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The node.
    pub node: Text,
    /// Its claim, where there is one.
    pub claim: Option<Text>,
    /// What stands in the way.
    pub blocker: Blocker,
}

/// What keeps a node from being disrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocker {
    /// It is not ours.
    Unmanaged,
    /// It has not started completely.
    Uninitialized,
    /// It is already on its way out.
    Going,
    /// Pods are on their way to it.
    Nominated,
    /// The node itself asks to be left alone.
    NodeAnnotation,
    /// Its pool is not there any more.
    PoolUnknown,
    /// A pod asks to be left alone.
    PodAnnotation {
        /// The pod.
        pod: PodKey,
    },
    /// A PodDisruptionBudget allows no eviction.
    Pdb {
        /// The pod.
        pod: PodKey,
        /// The budget, as `namespace/name`.
        pdb: Text,
    },
    /// Several budgets guard one pod, which the eviction API does not support.
    SeveralPdbs {
        /// The pod.
        pod: PodKey,
    },
    /// The pool's budgets allow no more for now.
    Budget {
        /// The pool.
        pool: Text,
    },
    /// A pod of it would find no place, neither on what is there nor on what could be bought.
    Unplaceable {
        /// The pod.
        pod: PodKey,
        /// Why, in words for a person.
        why: Text,
    },
    /// Its static pool may not have the one node more that would take its place.
    NodesLimit {
        /// The pool.
        pool: Text,
    },
    /// Its static pool may not buy the node that would take its place.
    PoolNotReady {
        /// The pool.
        pool: Text,
        /// What its condition Ready says.
        reason: Text,
    },
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Blocker::Unmanaged => write!(f, "node isn't managed by a NodeClaim"),
            Blocker::Uninitialized => write!(f, "node isn't initialized"),
            Blocker::Going => write!(f, "node is deleting or marked for deletion"),
            Blocker::Nominated => write!(f, "node is nominated for a pending pod"),
            Blocker::NodeAnnotation => {
                write!(
                    f,
                    "disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation"
                )
            }
            Blocker::PoolUnknown => write!(f, "NodePool not found"),
            Blocker::PodAnnotation { pod } => {
                write!(f, "pod {pod} has \"karpenter.sh/do-not-disrupt\" annotation")
            }
            Blocker::Pdb { pod, pdb } => write!(f, "pdb {pdb} prevents eviction of pod {pod}"),
            Blocker::SeveralPdbs { pod } => {
                write!(
                    f,
                    "pod {pod} has more than one PodDisruptionBudget, which eviction does not support"
                )
            }
            Blocker::Budget { pool } => {
                write!(f, "disruption budgets of NodePool {pool} allow no more nodes now")
            }
            Blocker::Unplaceable { pod, why } => write!(f, "pod {pod} would find no place: {why}"),
            Blocker::NodesLimit { pool } => {
                write!(
                    f,
                    "limits.nodes of NodePool {pool} leaves no room for the node that would take its place"
                )
            }
            Blocker::PoolNotReady { pool, reason } => write!(f, "NodePool {pool} is not ready: {reason}"),
        }
    }
}

/// What stands in the way of disrupting `node`, for any reason that is not urgent.
pub(super) fn blocker(node: &Node, snapshot: &Snapshot, now: Timestamp) -> Option<Blocker> {
    blocker_of_node(node, snapshot, now).or_else(|| blocker_of_pods(node, snapshot, now))
}

/// What stands in the way of disrupting `node` for a reason that will have its way in the end: where its drain may only take so
/// long, no pod keeps it.
pub(super) fn eventual_blocker(node: &Node, snapshot: &Snapshot, now: Timestamp) -> Option<Blocker> {
    let bounded = node
        .claim
        .as_ref()
        .is_some_and(|claim| claim.termination_grace_period.is_some());
    blocker_of_node(node, snapshot, now).or_else(|| match bounded {
        true => None,
        false => blocker_of_pods(node, snapshot, now),
    })
}

fn blocker_of_node(node: &Node, snapshot: &Snapshot, now: Timestamp) -> Option<Blocker> {
    let Some(claim) = &node.claim else {
        return Some(Blocker::Unmanaged);
    };
    let annotated = |annotations: &Labels| {
        annotations
            .get("karpenter.sh/do-not-disrupt")
            .is_some_and(|value| &**value == "true")
    };
    if node.is_going() {
        return Some(Blocker::Going);
    }
    if node.phase() != Phase::Initialized {
        return Some(Blocker::Uninitialized);
    }
    if node.is_nominated(now) {
        return Some(Blocker::Nominated);
    }
    if node.annotations().is_some_and(annotated) || annotated(&claim.annotations) {
        return Some(Blocker::NodeAnnotation);
    }
    if node
        .labels()
        .and_then(|labels| labels.get(well_known::NODE_POOL))
        .is_none_or(|pool| snapshot.pool(pool).is_none())
    {
        return Some(Blocker::PoolUnknown);
    }
    None
}

fn blocker_of_pods(node: &Node, snapshot: &Snapshot, now: Timestamp) -> Option<Blocker> {
    node.pods
        .iter()
        .filter(|pod| is_active(pod))
        .find_map(|pod| pod_blocker(pod, snapshot, now))
}

fn pod_blocker(pod: &Pod, snapshot: &Snapshot, now: Timestamp) -> Option<Blocker> {
    if pod.refuses_disruption(now) {
        return Some(Blocker::PodAnnotation { pod: pod.key.clone() });
    }
    if !is_evictable(pod, now) {
        return None;
    }
    let mut guards = guards(pod, snapshot);
    let first = guards.next()?;
    if guards.next().is_some() {
        return Some(Blocker::SeveralPdbs { pod: pod.key.clone() });
    }
    (first.disruptions_allowed == 0).then(|| Blocker::Pdb {
        pod: pod.key.clone(),
        pdb: format!("{}/{}", first.namespace, first.name).into(),
    })
}
