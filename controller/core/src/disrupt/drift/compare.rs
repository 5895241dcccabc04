//! Whether the node of one claim is still what its pool and its class say.
//!
//! Input: the claim, its instance, pool, class and the pool's instance types. Output: the first drift in Karpenter's order. Nothing
//! drifts by what is not known: a hash made by another rule, a list that is not resolved, an instance that was not described.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::facts::{Class, Image, Machine};
use super::reason::{Drift, Reason};
use crate::catalogue::{CapacityType, InstanceType};
use crate::requirements::Undefined;
use crate::snapshot::{Claim, Pool, PoolHash};
use crate::taints::Taint;
use crate::text::{Labels, Text};
use crate::well_known;

/// Annotations of claims that drift reads. The version of a hash's rule stands under the same key and `-version`.
pub mod annotations {
    /// The hash of the pool's template that the claim was made from.
    pub const POOL_HASH: &str = "karpenter.sh/nodepool-hash";
    /// The hash of the class' static fields that the instance was launched with.
    pub const CLASS_HASH: &str = "karpenter.k8s.aws/ec2nodeclass-hash";
    /// The fields of the class, each with a short hash, as they were at the launch: `tags=0123abcd,userData=...`.
    pub const CLASS_FIELDS: &str = "joiner.dev/ec2nodeclass-fields";
}

/// The label with the id of the placement group that a node was launched into.
const PLACEMENT_GROUP_ID: &str = "karpenter.k8s.aws/placement-group-id";

/// How long after a claim was made the lack of its instance type counts. Karpenter's value.
const GRACE: SignedDuration = SignedDuration::from_hours(1);

/// How the claim's node differs from what `pool` and `class` say now; none where it does not. A class that is not there is not
/// compared. `types` are those of the pool, whether on sale or not; where there are none they are not known.
pub fn drift_of(
    claim: &Claim,
    machine: &Machine,
    pool: &Pool,
    class: Option<&Class>,
    types: &[InstanceType],
    now: Timestamp,
) -> Option<Drift> {
    of_template(claim, pool)
        .or_else(|| of_requirements(claim, pool))
        .or_else(|| of_type(claim, types, now))
        .or_else(|| drift_of_class(claim, machine, class?, types))
}

fn of_template(claim: &Claim, pool: &Pool) -> Option<Drift> {
    if !has_changed(&claim.annotations, annotations::POOL_HASH, &pool.hash) {
        return None;
    }
    let mut changes = Vec::new();
    let mut say = |what: &str, was: String, is: String| {
        if was != is {
            changes.push(format!("{what} was {was}, is {is}"));
        }
    };
    let class = |it: &crate::snapshot::ClassRef| format!("{} {}", it.kind, it.name);
    say("nodeClassRef", class(&claim.class), class(&pool.class));
    for (kind, wanted, there) in [
        ("label", &pool.labels, &claim.labels),
        ("annotation", &pool.annotations, &claim.annotations),
    ] {
        for (key, value) in wanted {
            let was = there.get(key).map_or("absent", |was| &**was);
            say(&format!("{kind} {key}"), was.to_owned(), value.to_string());
        }
    }
    say("taints", taints(&claim.taints), taints(&pool.taints));
    say(
        "startupTaints",
        taints(&claim.startup_taints),
        taints(&pool.startup_taints),
    );
    say(
        "expireAfter",
        length(claim.expire_after, "Never"),
        length(pool.expire_after, "Never"),
    );
    say(
        "terminationGracePeriod",
        length(claim.termination_grace_period, "unset"),
        length(pool.termination_grace_period, "unset"),
    );
    let changes = match changes.is_empty() {
        true => "a label or an annotation of its template is gone".to_owned(),
        false => changes.join("; "),
    };
    let message = format!(
        "NodePool {} has changed since the node was made: {changes}",
        pool.name
    );
    Some(Drift::new(Reason::NodePoolDrifted, message))
}

/// Whether the hash that the claim was made with is another one, made by the same rule.
fn has_changed(noted: &Labels, key: &str, now: &PoolHash) -> bool {
    let (hash, version) = (noted.get(key), noted.get(format!("{key}-version").as_str()));
    let (Some(hash), Some(version)) = (hash, version) else {
        return false;
    };
    !now.value.is_empty() && *version == now.version && *hash != now.value
}

fn of_requirements(claim: &Claim, pool: &Pool) -> Option<Drift> {
    let broken = pool.requirements.iter().find(|requirement| {
        let label = claim.labels.get(requirement.key());
        !requirement.allows(label.map(|value| &**value))
    })?;
    let has = match claim.labels.get(broken.key()) {
        Some(value) => format!("has {}={value}", broken.key()),
        None => format!("has no label {}", broken.key()),
    };
    let message = format!("the node {has}; NodePool {} now asks for {broken}", pool.name);
    Some(Drift::new(Reason::RequirementsDrifted, message))
}

fn of_type(claim: &Claim, types: &[InstanceType], now: Timestamp) -> Option<Drift> {
    if types.is_empty() || now.duration_since(claim.created) <= GRACE {
        return None;
    }
    let label = |key: &str| claim.labels.get(key).map_or("", |value| value);
    let name = label(well_known::INSTANCE_TYPE);
    let found = |message: String| Some(Drift::new(Reason::InstanceTypeNotFound, message));
    let Some(it) = types.iter().find(|it| *it.name == *name) else {
        return found(format!(
            "instance type {name} is not among those of the node's pool any more"
        ));
    };
    let (zone, bought) = (label(well_known::ZONE), label(well_known::CAPACITY_TYPE));
    let as_bought = |kind: CapacityType| {
        // A reservation that ends leaves its instances running on demand, before the label says so.
        let demoted = bought == CapacityType::Reserved.as_str() && kind == CapacityType::OnDemand;
        kind.as_str() == bought || demoted
    };
    let offered = it
        .offerings
        .iter()
        .any(|offering| *offering.zone == *zone && as_bought(offering.capacity_type));
    match offered {
        true => None,
        false => found(format!("{name} is not offered as {bought} in {zone} any more")),
    }
}

/// How the claim's node differs from what `class` alone says now; none where it does not.
pub fn drift_of_class(
    claim: &Claim,
    machine: &Machine,
    class: &Class,
    types: &[InstanceType],
) -> Option<Drift> {
    of_fields(claim, class)
        .or_else(|| of_image(claim, machine.image.as_ref()?, class, types))
        .or_else(|| of_groups(machine.security_groups.as_deref()?, class))
        .or_else(|| of_subnet(machine.subnet.as_ref()?, class))
        .or_else(|| of_reservation(machine.reservation.as_ref()?, class))
        .or_else(|| of_placement_group(claim, class))
}

fn of_fields(claim: &Claim, class: &Class) -> Option<Drift> {
    if !has_changed(&claim.annotations, annotations::CLASS_HASH, &class.hash) {
        return None;
    }
    let which = match changed_fields(claim, class) {
        fields if fields.is_empty() => String::new(),
        fields => format!(": {}", fields.join(", ")),
    };
    let message = format!(
        "EC2NodeClass {} has changed since the node was launched{which}",
        class.name
    );
    Some(Drift::new(Reason::NodeClassDrift, message))
}

/// The fields that differ from what the claim noted at launch, sorted; none where it noted nothing.
fn changed_fields<'a>(claim: &'a Claim, class: &'a Class) -> Vec<&'a str> {
    let Some(noted) = claim.annotations.get(annotations::CLASS_FIELDS) else {
        return Vec::new();
    };
    let before: BTreeSet<(&str, &str)> = noted.split(',').filter_map(|it| it.split_once('=')).collect();
    let after: BTreeSet<(&str, &str)> = class
        .fields
        .iter()
        .map(|(key, value)| (&**key, &**value))
        .collect();
    let changed: BTreeSet<&str> = before
        .symmetric_difference(&after)
        .map(|(field, _)| *field)
        .collect();
    changed.into_iter().collect()
}

fn of_image(claim: &Claim, image: &Text, class: &Class, types: &[InstanceType]) -> Option<Drift> {
    if class.images.is_empty() {
        return None;
    }
    let name = claim.labels.get(well_known::INSTANCE_TYPE)?;
    let drifted = |message: String| Some(Drift::new(Reason::AmiDrift, message));
    let Some(it) = types.iter().find(|it| it.name == *name) else {
        // Which image would be chosen is not known, but one of them it would be.
        let known = class.images.iter().any(|it| it.id == *image);
        return match known {
            true => None,
            false => drifted(format!("image {image} is none of EC2NodeClass {}", class.name)),
        };
    };
    let runs = |image: &&Image| {
        it.requirements
            .is_compatible(&image.requirements, Undefined::Missing)
    };
    match class.images.iter().find(runs) {
        Some(best) if best.id == *image => None,
        Some(best) => drifted(format!(
            "the image was {image}; EC2NodeClass {} now has {} for {name}",
            class.name, best.id
        )),
        None => drifted(format!(
            "the image was {image}; EC2NodeClass {} now has none for {name}",
            class.name
        )),
    }
}

fn of_groups(there: &[Text], class: &Class) -> Option<Drift> {
    let there: BTreeSet<&Text> = there.iter().collect();
    let wanted: BTreeSet<&Text> = class.security_groups.iter().collect();
    if wanted.is_empty() || there == wanted {
        return None;
    }
    let list = |groups: &BTreeSet<&Text>| groups.iter().map(|it| &***it).collect::<Vec<_>>().join(", ");
    let message = format!(
        "the security groups were {}; EC2NodeClass {} now finds {}",
        list(&there),
        class.name,
        list(&wanted)
    );
    Some(Drift::new(Reason::SecurityGroupDrift, message))
}

fn of_subnet(there: &Text, class: &Class) -> Option<Drift> {
    if class.subnets.is_empty() || class.subnets.contains(there) {
        return None;
    }
    let message = format!(
        "subnet {there} is not among those that EC2NodeClass {} now finds: {}",
        class.name,
        class.subnets.join(", ")
    );
    Some(Drift::new(Reason::SubnetDrift, message))
}

fn of_reservation(there: &Text, class: &Class) -> Option<Drift> {
    if class.reservations.contains(there) {
        return None;
    }
    let message = format!(
        "capacity reservation {there} is none of EC2NodeClass {} any more",
        class.name
    );
    Some(Drift::new(Reason::CapacityReservationDrift, message))
}

/// A claim carries the id of the group that it was launched into as a label.
fn of_placement_group(claim: &Claim, class: &Class) -> Option<Drift> {
    let wanted = class.placement_group.as_ref()?;
    let there = claim.labels.get(PLACEMENT_GROUP_ID).map_or("", |id| id);
    if there == &**wanted {
        return None;
    }
    let group = |id: &str| {
        if id.is_empty() {
            "none".to_owned()
        } else {
            id.to_owned()
        }
    };
    let message = format!(
        "the placement group was {}; EC2NodeClass {} now has {}",
        group(there),
        class.name,
        group(wanted)
    );
    Some(Drift::new(Reason::PlacementGroupDrift, message))
}

fn taints(all: &[Taint]) -> String {
    let mut words: Vec<String> = all.iter().map(ToString::to_string).collect();
    words.sort();
    format!("[{}]", words.join(", "))
}

fn length(length: Option<SignedDuration>, absent: &str) -> String {
    length.map_or_else(|| absent.to_owned(), |length| format!("{length:#}"))
}
