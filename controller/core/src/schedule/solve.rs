//! From a snapshot to a schedule: the question in numbers, answers by the strategies, the best of them by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::build::{Lists, claim};
use super::desk::Desk;
use super::first_fit::{Opening, first_fit};
use super::misfit::Misfit;
use super::outcome::Schedule;
use super::problem::{Class, Problem, build};
use super::reorder::reorder;
use super::state::{Ask, Round, State};
use super::why::{misfit, refusal};
use crate::catalogue::Catalogue;
use crate::money::Price;
use crate::snapshot::{Pod, PodKey, PodState, Snapshot, Strategy};
use crate::text::Text;

/// Decides on every pod of the snapshot that needs a place.
pub(super) fn solve(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    now: Timestamp,
    stop: &dyn Fn() -> bool,
) -> Schedule {
    let (problem, sets) = build(snapshot, catalogue, now);
    let mut round = Round::new(&problem, Desk::new(sets));
    let orders = orders(&problem);
    first_fit(&mut round, &orders[0], Opening::Allowed);
    if let (Some(by_priority), true) = (orders.get(1), round.missing() > 0) {
        // Not everybody has a place: who matters most comes first.
        round.state = State::new(&problem);
        first_fit(&mut round, by_priority, Opening::Allowed);
    }
    if let (Some(order), true) = (orders.last(), round.missing() > 0) {
        reorder(&mut round, order, stop);
    }
    let bounded = snapshot.settings.bound;
    let mut lower_bound = None;
    if snapshot.settings.strategy == Strategy::Price {
        if bounded && round.missing() == 0 {
            // Where all have a place the search changes nothing of what the bound rests on, so both are at work at once.
            let copy = round.copy();
            lower_bound = Some(beside(
                move || super::bound::lower(&mut { copy }),
                || super::price::improve(&mut round, stop),
            ));
        } else {
            super::price::improve(&mut round, stop);
        }
        if round.missing() > 0 {
            // Cheaper nodes may leave room within a limit.
            let last = orders.last().map_or(&[][..], |order| &order[..]);
            first_fit(&mut round, last, Opening::Allowed);
        }
    }
    let lower_bound = lower_bound.or_else(|| bounded.then(|| super::bound::lower(&mut round)));
    let mut schedule = answer(&mut round);
    schedule.existing_price = existing_price(snapshot, catalogue);
    schedule.lower_bound = lower_bound;
    schedule
}

/// What `other` comes to, on a thread of its own while `own` is at work.
fn beside<T: Send>(other: impl FnOnce() -> T + Send, own: impl FnOnce()) -> T {
    std::thread::scope(|scope| {
        let other = scope.spawn(other);
        own();
        other
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Why each pool could buy no node for a pod that is alone.
pub(super) fn by_pool(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    pod: &Pod,
    now: Timestamp,
) -> Vec<(Text, Option<Misfit>)> {
    let mut alone = snapshot.clone();
    let mut pod = pod.clone();
    pod.state = PodState::Unschedulable;
    for node in &mut alone.nodes {
        node.pods.retain(|other| other.key != pod.key);
        node.nominated.retain(|other| *other != pod.key);
    }
    alone.pending = vec![Arc::new(pod)];
    let (problem, sets) = build(&alone, catalogue, now);
    let mut round = Round::new(&problem, Desk::new(sets));
    let own = |class: &Class<'_>| class.pods.iter().any(|one| one.key == alone.pending[0].key);
    let Some(at) = problem.classes.iter().position(own) else {
        return Vec::new();
    };
    let class = &problem.classes[at];
    let mut all = Vec::new();
    for pool in 0..problem.pools.len() {
        round.state = State::new(&problem);
        let refused = class.refusal.first().cloned();
        let sells = refused.is_none()
            && (0..class.levels.len()).any(|level| {
                let ask = Ask {
                    class: at,
                    level,
                    most: 1,
                    pin: None,
                };
                round.open_in(pool, ask) > 0
            });
        let misfit = refused.or_else(|| (!sells).then(|| misfit(&mut round, at, pool)));
        all.push((problem.pools[pool].pool.name.clone(), misfit));
    }
    all
}

/// The orders in which classes are placed: by size, and where priorities differ, by priority and then by size.
fn orders(problem: &Problem<'_>) -> Vec<Vec<usize>> {
    let by_size: Vec<usize> = (0..problem.classes.len()).collect();
    let mut by_priority = by_size.clone();
    by_priority.sort_by_key(|class| std::cmp::Reverse(problem.classes[*class].priority));
    if by_priority == by_size {
        vec![by_size]
    } else {
        vec![by_size, by_priority]
    }
}

/// Writes the answer out.
fn answer(round: &mut Round<'_, '_>) -> Schedule {
    let problem = round.problem;
    let mut schedule = Schedule::default();
    let mut next = vec![0; problem.classes.len()];
    let mut lists = Lists::new();
    let mut claims = Vec::new();
    // What is there first, then claims by pool.
    let mut order: Vec<usize> = (0..round.state.places.len()).collect();
    order.sort_by_key(|place| round.state.places[*place].pool.map(|pool| pool + 1));
    for place in order {
        let load = round.state.places[place].load.clone();
        if load.is_empty() {
            continue;
        }
        let mut pods: Vec<PodKey> = Vec::new();
        for (class, level, count) in load {
            let it = &problem.classes[class];
            let dropped = &it.level(level).dropped;
            for pod in &it.pods[next[class]..next[class] + count] {
                pods.push(pod.key.clone());
                if !dropped.is_empty() {
                    schedule.relaxed.insert(pod.key.clone(), Arc::clone(dropped));
                }
            }
            next[class] += count;
        }
        if round.state.places[place].is_new() {
            claims.extend(claim(round, place, pods, &mut lists));
        } else {
            schedule.existing.insert(problem.nodes[place].name.clone(), pods);
        }
    }
    for (class, next) in next.into_iter().enumerate() {
        let left = &problem.classes[class].pods[next..];
        if left.is_empty() {
            continue;
        }
        let why = Arc::new(refusal(round, class));
        schedule
            .unschedulable
            .extend(left.iter().map(|pod| (pod.key.clone(), Arc::clone(&why))));
    }
    schedule.price = claims.iter().map(|claim| claim.price).sum();
    schedule.new_claims = claims;
    schedule
}

/// What the nodes that are there cost an hour, as far as the catalogue knows their price.
pub(crate) fn existing_price(snapshot: &Snapshot, catalogue: &Catalogue) -> Price {
    let mut index: BTreeMap<(&Text, &Text), &crate::catalogue::InstanceType> = BTreeMap::new();
    for (pool, types) in &catalogue.pools {
        index.extend(types.iter().map(|it| ((pool, &it.name), it)));
    }
    let price = |node: &crate::snapshot::Node| {
        let labels = node.labels()?;
        let label = |key: &str| labels.get(key);
        let it = index.get(&(node.pool()?, label(crate::well_known::INSTANCE_TYPE)?))?;
        it.offerings
            .iter()
            .find(|offering| {
                label(crate::well_known::ZONE) == Some(&offering.zone)
                    && label(crate::well_known::CAPACITY_TYPE)
                        .is_some_and(|value| &**value == offering.capacity_type.as_str())
            })
            .map(|offering| offering.price)
            .filter(|price| *price < Price::MAX)
    };
    let staying = snapshot.nodes.iter().filter(|node| !node.is_going());
    staying.filter_map(price).sum()
}
