//! One round: every shape in turn, first on places that are there, then on claims opened in this round, then on new
//! claims.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::build::claim;
use super::flexibility;
use super::misfit::{Misfit, Refusal};
use super::offer::{Offer, Profile, offers};
use super::opened::{Opened, carriers, enough_values};
use super::outcome::Schedule;
use super::pack::{Demand, Load, loads, worth};
use super::place::{Place, places};
use super::refuse::refuse;
use super::shape::{Shape, shapes};
use crate::catalogue::Catalogue;
use crate::requirements::{Requirements, Undefined};
use crate::resources::Resources;
use crate::snapshot::{MinValuesPolicy, Pod, PodKey, Snapshot};
use crate::taints::untolerated;

/// A round under way.
pub(super) struct Round<'a> {
    shapes: Vec<Shape<'a>>,
    /// How many pods of each shape have their place.
    done: Vec<usize>,
    /// What each shape found at each offer, limits aside.
    found: Vec<Vec<Option<Result<Accepted, Misfit>>>>,
    offers: Vec<Offer<'a>>,
    places: Vec<Place<'a>>,
    opened: Vec<Opened>,
    policy: MinValuesPolicy,
}

/// A shape's first alternative that an offer can serve.
#[derive(Clone)]
struct Accepted {
    wanted: Requirements,
    worth: u128,
}

/// Decides on every pod of the snapshot that needs a place.
pub(super) fn solve(snapshot: &Snapshot, catalogue: &Catalogue, now: Timestamp) -> Schedule {
    let shapes = shapes(snapshot, now);
    let offers = offers(snapshot, catalogue);
    let mut round = Round {
        done: vec![0; shapes.len()],
        found: shapes
            .iter()
            .map(|_| offers.iter().map(|_| None).collect())
            .collect(),
        places: places(snapshot, catalogue),
        opened: Vec::new(),
        policy: snapshot.settings.min_values_policy,
        shapes,
        offers,
    };
    let mut unschedulable = BTreeMap::new();
    for shape in 0..round.shapes.len() {
        if let Some(refusal) = round.place(shape) {
            let refusal = Arc::new(refusal);
            let left = round
                .left(shape)
                .iter()
                .map(|pod| (pod.key.clone(), Arc::clone(&refusal)));
            unschedulable.extend(left);
        }
    }
    round.finish(unschedulable)
}

impl<'a> Round<'a> {
    /// Finds places for the pods of a shape; the reason where some get none.
    fn place(&mut self, shape: usize) -> Option<Refusal> {
        if !self.shapes[shape].refusal.is_empty() {
            return Some(Refusal {
                pod: self.shapes[shape].refusal.clone(),
                pools: BTreeMap::new(),
            });
        }
        for place in &mut self.places {
            let pods = &self.shapes[shape].pods[self.done[shape]..];
            if pods.is_empty() {
                return None;
            }
            self.done[shape] += place.take(&self.shapes[shape], pods);
        }
        for opened in &mut self.opened {
            let pods = &self.shapes[shape].pods[self.done[shape]..];
            if pods.is_empty() {
                return None;
            }
            let offer = &mut self.offers[opened.offer];
            self.done[shape] += opened.take(&self.shapes[shape], pods, offer, self.policy);
        }
        while !self.left(shape).is_empty() {
            let mut pools = BTreeMap::new();
            for offer in self.order(shape) {
                match self.open(shape, offer) {
                    Ok(()) => {
                        pools.clear();
                        break;
                    }
                    Err(misfit) => drop(pools.insert(self.offers[offer].pool.name.clone(), misfit)),
                }
            }
            if !pools.is_empty() || self.offers.is_empty() {
                return Some(Refusal {
                    pod: Vec::new(),
                    pools,
                });
            }
        }
        None
    }

    fn left(&self, shape: usize) -> &[&'a Pod] {
        &self.shapes[shape].pods[self.done[shape]..]
    }

    /// The offers in the order in which a shape asks them: those with a taint that it would rather avoid come last.
    fn order(&self, shape: usize) -> Vec<usize> {
        let tolerations = &self.shapes[shape].placement.tolerations;
        let avoided = |offer: &usize| {
            untolerated(&self.offers[*offer].pool.taints, tolerations)
                .next()
                .is_some()
        };
        let mut order: Vec<usize> = (0..self.offers.len()).collect();
        order.sort_by_key(avoided);
        order
    }

    /// Opens one claim, or several that are alike, for the first pods of a shape, with whatever else fits on it.
    fn open(&mut self, shape: usize, offer: usize) -> Result<(), Misfit> {
        let head = self.accept(shape, offer)?;
        let profile = self.offers[offer].profile(&head.wanted);
        let within = self.within_limits(shape, offer, &profile)?;

        // Two ways to fill: with pods that ask the same of the node, or with whatever goes together.
        let alike = self.company(shape, offer, &head, Company::Alike);
        let mixed = self.company(shape, offer, &head, Company::Mixed);
        let mut ways: Vec<(Load, &Filling<'a>)> = Vec::new();
        let all = if mixed.0.len() == alike.0.len() {
            &[&alike][..]
        } else {
            &[&alike, &mixed][..]
        };
        for way in all {
            let joint = joint(&way.1);
            let profile = self.offers[offer].profile(&joint);
            let loads = loads(&way.0, &self.offers[offer].kinds, &profile, |kind| within[kind]);
            ways.extend(loads.into_iter().map(|load| (load, *way)));
        }
        ways.sort_by(|(a, _), (b, _)| a.rank(b));
        let mut gap = None;
        for (load, (demands, wanted)) in ways {
            match self.try_open(offer, &load, demands, wanted, &within) {
                Ok(opened) => {
                    self.repeat(&opened, &load, demands);
                    return Ok(());
                }
                Err(misfit) => drop(gap.get_or_insert(misfit)),
            }
        }
        // A full load may leave too few types for `minValues`; a smaller one may not.
        let mut demand = self.demand(shape, head.worth);
        demand.together = demand.together.min(demand.count);
        while profile.requirements.has_min_values() && demand.together > 0 {
            let loads = loads(&[demand], &self.offers[offer].kinds, &profile, |kind| {
                within[kind]
            });
            for load in loads {
                match self.try_open(
                    offer,
                    &load,
                    &[demand],
                    std::slice::from_ref(&head.wanted),
                    &within,
                ) {
                    Ok(opened) => {
                        self.repeat(&opened, &load, &[demand]);
                        return Ok(());
                    }
                    Err(misfit) => gap = Some(misfit),
                }
            }
            demand.together /= 2;
        }
        Err(gap.unwrap_or(Misfit::NoTypes))
    }

    /// The claim for one load, with every kind that could carry it.
    fn try_open(
        &mut self,
        offer: usize,
        load: &Load,
        demands: &[Demand<'a>],
        wanted: &[Requirements],
        within: &[bool],
    ) -> Result<Opened, Misfit> {
        let carried = wanted.iter().zip(&load.counts).filter(|(_, count)| **count > 0);
        let joint = joint(carried.map(|(wanted, _)| wanted));
        let profile = self.offers[offer].profile(&joint);
        let offer_ref = &self.offers[offer];
        let limits = &offer_ref.pool.limits;
        let chosen = &offer_ref.kinds[load.kind].weight;
        // Where a resource is limited, a larger type than the one chosen would only eat into the limit.
        let modest = |kind: usize| {
            limits
                .iter()
                .all(|(name, _)| offer_ref.kinds[kind].weight.get(name) <= chosen.get(name))
        };
        let mut kinds = carriers(offer_ref, &profile, &load.total, |kind| {
            within[kind] && modest(kind)
        });
        if !enough_values(offer_ref, &profile, &kinds, MinValuesPolicy::Strict) {
            kinds = carriers(offer_ref, &profile, &load.total, |kind| within[kind]);
        }
        if !enough_values(offer_ref, &profile, &kinds, self.policy) {
            let gaps = flexibility::gaps(
                kinds.iter().map(|kind| offer_ref.kinds[*kind].it),
                &profile.requirements,
            );
            return Err(gaps
                .into_iter()
                .next()
                .map_or(Misfit::NoTypes, |gap| Misfit::MinValues {
                    key: gap.key,
                    found: gap.found,
                    wanted: gap.wanted,
                }));
        }
        let ports = demands
            .iter()
            .zip(&load.counts)
            .filter(|(_, count)| **count > 0)
            .flat_map(|(demand, _)| self.shapes[demand.shape].placement.host_ports.iter().cloned())
            .chain(offer_ref.ports.iter().cloned())
            .collect();
        Ok(Opened {
            offer,
            wanted: joint,
            kind: load.kind,
            kinds,
            total: load.total.clone(),
            ports,
            pods: Vec::new(),
        })
    }

    /// Opens the claim as often as there are pods for another one like it and limits allow.
    fn repeat(&mut self, opened: &Opened, load: &Load, demands: &[Demand<'a>]) {
        let offer = &self.offers[opened.offer];
        let heaviest = opened
            .kinds
            .iter()
            .map(|kind| &offer.kinds[*kind].weight)
            .fold(Resources::new(), |all, weight| all.upper(weight));
        let carried = || demands.iter().zip(&load.counts).filter(|(_, count)| **count > 0);
        loop {
            let mut claim = opened.clone();
            for (demand, count) in carried() {
                let done = &mut self.done[demand.shape];
                let pods = &self.shapes[demand.shape].pods[*done..*done + count];
                claim.pods.extend(pods.iter().map(|pod| pod.key.clone()));
                *done += count;
            }
            self.opened.push(claim);
            self.offers[opened.offer].used.add(&heaviest);
            let enough = carried().all(|(demand, count)| self.left(demand.shape).len() >= *count);
            if !enough || self.offers[opened.offer].exceeded(&heaviest).is_some() {
                return;
            }
        }
    }

    /// What a shape finds at an offer, limits aside; computed once.
    fn accept(&mut self, shape: usize, offer: usize) -> Result<Accepted, Misfit> {
        if let Some(known) = &self.found[shape][offer] {
            return known.clone();
        }
        let found = accept(&self.shapes[shape], &mut self.offers[offer]);
        self.found[shape][offer] = Some(found.clone());
        found
    }

    /// Which kinds the pool's limits allow; the reason where none that carries the shape is left.
    fn within_limits(&self, shape: usize, offer: usize, profile: &Profile) -> Result<Vec<bool>, Misfit> {
        let (requests, offer) = (self.shapes[shape].requests, &self.offers[offer]);
        let within: Vec<bool> = offer
            .kinds
            .iter()
            .map(|kind| offer.exceeded(&kind.weight).is_none())
            .collect();
        let carriers = carriers(offer, profile, requests, |_| true);
        if carriers.iter().any(|kind| within[*kind]) {
            return Ok(within);
        }
        let cheapest = carriers
            .first()
            .and_then(|kind| offer.exceeded(&offer.kinds[*kind].weight));
        let Some((resource, limit)) = cheapest else {
            return Ok(within);
        };
        let needed = carriers
            .iter()
            .map(|kind| offer.kinds[*kind].weight.get(&resource))
            .min()
            .unwrap_or(0);
        Err(Misfit::Limit {
            used: offer.used.get(&resource),
            limit,
            needed,
            resource,
        })
    }

    /// The shapes that may share a claim with `head`, itself first, with what each asks of labels.
    fn company(&mut self, head: usize, offer: usize, accepted: &Accepted, company: Company) -> Filling<'a> {
        let mut demands = vec![self.demand(head, accepted.worth)];
        let mut wanted = vec![accepted.wanted.clone()];
        let mut together = accepted.wanted.clone();
        let mut ports = self.shapes[head].placement.host_ports.clone();
        for other in head + 1..self.shapes.len() {
            if self.left(other).is_empty() || !self.shapes[other].refusal.is_empty() {
                continue;
            }
            if self.first_choice(other) != Some(offer) {
                continue;
            }
            let Ok(found) = self.accept(other, offer) else {
                continue;
            };
            let placement = self.shapes[other].placement;
            if placement
                .host_ports
                .iter()
                .any(|port| ports.iter().any(|there| there.conflicts(port)))
            {
                continue;
            }
            match company {
                Company::Alike if found.wanted != accepted.wanted => continue,
                Company::Alike => {}
                Company::Mixed => {
                    let template = self.offers[offer].template.and(&together);
                    if !template.is_compatible(&found.wanted, Undefined::WellKnownOpen) {
                        continue;
                    }
                    let joint = together.and(&found.wanted);
                    if joint != together
                        && self.offers[offer]
                            .profile(&joint)
                            .prices
                            .iter()
                            .all(Option::is_none)
                    {
                        continue;
                    }
                    together = joint;
                }
            }
            ports.extend(placement.host_ports.iter().cloned());
            demands.push(self.demand(other, found.worth));
            wanted.push(found.wanted);
        }
        (demands, wanted)
    }

    /// The offer that a shape asks first of those that can serve it, limits aside.
    fn first_choice(&mut self, shape: usize) -> Option<usize> {
        self.order(shape)
            .into_iter()
            .find(|offer| self.accept(shape, *offer).is_ok())
    }

    fn demand(&self, shape: usize, worth: u128) -> Demand<'a> {
        let together = if self.shapes[shape].placement.host_ports.is_empty() {
            usize::MAX
        } else {
            1
        };
        Demand {
            shape,
            requests: self.shapes[shape].requests,
            count: self.left(shape).len(),
            together,
            worth,
        }
    }

    fn finish(self, unschedulable: BTreeMap<PodKey, Arc<Refusal>>) -> Schedule {
        let mut relaxed = BTreeMap::new();
        for shape in self.shapes.iter().filter(|shape| !shape.relaxed.is_empty()) {
            relaxed.extend(
                shape
                    .pods
                    .iter()
                    .map(|pod| (pod.key.clone(), Arc::clone(&shape.relaxed))),
            );
        }
        let mut lists = BTreeMap::new();
        let new_claims = self
            .opened
            .iter()
            .map(|opened| claim(opened, &self.offers[opened.offer], self.policy, &mut lists))
            .collect();
        let existing = self.places.into_iter().filter(|place| !place.pods.is_empty());
        let existing = existing.map(|place| (place.name.clone(), place.pods)).collect();
        Schedule {
            new_claims,
            existing,
            unschedulable,
            relaxed,
        }
    }
}

/// The shapes that may share a claim, with what each asks of labels.
type Filling<'a> = (Vec<Demand<'a>>, Vec<Requirements>);

/// With whom a claim may be shared.
#[derive(Clone, Copy)]
enum Company {
    /// With pods that ask exactly the same of labels.
    Alike,
    /// With all pods whose wishes go together.
    Mixed,
}

fn joint<'b>(all: impl IntoIterator<Item = &'b Requirements>) -> Requirements {
    all.into_iter()
        .fold(Requirements::new(), |all, wanted| all.and(wanted))
}

fn accept(shape: &Shape<'_>, offer: &mut Offer<'_>) -> Result<Accepted, Misfit> {
    if let Some(closed) = &offer.closed {
        return Err(closed.clone());
    }
    if let Some(taint) =
        untolerated(&offer.pool.taints, &shape.placement.tolerations).find(|taint| taint.is_hard())
    {
        return Err(Misfit::Taint { taint: taint.clone() });
    }
    let ports = &shape.placement.host_ports;
    if let Some(port) = ports
        .iter()
        .find(|port| offer.ports.iter().any(|taken| taken.conflicts(port)))
    {
        return Err(Misfit::Port { port: port.clone() });
    }
    // Of several alternatives the one that came furthest is explained.
    let mut label = None;
    let mut types = None;
    for wanted in &shape.alternatives {
        if let Some(conflict) = offer.template.conflict(wanted, Undefined::WellKnownOpen) {
            label.get_or_insert(Misfit::Label {
                conflict: Box::new(conflict),
            });
            continue;
        }
        let profile = offer.profile(wanted);
        match worth(shape.requests, &offer.kinds, &profile) {
            Some(worth) => {
                return Ok(Accepted {
                    wanted: wanted.clone(),
                    worth,
                });
            }
            None => {
                let kinds = offer.kinds.iter().map(|kind| (kind.it, &kind.usable));
                types.get_or_insert(refuse(kinds, &profile.requirements, shape.requests));
            }
        }
    }
    Err(types.or(label).unwrap_or(Misfit::NoTypes))
}
