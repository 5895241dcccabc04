//! What pools sell, in numbers.

use std::collections::BTreeMap;

use super::{Dims, Kind, Offer, PLENTY, PoolModel};
use crate::catalogue::{CapacityType, Catalogue, InstanceType, Offering};
use crate::money::Price;
use crate::requirements::Requirements;
use crate::resources::{ResourceName, Resources};
use crate::schedule::atoms::{ABSENT, Bits, Keys};
use crate::schedule::misfit::Misfit;
use crate::schedule::sets::{SetId, Sets};
use crate::snapshot::{DaemonSet, Node, NodeTerm, Phase, Placement, Pool, Readiness, Snapshot};
use crate::taints::{Taint, untolerated};
use crate::text::Text;
use crate::well_known;

/// The place of `pods` among amounts.
const PODS: usize = 3;

/// A daemon, and what a node's labels must be for it; one of these must hold.
pub(super) struct Daemon<'a> {
    pub(super) it: &'a DaemonSet,
    pub(super) wanted: Vec<SetId>,
}

/// What pool models are made with.
pub(super) struct Maker<'p, 'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) catalogue: &'a Catalogue,
    pub(super) keys: &'p Keys,
    pub(super) sets: &'p mut Sets,
    pub(super) dims: &'p Dims,
    pub(super) daemons: &'p [Daemon<'a>],
    /// How many volumes nodes that are there can attach, by instance type and driver.
    pub(super) learned: &'p BTreeMap<(Text, Text), u32>,
    pub(super) reservations: &'p mut Vec<(Text, u32)>,
}

impl<'a> Maker<'_, 'a> {
    pub(super) fn pool(&mut self, pool: &'a Pool, taints: usize) -> PoolModel<'a> {
        let types = self.catalogue.types(&pool.name);
        let template = pool.template_requirements();
        let said: Vec<Said> = (0..self.keys.len())
            .map(|key| self.said(self.keys.name(key), pool, &template, types))
            .collect();
        let mut set = Vec::new();
        for (key, said) in said.iter().enumerate() {
            let atoms = self.keys.atoms(key);
            let name = self.keys.name(key);
            match template.get(name) {
                // A label that only types could give and none does is not there, whatever the pool wants of it.
                Some(one)
                    if *said == Said::Nobody && well_known::is_well_known(name) && one.single().is_none() =>
                {
                    let missing = Bits::one(atoms.len(), ABSENT);
                    set.push((key, atoms.bits(one).and(&missing)));
                }
                Some(one) => set.push((key, atoms.bits(one))),
                // Every node that takes pods has these.
                None if matches!(
                    &**self.keys.name(key),
                    well_known::REGISTERED | well_known::INITIALIZED
                ) =>
                {
                    set.push((key, Bits::one(atoms.len(), atoms.of(Some("true")))));
                }
                None if &**self.keys.name(key) == well_known::HOSTNAME => {
                    // A new node has a name that nobody knows yet.
                    set.push((key, Bits::one(atoms.len(), atoms.of(Some("\u{0}")))));
                }
                None if *said == Said::Nobody => set.push((key, Bits::one(atoms.len(), ABSENT))),
                None => {}
            }
        }
        let template_set = self.sets.intern(set);
        let limits = limits(pool, self.snapshot, self.catalogue);
        let landing: Vec<(&Daemon<'a>, Vec<SetId>)> = self
            .daemons
            .iter()
            .filter(|daemon| bears(&daemon.it.placement, &pool.taints))
            .filter_map(|daemon| {
                let lands = daemon
                    .wanted
                    .iter()
                    .filter_map(|one| self.sets.and(template_set, *one));
                let lands: Vec<SetId> = lands.collect();
                (!lands.is_empty()).then_some((daemon, lands))
            })
            .collect();
        let largest = self.snapshot.settings.guards.largest_node.as_ref();
        let modest = |it: &&InstanceType| {
            largest.is_none_or(|most| most.iter().all(|(name, most)| it.capacity.get(&name) <= most))
        };
        // By name, so that lists of kinds are in order without being sorted.
        let mut sold: Vec<&'a InstanceType> = types.iter().filter(modest).collect();
        sold.sort_by(|a, b| a.name.cmp(&b.name));
        let kinds: Vec<Kind<'a>> = sold
            .into_iter()
            .map(|it| self.kind(it, &said, &limits, &landing))
            .collect();
        let count =
            |one: &crate::requirements::Requirement| Some((self.keys.id(one.key())?, one.min_values()?));
        PoolModel {
            template: template_set,
            taints,
            limits,
            min_values: template.iter().filter_map(count).collect(),
            closed: closed(pool),
            reserved: kinds
                .iter()
                .any(|kind| kind.offers.iter().any(|offer| offer.reservation.is_some())),
            kinds,
            pool,
        }
    }

    fn kind(
        &mut self,
        it: &'a InstanceType,
        said: &[Said],
        limits: &[(ResourceName, i64, i64)],
        landing: &[(&Daemon<'a>, Vec<SetId>)],
    ) -> Kind<'a> {
        let of_key = |(key, said): (usize, &Said)| match said {
            Said::Types => Some(match it.requirements.get(self.keys.name(key)) {
                Some(one) => self.keys.atoms(key).bits(one),
                None => {
                    let atoms = self.keys.atoms(key);
                    let name = (&**self.keys.name(key) == well_known::INSTANCE_TYPE).then_some(&*it.name);
                    Bits::one(atoms.len(), atoms.of(name))
                }
            }),
            Said::Pool => it
                .requirements
                .get(self.keys.name(key))
                .map(|one| self.keys.atoms(key).bits(one)),
            Said::Offers | Said::Nobody | Said::Somebody => None,
        };
        let bits: Vec<Option<Bits>> = said.iter().enumerate().map(of_key).collect();
        let suits = |set: &SetId| {
            self.sets
                .get(*set)
                .iter()
                .all(|(key, wanted)| bits[*key].as_ref().is_none_or(|mine| mine.meets(wanted)))
        };
        let own: Vec<&DaemonSet> = landing
            .iter()
            .filter(|(_, lands)| lands.iter().any(suits))
            .map(|(daemon, _)| daemon.it)
            .collect();
        let daemons: Resources = own.iter().map(|daemon| &daemon.requests).sum();
        let volumes = |driver: &Text| {
            let known = it.attach_limits.get(driver);
            known
                .or_else(|| self.learned.get(&(it.name.clone(), driver.clone())))
                .map_or(PLENTY, |limit| i64::from(*limit))
        };
        let left = it.allocatable().minus(&daemons);
        let mut usable = self.dims.amounts(&left, volumes);
        if left.iter().any(|(_, amount)| amount < 0) {
            // Its daemons alone are too much for it, so there is no place for any pod.
            usable[PODS] = -1;
        }
        let gates = self.snapshot.settings.gates;
        let on_sale = |offering: &&Offering| {
            offering.available
                && (gates.reserved_capacity || offering.capacity_type != CapacityType::Reserved)
        };
        let mut offers = Vec::with_capacity(it.offerings.len());
        for offering in it.offerings.iter().filter(on_sale) {
            offers.extend(self.offer(offering, said));
        }
        Kind {
            it,
            bits,
            daemons,
            ports: own
                .iter()
                .flat_map(|daemon| daemon.placement.host_ports.clone())
                .collect(),
            usable,
            weight: limits
                .iter()
                .map(|(name, _, _)| {
                    if *name == ResourceName::nodes() {
                        1
                    } else {
                        it.capacity.get(name)
                    }
                })
                .collect(),
            offers,
        }
    }

    fn offer(&mut self, offering: &Offering, said: &[Said]) -> Option<Offer> {
        let reservation = match &offering.reservation {
            Some(reservation) if reservation.remaining == 0 => return None,
            Some(reservation) => {
                let known = self.reservations.iter().position(|(id, _)| *id == reservation.id);
                Some(known.unwrap_or_else(|| {
                    self.reservations
                        .push((reservation.id.clone(), reservation.remaining));
                    self.reservations.len() - 1
                }))
            }
            None => None,
        };
        let mut bits = Vec::new();
        for (key, _) in said.iter().enumerate().filter(|(_, said)| **said == Said::Offers) {
            let atoms = self.keys.atoms(key);
            let one = |value: &str| Bits::one(atoms.len(), atoms.of(Some(value)));
            let mine = match &**self.keys.name(key) {
                well_known::ZONE if offering.zone.is_empty() => continue,
                well_known::ZONE => one(&offering.zone),
                well_known::CAPACITY_TYPE => one(offering.capacity_type.as_str()),
                well_known::ZONE_ID if !offering.zone_id.is_empty() => one(&offering.zone_id),
                name => match offering.extra.get(name) {
                    Some(extra) => atoms.bits(extra),
                    None => Bits::one(atoms.len(), ABSENT),
                },
            };
            bits.push((key, mine));
        }
        Some(Offer {
            bits,
            price: offering.price.micros().min(Price::MAX.micros() / 4),
            reservation,
        })
    }

    /// Who says what value a label has on the nodes of a pool.
    fn said(&self, key: &str, pool: &Pool, template: &Requirements, types: &[InstanceType]) -> Said {
        let offered = || {
            types.iter().flat_map(|it| &it.offerings).any(|it| {
                it.extra.get(key).is_some() || (key == well_known::ZONE_ID && !it.zone_id.is_empty())
            })
        };
        if matches!(key, well_known::ZONE | well_known::CAPACITY_TYPE) || offered() {
            return Said::Offers;
        }
        if !well_known::is_well_known(key) && !self.catalogue.well_known.contains(key) {
            let mentioned = template.get(key).is_some();
            return if mentioned { Said::Pool } else { Said::Nobody };
        }
        let fixed =
            pool.labels.contains_key(key) || key == well_known::NODE_POOL || *key == *pool.class.label_key();
        if fixed {
            return Said::Pool;
        }
        if key == well_known::INSTANCE_TYPE || types.iter().any(|it| it.requirements.get(key).is_some()) {
            return Said::Types;
        }
        // What the kubelet or the cloud may say, if nobody else does.
        let cloud = matches!(
            key,
            well_known::ARCH | well_known::OS | well_known::REGION | "node.kubernetes.io/windows-build"
        ) || self.catalogue.well_known.contains(key);
        if cloud { Said::Somebody } else { Said::Nobody }
    }
}

/// Who says what value a label has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    /// The offering that is bought.
    Offers,
    /// The instance type: where it says nothing, the label is missing.
    Types,
    /// The pool, and a type may narrow it.
    Pool,
    /// Nobody that is known, and yet it may be there.
    Somebody,
    /// Nobody: the label is missing.
    Nobody,
}

/// Whether a daemon bears taints. Some of them the DaemonSet controller makes it bear.
pub(in crate::schedule) fn bears(placement: &Placement, taints: &[Taint]) -> bool {
    const BORNE: [&str; 7] = [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/pid-pressure",
        "node.kubernetes.io/unschedulable",
        "node.kubernetes.io/network-unavailable",
    ];
    !untolerated(taints, &placement.tolerations).any(|taint| taint.is_hard() && !BORNE.contains(&&*taint.key))
}

/// The label requirements of a placement but for its volumes: its selector with each term of its affinity. One must hold.
pub(in crate::schedule) fn terms(placement: &Placement) -> Vec<Requirements> {
    let selector = Requirements::from_labels(&placement.node_selector);
    let usable = |term: &&NodeTerm| term.fields.is_empty() && !term.expressions.is_empty();
    match &placement.node_affinity {
        None => vec![selector],
        Some(terms) => terms
            .iter()
            .filter(usable)
            .map(|term| selector.and(&term.expressions))
            .collect(),
    }
}

/// Why a pool buys nothing for pods.
fn closed(pool: &Pool) -> Option<Misfit> {
    let fixed = pool.replicas.map(|replicas| Misfit::Static { replicas });
    fixed.filter(|_| !pool.deleting).or_else(|| closed_pool(pool))
}

/// Why a pool buys nothing at all.
pub(in crate::schedule) fn closed_pool(pool: &Pool) -> Option<Misfit> {
    if pool.deleting {
        return Some(Misfit::Deleting);
    }
    let template = pool.template_requirements();
    if let Some(impossible) = template.iter().find(|one| one.is_impossible()) {
        return Some(Misfit::Contradiction {
            key: impossible.key().clone(),
            said: contradiction(pool, impossible.key()),
        });
    }
    match &pool.readiness {
        Readiness::Ready => None,
        Readiness::NotReady { reason } => Some(Misfit::NotReady {
            reason: reason.clone(),
        }),
    }
}

/// What a pool says of a label of which it leaves no value.
fn contradiction(pool: &Pool, key: &Text) -> Text {
    let label = pool.template_labels().get(key).cloned();
    match (pool.requirements.get(key), label) {
        (Some(required), Some(label)) => {
            format!("its label {key}={label}, its requirement {required}").into()
        }
        (Some(_), None) => format!("its requirements on {key} exclude each other").into(),
        (None, _) => format!("its labels leave {key} no value").into(),
    }
}

/// The pool's limits, each with what is in use. Nodes that go make room; a claim without an instance counts as the
/// largest it may become.
fn limits(pool: &Pool, snapshot: &Snapshot, catalogue: &Catalogue) -> Vec<(ResourceName, i64, i64)> {
    if pool.limits.is_empty() {
        return Vec::new();
    }
    let mut used = Resources::new();
    let own = |node: &&Node| node.pool() == Some(&pool.name) && !node.is_going();
    for node in snapshot.nodes.iter().filter(own) {
        let capacity = if node.phase() == Phase::Planned {
            let largest =
                possible_types(node, catalogue).fold(Resources::new(), |all, it| all.upper(&it.capacity));
            largest.upper(&node.capacity()).with(ResourceName::nodes(), 1)
        } else {
            node.usage()
        };
        used.add(&capacity);
    }
    pool.limits
        .iter()
        .map(|(name, bound)| (name.clone(), bound, used.get(name)))
        .collect()
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
