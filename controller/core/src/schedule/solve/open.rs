//! New claims: what to fill them with, what they may become, how many alike.

use super::{Accepted, Round};
use crate::requirements::{Requirements, Undefined};
use crate::resources::Resources;
use crate::schedule::flexibility;
use crate::schedule::misfit::Misfit;
use crate::schedule::offer::Profile;
use crate::schedule::opened::{Opened, carriers, enough_values};
use crate::schedule::pack::{Demand, Load, loads};
use crate::snapshot::MinValuesPolicy;

impl<'a> Round<'a> {
    /// Opens one claim, or several that are alike, for the first pods of a shape, with whatever else fits on it.
    pub(super) fn open(&mut self, shape: usize, offer: usize) -> Result<(), Misfit> {
        let head = self.accept(shape, offer)?;
        let profile = self.offers[offer].profile(&head.wanted);
        let within = self.within_limits(shape, offer, &profile)?;
        if self.room(shape) == 0 {
            let rule = "pod affinity on kubernetes.io/hostname finds no place with the pods it looks for";
            return Err(Misfit::Topology { rule: rule.into() });
        }

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
    ) -> Result<Opened<'a>, Misfit> {
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
    fn repeat(&mut self, opened: &Opened<'a>, load: &Load, demands: &[Demand<'a>]) {
        let shared = demands.iter().any(|demand| self.is_lonely(demand.shape));
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
                claim.pods.extend(pods);
                *done += count;
            }
            self.opened.push(claim);
            self.offers[opened.offer].used.add(&heaviest);
            let enough = carried().all(|(demand, count)| self.left(demand.shape).len() >= *count);
            // Pods that look for their own company found it on the first.
            if !enough || shared || self.offers[opened.offer].exceeded(&heaviest).is_some() {
                return;
            }
        }
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
            let alone = self.shapes[head].alone || self.shapes[other].alone;
            if alone || self.left(other).is_empty() || !self.shapes[other].refusal.is_empty() {
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

    fn demand(&self, shape: usize, worth: u128) -> Demand<'a> {
        let ports = self.shapes[shape].placement.host_ports.is_empty();
        let room = self.room(shape);
        let together = if ports { room } else { room.min(1) };
        Demand {
            shape,
            requests: self.shapes[shape].requests,
            count: self.left(shape).len(),
            together,
            worth,
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
