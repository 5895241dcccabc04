//! What can be bought: kinds by offer, and for whom. What is never better than something else is left out.

use std::collections::BTreeMap;

use super::demands::Demand;
use crate::schedule::atoms::Bits;
use crate::schedule::problem::PLENTY;
use crate::schedule::sets::SetId;
use crate::schedule::state::Round;
use crate::snapshot::MinValuesPolicy;

/// A kind, bought by one of its offers.
#[derive(Clone, Debug)]
pub(in crate::schedule) struct Column {
    pub(in crate::schedule) pool: usize,
    pub(in crate::schedule) kind: usize,
    pub(in crate::schedule) price: f64,
    /// What pods may take: amounts, then slots in crowded groups.
    pub(in crate::schedule) holds: Vec<f64>,
}

/// Columns by whom they serve.
pub(in crate::schedule) struct Columns {
    pub(in crate::schedule) all: Vec<Column>,
    /// For each demand what it can be on, as a number into `served`.
    pub(in crate::schedule) sort: Vec<usize>,
    /// For each sort of demand the columns that serve it.
    pub(in crate::schedule) served: Vec<Bits>,
    /// What demands of each sort ask of a node.
    pub(super) sorts: Vec<Sort>,
    /// For each column the sorts that it serves, as a number into `services`.
    pub(super) service: Vec<usize>,
    pub(super) services: Vec<Bits>,
}

/// What a demand asks of a node: one of these labels, this one too, the weight of the pool, and one of these lists of taints.
pub(super) type Sort = (Vec<SetId>, Option<SetId>, u32, Bits);

/// What columns are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::schedule) enum Purpose {
    /// Packing: a pod is in a pool of the weight that it was in, and pools that want a variety of types where it can be had
    /// are left out.
    Packing,
    /// A bound: all pools count, whatever their weight.
    Bound,
}

/// The columns that serve some demand.
pub(in crate::schedule) fn columns(
    round: &mut Round<'_, '_>,
    demands: &[Demand],
    slots: &[f64],
    purpose: Purpose,
) -> Columns {
    let problem = round.problem;
    let mut index: BTreeMap<Sort, usize> = BTreeMap::new();
    let mut sorts: Vec<Sort> = Vec::new();
    let mut sort = Vec::with_capacity(demands.len());
    for demand in demands {
        let level = problem.classes[demand.class].level(demand.level);
        let key = (
            level.wanted.clone(),
            demand.pin,
            demand.weight,
            level.bears.clone(),
        );
        let next = sorts.len();
        let id = *index.entry(key.clone()).or_insert(next);
        if id == next {
            sorts.push(key);
        }
        sort.push(id);
    }
    // Which sorts a column serves, column by column; equal ones side by side.
    let mut by_service: BTreeMap<Bits, Vec<Column>> = BTreeMap::new();
    for (pool, model) in problem.pools.iter().enumerate() {
        let varied =
            !model.min_values.is_empty() && problem.settings.min_values_policy == MinValuesPolicy::BestEffort;
        if model.closed.is_some() || (varied && purpose == Purpose::Packing) {
            continue;
        }
        let within = round.within_limits(pool);
        let mut wishes: Vec<(usize, Vec<SetId>)> = Vec::new();
        for (index, (wanted, pin, weight, bears)) in sorts.iter().enumerate() {
            let heavy = purpose == Purpose::Bound || *weight == model.pool.weight;
            if !heavy || !bears.has(model.taints) {
                continue;
            }
            let base = match pin {
                Some(pin) => round.desk.sets.and(model.template, *pin),
                None => Some(model.template),
            };
            let Some(base) = base else { continue };
            let all = wanted.iter().filter_map(|one| round.desk.sets.and(base, *one));
            wishes.push((index, all.collect()));
        }
        for kind in within.iter() {
            let it = &model.kinds[kind];
            if purpose == Purpose::Packing && it.usable.iter().any(|left| *left < 0) {
                // Its daemons leave no place for pods.
                continue;
            }
            let suited: Vec<(usize, Vec<SetId>)> = wishes
                .iter()
                .map(|(index, all)| {
                    let suits = |set: &SetId| {
                        let set = round.desk.sets.get(*set);
                        set.iter()
                            .all(|(key, bits)| it.bits[*key].as_ref().is_none_or(|mine| mine.meets(bits)))
                    };
                    (*index, all.iter().copied().filter(suits).collect())
                })
                .collect();
            for offer in it.offers.iter().filter(|offer| offer.reservation.is_none()) {
                let mut service = Bits::none(sorts.len());
                for (index, all) in &suited {
                    let sold = |set: &SetId| {
                        offer.bits.iter().all(|(key, said)| {
                            round.desk.sets.on(*set, *key).is_none_or(|mine| mine.meets(said))
                        })
                    };
                    if all.iter().any(sold) {
                        service.set(*index);
                    }
                }
                if !service.is_empty() {
                    by_service.entry(service).or_default().push(Column {
                        pool,
                        kind,
                        price: (offer.price.max(1)) as f64,
                        holds: it
                            .usable
                            .iter()
                            .map(|it| (*it).min(PLENTY) as f64)
                            .chain(slots.iter().copied())
                            .collect(),
                    });
                }
            }
        }
    }
    let mut columns = Columns {
        all: Vec::new(),
        sort,
        served: vec![Bits::none(0); sorts.len()],
        sorts,
        service: Vec::new(),
        services: Vec::new(),
    };
    for (service, some) in by_service {
        for column in undominated(some) {
            let id = columns.all.len();
            service.iter().for_each(|sort| columns.served[sort].set(id));
            columns.service.push(columns.services.len());
            columns.all.push(column);
        }
        columns.services.push(service);
    }
    columns
}

/// Those of `columns` that no other beats: as much of everything for no more money.
fn undominated(mut columns: Vec<Column>) -> Vec<Column> {
    columns.sort_by(|a, b| {
        a.price
            .total_cmp(&b.price)
            .then_with(|| b.holds.iter().sum::<f64>().total_cmp(&a.holds.iter().sum()))
    });
    let mut kept: Vec<Column> = Vec::new();
    for column in columns {
        let beaten = |other: &Column| {
            other
                .holds
                .iter()
                .zip(&column.holds)
                .all(|(other, own)| other >= own)
        };
        if !kept.iter().any(beaten) {
            kept.push(column);
        }
    }
    kept
}
