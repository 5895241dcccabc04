//! Puts the question together.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::groups::{Draft, Drafts};
use super::identity::Identities;
use super::levels::{self, selected};
use super::nodes::{Found, found, standing};
use super::pools::{self, Daemon, terms};
use super::vocabulary::vocabulary;
use super::volumes::SharedVolumes;
use super::{Class, Dims, Group, Offer, PoolModel, Problem, Rule, Standing, Where, classes, devices, pods};
use crate::catalogue::Catalogue;
use crate::requirements::Requirements;
use crate::resources::ResourceName;
use crate::schedule::atoms::{Bits, Keys};
use crate::schedule::misfit::Misfit;
use crate::schedule::sets::{Set, SetId, Sets};
use crate::snapshot::{Pod, Pool, Snapshot};
use crate::taints::Taint;
use crate::text::Text;
use crate::well_known;

/// What the places of a label depend on: the label, alternatives of labels, lists of taints.
type Asked = (usize, Option<Vec<SetId>>, Option<Bits>);

/// The question that a snapshot and a catalogue pose at `now`.
pub(in crate::schedule) fn build<'a>(
    snapshot: &'a Snapshot,
    catalogue: &'a Catalogue,
    now: Timestamp,
) -> (Problem<'a>, Sets) {
    let to_decide = pods::to_decide(snapshot, now);
    let found = found(snapshot);
    let mut identities = Identities::new(selector_keys(&to_decide, &found, snapshot));
    let shared = SharedVolumes::new(&to_decide, &found);
    let alike = classes::group(to_decide, &mut identities, &snapshot.settings, &shared);
    let keys = vocabulary(snapshot, catalogue, &alike);
    let mut sets = Sets::default();

    let mut pools: Vec<&'a Pool> = snapshot.pools.iter().map(|pool| &**pool).collect();
    pools.sort_by(|a, b| (b.weight, &b.name).cmp(&(a.weight, &a.name)));
    let mut lists: Vec<Vec<Taint>> = Vec::new();
    let mut list = |taints: Vec<Taint>| match lists.iter().position(|known| *known == taints) {
        Some(known) => known,
        None => {
            lists.push(taints);
            lists.len() - 1
        }
    };
    let pool_taints: Vec<usize> = pools.iter().map(|pool| list(pool.taints.clone())).collect();
    let node_taints: Vec<usize> = found.iter().map(|it| list(it.node.taints())).collect();

    let dims = dims(&alike);
    let daemons: Vec<Daemon<'a>> = snapshot
        .daemon_sets
        .iter()
        .map(|it| Daemon {
            wanted: terms(&it.placement)
                .iter()
                .filter_map(|one| possible(one, &keys, &mut sets))
                .collect(),
            it,
        })
        .collect();
    let learned = learned(&found);
    let mut reservations = Vec::new();
    let pools: Vec<PoolModel<'a>> = pools
        .into_iter()
        .zip(pool_taints)
        .map(|(pool, taints)| {
            let mut maker = pools::Maker {
                snapshot,
                catalogue,
                keys: &keys,
                sets: &mut sets,
                dims: &dims,
                daemons: &daemons,
                learned: &learned,
                reservations: &mut reservations,
            };
            maker.pool(pool, taints)
        })
        .collect();

    let mut nodes: Vec<(Standing<'a>, &Found<'a>)> = Vec::with_capacity(found.len());
    for (it, taints) in found.iter().zip(node_taints) {
        if let Some(mut standing) = standing(it, taints, catalogue, &daemons, &keys, &mut sets, &dims) {
            let there = it.pods.iter().flat_map(|pod| shared.of(&pod.placement));
            standing.attached = there.map(|(_, volume)| volume).collect();
            if snapshot.settings.gates.dynamic_resources {
                standing.devices = devices::of_node(it.node, catalogue);
                standing.held = devices::held(it);
            }
            nodes.push((standing, it));
        }
    }

    let mut drafts = Drafts::default();
    let mut reached: BTreeMap<Asked, Bits> = BTreeMap::new();
    let mut domains = |sets: &mut Sets, key: usize, wanted: Option<&[SetId]>, bears: Option<&Bits>| {
        let asked = (key, wanted.map(<[SetId]>::to_vec), bears.cloned());
        let known = reached.entry(asked);
        known
            .or_insert_with(|| reachable(&pools, &nodes, &keys, sets, key, wanted, bears))
            .clone()
    };
    let mut classes: Vec<Class<'a>> = Vec::with_capacity(alike.len());
    let mut owned: Vec<Vec<usize>> = Vec::with_capacity(alike.len());
    for class in &alike {
        let first = class.pods[0];
        let mut maker = levels::Maker {
            settings: &snapshot.settings,
            keys: &keys,
            sets: &mut sets,
            taints: &lists,
            drafts: &mut drafts,
            domains: &mut domains,
        };
        let levels = maker.levels(first);
        let repels = first
            .placement
            .anti_affinity
            .iter()
            .map(|term| drafts.add(repelled(term)));
        owned.push(repels.collect());
        classes.push(one_class(
            first,
            class.pods.clone(),
            levels,
            &dims,
            snapshot,
            &shared,
        ));
    }
    // Whom running pods keep away.
    let mut repelling: Vec<Vec<(usize, usize)>> = Vec::with_capacity(nodes.len());
    for (_, it) in &nodes {
        let pods = it.pods.iter().enumerate();
        let terms = pods.flat_map(|(index, pod)| {
            let terms = &pod.placement.anti_affinity;
            terms.iter().map(move |term| (index, term))
        });
        repelling.push(
            terms
                .map(|(index, term)| (index, drafts.add(repelled(term))))
                .collect(),
        );
    }

    let running: Vec<Vec<usize>> = nodes
        .iter()
        .map(|(_, it)| it.pods.iter().map(|pod| identities.of(pod)).collect())
        .collect();
    let by_group = drafts.selected(&identities);
    let mut by_identity: Vec<Vec<usize>> = vec![Vec::new(); identities.len()];
    let mut kept_away: Vec<Vec<usize>> = vec![Vec::new(); identities.len()];
    for ((group, draft), members) in drafts.iter().enumerate().zip(&by_group) {
        let list = if draft.rule == Rule::Repelled {
            &mut kept_away
        } else {
            &mut by_identity
        };
        members.iter().for_each(|identity| list[*identity].push(group));
    }
    for ((class, alike), owned) in classes.iter_mut().zip(&alike).zip(owned) {
        class.feeds.clone_from(&by_identity[alike.identity]);
        class.feeds.extend(owned);
        let workload = class.pods[0].workload.as_ref();
        class
            .feeds
            .extend(workload.and_then(|it| drafts.of_workload(&it.name)));
        class.feeds.sort_unstable();
        class.feeds.dedup();
        for level in &mut class.levels {
            level.rules.extend(&kept_away[alike.identity]);
            level.rules.sort_unstable();
            level.rules.dedup();
        }
    }
    let mut groups = drafts.finish(&keys);
    for class in &mut classes {
        class.feeds.iter().for_each(|group| groups[*group].fed = true);
        let leads = class
            .feeds
            .iter()
            .filter_map(|group| match (groups[*group].rule, groups[*group].at) {
                (Rule::Together, Where::Label(key)) => Some(key),
                _ => None,
            });
        class.leads = leads.collect();
        class.leads.dedup();
    }
    let hosts = groups.iter().filter(|group| group.at == Where::Host).count();
    nodes.iter_mut().for_each(|(node, _)| node.hosts = vec![0; hosts]);
    let moves = |pod: &Pod| pods::moves(pod, snapshot, now);
    for (((node, it), identities), repelling) in nodes.iter_mut().zip(&running).zip(&repelling) {
        for (index, pod) in it.pods.iter().enumerate() {
            let coming = index + it.coming >= it.pods.len();
            if pod.deletion.is_some() || (!node.open && !coming && moves(pod)) {
                continue;
            }
            let own = repelling
                .iter()
                .filter(|(of, _)| *of == index)
                .map(|(_, group)| *group);
            let fed = by_identity[identities[index]].iter().copied().chain(own);
            for group in fed.collect::<BTreeSet<usize>>() {
                count(&mut groups[group], node, &sets, &keys);
            }
        }
    }
    let problem = Problem {
        settings: &snapshot.settings,
        hosts,
        least: (0..dims.len())
            .map(|dim| classes.iter().map(|class| class.requests[dim]).min().unwrap_or(0))
            .collect(),
        keys,
        dims,
        classes,
        pools,
        nodes: nodes.into_iter().map(|(node, _)| node).collect(),
        groups,
        reservations,
    };
    (problem, sets)
}

fn one_class<'a>(
    first: &'a Pod,
    pods: Vec<&'a Pod>,
    levels: Vec<super::Level>,
    dims: &Dims,
    snapshot: &Snapshot,
    shared: &SharedVolumes<'a>,
) -> Class<'a> {
    let placement = &first.placement;
    let unsupported = |what: &Text| Misfit::Unsupported { what: what.clone() };
    let mut refusal: Vec<Misfit> = placement.unsupported.iter().map(unsupported).collect();
    if !placement.devices.is_empty() && !snapshot.settings.gates.dynamic_resources {
        refusal.push(Misfit::Unsupported {
            what: "it claims devices dynamically (spec.resourceClaims), which is switched off".into(),
        });
    }
    if levels.is_empty() {
        let fields = placement
            .node_affinity
            .iter()
            .flatten()
            .any(|term| !term.fields.is_empty());
        let what = if fields {
            "required node affinity by matchFields names a node that is there already"
        } else {
            "required node affinity without a term that can match"
        };
        refusal.push(Misfit::Unsupported { what: what.into() });
    }
    let dim = |driver: &Text| {
        let at = dims.drivers.iter().position(|known| known == driver);
        at.map(|at| dims.resources.len() + at)
    };
    let together = shared.of(placement).into_iter();
    Class {
        requests: dims.amounts(&first.requests, |driver| shared.own(placement, driver)),
        shared: together
            .filter_map(|(driver, volume)| Some((dim(driver)?, volume)))
            .collect(),
        priority: first.priority,
        ports: placement.host_ports.clone(),
        devices: !placement.devices.is_empty(),
        leads: Vec::new(),
        feeds: Vec::new(),
        pods,
        levels,
        refusal,
    }
}

fn repelled(term: &crate::snapshot::PodTerm) -> Draft<'_> {
    Draft {
        rule: Rule::Repelled,
        key: &term.topology_key,
        who: selected(term),
        filter: None,
        domains: Bits::default(),
    }
}

/// Counts one pod on a node that is there.
fn count(group: &mut Group, node: &mut Standing<'_>, sets: &Sets, keys: &Keys) {
    if !group.looks_at(sets, node.set, node.taints) {
        return;
    }
    match group.at {
        Where::Host => {
            group.anywhere += 1;
            node.hosts[group.host] += 1;
        }
        Where::Label(key) => {
            let Some(bits) = sets.on(node.set, key) else {
                return;
            };
            match (group.rule, bits.single()) {
                (_, Some(atom)) if keys.atoms(key).is_named(atom) => {
                    group.counts[atom] += 1;
                    group.anywhere += 1;
                }
                (Rule::Apart | Rule::Repelled, None) => {
                    keys.atoms(key)
                        .named(bits)
                        .iter()
                        .for_each(|atom| group.counts[atom] += 1);
                    group.anywhere += 1;
                }
                _ => {}
            }
        }
    }
}

/// The values of a label that pods with these wishes and tolerations could find: on nodes that are there or by buying.
fn reachable(
    pools: &[PoolModel<'_>],
    nodes: &[(Standing<'_>, &Found<'_>)],
    keys: &Keys,
    sets: &mut Sets,
    key: usize,
    wanted: Option<&[SetId]>,
    bears: Option<&Bits>,
) -> Bits {
    let atoms = keys.atoms(key);
    let mut all = Bits::none(atoms.len());
    for (node, _) in nodes.iter().filter(|(node, _)| node.open) {
        let seen = bears.is_none_or(|bears| bears.has(node.taints))
            && wanted.is_none_or(|all| all.iter().any(|one| sets.clash(node.set, *one).is_none()));
        if let (true, Some(atom)) = (seen, sets.on(node.set, key).and_then(Bits::single)) {
            all.set(atom);
        }
    }
    for pool in pools.iter().filter(|pool| pool.closed.is_none()) {
        if bears.is_some_and(|bears| !bears.has(pool.taints)) {
            continue;
        }
        let narrowed: Vec<_> = match wanted {
            None => vec![pool.template],
            Some(some) => some
                .iter()
                .filter_map(|one| sets.and(pool.template, *one))
                .collect(),
        };
        for set in narrowed {
            let own = sets.on(set, key).cloned();
            for kind in &pool.kinds {
                let suits = |(on, wanted): &(usize, Bits)| {
                    kind.bits[*on].as_ref().is_none_or(|mine| mine.meets(wanted))
                };
                if !sets.get(set).iter().all(suits) {
                    continue;
                }
                // An offer counts as a whole: a zone where only the other capacity type is sold is no place.
                let sold = |offer: &&Offer| {
                    let mut said = offer.bits.iter();
                    said.all(|(on, said)| sets.on(set, *on).is_none_or(|mine| mine.meets(said)))
                };
                let offers: Vec<&Offer> = kind.offers.iter().filter(sold).collect();
                let mut said = false;
                for (_, bits) in offers
                    .iter()
                    .flat_map(|offer| &offer.bits)
                    .filter(|(on, _)| *on == key)
                {
                    said = true;
                    all.add(&own.as_ref().map_or_else(|| bits.clone(), |own| own.and(bits)));
                }
                if !said && !offers.is_empty() {
                    match (&kind.bits[key], &own) {
                        (Some(mine), Some(own)) => all.add(&mine.and(own)),
                        (Some(one), None) | (None, Some(one)) => all.add(one),
                        (None, None) => {}
                    }
                }
            }
        }
    }
    atoms.named(&all)
}

fn possible(wanted: &Requirements, keys: &Keys, sets: &mut Sets) -> Option<SetId> {
    let mut set: Set = wanted
        .iter()
        .filter_map(|one| {
            let key = keys.id(one.key())?;
            Some((key, keys.atoms(key).bits(one)))
        })
        .collect();
    set.sort_by_key(|(key, _)| *key);
    let empty = set.iter().any(|(_, bits)| bits.is_empty());
    (!empty).then(|| sets.intern(set))
}

fn dims(classes: &[classes::Alike<'_>]) -> Dims {
    let fixed = ["cpu", "memory", "ephemeral-storage", "pods"];
    let mut resources: Vec<ResourceName> = fixed.into_iter().map(ResourceName::from).collect();
    let mut drivers = Vec::new();
    for class in classes {
        for (name, _) in class.pods[0].requests.iter() {
            if !resources.contains(&name) {
                resources.push(name);
            }
        }
        let volumes = class.pods[0].placement.volumes.iter();
        for attach in volumes.filter_map(|volume| volume.attach.as_ref()) {
            if !drivers.contains(&attach.driver) {
                drivers.push(attach.driver.clone());
            }
        }
    }
    Dims { resources, drivers }
}

fn learned(found: &[Found<'_>]) -> BTreeMap<(Text, Text), u32> {
    let mut learned = BTreeMap::new();
    for it in found {
        let Some(kind) = it
            .node
            .labels()
            .and_then(|labels| labels.get(well_known::INSTANCE_TYPE))
        else {
            continue;
        };
        for (driver, limit) in &it.node.attach_limits {
            learned
                .entry((kind.clone(), driver.clone()))
                .and_modify(|known: &mut u32| *known = (*known).min(*limit))
                .or_insert(*limit);
        }
    }
    learned
}

/// The labels of pods that some selector looks at, sorted.
fn selector_keys<'a>(to_decide: &[&'a Pod], found: &[Found<'a>], snapshot: &'a Snapshot) -> Vec<&'a str> {
    let mut keys: BTreeSet<&'a str> = BTreeSet::new();
    let mut note = |selector: &'a crate::snapshot::PodSelector| {
        keys.extend(selector.labels.iter().map(|one| &**one.key()));
    };
    for pod in to_decide {
        let it = &pod.placement;
        let wished = it.preferred_affinity.iter().chain(&it.preferred_anti_affinity);
        let terms = it.affinity.iter().chain(&it.anti_affinity);
        terms
            .chain(wished.map(|one| &one.term))
            .for_each(|term| note(&term.selector));
        it.spread.iter().for_each(|one| note(&one.selector));
        if !snapshot.settings.default_spread.is_empty() {
            pod.workload
                .iter()
                .filter_map(|it| it.selector.as_ref())
                .for_each(&mut note);
        }
    }
    for pod in found.iter().flat_map(|it| &it.pods) {
        pod.placement
            .anti_affinity
            .iter()
            .for_each(|term| note(&term.selector));
    }
    keys.into_iter().collect()
}
