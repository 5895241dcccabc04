//! What pools may buy at most, and the quotas that it counts against.

use super::judge::Wanted;
use crate::feasible::Buyable;
use crate::objects::Foreseen;
use joiner_aws::quotas::{self, Quota};
use joiner_core::resources::ResourceName;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The quotas that instances of a pool can count against.
pub(super) type Groups = BTreeMap<Quota, Group>;

/// What instances of a pool count against one quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub quota: Quota,
    /// Types that do.
    pub count: usize,
    /// The smallest of them, by vCPUs.
    pub smallest: (u64, String),
}

/// What a pool may buy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// Its limit on cpu, in whole vCPUs.
    pub limit: Option<u64>,
    pub groups: Groups,
}

impl Demand {
    pub(super) fn new(limit: Option<u64>, buyable: &[Buyable]) -> Self {
        let mut groups = Groups::new();
        for kind in buyable {
            for way in &kind.ways {
                if let Some(quota) = quotas::of(&kind.name, *way) {
                    let group = Group {
                        quota,
                        count: 1,
                        smallest: (kind.vcpus, kind.name.clone()),
                    };
                    add(&mut groups, &group);
                }
            }
        }
        Self { limit, groups }
    }
}

fn add(groups: &mut Groups, more: &Group) {
    match groups.get_mut(&more.quota) {
        Some(group) => {
            group.count += more.count;
            group.smallest = group.smallest.clone().min(more.smallest.clone());
        }
        None => drop(groups.insert(more.quota, more.clone())),
    }
}

/// A pool's limit on cpu, in whole vCPUs; zero switches a pool off and is none.
pub(super) fn limit(limits: &Json) -> Option<u64> {
    let limits = serde_json::from_value(limits.clone()).ok()?;
    let limits = joiner_map::limits(&limits);
    let (_, cpu) = limits.iter().find(|(name, _)| **name == ResourceName::Cpu)?;
    u64::try_from(cpu)
        .ok()
        .filter(|cpu| *cpu > 0)
        .map(|cpu| cpu.div_ceil(1000))
}

/// The sets of pools, `name` among them, that compete for the same quotas: for the quotas of each pool those pools that can buy nothing beyond
/// them, and all pools. Only pools with a limit say how much they may want.
pub(super) fn sharing(demands: &BTreeMap<String, Demand>, name: &str) -> Vec<Wanted> {
    let limited: BTreeMap<&String, (u64, &Groups)> = demands
        .iter()
        .filter(|(_, demand)| !demand.groups.is_empty())
        .filter_map(|(name, demand)| Some((name, (demand.limit?, &demand.groups))))
        .collect();
    let quotas = |groups: &Groups| groups.keys().copied().collect::<BTreeSet<Quota>>();
    let mut shared: BTreeSet<BTreeSet<Quota>> = limited.values().map(|(_, groups)| quotas(groups)).collect();
    shared.insert(
        limited
            .values()
            .flat_map(|(_, groups)| groups.keys().copied())
            .collect(),
    );
    let mut sets = Vec::new();
    for quotas in shared {
        let mut wanted = Wanted::default();
        for (pool, (limit, groups)) in &limited {
            if groups.keys().all(|quota| quotas.contains(quota)) {
                wanted.pools.push((*pool).clone());
                wanted.limit = Some(wanted.limit.unwrap_or(0).saturating_add(*limit));
                groups.values().for_each(|group| add(&mut wanted.groups, group));
            }
        }
        if wanted.pools.len() > 1 && wanted.pools.iter().any(|pool| pool == name) {
            sets.push(wanted);
        }
    }
    sets
}

/// The pools that were planned in this process.
#[derive(Default)]
pub(crate) struct Demands(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    pools: BTreeMap<String, Pool>,
    compared: bool,
    told: BTreeSet<BTreeSet<Quota>>,
}

/// A planned pool: what it may buy is found out when it is needed, since it takes a while.
enum Pool {
    Planned(Foreseen),
    Known(Demand),
}

impl Demands {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a planned pool of which nobody has asked yet what it may buy.
    pub(super) fn note(&self, name: &str, object: Foreseen) {
        self.noted().pools.insert(name.to_owned(), Pool::Planned(object));
    }

    /// Notes what a planned pool may buy.
    pub(super) fn know(&self, name: &str, demand: Demand) {
        self.noted().pools.insert(name.to_owned(), Pool::Known(demand));
    }

    /// From now on all pools are compared, those that do not change, too.
    pub(super) fn compare(&self) {
        self.noted().compared = true;
    }

    /// Whether a pool was compared with quotas.
    pub(super) fn were_compared(&self) -> bool {
        self.noted().compared
    }

    /// The names of the pools.
    pub(super) fn names(&self) -> BTreeSet<String> {
        self.noted().pools.keys().cloned().collect()
    }

    /// What all pools may buy, by name.
    pub(super) fn all(&self, demand: impl Fn(&Foreseen) -> Demand) -> BTreeMap<String, Demand> {
        let mut noted = self.noted();
        let pools = noted.pools.iter_mut().map(|(name, pool)| {
            if let Pool::Planned(object) = pool {
                *pool = Pool::Known(demand(object));
            }
            let demand = match pool {
                Pool::Known(demand) => demand.clone(),
                Pool::Planned(_) => Demand::default(),
            };
            (name.clone(), demand)
        });
        pools.collect()
    }

    /// Whether it was told that pools want too much of these quotas, or of some of them.
    pub(super) fn was_told(&self, quotas: &BTreeSet<Quota>) -> bool {
        self.noted().told.iter().any(|told| told.is_subset(quotas))
    }

    /// Keeps in mind that pools want too much of these quotas; false when that was told already.
    pub(super) fn tell(&self, quotas: BTreeSet<Quota>) -> bool {
        self.noted().told.insert(quotas)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use joiner_core::catalogue::CapacityType::{self, OnDemand, Spot};

    fn demand(limit: Option<u64>, kinds: &[(&str, CapacityType)]) -> Demand {
        let buyable: Vec<Buyable> = kinds
            .iter()
            .map(|(name, way)| Buyable {
                name: (*name).to_owned(),
                vcpus: 2,
                ways: BTreeSet::from([*way]),
            })
            .collect();
        Demand::new(limit, &buyable)
    }

    fn sets(demands: &BTreeMap<String, Demand>, name: &str) -> Vec<(String, u64)> {
        let wanted = sharing(demands, name);
        let sets = wanted
            .into_iter()
            .map(|wanted| (wanted.pools.join(" "), wanted.limit.unwrap_or(0)));
        sets.collect()
    }

    #[test]
    fn pools_that_can_buy_nothing_else_are_summed_up() {
        let standard = [("m5.large", OnDemand)];
        let both = [("m5.large", OnDemand), ("m5.large", Spot)];
        let demands = BTreeMap::from([
            ("a".to_owned(), demand(Some(10), &standard)),
            ("b".to_owned(), demand(Some(20), &standard)),
            ("c".to_owned(), demand(Some(40), &both)),
            (
                "graphics".to_owned(),
                demand(Some(80), &[("g5.xlarge", OnDemand)]),
            ),
            ("boundless".to_owned(), demand(None, &standard)),
        ]);
        // The widest quotas may come in any order: what counts are the sets.
        let of = |name: &str| {
            let mut found = sets(&demands, name);
            found.sort();
            found
        };
        let set = |pools: &str, limit: u64| (pools.to_owned(), limit);
        assert_eq!(
            of("a"),
            [set("a b", 30), set("a b c", 70), set("a b c graphics", 150)]
        );
        assert_eq!(of("c"), [set("a b c", 70), set("a b c graphics", 150)]);
        assert_eq!(of("graphics"), [set("a b c graphics", 150)]);
        assert_eq!(of("boundless"), []);
    }

    #[test]
    fn a_limit_is_in_whole_vcpus() {
        let of = |limits: Json| limit(&limits);
        assert_eq!(
            of(serde_json::json!({ "cpu": "1500m", "memory": "1Gi" })),
            Some(2)
        );
        assert_eq!(of(serde_json::json!({ "cpu": 0 })), None);
        assert_eq!(of(serde_json::json!({ "memory": "1Gi" })), None);
        assert_eq!(of(Json::Null), None);
    }
}
