//! Claims opened in this round, and what is left on them.

use std::collections::BTreeSet;

use super::flexibility;
use super::offer::{Kind, Offer, Profile};
use super::shape::Shape;
use super::topology::{self, Site};
use crate::catalogue::Offering;
use crate::launch::values_of;
use crate::money::Price;
use crate::requirements::{Requirement, Requirements, Undefined, Values};
use crate::resources::Resources;
use crate::snapshot::{HostPort, MinValuesPolicy, Pod};
use crate::taints::{Taint, untolerated};
use crate::text::Text;
use crate::well_known;

/// A claim to be made.
#[derive(Clone)]
pub(super) struct Opened<'a> {
    /// Index of the offer.
    pub(super) offer: usize,
    /// What its pods ask of labels.
    pub(super) wanted: Requirements,
    /// The kind that it was opened for.
    pub(super) kind: usize,
    /// All kinds that carry it, cheapest first.
    pub(super) kinds: Vec<usize>,
    /// What its pods ask for.
    pub(super) total: Resources,
    pub(super) ports: Vec<HostPort>,
    pub(super) pods: Vec<&'a Pod>,
}

impl<'a> Opened<'a> {
    /// Takes as many of `pods` as fit in what is left on the kind it was opened for; how many.
    pub(super) fn take(
        &mut self,
        shape: &Shape<'_>,
        pods: &[&'a Pod],
        lonely: bool,
        offer: &mut Offer<'_>,
        policy: MinValuesPolicy,
    ) -> usize {
        let usable = &offer.kinds[self.kind].usable;
        if !self.total.plus(shape.requests).fits(usable)
            || untolerated(&offer.pool.taints, &shape.placement.tolerations).any(Taint::is_hard)
        {
            return 0;
        }
        let mut count = 0;
        let (mut total, mut ports) = (self.total.clone(), self.ports.clone());
        let room = if shape.alone {
            topology::room(shape, &self.pods, lonely)
        } else {
            usize::MAX
        };
        for _ in pods.iter().take(room) {
            let more = total.plus(shape.requests);
            let collides = shape
                .placement
                .host_ports
                .iter()
                .any(|port| ports.iter().any(|there| there.conflicts(port)));
            if collides || !more.fits(usable) {
                break;
            }
            total = more;
            ports.extend(shape.placement.host_ports.iter().cloned());
            count += 1;
        }
        if count == 0 {
            return 0;
        }
        for alternative in &shape.alternatives {
            if alternative.is_empty() && !offer.template.has_min_values() {
                // Nothing is asked of labels: only the room counts.
                let kinds = &offer.kinds;
                self.kinds.retain(|kind| total.fits(&kinds[*kind].usable));
                return self.add(total, ports, &pods[..count]);
            }
            let template = offer.template.and(&self.wanted);
            if !template.is_compatible(alternative, Undefined::WellKnownOpen) {
                continue;
            }
            let wanted = self.wanted.and(alternative);
            let profile = offer.profile(&wanted);
            let kinds = carriers(offer, &profile, &total, |kind| self.kinds.contains(&kind));
            if kinds.contains(&self.kind) && enough_values(offer, &profile, &kinds, policy) {
                (self.wanted, self.kinds) = (wanted, kinds);
                return self.add(total, ports, &pods[..count]);
            }
        }
        0
    }

    /// The claim as rules over the labels `keys` see it.
    pub(super) fn site(&self, shape: &Shape<'_>, keys: &BTreeSet<&'a Text>, offer: &Offer<'a>) -> Site<'a> {
        let requirements = offer.template.and(&self.wanted);
        let kinds = || self.kinds.iter().map(|kind| &offer.kinds[*kind]);
        let suits = |wanted: &Requirements| requirements.is_compatible(wanted, Undefined::WellKnownOpen);
        Site {
            pods: self.pods.clone(),
            values: keys
                .iter()
                .map(|key| (*key, values(key, &requirements, kinds())))
                .collect(),
            suits: shape.alternatives.iter().any(suits),
            borne: !untolerated(&offer.pool.taints, &shape.placement.tolerations).any(Taint::is_hard),
        }
    }

    fn add(&mut self, total: Resources, ports: Vec<HostPort>, pods: &[&'a Pod]) -> usize {
        (self.total, self.ports) = (total, ports);
        self.pods.extend(pods);
        pods.len()
    }
}

/// The values that the label `key` may take on a node of these kinds under `requirements`.
pub(super) fn values<'k>(
    key: &Text,
    requirements: &Requirements,
    kinds: impl Iterator<Item = &'k Kind<'k>>,
) -> BTreeSet<Text> {
    let by_pool = !well_known::is_said_by_offerings(key) && !well_known::is_said_by_types(key);
    if let (true, Some(Values::Only(values))) = (by_pool, requirements.get(key).map(Requirement::values)) {
        return values.clone();
    }
    let allowed = |value: &Text| {
        requirements
            .get(key)
            .is_none_or(|wanted| wanted.allows(Some(value)))
    };
    let of_kind = |kind: &'k Kind<'k>| -> Vec<Text> {
        if well_known::is_said_by_offerings(key) {
            let offered = kind.it.offerings_for(requirements).map(Offering::requirements);
            offered
                .filter_map(|labels| labels.get(key)?.single().cloned())
                .collect()
        } else {
            values_of(kind.it, key).cloned().collect()
        }
    };
    kinds.flat_map(of_kind).filter(allowed).collect()
}

/// The kinds that carry `total` under `profile`, of those that `among` lets through, cheapest first.
pub(super) fn carriers(
    offer: &Offer<'_>,
    profile: &Profile,
    total: &Resources,
    among: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut kinds: Vec<(Price, usize)> = (0..offer.kinds.len())
        .filter(|kind| among(*kind) && total.fits(&offer.kinds[*kind].usable))
        .filter_map(|kind| profile.prices[kind].map(|price| (price, kind)))
        .collect();
    kinds.sort_by(|(a, ai), (b, bi)| (a, &offer.kinds[*ai].it.name).cmp(&(b, &offer.kinds[*bi].it.name)));
    kinds.into_iter().map(|(_, kind)| kind).collect()
}

/// Whether the kinds offer what `minValues` wants, where that is strict.
pub(super) fn enough_values(
    offer: &Offer<'_>,
    profile: &Profile,
    kinds: &[usize],
    policy: MinValuesPolicy,
) -> bool {
    policy == MinValuesPolicy::BestEffort
        || !profile.requirements.has_min_values()
        || flexibility::gaps(
            kinds.iter().map(|kind| offer.kinds[*kind].it),
            &profile.requirements,
        )
        .is_empty()
}
