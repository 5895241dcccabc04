//! An independent audit: whether a schedule keeps the rules. Written against the rules and not against the solver; it
//! shares its inputs and outputs and none of its code, and looks at one node with one offering at a time.

mod claims;
mod company;
mod devices;
mod existing;
mod places;
mod spread;
mod volumes;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;

use crate::catalogue::Catalogue;
use crate::requirements::Requirements;
use crate::schedule::Schedule;
use crate::snapshot::{HostPort, NodeTerm, Owner, Placement, Pod, PodKey, Snapshot};
use crate::taints::Taint;
use crate::text::Text;

/// A rule that a schedule breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where: a pod, a node, or the n-th new claim.
    pub place: String,
    /// What is wrong.
    pub rule: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.rule)
    }
}

/// Every rule that `schedule` breaks; none for a good one.
///
/// - Every pending pod that needs a node, is not promised to one and is not alone in being moved, is placed or refused,
///   once; nothing else is.
/// - What is put on a node fits with all that is or will be there, bears its taints, matches its labels and ports.
/// - A new claim can be bought; whatever offering of whatever listed type is bought, every pod of it fits, bears the
///   taints and matches the labels.
/// - No pool exceeds a limit, even if every claim becomes the largest type it lists.
/// - `minValues` holds, or was lowered openly.
/// - Pods that must not be together are not, and pods that must be are, and spread pods are within their skew, as far as
///   places are certain.
/// - Every place can have enough devices for the claims of its pods, and a claim that pods share is in one place.
/// - No node has more volumes attached than its driver can, and no new node more of a workload than the guards allow.
pub fn schedule(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    schedule: &Schedule,
    now: Timestamp,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    let pods = census(snapshot, schedule, now, &mut violations);
    existing::check(snapshot, catalogue, schedule, &pods, &mut violations);
    claims::check(snapshot, catalogue, schedule, &pods, &mut violations);
    volumes::check(snapshot, catalogue, schedule, &pods, &mut violations);
    devices::check(snapshot, catalogue, schedule, &pods, &mut violations);
    let bound = |pod: &Pod| {
        let it = &pod.placement;
        !it.anti_affinity.is_empty() || !it.affinity.is_empty() || !it.spread.is_empty()
    };
    let running = snapshot.nodes.iter().flat_map(|node| &node.pods);
    if running.chain(&snapshot.pending).any(|pod| bound(pod)) {
        let everybody = places::Everybody::new(snapshot, catalogue, schedule, &pods);
        company::check(&everybody, &mut violations);
        spread::check(&everybody, &mut violations);
    }
    violations
}

/// Pods by key: whoever waits, and whoever is on a node that goes.
type Pods<'a> = BTreeMap<&'a PodKey, &'a Pod>;

fn census<'a>(
    snapshot: &'a Snapshot,
    schedule: &Schedule,
    now: Timestamp,
    violations: &mut Vec<Violation>,
) -> Pods<'a> {
    let promised: BTreeSet<&PodKey> = snapshot
        .nodes
        .iter()
        .filter(|node| !node.is_going())
        .flat_map(|node| &node.nominated)
        .collect();
    let pending: Pods<'_> = snapshot.pending.iter().map(|pod| (&pod.key, &**pod)).collect();
    let leaving: Pods<'_> = snapshot
        .nodes
        .iter()
        .filter(|node| node.is_going())
        .flat_map(|node| &node.pods)
        .map(|pod| (&pod.key, &**pod))
        .collect();
    let mut seen: BTreeMap<&PodKey, u32> = BTreeMap::new();
    schedule
        .placed()
        .chain(schedule.unschedulable.keys())
        .for_each(|key| *seen.entry(key).or_default() += 1);
    let mut complain = |key: &PodKey, rule: &str| {
        violations.push(Violation {
            place: format!("pod {key}"),
            rule: rule.into(),
        })
    };
    for (key, count) in &seen {
        if *count > 1 {
            complain(key, "is decided on more than once");
        }
        let wanted = match (pending.get(key), leaving.get(key)) {
            (Some(pod), _) => pod.is_provisionable(),
            (None, Some(pod)) => {
                let owned = matches!(pod.owner, Owner::DaemonSet | Owner::Node);
                let stateful = pod
                    .workload
                    .as_ref()
                    .is_some_and(|it| it.name.starts_with("StatefulSet/"));
                let stays_wanted = pod.deletion.is_none() || stateful;
                !owned && pod.is_running() && stays_wanted && !pod.refuses_disruption(now)
            }
            (None, None) => false,
        };
        if !wanted {
            complain(key, "was not to be decided on");
        }
        if promised.contains(key) {
            complain(key, "is promised to a place already");
        }
    }
    for (key, pod) in &pending {
        if pod.is_provisionable() && !promised.contains(key) && !seen.contains_key(key) {
            complain(key, "was forgotten");
        }
    }
    pending.into_iter().chain(leaving).collect()
}

/// Whether a node with these labels satisfies all that a placement asks of labels.
fn labels_suit<'a>(placement: &Placement, label: &dyn Fn(&str) -> Option<&'a str>) -> bool {
    let selector = placement
        .node_selector
        .iter()
        .all(|(key, value)| label(&crate::well_known::normalise(key.clone())) == Some(value));
    let affinity = placement.node_affinity.as_ref().is_none_or(|terms| {
        let usable = |term: &&NodeTerm| term.fields.is_empty() && !term.expressions.is_empty();
        terms
            .iter()
            .filter(usable)
            .any(|term| all_hold(&term.expressions, label))
    });
    let volumes = placement.volumes.iter().all(|volume| {
        volume.alternatives.is_empty() || volume.alternatives.iter().any(|one| all_hold(one, label))
    });
    selector && affinity && volumes
}

fn all_hold<'a>(requirements: &Requirements, label: &dyn Fn(&str) -> Option<&'a str>) -> bool {
    requirements
        .iter()
        .all(|requirement| requirement.allows(label(requirement.key())))
}

fn taints_suit(placement: &Placement, taints: &[Taint]) -> bool {
    let borne = |taint: &Taint| {
        placement
            .tolerations
            .iter()
            .any(|toleration| toleration.tolerates(taint))
    };
    taints.iter().all(|taint| !taint.is_hard() || borne(taint))
}

/// The first port that two of `pods`, or one of them and something in `taken`, both want.
fn port_clash(pods: &[&Pod], taken: &[HostPort]) -> Option<Text> {
    let mut taken = taken.to_vec();
    for pod in pods {
        for port in &pod.placement.host_ports {
            if taken.iter().any(|there| there.conflicts(port)) {
                return Some(format!("{}/{}", port.port, port.protocol).into());
            }
        }
        taken.extend(pod.placement.host_ports.iter().cloned());
    }
    None
}
