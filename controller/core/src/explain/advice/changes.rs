//! The changes that are tried, each with its size: a word in the pod is smaller than a rule given up, and that is smaller than a
//! change of a pool, which others use too.

mod labels;

use std::collections::BTreeSet;

use super::super::words::{limit_needed, toleration};
use crate::catalogue::Catalogue;
use crate::requirements::Requirement;
use crate::resources::{Limits, Shortfall};
use crate::schedule::{Misfit, Refusal};
use crate::snapshot::{Pod, Pool, Readiness, Snapshot, Strength};
use crate::taints::{Taint, Toleration, TolerationOperator, untolerated};
use crate::text::Text;

/// What is changed.
pub(super) enum Target {
    Pod(Box<Pod>),
    Pool(Box<Pool>),
}

/// A change to try.
pub(super) struct Change {
    pub(super) size: u32,
    pub(super) target: Target,
    pub(super) change: String,
    pub(super) field: String,
}

/// Every single change that might help.
pub(super) fn changes(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    pod: &Pod,
    refusal: &Refusal,
) -> Vec<Change> {
    let mut all = Vec::new();
    all.extend(tolerations(snapshot, pod));
    all.extend(selectors(snapshot, catalogue, pod));
    all.extend(labels::affinity(snapshot, catalogue, pod));
    all.extend(requests(pod, refusal));
    all.extend(company(pod));
    all.extend(pools(snapshot, refusal));
    all.extend(labels::pools(snapshot, refusal));
    all.extend(labels::taints(snapshot, refusal));
    all
}

fn of_pod(size: u32, field: impl Into<String>, change: impl Into<String>, pod: Pod) -> Change {
    Change {
        size,
        target: Target::Pod(Box::new(pod)),
        change: change.into(),
        field: field.into(),
    }
}

fn of_pool(size: u32, field: &str, change: impl Into<String>, pool: Pool) -> Change {
    Change {
        size,
        field: format!("NodePool {}: {field}", pool.name),
        target: Target::Pool(Box::new(pool)),
        change: change.into(),
    }
}

/// All taints of one pool that the pod does not bear, borne.
fn tolerations(snapshot: &Snapshot, pod: &Pod) -> Vec<Change> {
    let mut seen: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut all = Vec::new();
    for pool in &snapshot.pools {
        let hard = untolerated(&pool.taints, &pod.placement.tolerations).filter(|taint| taint.is_hard());
        let taints: Vec<&Taint> = hard.collect();
        let words: Vec<String> = taints.iter().map(|taint| toleration(taint)).collect();
        if taints.is_empty() || !seen.insert(words.clone()) {
            continue;
        }
        let mut changed = pod.clone();
        changed
            .placement
            .tolerations
            .extend(taints.iter().map(|taint| Toleration {
                key: Some(taint.key.clone()),
                operator: TolerationOperator::Equal,
                value: taint.value.clone(),
                effect: Some(taint.effect),
            }));
        let change = format!("tolerate {}", words.join(" and "));
        all.push(of_pod(10, "spec.tolerations", change, changed));
    }
    all
}

/// One label of the selector asked for otherwise or not at all; the affinity given up.
fn selectors(snapshot: &Snapshot, catalogue: &Catalogue, pod: &Pod) -> Vec<Change> {
    let mut all = Vec::new();
    for (key, value) in &pod.placement.node_selector {
        let field = format!("spec.nodeSelector[{key}]");
        for other in offered(snapshot, catalogue, key)
            .iter()
            .filter(|other| *other != value)
            .take(10)
        {
            let mut changed = pod.clone();
            changed.placement.node_selector.insert(key.clone(), other.clone());
            all.push(of_pod(
                20,
                field.clone(),
                format!("select {key}={other} instead of {value}"),
                changed,
            ));
        }
        let mut changed = pod.clone();
        changed.placement.node_selector.remove(key);
        all.push(of_pod(21, field, format!("do not select {key}={value}"), changed));
    }
    if pod.placement.node_affinity.is_some() {
        let mut changed = pod.clone();
        changed.placement.node_affinity = None;
        all.push(of_pod(
            30,
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
            "do not require a node affinity",
            changed,
        ));
    }
    all
}

/// The values of a label that pools or types offer.
fn offered(snapshot: &Snapshot, catalogue: &Catalogue, key: &Text) -> BTreeSet<Text> {
    let key = crate::well_known::normalise(key.clone());
    let pools = snapshot.pools.iter().map(|pool| pool.template_requirements());
    let of_pools = pools.filter_map(|all| all.get(&key).and_then(Requirement::single).cloned());
    let types = catalogue.pools.values().flat_map(|types| types.iter());
    let of_types = types.filter_map(|it| it.requirements.get(&key).and_then(Requirement::single).cloned());
    of_pools.chain(of_types).collect()
}

/// As much as the nearest type has.
fn requests(pod: &Pod, refusal: &Refusal) -> Vec<Change> {
    let mut all = Vec::new();
    for misfit in refusal.pools.values() {
        let Misfit::Types {
            nearest: Some(nearest),
            ..
        } = misfit
        else {
            continue;
        };
        let mut changed = pod.clone();
        let mut words = Vec::new();
        for Shortfall {
            resource,
            wanted,
            available,
        } in &nearest.shortfalls
        {
            // What the pod itself asks for; daemons' part is in what is wanted or available already.
            let over = wanted.saturating_sub(*available);
            let less = pod.requests.get(resource).saturating_sub(over).max(0);
            changed.requests.set(resource, less);
            words.push(format!(
                "{resource} {} instead of {}",
                resource.display(less),
                resource.display(pod.requests.get(resource))
            ));
        }
        let change = format!(
            "request {} (what {} has)",
            words.join(" and "),
            nearest.instance_type
        );
        all.push(of_pod(
            40,
            "spec.containers[].resources.requests",
            change,
            changed,
        ));
    }
    all
}

/// A rule about other pods given up.
fn company(pod: &Pod) -> Vec<Change> {
    let mut all = Vec::new();
    for (index, spread) in pod.placement.spread.iter().enumerate() {
        if spread.strength != Strength::Required {
            continue;
        }
        let mut changed = pod.clone();
        changed.placement.spread[index].strength = Strength::Preferred;
        all.push(of_pod(
            50,
            format!("spec.topologySpreadConstraints[{index}].whenUnsatisfiable"),
            format!(
                "spread over {} only where possible: ScheduleAnyway",
                spread.topology_key
            ),
            changed,
        ));
    }
    for (index, term) in pod.placement.anti_affinity.iter().enumerate() {
        let mut changed = pod.clone();
        changed.placement.anti_affinity.remove(index);
        all.push(of_pod(
            51,
            format!("spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[{index}]"),
            format!("do not require to be apart by {}", term.topology_key),
            changed,
        ));
    }
    for (index, term) in pod.placement.affinity.iter().enumerate() {
        let mut changed = pod.clone();
        changed.placement.affinity.remove(index);
        all.push(of_pod(
            52,
            format!("spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[{index}]"),
            format!("do not require to be together by {}", term.topology_key),
            changed,
        ));
    }
    if !pod.placement.host_ports.is_empty() {
        let mut changed = pod.clone();
        changed.placement.host_ports.clear();
        all.push(of_pod(
            53,
            "spec.containers[].ports[].hostPort",
            "take no port of the node",
            changed,
        ));
    }
    all
}

/// A limit raised by what one more node needs, a pool made ready, or its minValues lowered.
fn pools(snapshot: &Snapshot, refusal: &Refusal) -> Vec<Change> {
    let refused = refusal.pools.iter();
    let known = refused.filter_map(|(name, misfit)| Some((snapshot.pool(name)?, misfit)));
    known
        .filter_map(|(pool, misfit)| of_misfit(pool, misfit))
        .collect()
}

/// The change of a pool that takes away what keeps a pod out, where one change does.
fn of_misfit(pool: &Pool, misfit: &Misfit) -> Option<Change> {
    let mut changed = pool.clone();
    match misfit {
        Misfit::Limit {
            resource,
            used,
            needed,
            ..
        } => {
            let raised = used.saturating_add(*needed);
            changed.limits = pool
                .limits
                .iter()
                .map(|(limited, bound)| (limited.clone(), if limited == resource { raised } else { bound }))
                .collect::<Limits>();
            let change = format!("raise the limit to {}", limit_needed(resource, *used, *needed));
            Some(of_pool(60, &format!("spec.limits.{resource}"), change, changed))
        }
        Misfit::NotReady { reason } => {
            changed.readiness = Readiness::Ready;
            let change = format!("make it ready: {reason}");
            Some(of_pool(70, "status.conditions", change, changed))
        }
        Misfit::MinValues { key, found, .. } => {
            if let Some(requirement) = changed.requirements.remove(key) {
                let lowered = requirement.with_min_values(Some(*found));
                changed.requirements.add(lowered);
            }
            let field = format!("spec.template.spec.requirements[{key}].minValues");
            Some(of_pool(
                61,
                &field,
                format!("lower minValues to {found}"),
                changed,
            ))
        }
        _ => None,
    }
}
