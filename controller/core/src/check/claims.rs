//! New claims.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Pods, Violation, all_hold, labels_suit, port_clash, taints_suit};
use crate::catalogue::{Catalogue, InstanceType};
use crate::launch;
use crate::money::Price;
use crate::requirements::{Requirements, Values};
use crate::resources::{ResourceName, Resources};
use crate::schedule::{MAX_TYPES, NewClaim, Schedule};
use crate::snapshot::{
    DaemonSet, HostPort, MinValuesPolicy, Phase, Placement, Pod, Pool, Readiness, Snapshot,
};
use crate::text::{Labels, Text};
use crate::well_known;

pub(super) fn check(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    schedule: &Schedule,
    pods: &Pods<'_>,
    violations: &mut Vec<Violation>,
) {
    let mut ordered: BTreeMap<&Text, Resources> = BTreeMap::new();
    let mut sold = Sold::default();
    let mut seen: BTreeMap<Likeness<'_>, Verdict> = BTreeMap::new();
    for (index, claim) in schedule.new_claims.iter().enumerate() {
        let mut complain = |rule: String| {
            violations.push(Violation {
                place: format!("new claim {index} of {}", claim.pool),
                rule,
            })
        };
        let Some(pool) = snapshot.pool(&claim.pool) else {
            complain("its pool is not there".into());
            continue;
        };
        if pool.deleting || pool.replicas.is_some() || pool.readiness != Readiness::Ready {
            complain("its pool buys nothing".into());
        }
        let pods: Vec<&Pod> = claim
            .pods
            .iter()
            .filter_map(|key| pods.get(key).copied())
            .collect();
        if pods.is_empty() {
            complain("it is for no pod".into());
        }
        if let Some(port) = port_clash(&pods, &[]) {
            complain(format!("two pods want port {port}"));
        }
        if claim.instance_types.is_empty() || claim.instance_types.len() > MAX_TYPES {
            complain(format!("it lists {} instance types", claim.instance_types.len()));
        }
        let load = Load {
            placements: pods.iter().map(|pod| &pod.placement).collect(),
            requests: pods.iter().map(|pod| &pod.requests).sum(),
        };
        for _ in load
            .placements
            .iter()
            .filter(|placement| !taints_suit(placement, &pool.taints))
        {
            complain("a pod does not bear its taints".into());
        }
        // Claims that are alike in all that counts are looked at once.
        let likeness = (
            &claim.pool,
            Arc::as_ptr(&claim.instance_types).addr(),
            load,
            &claim.labels,
            &claim.requirements,
        );
        let verdict = seen.entry(likeness).or_insert_with_key(|(_, _, load, _, _)| {
            judge(claim, pool, load, snapshot, catalogue, &mut sold)
        });
        verdict.problems.iter().cloned().for_each(&mut complain);
        if verdict.price != claim.price {
            complain(format!("it says {} and costs {}", claim.price, verdict.price));
        }
        ordered.entry(&claim.pool).or_default().add(&verdict.heaviest);
    }
    for (name, ordered) in ordered {
        let Some(pool) = snapshot.pool(name) else { continue };
        let total = in_use(pool, snapshot, catalogue).plus(&ordered);
        for (resource, limit) in pool.limits.iter() {
            if ordered.get(resource) > 0 && total.get(resource) > limit {
                violations.push(Violation {
                    place: format!("pool {name}"),
                    rule: format!(
                        "its limit of {resource} {limit} is exceeded: {}",
                        total.get(resource)
                    ),
                });
            }
        }
    }
}

/// What counts of a claim's pods.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Load<'a> {
    placements: BTreeSet<&'a Placement>,
    requests: Resources,
}

/// What makes two claims alike: pool, list of types (where it is kept: those that are alike share it), load, labels,
/// requirements. What is quick to compare comes first.
type Likeness<'a> = (&'a Text, usize, Load<'a>, &'a Labels, &'a Requirements);

/// What is to be said of a claim.
struct Verdict {
    heaviest: Resources,
    price: Price,
    problems: Vec<String>,
}

/// The labels of nodes by pool and type, one for each offering.
#[derive(Default)]
struct Sold(BTreeMap<(Text, Text), Vec<Labels>>);

impl Sold {
    fn labels(&mut self, pool: &Text, it: &InstanceType) -> &[Labels] {
        let all = || {
            it.offerings
                .iter()
                .map(|offering| launch::labels(it, offering))
                .collect()
        };
        self.0.entry((pool.clone(), it.name.clone())).or_insert_with(all)
    }
}

fn judge(
    claim: &NewClaim,
    pool: &Pool,
    load: &Load<'_>,
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    sold: &mut Sold,
) -> Verdict {
    let mut verdict = Verdict {
        heaviest: Resources::new(),
        price: Price::MAX,
        problems: Vec::new(),
    };
    let mut types = Vec::new();
    for name in claim.instance_types.iter() {
        let Some(it) = catalogue.find(&claim.pool, name) else {
            verdict
                .problems
                .push(format!("{name} is not for sale in its pool"));
            continue;
        };
        types.push(it);
        verdict.heaviest = verdict
            .heaviest
            .upper(&it.capacity.clone().with(ResourceName::nodes(), 1));
        let bought = it.offerings.iter().zip(sold.labels(&pool.name, it));
        let mut offered = false;
        for (offering, labels) in bought.filter(|(it, _)| it.available && it.suits(&claim.requirements)) {
            offered = true;
            verdict.price = verdict.price.min(offering.price);
            let on_node = |key: &str| match key {
                // A node takes pods once it has both.
                well_known::REGISTERED | well_known::INITIALIZED => Some("true"),
                _ => claim
                    .labels
                    .get(key)
                    .or_else(|| labels.get(key))
                    .map(|value| &**value),
            };
            one_node(claim, pool, it, load, snapshot, &on_node, &mut verdict.problems);
        }
        if !offered {
            verdict
                .problems
                .push(format!("{} is not on sale for it", it.name));
        }
    }
    verdict.problems.extend(min_values(claim, pool, snapshot, &types));
    verdict
}

/// What is wrong should the claim become a node of this type with these labels.
fn one_node<'a>(
    claim: &NewClaim,
    pool: &Pool,
    it: &InstanceType,
    load: &Load<'_>,
    snapshot: &Snapshot,
    label: &dyn Fn(&str) -> Option<&'a str>,
    problems: &mut Vec<String>,
) {
    for requirement in claim.requirements.iter() {
        let value = label(requirement.key());
        if value.is_some() && !requirement.allows(value) {
            problems.push(format!("a {} would break {requirement}", it.name));
        }
    }
    for placement in load
        .placements
        .iter()
        .filter(|placement| !labels_suit(placement, label))
    {
        problems.push(format!(
            "a pod does not accept a {}: {:?}",
            it.name, placement.node_affinity
        ));
    }
    let mut wanted = load.requests.clone();
    let daemons = snapshot
        .daemon_sets
        .iter()
        .filter(|daemon| belongs(daemon, pool, label));
    for daemon in daemons {
        wanted.add(&daemon.requests);
        let ports = || load.placements.iter().flat_map(|placement| &placement.host_ports);
        let wants = |port: &&HostPort| ports().any(|own| own.conflicts(port));
        if let Some(port) = daemon.placement.host_ports.iter().find(wants) {
            problems.push(format!(
                "a pod wants port {}/{}, which {} has on a {}",
                port.port, port.protocol, daemon.name, it.name
            ));
        }
    }
    if !wanted.fits(&it.allocatable()) {
        problems.push(format!("{wanted} does not fit on a {}", it.name));
    }
}

fn belongs<'a>(daemon: &DaemonSet, pool: &Pool, label: &dyn Fn(&str) -> Option<&'a str>) -> bool {
    let placement = &daemon.placement;
    let bears = pool.taints.iter().all(|taint| {
        !taint.is_hard()
            || taint.key.starts_with("node.kubernetes.io/")
            || placement
                .tolerations
                .iter()
                .any(|toleration| toleration.tolerates(taint))
    });
    let selector = placement
        .node_selector
        .iter()
        .all(|(key, value)| label(key) == Some(value));
    let terms = placement.node_affinity.as_ref();
    bears && selector && terms.is_none_or(|terms| terms.iter().any(|term| all_hold(&term.expressions, label)))
}

fn min_values(claim: &NewClaim, pool: &Pool, snapshot: &Snapshot, types: &[&InstanceType]) -> Vec<String> {
    let mut problems = Vec::new();
    for wanted in pool.requirements.iter() {
        let Some(count) = wanted.min_values() else {
            continue;
        };
        let values: BTreeSet<&Text> = types
            .iter()
            .filter_map(|it| it.requirements.get(wanted.key()))
            .filter_map(|it| {
                if let Values::Only(values) = it.values() {
                    Some(values)
                } else {
                    None
                }
            })
            .flatten()
            .filter(|value| {
                claim
                    .requirements
                    .get(wanted.key())
                    .is_none_or(|it| it.allows(Some(value)))
            })
            .collect();
        let relaxed =
            claim.min_values_relaxed && snapshot.settings.min_values_policy == MinValuesPolicy::BestEffort;
        if values.len() < usize::try_from(count).unwrap_or(usize::MAX) && !relaxed {
            problems.push(format!(
                "{} has {} values, minValues wants {count}",
                wanted.key(),
                values.len()
            ));
        }
    }
    problems
}

/// What the pool's nodes count, at the worst; those that go make room.
fn in_use(pool: &Pool, snapshot: &Snapshot, catalogue: &Catalogue) -> Resources {
    let mut total = Resources::new();
    for node in snapshot
        .nodes
        .iter()
        .filter(|node| node.pool() == Some(&pool.name) && !node.is_going())
    {
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
