//! New claims.

use std::collections::{BTreeMap, BTreeSet};

use super::{Pods, Violation, labels_suit, port_clash, taints_suit};
use crate::catalogue::{Catalogue, InstanceType};
use crate::launch;
use crate::money::Price;
use crate::requirements::Values;
use crate::resources::{ResourceName, Resources};
use crate::schedule::{MAX_TYPES, NewClaim, Schedule};
use crate::snapshot::{DaemonSet, MinValuesPolicy, Phase, Pod, Pool, Readiness, Snapshot};
use crate::text::{Labels, Text};

pub(super) fn check(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    schedule: &Schedule,
    pods: &Pods<'_>,
    violations: &mut Vec<Violation>,
) {
    let mut ordered: BTreeMap<&Text, Resources> = BTreeMap::new();
    for (index, claim) in schedule.new_claims.iter().enumerate() {
        let mut complain =
            |rule: String| violations.push(Violation { place: format!("new claim {index} of {}", claim.pool), rule });
        let Some(pool) = snapshot.pool(&claim.pool) else {
            complain("its pool is not there".into());
            continue;
        };
        if pool.deleting || pool.replicas.is_some() || pool.readiness != Readiness::Ready {
            complain("its pool buys nothing".into());
        }
        let pods: Vec<&Pod> = claim.pods.iter().filter_map(|key| pods.get(key).copied()).collect();
        if pods.is_empty() {
            complain("it is for no pod".into());
        }
        for pod in pods.iter().filter(|pod| !taints_suit(pod, &pool.taints)) {
            complain(format!("pod {} does not bear its taints", pod.key));
        }
        if let Some(port) = port_clash(&pods, &[]) {
            complain(format!("two pods want port {port}"));
        }
        if claim.instance_types.is_empty() || claim.instance_types.len() > MAX_TYPES {
            complain(format!("it lists {} instance types", claim.instance_types.len()));
        }
        let (mut heaviest, mut price) = (Resources::new(), Price::MAX);
        let mut types = Vec::new();
        for name in claim.instance_types.iter() {
            let Some(it) = catalogue.find(&claim.pool, name) else {
                complain(format!("{name} is not for sale in its pool"));
                continue;
            };
            types.push(it);
            heaviest = heaviest.upper(&it.capacity.clone().with(ResourceName::nodes(), 1));
            price = price.min(it.cheapest(&claim.requirements).unwrap_or(Price::MAX));
            let mut problems = Vec::new();
            one_type(claim, pool, it, &pods, snapshot, &mut problems);
            problems.into_iter().for_each(&mut complain);
        }
        if price != claim.price {
            complain(format!("it says {} and costs {price}", claim.price));
        }
        min_values(claim, pool, snapshot, &types).into_iter().for_each(complain);
        ordered.entry(&claim.pool).or_default().add(&heaviest);
    }
    for (name, ordered) in ordered {
        let Some(pool) = snapshot.pool(name) else { continue };
        let total = in_use(pool, snapshot, catalogue).plus(&ordered);
        for (resource, limit) in pool.limits.iter() {
            if ordered.get(resource) > 0 && total.get(resource) > limit {
                violations.push(Violation {
                    place: format!("pool {name}"),
                    rule: format!("its limit of {resource} {limit} is exceeded: {}", total.get(resource)),
                });
            }
        }
    }
}

/// What is wrong should the claim become this type.
fn one_type(
    claim: &NewClaim,
    pool: &Pool,
    it: &InstanceType,
    pods: &[&Pod],
    snapshot: &Snapshot,
    problems: &mut Vec<String>,
) {
    let mut offerings = it.offerings.iter().filter(|it| it.available && it.suits(&claim.requirements)).peekable();
    if offerings.peek().is_none() {
        problems.push(format!("{} is not on sale for it", it.name));
    }
    for offering in offerings {
        let mut labels = launch::labels(it, offering);
        labels.extend(claim.labels.clone());
        for requirement in claim.requirements.iter() {
            let value = labels.get(requirement.key());
            if value.is_some_and(|value| !requirement.allows(Some(value))) {
                problems.push(format!("a {} in {} would break {requirement}", it.name, offering.zone));
            }
        }
        for pod in pods.iter().filter(|pod| !labels_suit(pod, &labels)) {
            problems.push(format!("pod {} does not accept a {} in {}", pod.key, it.name, offering.zone));
        }
        let mut wanted: Resources = pods.iter().map(|pod| &pod.requests).sum();
        let daemons = snapshot.daemon_sets.iter().filter(|daemon| belongs(daemon, pool, &labels));
        daemons.for_each(|daemon| wanted.add(&daemon.requests));
        if !wanted.fits(&it.allocatable()) {
            problems.push(format!("{wanted} does not fit on a {}", it.name));
        }
    }
}

fn belongs(daemon: &DaemonSet, pool: &Pool, labels: &Labels) -> bool {
    let placement = &daemon.placement;
    let bears = pool.taints.iter().all(|taint| {
        !taint.is_hard()
            || taint.key.starts_with("node.kubernetes.io/")
            || placement.tolerations.iter().any(|toleration| toleration.tolerates(taint))
    });
    let selector = placement.node_selector.iter().all(|(key, value)| labels.get(key) == Some(value));
    let terms = placement.node_affinity.as_ref();
    bears && selector && terms.is_none_or(|terms| terms.iter().any(|term| term.expressions.allow_labels(labels)))
}

fn min_values(claim: &NewClaim, pool: &Pool, snapshot: &Snapshot, types: &[&InstanceType]) -> Vec<String> {
    let mut problems = Vec::new();
    for wanted in pool.requirements.iter() {
        let Some(count) = wanted.min_values() else { continue };
        let values: BTreeSet<&Text> = types
            .iter()
            .filter_map(|it| it.requirements.get(wanted.key()))
            .filter_map(|it| if let Values::Only(values) = it.values() { Some(values) } else { None })
            .flatten()
            .filter(|value| claim.requirements.get(wanted.key()).is_none_or(|it| it.allows(Some(value))))
            .collect();
        let relaxed = claim.min_values_relaxed && snapshot.settings.min_values_policy == MinValuesPolicy::BestEffort;
        if values.len() < usize::try_from(count).unwrap_or(usize::MAX) && !relaxed {
            problems.push(format!("{} has {} values, minValues wants {count}", wanted.key(), values.len()));
        }
    }
    problems
}

/// What the pool's nodes count, at the worst.
fn in_use(pool: &Pool, snapshot: &Snapshot, catalogue: &Catalogue) -> Resources {
    let mut total = Resources::new();
    for node in snapshot.nodes.iter().filter(|node| node.pool() == Some(&pool.name)) {
        let mut worst = node.capacity();
        if let (Phase::Planned, Some(claim)) = (node.phase(), &node.claim) {
            for it in catalogue.types(&pool.name) {
                if it.suits(&claim.requirements) && claim.requests.fits(&it.allocatable()) {
                    worst = worst.upper(&it.capacity);
                }
            }
        }
        total.add(&worst.with(ResourceName::nodes(), 1));
    }
    total
}
