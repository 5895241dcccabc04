//! Where pods may be because of where other pods are: topology spread, pod affinity and anti-affinity.
//!
//! A shape with such wishes is split before it is placed: for every label but the hostname each pod is given a value
//! (a zone, say) that its rules allow, and pods with the same values become a shape of their own, which asks for them
//! like for any other label. What rules over the hostname allow is a number of pods for each place.

use std::collections::{BTreeMap, BTreeSet};

use super::misfit::Misfit;
use super::shape::Shape;
use crate::requirements::Requirement;
use crate::snapshot::{InclusionPolicy, Placement, Pod, PodTerm, Spread, Strength};
use crate::text::Text;
use crate::well_known;

/// A place as rules over labels see it.
pub(super) struct Site<'a> {
    /// Who is there or on the way.
    pub(super) pods: Vec<&'a Pod>,
    /// Of each label that rules speak of, the values that the place has or may yet have.
    pub(super) values: BTreeMap<&'a Text, BTreeSet<Text>>,
    /// Whether the shape at hand could be here as far as labels go.
    pub(super) suits: bool,
    /// Whether it bears the taints.
    pub(super) borne: bool,
}

/// A shape's share in the values of labels: what its pods must ask for, and how many of them.
pub(super) type Share = (Vec<Requirement>, usize);

/// Whether a pod has rules that bind it to others.
pub(super) fn is_bound(placement: &Placement) -> bool {
    !placement.affinity.is_empty()
        || !placement.anti_affinity.is_empty()
        || required(placement).next().is_some()
}

/// The labels, hostname aside, that the shape's rules speak of.
pub(super) fn keys<'a>(shape: &Shape<'a>) -> BTreeSet<&'a Text> {
    let placement = shape.placement;
    let terms = placement
        .affinity
        .iter()
        .chain(&placement.anti_affinity)
        .map(|term| &term.topology_key);
    let spreads = required(placement).map(|spread| &spread.topology_key);
    terms
        .chain(spreads)
        .filter(|key| ***key != *well_known::HOSTNAME)
        .collect()
}

/// Gives values to as many of `count` pods of the shape as its rules allow.
///
/// `open` holds, for each label, the values that could be had: on places that are there or by buying. The reason is
/// returned where not every pod got values.
pub(super) fn split(
    shape: &Shape<'_>,
    count: usize,
    sites: &[Site<'_>],
    open: &BTreeMap<&Text, BTreeSet<Text>>,
) -> (Vec<Share>, Option<Misfit>) {
    let Some(pod) = shape.pods.first() else {
        return (Vec::new(), None);
    };
    let mut rules: Vec<Rule<'_>> = rules(shape, pod, sites, open);
    let mut shares: BTreeMap<Vec<(&Text, Text)>, usize> = BTreeMap::new();
    let mut stuck = None;
    for _ in 0..count {
        let mut chosen = Vec::new();
        for (key, values) in open {
            let of_key = || rules.iter().filter(|rule| rule.key == *key);
            let allowed = |value: &&Text| of_key().all(|rule| rule.allows(value));
            let busy = |value: &Text| of_key().map(|rule| rule.rank(value)).sum::<usize>();
            match values
                .iter()
                .filter(allowed)
                .min_by_key(|value| (busy(value), (*value).clone()))
            {
                Some(value) => chosen.push((*key, value.clone())),
                None => {
                    let blocking = of_key().find(|rule| !values.iter().any(|value| rule.allows(value)));
                    stuck = blocking.or_else(|| of_key().next()).map(Rule::refusal);
                }
            }
        }
        if stuck.is_some() {
            break;
        }
        for rule in &mut rules {
            if let Some((_, value)) = chosen.iter().find(|(key, _)| *key == rule.key) {
                rule.note(value);
            }
        }
        *shares.entry(chosen).or_default() += 1;
    }
    let pin = |(key, value): (&Text, Text)| Requirement::is(key.clone(), value);
    let shares = shares
        .into_iter()
        .map(|(values, count)| (values.into_iter().map(pin).collect(), count));
    (shares.collect(), stuck)
}

/// How many more pods of the shape may join `there` on one place, as far as rules over the hostname go. `lonely`:
/// nowhere is there a pod that the shape's affinity looks for, so it may found its own company.
pub(super) fn room(shape: &Shape<'_>, there: &[&Pod], lonely: bool) -> usize {
    let Some(pod) = shape.pods.first() else { return 0 };
    let on_host = |term: &&PodTerm| &*term.topology_key == well_known::HOSTNAME;
    let repelled = |other: &&Pod| {
        other
            .placement
            .anti_affinity
            .iter()
            .filter(on_host)
            .any(|term| means(term, pod))
    };
    if there.iter().any(repelled) {
        return 0;
    }
    let mut room = usize::MAX;
    for term in shape.placement.anti_affinity.iter().filter(on_host) {
        if there.iter().any(|other| means(term, other)) {
            return 0;
        }
        room = room.min(if means(term, pod) { 1 } else { usize::MAX });
    }
    for term in shape.placement.affinity.iter().filter(on_host) {
        let company = there.iter().any(|other| means(term, other));
        let founds = lonely && means(term, pod);
        if !company && !founds {
            return 0;
        }
    }
    for spread in required(shape.placement).filter(|spread| &*spread.topology_key == well_known::HOSTNAME) {
        let most = usize::try_from(spread.max_skew).unwrap_or(usize::MAX);
        let counted = there.iter().filter(|other| counts(spread, pod, other)).count();
        let more = if counts(spread, pod, pod) {
            most.saturating_sub(counted)
        } else {
            usize::MAX
        };
        room = room.min(if counted > most { 0 } else { more });
    }
    room
}

/// Whether the shape's pods look for company on their own host and none of it is anywhere.
pub(super) fn is_lonely<'p>(shape: &Shape<'_>, everybody: impl Iterator<Item = &'p Pod> + Clone) -> bool {
    let on_host = |term: &&PodTerm| &*term.topology_key == well_known::HOSTNAME;
    let mut terms = shape.placement.affinity.iter().filter(on_host).peekable();
    terms.peek().is_some() && terms.all(|term| !everybody.clone().any(|other| means(term, other)))
}

/// Where running pods and those on their way keep the shape away from, hostname aside: labels and values.
pub(super) fn kept_away<'a>(shape: &Shape<'_>, sites: &[Site<'a>]) -> BTreeMap<&'a Text, BTreeSet<Text>> {
    let mut away: BTreeMap<&'a Text, BTreeSet<Text>> = BTreeMap::new();
    let Some(pod) = shape.pods.first() else {
        return away;
    };
    for site in sites {
        let terms = site.pods.iter().flat_map(|other| &other.placement.anti_affinity);
        for term in terms.filter(|term| &*term.topology_key != well_known::HOSTNAME && means(term, pod)) {
            if let Some((key, values)) = site.values.get_key_value(&term.topology_key) {
                away.entry(key).or_default().extend(values.iter().cloned());
            }
        }
    }
    away
}

/// Whether a term speaks of a pod.
pub(super) fn means(term: &PodTerm, pod: &Pod) -> bool {
    term.namespaces
        .as_ref()
        .is_none_or(|all| all.contains(&pod.key.namespace))
        && term.selector.selects(&pod.labels)
}

fn counts(spread: &Spread, own: &Pod, other: &Pod) -> bool {
    own.key.namespace == other.key.namespace && spread.selector.selects(&other.labels)
}

fn required(placement: &Placement) -> impl Iterator<Item = &Spread> {
    placement
        .spread
        .iter()
        .filter(|spread| spread.strength == Strength::Required)
}

/// One rule over one label, with the pods it counts for each value.
struct Rule<'s> {
    key: &'s Text,
    kind: Kind<'s>,
    counted: BTreeMap<Text, usize>,
    /// Whether the shape's own pods are among those that count.
    own: bool,
}

enum Kind<'s> {
    Spread {
        spread: &'s Spread,
        values: BTreeSet<Text>,
    },
    Together,
    Apart,
}

fn rules<'s>(
    shape: &Shape<'s>,
    pod: &Pod,
    sites: &[Site<'_>],
    open: &BTreeMap<&Text, BTreeSet<Text>>,
) -> Vec<Rule<'s>> {
    let placement = shape.placement;
    let mut rules = Vec::new();
    for spread in required(placement).filter(|it| &*it.topology_key != well_known::HOSTNAME) {
        let honour = |policy| policy == InclusionPolicy::Honor;
        let seen = |site: &&Site<'_>| {
            (!honour(spread.node_affinity_policy) || site.suits)
                && (!honour(spread.node_taints_policy) || site.borne)
        };
        let mut values: BTreeSet<Text> = open.get(&spread.topology_key).cloned().unwrap_or_default();
        let mut counted = BTreeMap::new();
        for site in sites.iter().filter(seen) {
            // Pods whose place is not settled yet are not counted; they are when it is.
            if let Some(value) = settled(site, &spread.topology_key) {
                let pods = site
                    .pods
                    .iter()
                    .filter(|other| counts(spread, pod, other))
                    .count();
                *counted.entry(value.clone()).or_default() += pods;
                values.insert(value.clone());
            }
        }
        let own = counts(spread, pod, pod);
        rules.push(Rule {
            key: &spread.topology_key,
            kind: Kind::Spread { spread, values },
            counted,
            own,
        });
    }
    let terms = placement.affinity.iter().map(|term| (term, Kind::Together));
    let terms = terms.chain(placement.anti_affinity.iter().map(|term| (term, Kind::Apart)));
    for (term, kind) in terms.filter(|(term, _)| &*term.topology_key != well_known::HOSTNAME) {
        let mut counted: BTreeMap<Text, usize> = BTreeMap::new();
        for site in sites {
            let pods = site.pods.iter().filter(|other| means(term, other)).count();
            let values = match kind {
                // Company must be sure to be there; a pod to stay away from may be anywhere its place may end up.
                Kind::Together | Kind::Spread { .. } => {
                    settled(site, &term.topology_key).into_iter().cloned().collect()
                }
                Kind::Apart => site.values.get(&term.topology_key).cloned().unwrap_or_default(),
            };
            values
                .into_iter()
                .for_each(|value| *counted.entry(value).or_default() += pods);
        }
        rules.push(Rule {
            key: &term.topology_key,
            kind,
            counted,
            own: means(term, pod),
        });
    }
    rules
}

fn settled<'s>(site: &'s Site<'_>, key: &Text) -> Option<&'s Text> {
    site.values
        .get(key)
        .filter(|values| values.len() == 1)
        .and_then(|values| values.first())
}

impl Rule<'_> {
    fn count(&self, value: &Text) -> usize {
        self.counted.get(value).copied().unwrap_or(0)
    }

    fn allows(&self, value: &Text) -> bool {
        match &self.kind {
            Kind::Apart => self.count(value) == 0,
            Kind::Together => {
                let anywhere = self.counted.values().any(|count| *count > 0);
                if anywhere { self.count(value) > 0 } else { self.own }
            }
            Kind::Spread { spread, values } => {
                let enough = spread
                    .min_domains
                    .is_none_or(|wanted| u32::try_from(values.len()).is_ok_and(|it| it >= wanted));
                let least = if enough {
                    values.iter().map(|value| self.count(value)).min().unwrap_or(0)
                } else {
                    0
                };
                let most = least.saturating_add(usize::try_from(spread.max_skew).unwrap_or(usize::MAX));
                self.count(value) + usize::from(self.own) <= most
            }
        }
    }

    /// How good a value is for balance; less is better.
    fn rank(&self, value: &Text) -> usize {
        match self.kind {
            Kind::Spread { .. } => self.count(value),
            Kind::Together | Kind::Apart => 0,
        }
    }

    fn note(&mut self, value: &Text) {
        if self.own {
            *self.counted.entry(value.clone()).or_default() += 1;
        }
    }

    fn refusal(&self) -> Misfit {
        let rule = match &self.kind {
            Kind::Spread { spread, .. } => {
                format!(
                    "topology spread over {} (maxSkew {}) allows no place that can be had",
                    self.key, spread.max_skew
                )
            }
            Kind::Together => format!(
                "pod affinity on {} finds no place with the pods it looks for",
                self.key
            ),
            Kind::Apart => format!(
                "pod anti-affinity on {} leaves no place without the pods it avoids",
                self.key
            ),
        };
        Misfit::Topology { rule: rule.into() }
    }
}
