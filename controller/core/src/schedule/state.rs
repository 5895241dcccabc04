//! An answer in the making: what is where, what is left, what is counted.

mod admit;
mod narrow;
mod open;
mod rules;

use std::collections::BTreeMap;

pub(super) use admit::{Ask, high, holds, lacking};

use super::atoms::Bits;
use super::desk::{Desk, Payment};
use super::problem::{Problem, Where};
use super::sets::SetId;
use crate::snapshot::{DeviceClaim, HostPort};
use crate::text::Text;

/// A node that is there, a claim on its way, or a claim to be made.
#[derive(Clone)]
pub(super) struct Place {
    /// The pool, for a claim to be made.
    pub(super) pool: Option<usize>,
    /// What its labels are or may be.
    pub(super) set: SetId,
    pub(super) taints: usize,
    /// What new pods take.
    pub(super) total: Vec<i64>,
    /// What they may take at most: of a claim, on its largest kind.
    pub(super) high: Vec<i64>,
    /// The kinds that a claim may become.
    pub(super) kinds: Bits,
    pub(super) payment: Payment,
    pub(super) ports: Vec<HostPort>,
    /// How many pods each group with a rule over hosts counts here.
    pub(super) hosts: Vec<u32>,
    /// Class, level and how many pods.
    pub(super) load: Vec<(usize, usize, usize)>,
    /// The same by what the search for a lower price calls them: demand and how many pods.
    pub(super) packed: Vec<(usize, usize)>,
    /// What it takes of the pool's limits.
    pub(super) weight: Vec<i64>,
    /// Whether it takes pods.
    pub(super) open: bool,
    /// The shared volumes that are attached to it.
    pub(super) attached: Vec<usize>,
}

/// The answer in the making.
#[derive(Clone)]
pub(super) struct State {
    /// What is there first, in the problem's order; then claims to be made.
    pub(super) places: Vec<Place>,
    /// What is left of cpu, memory, storage and pods on each place, side by side: most questions end here.
    pub(super) slack: Vec<[i64; 4]>,
    /// Of each group, pods counted by value.
    pub(super) counts: Vec<Vec<u32>>,
    /// Of each group, pods counted anywhere.
    pub(super) anywhere: Vec<u32>,
    /// Of each pool, what is used of its limits.
    pub(super) used: Vec<Vec<i64>>,
    /// How many more nodes each reservation has.
    pub(super) reserved: Vec<u32>,
    /// How many pods of each class have a place.
    pub(super) done: Vec<usize>,
    /// Where the devices are of claims that several pods share.
    pub(super) shared: BTreeMap<Text, usize>,
}

/// A question, what was looked up for it, and an answer in the making.
pub(super) struct Round<'p, 'a> {
    pub(super) problem: &'p Problem<'a>,
    pub(super) desk: Desk,
    pub(super) state: State,
    /// Whether rules over labels rest: what they decided is part of every question.
    pub(super) frozen: bool,
}

impl State {
    /// Nothing decided.
    pub(super) fn new(problem: &Problem<'_>) -> State {
        let places = problem.nodes.iter().map(|node| Place {
            pool: None,
            set: node.set,
            taints: node.taints,
            total: vec![0; problem.dims.len()],
            high: node.free.clone(),
            kinds: Bits::default(),
            payment: Payment::Market,
            ports: node.ports.clone(),
            hosts: node.hosts.clone(),
            load: Vec::new(),
            packed: Vec::new(),
            weight: Vec::new(),
            open: node.open,
            attached: node.attached.clone(),
        });
        let places: Vec<Place> = places.collect();
        State {
            slack: places.iter().map(|place| slack(place, problem)).collect(),
            places,
            counts: problem.groups.iter().map(|group| group.counts.clone()).collect(),
            anywhere: problem.groups.iter().map(|group| group.anywhere).collect(),
            used: problem
                .pools
                .iter()
                .map(|pool| pool.limits.iter().map(|(_, _, used)| *used).collect())
                .collect(),
            reserved: problem.reservations.iter().map(|(_, left)| *left).collect(),
            done: vec![0; problem.classes.len()],
            shared: shared(problem),
        }
    }
}

/// Where pods that are on their way will have the devices of claims that others share.
fn shared(problem: &Problem<'_>) -> BTreeMap<Text, usize> {
    let places = problem.nodes.iter().enumerate();
    let held =
        places.flat_map(|(place, node)| node.held.iter().map(move |claim| (claim.name.clone(), place)));
    held.filter(|(name, _)| !name.is_empty()).collect()
}

/// What is left of the first four resources; nothing on a place that takes no pods or too little for any.
pub(super) fn slack(place: &Place, problem: &Problem<'_>) -> [i64; 4] {
    let left = |dim: usize| place.high[dim] - place.total[dim];
    let spent = (0..problem.dims.len()).any(|dim| problem.least[dim] > 0 && problem.least[dim] > left(dim));
    if !place.open || spent {
        return [i64::MIN; 4];
    }
    [left(0), left(1), left(2), left(3)]
}

impl<'p, 'a> Round<'p, 'a> {
    pub(super) fn new(problem: &'p Problem<'a>, desk: Desk) -> Round<'p, 'a> {
        Round {
            problem,
            desk,
            state: State::new(problem),
            frozen: false,
        }
    }

    /// The same question and answer with what was looked up left behind, for another thread.
    pub(super) fn copy(&self) -> Round<'p, 'a> {
        Round {
            problem: self.problem,
            desk: Desk::new(self.desk.sets.clone()),
            state: self.state.clone(),
            frozen: self.frozen,
        }
    }

    /// Whether a place may have room for one pod of a class: a quick "no" to most questions.
    pub(super) fn may_hold(&self, place: usize, class: usize) -> bool {
        let (slack, requests) = (&self.state.slack[place], &self.problem.classes[class].requests);
        slack[3] > i64::MIN && (0..4).all(|dim| requests[dim] <= 0 || requests[dim] <= slack[dim])
    }

    /// The claims for devices of whoever is on a place or on its way there.
    pub(super) fn claims_there(&self, place: usize) -> Vec<&'p DeviceClaim> {
        let problem: &'p Problem<'a> = self.problem;
        let mut claims: Vec<&'p DeviceClaim> = Vec::new();
        let held = problem.nodes.get(place).into_iter().flat_map(|node| &node.held);
        held.for_each(|claim| add(&mut claims, claim));
        let load = self.state.places[place].load.iter();
        for class in load.flat_map(|(class, _, count)| std::iter::repeat_n(*class, *count)) {
            problem.classes[class]
                .claims()
                .for_each(|claim| add(&mut claims, claim));
        }
        claims
    }

    /// The same once a pod of a class is there; none where one of its claims has its devices elsewhere.
    pub(super) fn device_claims(&self, place: usize, class: usize) -> Option<Vec<&'p DeviceClaim>> {
        let problem: &'p Problem<'a> = self.problem;
        let mut claims = self.claims_there(place);
        for claim in problem.classes[class].claims() {
            if self.state.shared.get(&claim.name).is_some_and(|at| *at != place) {
                return None;
            }
            add(&mut claims, claim);
        }
        Some(claims)
    }

    /// How many pods of a class have no place.
    pub(super) fn left(&self, class: usize) -> usize {
        self.problem.classes[class].pods.len() - self.state.done[class]
    }

    /// The price of a claim to be made, in millionths of a dollar an hour.
    pub(super) fn price(&mut self, place: usize) -> u64 {
        let it = &self.state.places[place];
        let Some(pool) = it.pool else { return 0 };
        let profile = self.desk.profile(self.problem, pool, it.set, it.payment);
        let prices = &self.desk.get(profile).prices;
        it.kinds.iter().map(|kind| prices[kind]).min().unwrap_or(0)
    }

    /// What all claims to be made cost.
    pub(super) fn total_price(&mut self) -> u64 {
        let mut total = 0u64;
        for place in self.problem.nodes.len()..self.state.places.len() {
            if !self.state.places[place].load.is_empty() {
                total = total.saturating_add(self.price(place));
            }
        }
        total
    }

    /// How many pods have no place.
    pub(super) fn missing(&self) -> usize {
        (0..self.problem.classes.len())
            .filter(|class| self.problem.classes[*class].refusal.is_empty())
            .map(|class| self.left(class))
            .sum()
    }

    /// Counts `count` pods of a class on a place, in every group that it feeds. A group over a label counts them once the
    /// place's value is known.
    pub(super) fn feed(&mut self, place: usize, class: usize, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let problem = self.problem;
        for group in &problem.classes[class].feeds {
            let it = &problem.groups[*group];
            let (set, taints) = (self.state.places[place].set, self.state.places[place].taints);
            if !it.looks_at(&self.desk.sets, set, taints) {
                continue;
            }
            match it.at {
                Where::Host => {
                    if !self.frozen {
                        self.state.anywhere[*group] += count;
                    }
                    self.state.places[place].hosts[it.host] += count;
                }
                Where::Label(key) if !self.frozen => self.feed_label(place, *group, key, count),
                Where::Label(_) => {}
            }
        }
    }

    fn feed_label(&mut self, place: usize, group: usize, key: usize, count: u32) {
        let atoms = self.problem.keys.atoms(key);
        let rule = self.problem.groups[group].rule;
        let set = self.state.places[place].set;
        let Some(bits) = self.desk.sets.on(set, key) else {
            // Open: a pod to stay away from may be anywhere.
            if rules::is_apart(rule) {
                (0..atoms.len())
                    .filter(|atom| atoms.is_named(*atom))
                    .for_each(|atom| self.state.counts[group][atom] += count);
                self.state.anywhere[group] += count;
            }
            return;
        };
        let named = atoms.named(bits);
        if rules::is_apart(rule) || (named.len() == 1 && bits.len() == 1) {
            named
                .iter()
                .for_each(|atom| self.state.counts[group][atom] += count);
            self.state.anywhere[group] += count;
        }
    }
}

/// Adds a claim; one that pods share counts once.
fn add<'p>(claims: &mut Vec<&'p DeviceClaim>, claim: &'p DeviceClaim) {
    if claim.name.is_empty() || !claims.iter().any(|other| other.name == claim.name) {
        claims.push(claim);
    }
}
