//! Which pods leave a node next. Pods leave in four groups, each when the one before has gone: ordinary pods, ordinary
//! daemons, critical pods, critical daemons.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::eviction::{guards, is_evictable, stays};
use crate::snapshot::{Node, Owner, Pod, PodKey, Snapshot};
use crate::text::Text;

/// A pod that is still there this long after its deletion should have ended is not waited for.
const STUCK_AFTER: SignedDuration = SignedDuration::from_mins(1);

/// What draining does next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drain {
    /// Pods to evict now.
    pub evict: Vec<Evict>,
    /// Pods to delete now, for the node's time is up.
    pub delete: Vec<Delete>,
    /// Pods that stay for now, and why.
    pub held: Vec<Held>,
    /// How many pods are waited for.
    pub waiting: usize,
    /// When the next pod has to be deleted, if it has not left before.
    pub wake: Option<Timestamp>,
}

/// One eviction. It must name the uid, lest a successor of the same name is hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evict {
    /// The pod.
    pub pod: PodKey,
    /// Its uid.
    pub uid: Text,
}

/// One deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    /// The pod.
    pub pod: PodKey,
    /// Its uid.
    pub uid: Text,
    /// The grace it gets: whole seconds, at least one.
    pub grace_seconds: i64,
}

/// A pod that is not evicted yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The pod.
    pub pod: PodKey,
    /// Why, in words.
    pub why: Text,
}

/// Decides which pods of `node` leave now. `deadline` is when the node's termination grace period ends.
///
/// Evictions respect PodDisruptionBudgets twice: no more are asked for than the budgets allow at the moment, and the
/// eviction API has the last word.
pub fn drain(node: &Node, snapshot: &Snapshot, deadline: Option<Timestamp>, now: Timestamp) -> Drain {
    let mut plan = Drain::default();
    let waiting: Vec<&Pod> = node
        .pods
        .iter()
        .map(|pod| &**pod)
        .filter(|pod| is_waited_for(pod, now))
        .collect();
    plan.waiting = waiting.len();
    if let Some(deadline) = deadline {
        for pod in &waiting {
            expire(pod, deadline, now, &mut plan);
        }
    }
    let Some(first) = waiting.iter().map(|pod| group(pod)).min() else {
        return plan;
    };
    let mut allowed: BTreeMap<(Text, Text), u32> = BTreeMap::new();
    for pod in waiting.iter().filter(|pod| group(pod) == first) {
        if pod.deletion.is_some() || plan.delete.iter().any(|delete| delete.uid == pod.uid) {
            continue;
        }
        if !is_evictable(pod, now) {
            plan.held.push(held(
                pod,
                "it has the \"karpenter.sh/do-not-disrupt\" annotation".into(),
            ));
            continue;
        }
        let mut budgets = guards(pod, snapshot);
        match (budgets.next(), budgets.next()) {
            (Some(_), Some(_)) => {
                plan.held
                    .push(held(pod, "eviction does not support multiple PDBs".into()));
            }
            (Some(pdb), None) if !pdb.always_allow_unhealthy => {
                let key = (pdb.namespace.clone(), pdb.name.clone());
                let left = allowed.entry(key).or_insert(pdb.disruptions_allowed);
                match left.checked_sub(1) {
                    Some(rest) => {
                        *left = rest;
                        plan.evict.push(evict(pod));
                    }
                    None => {
                        let why = format!(
                            "evicting it would violate PodDisruptionBudget {}/{}",
                            pdb.namespace, pdb.name
                        );
                        plan.held.push(held(pod, why));
                    }
                }
            }
            _ => plan.evict.push(evict(pod)),
        }
    }
    plan
}

fn expire(pod: &Pod, deadline: Timestamp, now: Timestamp, plan: &mut Drain) {
    let due = deadline.checked_sub(pod.grace_period).unwrap_or(deadline);
    // A pod that is on its way out anyway is only hurried where it would outstay the node.
    if pod.deletion.is_some_and(|ends| ends <= deadline) {
        return;
    }
    if now > due {
        let grace_seconds = deadline.duration_since(now).as_secs().max(1);
        plan.delete.push(Delete {
            pod: pod.key.clone(),
            uid: pod.uid.clone(),
            grace_seconds,
        });
    } else {
        plan.wake = Some(plan.wake.map_or(due, |wake| wake.min(due)));
    }
}

fn evict(pod: &Pod) -> Evict {
    Evict {
        pod: pod.key.clone(),
        uid: pod.uid.clone(),
    }
}

fn held(pod: &Pod, why: String) -> Held {
    Held {
        pod: pod.key.clone(),
        why: why.into(),
    }
}

/// Whether the node stays until the pod has gone. Pods that bear the node's taint and mirrors of static pods go with
/// it; one that is stuck in its deletion is not waited for.
pub(super) fn is_waited_for(pod: &Pod, now: Timestamp) -> bool {
    let stuck = pod
        .deletion
        .is_some_and(|ends| now.duration_since(ends) > STUCK_AFTER);
    pod.is_running() && pod.owner != Owner::Node && !stays(pod) && !stuck
}

fn group(pod: &Pod) -> (bool, bool) {
    (pod.is_critical(), pod.owner == Owner::DaemonSet)
}
