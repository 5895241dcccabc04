//! One round: every shape in turn, first on places that are there, then on claims opened in this round, then on new
//! claims.

mod bound;
mod open;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::build::claim;
use super::misfit::{Misfit, Refusal};
use super::offer::{Offer, offers};
use super::opened::Opened;
use super::outcome::Schedule;
use super::pack::worth;
use super::place::{Place, places};
use super::refuse::refuse;
use super::shape::{Shape, shapes};
use crate::catalogue::Catalogue;
use crate::requirements::{Requirements, Undefined};
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
    opened: Vec<Opened<'a>>,
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
        for (pods, refusal) in round.settle(shape) {
            let refusal = Arc::new(refusal);
            unschedulable.extend(
                pods.into_iter()
                    .map(|pod| (pod.key.clone(), Arc::clone(&refusal))),
            );
        }
    }
    round.finish(unschedulable)
}

impl<'a> Round<'a> {
    /// Finds places for the pods of a shape; those that get none, with the reason.
    fn settle(&mut self, shape: usize) -> Vec<(Vec<&'a Pod>, Refusal)> {
        let all = self.left(shape).to_vec();
        if !self.shapes[shape].refusal.is_empty() {
            let refusal = Refusal {
                pod: self.shapes[shape].refusal.clone(),
                pools: BTreeMap::new(),
            };
            return vec![(all, refusal)];
        }
        if self.shapes[shape].alone {
            return self.settle_bound(shape, all);
        }
        match self.place(shape) {
            Some(refusal) => vec![(self.left(shape).to_vec(), refusal)],
            None => Vec::new(),
        }
    }

    /// Finds places for the pods of a shape; the reason where some get none.
    fn place(&mut self, shape: usize) -> Option<Refusal> {
        let mut lonely = self.is_lonely(shape);
        for place in &mut self.places {
            let pods = &self.shapes[shape].pods[self.done[shape]..];
            if pods.is_empty() {
                return None;
            }
            let taken = place.take(&self.shapes[shape], pods, lonely);
            self.done[shape] += taken;
            lonely = lonely && taken == 0;
        }
        for opened in &mut self.opened {
            let pods = &self.shapes[shape].pods[self.done[shape]..];
            if pods.is_empty() {
                return None;
            }
            let offer = &mut self.offers[opened.offer];
            let taken = opened.take(&self.shapes[shape], pods, lonely, offer, self.policy);
            self.done[shape] += taken;
            lonely = lonely && taken == 0;
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

    /// What a shape finds at an offer, limits aside; computed once.
    fn accept(&mut self, shape: usize, offer: usize) -> Result<Accepted, Misfit> {
        if let Some(known) = &self.found[shape][offer] {
            return known.clone();
        }
        let found = accept(&self.shapes[shape], &mut self.offers[offer]);
        self.found[shape][offer] = Some(found.clone());
        found
    }

    /// The offer that a shape asks first of those that can serve it, limits aside.
    fn first_choice(&mut self, shape: usize) -> Option<usize> {
        self.order(shape)
            .into_iter()
            .find(|offer| self.accept(shape, *offer).is_ok())
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
