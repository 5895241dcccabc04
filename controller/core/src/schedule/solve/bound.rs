//! Shapes whose place depends on where other pods are.

use std::collections::{BTreeMap, BTreeSet};

use super::Round;
use crate::requirements::{Requirement, Undefined};
use crate::schedule::misfit::Refusal;
use crate::schedule::opened::{self, carriers};
use crate::schedule::place::Place;
use crate::schedule::shape::Shape;
use crate::schedule::topology::{self, Site};
use crate::snapshot::Pod;
use crate::taints::untolerated;
use crate::text::Text;

impl<'a> Round<'a> {
    /// As [`Round::settle`], for a shape whose place depends on where others are: it is split by the values of labels
    /// that its rules allow, and each part is placed for itself. Values that cannot be had are left out the next time.
    pub(super) fn settle_bound(&mut self, shape: usize, all: Vec<&'a Pod>) -> Vec<(Vec<&'a Pod>, Refusal)> {
        let mut left = all;
        let mut dead: BTreeSet<(Text, Text)> = BTreeSet::new();
        loop {
            let keys = topology::keys(&self.shapes[shape]);
            let sites = self.sites(shape);
            let away = topology::kept_away(&self.shapes[shape], &sites);
            let elsewhere: Vec<Requirement> = away
                .into_iter()
                .map(|(key, values)| Requirement::is_not_in(key.clone(), values))
                .collect();
            let base = self.shapes[shape].part(left.clone(), &elsewhere);
            let open = self.open_values(&base, &keys, &dead);
            let (shares, stuck) = topology::split(&base, left.len(), &sites, &open);
            let (mut placed, mut refusals, buried) = (0, Vec::new(), dead.len());
            for (more, count) in shares {
                let pods: Vec<&Pod> = left.drain(..count).collect();
                let part = self.add(base.part(pods, &more));
                let refusal = self.place(part);
                placed += self.done[part];
                left.extend(self.left(part));
                if let Some(refusal) = refusal {
                    let value = |one: &Requirement| Some((one.key().clone(), one.single()?.clone()));
                    // With several labels any of their values may be to blame; the first is tried without.
                    dead.extend(more.first().and_then(value));
                    refusals.push(refusal);
                }
            }
            if left.is_empty() {
                return Vec::new();
            }
            if placed == 0 && dead.len() == buried {
                let stuck = stuck.map(|stuck| Refusal {
                    pod: vec![stuck],
                    pools: BTreeMap::new(),
                });
                return vec![(left, refusals.pop().or(stuck).unwrap_or_default())];
            }
        }
    }

    /// The places as the rules of a shape, and the rules of others against it, see them.
    pub(super) fn sites(&self, shape: usize) -> Vec<Site<'a>> {
        let shape = &self.shapes[shape];
        let everybody = self
            .places
            .iter()
            .flat_map(Place::there)
            .chain(self.opened.iter().flat_map(|it| &it.pods));
        let apart = everybody
            .flat_map(|pod| &pod.placement.anti_affinity)
            .map(|term| &term.topology_key);
        let keys: BTreeSet<&'a Text> = topology::keys(shape).into_iter().chain(apart).collect();
        let places = self.places.iter().map(|place| place.site(shape, &keys));
        places
            .chain(
                self.opened
                    .iter()
                    .map(|opened| opened.site(shape, &keys, &self.offers[opened.offer])),
            )
            .collect()
    }

    /// The values of the labels `keys` that pods of the shape could have: on places that would take them, or on nodes
    /// that could be bought for them.
    pub(super) fn open_values(
        &mut self,
        shape: &Shape<'a>,
        keys: &BTreeSet<&'a Text>,
        dead: &BTreeSet<(Text, Text)>,
    ) -> BTreeMap<&'a Text, BTreeSet<Text>> {
        let mut open: BTreeMap<&'a Text, BTreeSet<Text>> =
            keys.iter().map(|key| (*key, BTreeSet::new())).collect();
        for place in self.places.iter().filter(|place| place.accepts(shape)) {
            for (key, values) in place.site(shape, keys).values {
                open.entry(key).or_default().extend(values);
            }
        }
        for offer in &mut self.offers {
            if offer.closed.is_some()
                || untolerated(&offer.pool.taints, &shape.placement.tolerations).any(|taint| taint.is_hard())
            {
                continue;
            }
            for wanted in &shape.alternatives {
                if !offer.template.is_compatible(wanted, Undefined::WellKnownOpen) {
                    continue;
                }
                let profile = offer.profile(wanted);
                let carriers = carriers(offer, &profile, shape.requests, |_| true);
                for (key, values) in &mut open {
                    let kinds = carriers.iter().map(|kind| &offer.kinds[*kind]);
                    values.extend(opened::values(key, &profile.requirements, kinds));
                }
            }
        }
        for (key, values) in &mut open {
            values.retain(|value| !dead.contains(&((*key).clone(), value.clone())));
        }
        open
    }

    pub(super) fn add(&mut self, part: Shape<'a>) -> usize {
        self.shapes.push(part);
        self.done.push(0);
        self.found.push(self.offers.iter().map(|_| None).collect());
        self.shapes.len() - 1
    }

    pub(super) fn is_lonely(&self, shape: usize) -> bool {
        let everybody = self
            .places
            .iter()
            .flat_map(Place::there)
            .chain(self.opened.iter().flat_map(|it| &it.pods));
        self.shapes[shape].alone && topology::is_lonely(&self.shapes[shape], everybody.copied())
    }

    /// How many pods of the shape a new node may carry, as far as rules over the hostname go.
    pub(super) fn room(&self, shape: usize) -> usize {
        if !self.shapes[shape].alone {
            return usize::MAX;
        }
        topology::room(&self.shapes[shape], &[], self.is_lonely(shape))
    }
}
