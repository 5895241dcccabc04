//! Why pods of a class have no place, pool by pool.

use std::collections::BTreeMap;

use super::desk::Payment;
use super::misfit::{Misfit, Refusal};
use super::problem::{Rule, Where, terms};
use super::refuse::refuse;
use super::sets::SetId;
use super::state::{Round, lacking};
use crate::requirements::{Conflict, Requirement, Requirements, Undefined};
use crate::resources::Resources;
use crate::snapshot::{HostPort, Placement};
use crate::taints::untolerated;
use crate::text::Text;

/// The refusal of a class of which some pods are left.
pub(super) fn refusal(round: &mut Round<'_, '_>, class: usize) -> Refusal {
    let own = &round.problem.classes[class].refusal;
    if !own.is_empty() {
        return Refusal {
            pod: own.clone(),
            pools: BTreeMap::new(),
        };
    }
    let pools = (0..round.problem.pools.len())
        .map(|pool| {
            (
                round.problem.pools[pool].pool.name.clone(),
                misfit(round, class, pool),
            )
        })
        .collect();
    Refusal {
        pod: Vec::new(),
        pools,
    }
}

pub(super) fn misfit(round: &mut Round<'_, '_>, class: usize, pool: usize) -> Misfit {
    let problem = round.problem;
    let (it, model) = (&problem.classes[class], &problem.pools[pool]);
    if let Some(closed) = &model.closed {
        return closed.clone();
    }
    let placement = &it.pods[0].placement;
    if let Some(taint) = untolerated(&model.pool.taints, &placement.tolerations).find(|taint| taint.is_hard())
    {
        return Misfit::Taint { taint: taint.clone() };
    }
    let last = it.levels.len() - 1;
    let level = it.level(last);
    // Of several alternatives the one that came furthest is explained.
    let mut furthest: Option<Misfit> = None;
    for wanted in &level.wanted {
        let Some(set) = round.desk.sets.and(model.template, *wanted) else {
            continue;
        };
        let misfit = beyond_labels(round, class, pool, set);
        furthest = Some(match furthest {
            Some(known) if rank(&known) >= rank(&misfit) => known,
            _ => misfit,
        });
    }
    furthest.unwrap_or_else(|| label_conflict(round, class, pool))
}

/// Why a class whose labels go together with a pool's cannot be on its nodes.
fn beyond_labels(round: &mut Round<'_, '_>, class: usize, pool: usize, set: SetId) -> Misfit {
    let problem = round.problem;
    let (it, model) = (&problem.classes[class], &problem.pools[pool]);
    if model.kinds.is_empty() {
        return Misfit::NoTypes;
    }
    let profile = round.desk.profile(problem, pool, set, Payment::Market);
    let mut suited = round.desk.get(profile).kinds.clone();
    for reservation in 0..problem.reservations.len() {
        let profile = round
            .desk
            .profile(problem, pool, set, Payment::Reserved(reservation));
        suited.add(&round.desk.get(profile).kinds.clone());
    }
    let shared = |port: &&HostPort| {
        let spared = |kind: usize| model.kinds[kind].spares(std::slice::from_ref(*port));
        !suited.is_empty() && !suited.iter().any(spared)
    };
    if let Some(port) = it.ports.iter().find(shared) {
        return Misfit::Port { port: port.clone() };
    }
    suited.keep(|kind| model.kinds[kind].spares(&it.ports));
    let holds = |kind: usize| {
        super::problem::fits(
            &vec![0; problem.dims.len()],
            &it.requests,
            &model.kinds[kind].usable,
        )
    };
    let holding: Vec<usize> = suited.iter().filter(|kind| holds(*kind)).collect();
    if holding.is_empty() {
        let requirements = requirements(round, pool, set);
        let requests = problem.dims.resources(&it.requests);
        let usable: Vec<(&crate::catalogue::InstanceType, Resources)> = model
            .kinds
            .iter()
            .map(|kind| (kind.it, kind.it.allocatable().minus(&kind.daemons)))
            .collect();
        return refuse(
            usable.iter().map(|(it, usable)| (*it, usable)),
            &requirements,
            &requests,
        );
    }
    let within = round.within_limits(pool);
    if !holding.iter().any(|kind| within.has(*kind)) {
        return limit(round, pool, &holding);
    }
    let mut kinds = within.and(&suited);
    kinds.keep(holds);
    if let Some((key, found, wanted)) = lacking(problem, pool, &round.desk.sets, set, &kinds) {
        return Misfit::MinValues {
            key: problem.keys.name(key).clone(),
            found,
            wanted,
        };
    }
    topology(round, class)
}

fn limit(round: &Round<'_, '_>, pool: usize, holding: &[usize]) -> Misfit {
    let model = &round.problem.pools[pool];
    let exceeded = model
        .limits
        .iter()
        .enumerate()
        .find_map(|(index, (name, bound, _))| {
            let needed = holding
                .iter()
                .map(|kind| model.kinds[*kind].weight[index])
                .min()
                .unwrap_or(0);
            let used = round.state.used[pool][index];
            (needed > 0 && used.saturating_add(needed) > *bound).then(|| Misfit::Limit {
                resource: name.clone(),
                limit: *bound,
                used,
                needed,
            })
        });
    exceeded.unwrap_or(Misfit::NoTypes)
}

/// The rule about other pods that is in the way.
fn topology(round: &mut Round<'_, '_>, class: usize) -> Misfit {
    let it = &round.problem.classes[class];
    let level = it.levels.len() - 1;
    let describe = |group: usize| {
        let about = &round.problem.groups[group];
        match about.rule {
            Rule::Spread { skew, .. } => format!(
                "topology spread over {} (maxSkew {skew}) allows no place that can be had",
                about.key
            ),
            Rule::Together => format!(
                "pod affinity on {} finds no place with the pods it looks for",
                about.key
            ),
            Rule::Apart => format!(
                "pod anti-affinity on {} leaves no place without the pods it avoids",
                about.key
            ),
            Rule::Repelled => format!(
                "anti-affinity of other pods on {} keeps it away from every place",
                about.key
            ),
            Rule::Share { most } => format!("no node may carry more than {most} replicas of its workload"),
        }
    };
    let blocks = |group: usize| match round.problem.groups[group].at {
        Where::Host => {
            let rule = round.problem.groups[group].rule;
            rule == Rule::Together
                && (round.state.anywhere[group] > 0 || it.feeds.binary_search(&group).is_err())
        }
        Where::Label(key) => {
            let (allowed, _, _) = round.allowed(class, level, key);
            let domains = &round.problem.groups[group].domains;
            allowed.is_empty() || (!domains.is_empty() && !allowed.meets(domains)) || domains.is_empty()
        }
    };
    let rules = &it.level(level).rules;
    let rule = rules
        .iter()
        .copied()
        .find(|group| blocks(*group))
        .or_else(|| rules.first().copied());
    match rule {
        Some(group) => Misfit::Topology {
            rule: describe(group).into(),
        },
        None if it.devices => Misfit::Topology {
            rule: "no node has the devices that it claims".into(),
        },
        None => Misfit::Topology {
            rule: "no place was found".into(),
        },
    }
}

/// How far a pod came: the larger, the further.
const fn rank(misfit: &Misfit) -> u32 {
    match misfit {
        Misfit::Topology { .. } => 4,
        Misfit::MinValues { .. } | Misfit::Limit { .. } => 3,
        Misfit::Types { .. } => 2,
        _ => 1,
    }
}

fn requirements(round: &Round<'_, '_>, pool: usize, set: SetId) -> Requirements {
    let model = &round.problem.pools[pool];
    let mut requirements = model.pool.template_requirements();
    for (key, bits) in round.desk.sets.get(set) {
        if round.desk.sets.on(model.template, *key) != Some(bits) {
            let name = round.problem.keys.name(*key);
            requirements.replace(round.problem.keys.atoms(*key).requirement(name, bits));
        }
    }
    requirements
}

/// The label over which a class and a pool are at odds, in the words that were written.
fn label_conflict(round: &Round<'_, '_>, class: usize, pool: usize) -> Misfit {
    let model = &round.problem.pools[pool];
    let template = model.pool.template_requirements();
    let placement = &round.problem.classes[class].pods[0].placement;
    for wanted in written(placement) {
        for one in wanted.iter() {
            let single: Requirements = std::iter::once(one.clone()).collect();
            if let Some(conflict) = template.conflict(&single, Undefined::WellKnownOpen) {
                return Misfit::Label {
                    conflict: Box::new(conflict),
                };
            }
            let key = round.problem.keys.id(one.key());
            let clash = key.is_some_and(|key| {
                let bits = round.problem.keys.atoms(key).bits(one);
                round
                    .desk
                    .sets
                    .on(model.template, key)
                    .is_some_and(|mine| !mine.meets(&bits))
            });
            if clash {
                return undefined(one);
            }
        }
    }
    Misfit::NoTypes
}

fn undefined(wanted: &Requirement) -> Misfit {
    Misfit::Label {
        conflict: Box::new(Conflict::Undefined {
            wanted: wanted.clone(),
            nearest: crate::well_known::nearest(wanted.key()).map(Text::from),
        }),
    }
}

/// The label requirements of a placement as they were written: its selector, with one term of its affinity and one
/// alternative of each volume.
pub(super) fn written(placement: &Placement) -> Vec<Requirements> {
    let mut all = terms(placement);
    for volume in placement
        .volumes
        .iter()
        .filter(|volume| !volume.alternatives.is_empty())
    {
        all = all
            .iter()
            .flat_map(|one| volume.alternatives.iter().map(|place| one.and(place)))
            .collect();
    }
    all
}
