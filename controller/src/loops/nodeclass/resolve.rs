//! What a class' selectors find in the account, as its status.

use jiff::Timestamp;
use joiner_api::conditions::{Observation, set, set_ready};
use joiner_api::labels::conditions as kinds;
use joiner_api::{
    Ami, CapacityReservationSelectorTerm, EC2NodeClass, EC2NodeClassStatus, SecurityGroup, Subnet,
};
use joiner_aws::selectors::{self, Matches};
use joiner_aws::{Error, profiles, tags};

use super::validate::{DryRun, Validated, validation};
use crate::act::{Act, Failed};

/// The status that the class should have. What could not be asked stays as it was.
pub(super) async fn status(
    act: &Act,
    class: &EC2NodeClass,
    validated: &Validated,
    dry_run: DryRun,
    now: Timestamp,
) -> Result<EC2NodeClassStatus, Failed> {
    let aws = &act.cloud.aws;
    let spec = &class.spec;
    let mut status = class.status.clone().unwrap_or_default();
    // With the gate off no reservation is looked for, as in Karpenter.
    let terms: &[CapacityReservationSelectorTerm] = match act.cloud.uses_reservations() {
        true => &spec.capacity_reservation_selector_terms,
        false => &[],
    };
    let (subnets, groups, images, profile, reservations, placement_group) = tokio::join!(
        selectors::subnets(aws, &spec.subnet_selector_terms),
        selectors::security_groups(aws, &spec.security_group_selector_terms),
        selectors::images(aws, spec, &act.cloud.cluster.version, now),
        profile(act, class),
        selectors::reservations(aws, terms, now),
        placement_group(act, class),
    );
    let mut said = Vec::new();
    if let Some(found) = looked_up(kinds::SUBNETS_READY, "SubnetsNotFound", subnets, &mut said)? {
        act.cloud.launcher.count_addresses(&found);
        status.subnets = found.into_iter().map(Subnet::from).collect();
    }
    if let Some(found) = looked_up(
        kinds::SECURITY_GROUPS_READY,
        "SecurityGroupsNotFound",
        groups,
        &mut said,
    )? {
        status.security_groups = found.into_iter().map(SecurityGroup::from).collect();
    }
    if let Some(found) = looked_up(kinds::AMIS_READY, "AMINotFound", images, &mut said)? {
        status.amis = found.into_iter().map(Ami::from).collect();
    }
    match profile {
        Ok(name) => {
            status.instance_profile = Some(name);
            said.push(Observation::holds(kinds::INSTANCE_PROFILE_READY));
        }
        Err(error) => said.push(refused(
            kinds::INSTANCE_PROFILE_READY,
            "InstanceProfileNotReady",
            error,
        )?),
    }
    match reservations {
        Ok(matches) => {
            if act.cloud.reserved.count(&matches.found) {
                act.index.changes.provision.ring_plain();
            }
            status.capacity_reservations = matches.found.iter().map(|it| it.status(now)).collect();
            // Reserved capacity is a saving and no need: that there is none leaves the class ready.
            said.push(Observation::holds(kinds::CAPACITY_RESERVATIONS_READY));
        }
        Err(error) => said.push(refused(
            kinds::CAPACITY_RESERVATIONS_READY,
            "LookupFailed",
            error,
        )?),
    }
    said.push(placement_group?);
    let generation = class.metadata.generation.unwrap_or_default();
    for observation in &said {
        set(&mut status.conditions, observation, generation, now);
    }
    if let Some(observation) = validation(act, class, &status, validated, dry_run, now).await {
        set(&mut status.conditions, &observation, generation, now);
    }
    set_ready(&mut status.conditions, kinds::EC2_NODE_CLASS, generation, now);
    Ok(status)
}

/// Looks up the placement group that the class names, for its launches, and says whether it is there.
async fn placement_group(act: &Act, class: &EC2NodeClass) -> Result<Observation, Failed> {
    const KIND: &str = kinds::PLACEMENT_GROUP_READY;
    let name = class.metadata.name.as_deref().unwrap_or_default();
    let Some(selector) = &class.spec.placement_group_selector else {
        act.cloud.note_placement_group(name, None);
        return Ok(Observation::holds(KIND));
    };
    let named = selector
        .id
        .as_deref()
        .or(selector.name.as_deref())
        .unwrap_or_default();
    match selectors::placement_group(&act.cloud.aws, selector).await {
        Ok(Some(group)) if group.is_usable() => {
            act.cloud.note_placement_group(name, Some(group.id));
            Ok(Observation::holds(KIND))
        }
        Ok(found) => {
            act.cloud.note_placement_group(name, None);
            let state = found.map_or("is not there".to_owned(), |group| format!("is {}", group.state));
            let message =
                format!("placement group {named} {state}: make it, or correct placementGroupSelector");
            Ok(Observation::fails(KIND, "PlacementGroupNotFound", message))
        }
        Err(error) => refused(KIND, "PlacementGroupResolutionFailed", error),
    }
}

/// Notes whether a selector found something; returns what it found, or nothing where AWS did not let us look.
fn looked_up<T>(
    kind: &'static str,
    reason: &str,
    answer: Result<Matches<T>, Error>,
    said: &mut Vec<Observation>,
) -> Result<Option<Vec<T>>, Failed> {
    match answer {
        Ok(matches) if matches.is_empty() => {
            said.push(Observation::fails(kind, reason, matches.explanation()));
            Ok(Some(Vec::new()))
        }
        Ok(matches) => {
            said.push(Observation::holds(kind));
            Ok(Some(matches.found))
        }
        Err(error) => {
            said.push(refused(kind, "LookupFailed", error)?);
            Ok(None)
        }
    }
}

/// A refusal that a person has to mend becomes a condition; one that passes by itself is an error to try again.
fn refused(kind: &'static str, reason: &str, error: Error) -> Result<Observation, Failed> {
    match error {
        Error::Throttled(_) | Error::Service(_) | Error::Unreachable { .. } | Error::Conflict(_) => {
            Err(Failed::Cloud {
                what: format!("condition {kind}"),
                cause: error,
            })
        }
        other => Ok(Observation::fails(kind, reason, other.to_string())),
    }
}

/// The profile as named by the class, or one made for its role.
async fn profile(act: &Act, class: &EC2NodeClass) -> Result<String, Error> {
    if let Some(name) = &class.spec.instance_profile {
        return Ok(name.clone());
    }
    let cluster = &act.cloud.cluster;
    let uid = class.metadata.uid.as_deref().unwrap_or_default();
    let role = class.spec.role.as_deref().unwrap_or_default();
    let name = profiles::name(&cluster.name, &cluster.region, uid, role);
    let wanted = profiles::Wanted {
        path: profiles::path(&cluster.region, &cluster.name, uid),
        role: role.to_owned(),
        tags: tags::for_profile(
            &cluster.name,
            &cluster.region,
            class.metadata.name.as_deref().unwrap_or_default(),
            &class.spec.tags.clone().into_iter().collect(),
        ),
        name,
    };
    profiles::ensure(&act.cloud.aws, &wanted)
        .await
        .map(|profile| profile.name)
}
