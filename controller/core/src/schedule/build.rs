//! Writes a claim out: what the solver knows by number, by name.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::MAX_TYPES;
use super::atoms::Bits;
use super::desk::Payment;
use super::devices;
use super::flexibility;
use super::outcome::NewClaim;
use super::state::Round;
use crate::catalogue::{CapacityType, InstanceType};
use crate::launch::values_of;
use crate::money::Price;
use crate::requirements::{Absence, Requirement, Requirements, Values};
use crate::resources::Resources;
use crate::snapshot::{MinValuesPolicy, PodKey, Pool};
use crate::text::{Labels, Text};
use crate::well_known;

/// What claims with the same profile and kinds share.
pub(super) type Lists = BTreeMap<(usize, Bits), Rc<List>>;

/// All of a claim but its pods.
pub(super) struct List {
    types: Arc<[Text]>,
    requirements: Requirements,
    labels: Labels,
    annotations: Labels,
    price: Price,
    daemons: Resources,
    min_values_relaxed: bool,
}

/// The claim at `place`, for `pods`.
pub(super) fn claim(
    round: &mut Round<'_, '_>,
    place: usize,
    pods: Vec<PodKey>,
    lists: &mut Lists,
) -> Option<NewClaim> {
    let problem = round.problem;
    let it = &round.state.places[place];
    let (at, payment, set, kinds) = (it.pool?, it.payment, it.set, it.kinds.clone());
    let profile = round.desk.profile(problem, at, set, payment);
    let key = (profile, kinds);
    let list = match lists.get(&key) {
        Some(known) => Rc::clone(known),
        None => {
            let made = Rc::new(list(round, place, at, profile));
            lists.insert(key, Rc::clone(&made));
            made
        }
    };
    let pool = problem.pools[at].pool;
    let mut annotations = list.annotations.clone();
    let drivers = drivers(round, place, at, &list.types);
    if !drivers.is_empty() {
        let names: Vec<&str> = drivers.iter().map(|driver| &**driver).collect();
        annotations.insert(well_known::REQUESTED_DRA_DRIVERS.into(), names.join(",").into());
    }
    let total = problem.dims.resources(&round.state.places[place].total);
    Some(NewClaim {
        pool: pool.name.clone(),
        pool_uid: pool.uid.clone(),
        class: pool.class.clone(),
        pods,
        requirements: list.requirements.clone(),
        instance_types: Arc::clone(&list.types),
        requests: total.plus(&list.daemons),
        price: list.price,
        labels: list.labels.clone(),
        annotations,
        taints: pool.taints.clone(),
        startup_taints: pool.startup_taints.clone(),
        expire_after: pool.expire_after,
        termination_grace_period: pool.termination_grace_period,
        min_values_relaxed: list.min_values_relaxed,
    })
}

/// The drivers whose devices the pods of a claim get whichever of its types it becomes: what its node has to wait for.
fn drivers(round: &Round<'_, '_>, place: usize, at: usize, types: &[Text]) -> BTreeSet<Text> {
    let claims = round.claims_there(place);
    if claims.is_empty() {
        return BTreeSet::new();
    }
    let kinds = round.problem.pools[at].kinds.iter().map(|kind| kind.it);
    let kinds = kinds.filter(|it| types.contains(&it.name));
    let given = kinds.filter_map(|it| devices::drivers(&it.devices, &claims));
    given.reduce(|all, one| &all & &one).unwrap_or_default()
}

fn list(round: &Round<'_, '_>, place: usize, at: usize, profile: usize) -> List {
    let problem = round.problem;
    let model = &problem.pools[at];
    let it = &round.state.places[place];
    let mut requirements = narrowed(round, at, it.set);
    match it.payment {
        Payment::Market if model.reserved => {
            requirements.add(Requirement::is_not_in(
                well_known::CAPACITY_TYPE,
                [CapacityType::Reserved.as_str()],
            ));
        }
        Payment::Market => {}
        Payment::Reserved(reservation) => {
            requirements.add(Requirement::is(
                well_known::CAPACITY_TYPE,
                CapacityType::Reserved.as_str(),
            ));
            let id = &problem.reservations[reservation].0;
            let label = reservation_label(model.kinds.iter().map(|kind| kind.it), id);
            requirements.add(Requirement::is(label, id.clone()));
        }
    }
    let prices = &round.desk.get(profile).prices;
    let mut kinds: Vec<usize> = it.kinds.iter().filter(|kind| prices[*kind] < u64::MAX).collect();
    kinds.sort_by_key(|kind| (prices[*kind], *kind));
    let price = kinds
        .first()
        .map_or(Price::MAX, |kind| Price::from_micros(prices[*kind]));
    let mut types: Vec<&InstanceType> = kinds.iter().map(|kind| model.kinds[*kind].it).collect();
    if types.len() > MAX_TYPES {
        types = flexibility::keep(&types, &requirements, MAX_TYPES);
    }
    let few = types.len() < kinds.len();
    let kept: BTreeSet<&Text> = if few {
        types.iter().map(|it| &it.name).collect()
    } else {
        BTreeSet::new()
    };
    let keeps = |name: &Text| !few || kept.contains(name);
    let daemons = kinds
        .iter()
        .map(|kind| &model.kinds[*kind])
        .filter(|kind| keeps(&kind.it.name))
        .map(|kind| kind.daemons.clone())
        .reduce(|all, one| all.lower(&one));
    let min_values_relaxed = problem.settings.min_values_policy == MinValuesPolicy::BestEffort
        && flexibility::relax(types.iter().copied(), &mut requirements);
    settle(&mut requirements, &types);
    let pool = model.pool;
    let labels = labels(pool.template_labels(), &requirements);
    let names: Arc<[Text]> = types.iter().map(|it| it.name.clone()).collect();
    // Sorted already: a set of sorted names is quickly made.
    let mut sorted = kinds;
    sorted.sort_unstable();
    let sorted = sorted
        .iter()
        .map(|kind| &model.kinds[*kind].it.name)
        .filter(|name| keeps(name));
    requirements.add(Requirement::is_in(well_known::INSTANCE_TYPE, sorted.cloned()));
    let mut annotations = annotations(pool);
    if min_values_relaxed {
        annotations.insert("karpenter.sh/nodeclaim-min-values-relaxed".into(), "true".into());
    }
    List {
        types: names,
        requirements,
        labels,
        annotations,
        price,
        daemons: daemons.unwrap_or_else(Resources::new),
        min_values_relaxed,
    }
}

/// The annotations of every claim of a pool.
pub(super) fn annotations(pool: &Pool) -> Labels {
    let mut annotations = pool.annotations.clone();
    if !pool.hash.value.is_empty() {
        annotations.insert("karpenter.sh/nodepool-hash".into(), pool.hash.value.clone());
        annotations.insert(
            "karpenter.sh/nodepool-hash-version".into(),
            pool.hash.version.clone(),
        );
    }
    annotations
}

/// The pool's requirements, narrowed on every label on which the claim differs from the pool's template.
fn narrowed(round: &Round<'_, '_>, pool: usize, set: super::sets::SetId) -> Requirements {
    let model = &round.problem.pools[pool];
    let mut requirements = model.pool.template_requirements();
    for (key, bits) in round.desk.sets.get(set) {
        let name = round.problem.keys.name(*key);
        if round.desk.sets.on(model.template, *key) == Some(bits) || &**name == well_known::HOSTNAME {
            continue;
        }
        let least = requirements.get(name).and_then(Requirement::min_values);
        let narrowed = round.problem.keys.atoms(*key).requirement(name, bits);
        requirements.replace(narrowed.with_min_values(least));
    }
    requirements
}

/// The label by which a reservation's offerings name it.
fn reservation_label<'a>(mut types: impl Iterator<Item = &'a InstanceType>, id: &Text) -> Text {
    const USUAL: &str = "karpenter.k8s.aws/capacity-reservation-id";
    let own = types.find_map(|it| {
        let of = it.offerings.iter().filter(|one| {
            one.reservation
                .as_ref()
                .is_some_and(|reservation| reservation.id == *id)
        });
        of.flat_map(|one| one.extra.iter())
            .find(|one| one.single() == Some(id))
            .map(|one| one.key().clone())
    });
    own.unwrap_or_else(|| USUAL.into())
}

/// The labels of the claim: the pool's, every well-known one of which one value is left, and of the others a value that
/// the requirements allow. Which one is the first, so that it is the same every time.
pub(super) fn labels(mut labels: Labels, requirements: &Requirements) -> Labels {
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
