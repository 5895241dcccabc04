//! What has to be bought: pods that are alike and have to be in one place, as far as labels go.

use std::collections::BTreeMap;

use crate::schedule::desk::Payment;
use crate::schedule::problem::{Rule, Where};
use crate::schedule::sets::SetId;
use crate::schedule::state::{Round, slack};
use crate::snapshot::MinValuesPolicy;

/// Pods of one class that the first answer put on new nodes.
#[derive(Clone, Debug)]
pub(in crate::schedule) struct Demand {
    pub(in crate::schedule) class: usize,
    pub(in crate::schedule) level: usize,
    /// The values of labels that the rules of the class, or of others about it, rest on.
    pub(in crate::schedule) pin: Option<SetId>,
    /// The weight of the pools that serve it.
    pub(in crate::schedule) weight: u32,
    pub(in crate::schedule) count: usize,
    /// What each asks for: amounts, then a slot in each crowded group.
    pub(in crate::schedule) takes: Vec<f64>,
    /// How many of them a node holds at most, whatever its size.
    pub(in crate::schedule) cap: f64,
}

/// Whether it counts how many pods of a kind a node holds at most, whatever its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::schedule) enum Caps {
    Counted,
    Ignored,
}

/// All that may be packed anew. Claims that a reservation pays, that keep a variety of types only where it can be had or
/// whose pods found a company on one host stay as they are. With it comes how many pods of each crowded group a node holds.
pub(in crate::schedule) fn demands(round: &mut Round<'_, '_>) -> (Vec<Demand>, Vec<f64>) {
    let mut found = Found::new();
    for place in round.problem.nodes.len()..round.state.places.len() {
        let Some(weight) = loose(round, place) else {
            continue;
        };
        for (class, level, count) in round.state.places[place].load.clone() {
            let pin = pin(round, place, class, level);
            *found.entry((class, level, pin, weight)).or_default() += count;
        }
    }
    listed(round, found, 4, 20.0, Caps::Ignored)
}

/// Class, level, pin and weight to how many pods.
pub(super) type Found = BTreeMap<(usize, usize, Option<SetId>, u32), usize>;

/// Demands, with slots in at most `most` groups that need so many `nodes` or more.
pub(super) fn listed(
    round: &Round<'_, '_>,
    found: Found,
    most: usize,
    nodes: f64,
    caps: Caps,
) -> (Vec<Demand>, Vec<f64>) {
    let mut demands: Vec<Demand> = found
        .into_iter()
        .map(|((class, level, pin, weight), count)| Demand {
            class,
            level,
            pin,
            weight,
            count,
            takes: round.problem.classes[class]
                .requests
                .iter()
                .map(|it| *it as f64)
                .collect(),
            cap: match caps {
                Caps::Counted => cap(round, class, level).min(count as f64),
                Caps::Ignored => f64::INFINITY,
            },
        })
        .collect();
    let slots = slots(round, &demands, most, nodes);
    for demand in &mut demands {
        let class = &round.problem.classes[demand.class];
        let rules = &class.level(demand.level).rules;
        let holds = |(group, _): &(usize, f64)| class.feeds.contains(group) && rules.contains(group);
        demand
            .takes
            .extend(slots.iter().map(|slot| if holds(slot) { 1.0 } else { 0.0 }));
    }
    (demands, slots.into_iter().map(|(_, cap)| cap).collect())
}

/// The groups that need the most nodes because so few of their pods go on one, and how many do.
fn slots(round: &Round<'_, '_>, demands: &[Demand], most: usize, least: f64) -> Vec<(usize, f64)> {
    let mut needs: BTreeMap<usize, f64> = BTreeMap::new();
    for demand in demands {
        for (group, cap) in crowded(round, demand.class, demand.level) {
            *needs.entry(group).or_default() += demand.count as f64 / cap;
        }
    }
    let mut needs: Vec<(usize, f64)> = needs.into_iter().filter(|(_, nodes)| *nodes >= least).collect();
    needs.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    needs.truncate(most);
    needs
        .into_iter()
        .filter_map(|(group, _)| Some((group, room(round, group)?)))
        .collect()
}

/// The groups of a class with a rule that lets few of their pods on a node, and how many.
fn crowded(round: &Round<'_, '_>, class: usize, level: usize) -> impl Iterator<Item = (usize, f64)> {
    let class = &round.problem.classes[class];
    let own = class
        .level(level)
        .rules
        .iter()
        .filter(|group| class.feeds.contains(group));
    own.filter_map(|group| Some((*group, room(round, *group)?)))
}

/// How many pods of a group a node holds at most.
fn room(round: &Round<'_, '_>, group: usize) -> Option<f64> {
    match (round.problem.groups[group].at, round.problem.groups[group].rule) {
        (Where::Host, Rule::Spread { skew, .. }) => Some(f64::from(skew)),
        (Where::Host, Rule::Share { most }) => Some(f64::from(most)),
        (Where::Host, Rule::Apart) => Some(1.0),
        _ => None,
    }
}

/// How many pods of a class a node holds at most.
fn cap(round: &Round<'_, '_>, class: usize, level: usize) -> f64 {
    let alone = !round.problem.classes[class].ports.is_empty();
    let caps = crowded(round, class, level).map(|(_, cap)| cap);
    caps.fold(if alone { 1.0 } else { f64::INFINITY }, f64::min)
}

/// The weight of the pool of a claim that may be packed anew.
pub(super) fn loose(round: &Round<'_, '_>, place: usize) -> Option<u32> {
    let it = &round.state.places[place];
    let pool = &round.problem.pools[it.pool?];
    let company = |class: usize, level: usize| {
        round.problem.classes[class]
            .level(level)
            .rules
            .iter()
            .any(|group| {
                let group = &round.problem.groups[*group];
                group.rule == Rule::Together && group.at == Where::Host
            })
    };
    let looked_for = |class: usize| {
        round.problem.classes[class].feeds.iter().any(|group| {
            let group = &round.problem.groups[*group];
            group.rule == Rule::Together && group.at == Where::Host
        })
    };
    let bound = it.load.iter().any(|(class, level, _)| {
        let it = &round.problem.classes[*class];
        company(*class, *level) || looked_for(*class) || it.devices || !it.shared.is_empty()
    });
    let varied = !pool.min_values.is_empty()
        && round.problem.settings.min_values_policy == MinValuesPolicy::BestEffort;
    let stays = it.load.is_empty() || it.payment != Payment::Market || varied || bound;
    (!stays).then_some(pool.pool.weight)
}

/// What of a claim's labels a class on it rests on.
pub(super) fn pin(round: &mut Round<'_, '_>, place: usize, class: usize, level: usize) -> Option<SetId> {
    let it = &round.problem.classes[class];
    let groups = it.feeds.iter().chain(&it.level(level).rules);
    let mut keys: Vec<usize> = groups
        .filter_map(|group| match round.problem.groups[*group].at {
            Where::Label(key) => Some(key),
            Where::Host => None,
        })
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let set = round.state.places[place].set;
    let pins: Vec<_> = keys
        .into_iter()
        .filter_map(|key| Some((key, round.desk.sets.on(set, key)?.clone())))
        .collect();
    (!pins.is_empty()).then(|| round.desk.sets.intern(pins))
}

impl Round<'_, '_> {
    /// Takes the pods of `demands` off their claims, which go.
    pub(super) fn lift(&mut self, demands: &[Demand]) {
        let start = self.problem.nodes.len();
        let gone: Vec<usize> = (start..self.state.places.len())
            .filter(|place| loose(self, *place).is_some())
            .collect();
        for place in gone.iter().rev() {
            self.close(*place);
        }
        debug_assert!(
            demands
                .iter()
                .all(|demand| self.left(demand.class) >= demand.count)
        );
    }

    /// Drops a claim; its pods have no place any more. The last claim takes its number.
    pub(in crate::schedule) fn close(&mut self, place: usize) {
        for (class, _, count) in self.state.places[place].load.clone() {
            self.state.done[class] -= count;
        }
        self.state.places[place].load.clear();
        self.weigh(place);
        self.state.places.swap_remove(place);
        self.state.slack.swap_remove(place);
    }

    /// Takes all pods off a claim, which keeps its number and takes no others; what it was.
    pub(super) fn vacate(&mut self, place: usize) -> crate::schedule::state::Place {
        let was = self.state.places[place].clone();
        for (class, _, count) in &was.load {
            self.state.done[*class] -= count;
        }
        let it = &mut self.state.places[place];
        it.load.clear();
        it.packed.clear();
        it.open = false;
        self.weigh(place);
        self.state.slack[place] = [i64::MIN; 4];
        was
    }

    /// Makes a vacated claim what it was.
    pub(super) fn restore(&mut self, place: usize, mut was: crate::schedule::state::Place) {
        for (class, _, count) in &was.load {
            self.state.done[*class] += count;
        }
        was.weight.iter_mut().for_each(|weight| *weight = 0);
        self.state.slack[place] = slack(&was, self.problem);
        self.state.places[place] = was;
        self.weigh(place);
    }
}
