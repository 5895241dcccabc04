//! What a pool can sell: its instance types with what is left on them for pods, and how much of its limits is left.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::misfit::Misfit;
use crate::catalogue::{Catalogue, InstanceType};
use crate::money::Price;
use crate::requirements::{Absence, Requirement, Requirements, Undefined};
use crate::resources::{ResourceName, Resources};
use crate::snapshot::{DaemonSet, HostPort, Node, Phase, Pool, Readiness, Snapshot};
use crate::taints::{Taint, untolerated};
use crate::text::Text;
use crate::well_known;

/// An instance type as one pool sells it.
pub(super) struct Kind<'a> {
    pub(super) it: &'a InstanceType,
    /// What the daemons take.
    pub(super) daemons: Resources,
    /// What is left for pods.
    pub(super) usable: Resources,
    /// What it counts against limits.
    pub(super) weight: Resources,
}

/// A pool and what it sells.
pub(super) struct Offer<'a> {
    pub(super) pool: &'a Pool,
    /// What is known of its nodes before pods ask for anything.
    pub(super) template: Requirements,
    pub(super) kinds: Vec<Kind<'a>>,
    /// Ports that daemons take on every node.
    pub(super) ports: Vec<HostPort>,
    /// What its nodes, those on their way included, count against its limits.
    pub(super) used: Resources,
    /// Why it sells nothing.
    pub(super) closed: Option<Misfit>,
    profiles: BTreeMap<Requirements, Rc<Profile>>,
}

/// What is left of an offer under requirements.
pub(super) struct Profile {
    pub(super) requirements: Requirements,
    /// The lowest price of each kind; none where the kind is incompatible or not on sale.
    pub(super) prices: Vec<Option<Price>>,
}

impl<'a> Offer<'a> {
    fn new(pool: &'a Pool, snapshot: &'a Snapshot, catalogue: &'a Catalogue) -> Offer<'a> {
        let template = pool.template_requirements();
        // Each daemon with what the node's labels must be; one of these must hold.
        let daemons: Vec<(&DaemonSet, Vec<Requirements>)> = snapshot
            .daemon_sets
            .iter()
            .map(|it| &**it)
            .filter(|it| suits(it, &template, &pool.taints, Undefined::WellKnownOpen))
            .map(|it| (it, terms(it).iter().map(|wanted| template.and(wanted)).collect()))
            .collect();
        let kinds = catalogue.types(&pool.name).iter().map(|it| {
            let lands = |wanted: &[Requirements]| wanted.iter().any(|wanted| it.suits(wanted));
            let landing = daemons.iter().filter(|(_, wanted)| lands(wanted));
            let overhead: Resources = landing.map(|(daemon, _)| &daemon.requests).sum();
            let usable = it.allocatable().minus(&overhead);
            Kind {
                it,
                daemons: overhead,
                usable,
                weight: it.capacity.clone().with(ResourceName::nodes(), 1),
            }
        });
        let ports = daemons
            .iter()
            .flat_map(|(daemon, _)| daemon.placement.host_ports.clone())
            .collect();
        let kinds: Vec<Kind<'a>> = kinds.collect();
        let used = used(pool, snapshot, catalogue);
        Offer {
            closed: closed(pool),
            template,
            kinds,
            ports,
            used,
            pool,
            profiles: BTreeMap::new(),
        }
    }

    /// What is left of the offer when `wanted` holds too; computed once for equal wishes.
    pub(super) fn profile(&mut self, wanted: &Requirements) -> Rc<Profile> {
        if let Some(known) = self.profiles.get(wanted) {
            return Rc::clone(known);
        }
        let requirements = self.template.and(wanted);
        // A well-known label that must be there has to come from somewhere: the pool's labels, type or offering.
        let own = self.pool.template_labels();
        let asked: Vec<&Text> = requirements
            .iter()
            .filter(|wanted| wanted.absence() == Absence::Refused && well_known::is_well_known(wanted.key()))
            .map(Requirement::key)
            .filter(|key| !well_known::is_said_by_offerings(key) && !own.contains_key(*key))
            .collect();
        let says = |it: &InstanceType| asked.iter().all(|key| it.requirements.get(key).is_some());
        let price = |kind: &Kind<'_>| {
            let suits = kind.it.suits(&requirements) && says(kind.it);
            if suits {
                kind.it.cheapest(&requirements)
            } else {
                None
            }
        };
        let prices = self.kinds.iter().map(price).collect();
        let profile = Rc::new(Profile { requirements, prices });
        self.profiles.insert(wanted.clone(), Rc::clone(&profile));
        profile
    }

    /// The resource by which one more node of this kind would exceed a limit, with the limit.
    pub(super) fn exceeded(&self, weight: &Resources) -> Option<(ResourceName, i64)> {
        let exceeds = |(name, limit): &(&ResourceName, i64)| {
            let added = weight.get(name);
            added > 0 && self.used.get(name).saturating_add(added) > *limit
        };
        self.pool
            .limits
            .iter()
            .find(exceeds)
            .map(|(name, limit)| (name.clone(), limit))
    }
}

/// The pools in the order in which they are asked: heaviest first, then by name.
pub(super) fn offers<'a>(snapshot: &'a Snapshot, catalogue: &'a Catalogue) -> Vec<Offer<'a>> {
    let mut pools: Vec<&Pool> = snapshot.pools.iter().map(|pool| &**pool).collect();
    pools.sort_by(|a, b| (b.weight, &a.name).cmp(&(a.weight, &b.name)));
    pools
        .into_iter()
        .map(|pool| Offer::new(pool, snapshot, catalogue))
        .collect()
}

fn closed(pool: &Pool) -> Option<Misfit> {
    if pool.deleting {
        return Some(Misfit::Deleting);
    }
    if let Some(replicas) = pool.replicas {
        return Some(Misfit::Static { replicas });
    }
    match &pool.readiness {
        Readiness::Ready => None,
        Readiness::NotReady { reason } => Some(Misfit::NotReady {
            reason: reason.clone(),
        }),
    }
}

/// What the pool's nodes count against its limits. A claim without an instance counts as the largest it may become.
fn used(pool: &Pool, snapshot: &Snapshot, catalogue: &Catalogue) -> Resources {
    let mut used = Resources::new();
    for node in snapshot
        .nodes
        .iter()
        .filter(|node| node.pool() == Some(&pool.name))
    {
        let capacity = if node.phase() == Phase::Planned {
            let largest =
                possible_types(node, catalogue).fold(Resources::new(), |all, it| all.upper(&it.capacity));
            largest.upper(&node.capacity()).with(ResourceName::nodes(), 1)
        } else {
            node.usage()
        };
        used.add(&capacity);
    }
    used
}

/// The types that a claim without an instance may become.
pub(super) fn possible_types<'a>(
    node: &'a Node,
    catalogue: &'a Catalogue,
) -> impl Iterator<Item = &'a InstanceType> {
    let claim = node.claim.as_deref();
    let types = node.pool().map_or(&[][..], |pool| catalogue.types(pool));
    types.iter().filter(move |it| {
        claim.is_some_and(|claim| it.suits(&claim.requirements) && claim.requests.fits(&it.allocatable()))
    })
}

/// Whether a daemon goes on nodes with these labels and taints.
pub(super) fn suits(
    daemon: &DaemonSet,
    labels: &Requirements,
    taints: &[Taint],
    undefined: Undefined,
) -> bool {
    const BORNE: [&str; 7] = [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/pid-pressure",
        "node.kubernetes.io/unschedulable",
        "node.kubernetes.io/network-unavailable",
    ];
    let kept_away = untolerated(taints, &daemon.placement.tolerations)
        .any(|taint| taint.is_hard() && !BORNE.contains(&&*taint.key));
    !kept_away
        && terms(daemon)
            .iter()
            .any(|wanted| labels.is_compatible(wanted, undefined))
}

fn terms(daemon: &DaemonSet) -> Vec<Requirements> {
    let selector = Requirements::from_labels(&daemon.placement.node_selector);
    match &daemon.placement.node_affinity {
        None => vec![selector],
        Some(terms) => terms.iter().map(|term| selector.and(&term.expressions)).collect(),
    }
}
