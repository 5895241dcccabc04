//! Writes a claim out: what the solver knows by number, by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::MAX_TYPES;
use super::flexibility;
use super::offer::Offer;
use super::opened::Opened;
use super::outcome::NewClaim;
use crate::catalogue::InstanceType;
use crate::launch::values_of;
use crate::money::Price;
use crate::requirements::{Absence, Requirement, Requirements, Values};
use crate::resources::Resources;
use crate::snapshot::MinValuesPolicy;
use crate::text::{Labels, Text};
use crate::well_known;

/// Lists of types that several claims share.
pub(super) type Lists = BTreeMap<(usize, Vec<usize>), Arc<[Text]>>;

pub(super) fn claim(
    opened: &Opened<'_>,
    offer: &Offer<'_>,
    policy: MinValuesPolicy,
    lists: &mut Lists,
) -> NewClaim {
    let pool = offer.pool;
    let mut requirements = offer.template.and(&opened.wanted);
    let types: Vec<&InstanceType> = opened.kinds.iter().map(|kind| offer.kinds[*kind].it).collect();
    let types = flexibility::keep(&types, &requirements, MAX_TYPES);
    let min_values_relaxed =
        policy == MinValuesPolicy::BestEffort && flexibility::relax(types.iter().copied(), &mut requirements);
    let instance_types = Arc::clone(
        lists
            .entry((opened.offer, opened.kinds.clone()))
            .or_insert_with(|| types.iter().map(|it| it.name.clone()).collect()),
    );
    let price = types
        .iter()
        .filter_map(|it| it.cheapest(&requirements))
        .min()
        .unwrap_or(Price::MAX);
    let daemons = opened
        .kinds
        .iter()
        .map(|kind| offer.kinds[*kind].daemons.clone())
        .reduce(|all, it| all.lower(&it));
    settle(&mut requirements, &types);
    let labels = labels(pool.template_labels(), &requirements);
    requirements.add(Requirement::is_in(
        well_known::INSTANCE_TYPE,
        instance_types.iter().cloned(),
    ));
    let mut annotations = pool.annotations.clone();
    if !pool.hash.value.is_empty() {
        annotations.insert("karpenter.sh/nodepool-hash".into(), pool.hash.value.clone());
        annotations.insert(
            "karpenter.sh/nodepool-hash-version".into(),
            pool.hash.version.clone(),
        );
    }
    if min_values_relaxed {
        annotations.insert("karpenter.sh/nodeclaim-min-values-relaxed".into(), "true".into());
    }
    NewClaim {
        pool: pool.name.clone(),
        pool_uid: pool.uid.clone(),
        class: pool.class.clone(),
        pods: opened.pods.iter().map(|pod| pod.key.clone()).collect(),
        requirements,
        instance_types,
        requests: opened.total.plus(&daemons.unwrap_or_else(Resources::new)),
        price,
        labels,
        annotations,
        taints: pool.taints.clone(),
        startup_taints: pool.startup_taints.clone(),
        expire_after: pool.expire_after,
        termination_grace_period: pool.termination_grace_period,
        min_values_relaxed,
    }
}

/// The labels of the claim: the pool's, every well-known one of which one value is left, and of the others a value that
/// the requirements allow. Which one is the first, so that it is the same every time.
fn labels(mut labels: Labels, requirements: &Requirements) -> Labels {
    for requirement in requirements.iter() {
        let value = match well_known::is_well_known(requirement.key()) {
            true => requirement.single().cloned(),
            false => some_value(requirement),
        };
        if let Some(value) = value {
            labels.entry(requirement.key().clone()).or_insert(value);
        }
    }
    labels
}

/// Decides on labels that must be there and of which every type leaves several values open, tenancy for one: the value
/// `default` where it is allowed, else the first.
fn settle(requirements: &mut Requirements, types: &[&InstanceType]) {
    let open = |wanted: &&Requirement| {
        let said_elsewhere =
            !well_known::is_well_known(wanted.key()) || well_known::is_said_by_offerings(wanted.key());
        wanted.absence() == Absence::Refused && wanted.single().is_none() && !said_elsewhere
    };
    let settled: Vec<Requirement> = requirements
        .iter()
        .filter(open)
        .filter_map(|wanted| common(wanted, types))
        .collect();
    settled.into_iter().for_each(|one| requirements.replace(one));
}

/// The requirement with the one value that all types have in common, where each of them leaves several open.
fn common(wanted: &Requirement, types: &[&InstanceType]) -> Option<Requirement> {
    let mut common: Option<BTreeSet<&Text>> = None;
    for it in types {
        let values: BTreeSet<&Text> = values_of(it, wanted.key())
            .filter(|value| wanted.allows(Some(value)))
            .collect();
        if values_of(it, wanted.key()).count() < 2 {
            return None;
        }
        common = Some(common.map_or(values.clone(), |all| &all & &values));
    }
    let common = common?;
    let value = common
        .iter()
        .find(|value| &****value == "default")
        .or_else(|| common.first())?;
    Some(Requirement::is(wanted.key().clone(), (*value).clone()).with_min_values(wanted.min_values()))
}

/// A value that the requirement allows, where the label must be there.
fn some_value(requirement: &Requirement) -> Option<Text> {
    match (requirement.values(), requirement.absence()) {
        (Values::Only(values), _) => values.first().cloned(),
        (Values::AllBut { .. }, Absence::Allowed) => None,
        (
            Values::AllBut {
                excluded,
                at_least,
                at_most,
            },
            Absence::Refused,
        ) => {
            // One more number than there are exclusions is enough to find one that is not excluded.
            let tries = i64::try_from(excluded.len()).unwrap_or(0);
            let near = |step: i64| match (at_least, at_most) {
                (Some(low), _) => low.saturating_add(step),
                (None, Some(high)) => high.saturating_sub(step),
                (None, None) => step,
            };
            let mut numbers = (0..=tries).map(|step| Text::from(near(step).to_string()));
            numbers.find(|number| requirement.allows(Some(number)))
        }
    }
}
