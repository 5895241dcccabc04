//! One order: plan, CreateFleet, note. What EC2 has run out of is marked and the next offerings are tried in the same breath;
//! when nothing is left, the claims go and their pods are decided on anew.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use jiff::Timestamp;
use joiner_api::EC2NodeClass;
use joiner_aws::instances;
use joiner_aws::launch::{LaunchError, Launched};
use joiner_aws::node_class::NodeClass;
use joiner_core::catalogue::InstanceType;
use joiner_core::launch::{Plan, plan};
use joiner_core::text::Text;
use tracing::{error, info, warn};

use super::failed::{Why, give_up, mark, not_yet};
use super::just_launched;
use crate::act::{Act, Got, chain};
use crate::observe::ClaimEntry;

/// How often offerings are tried for one order: EC2 takes the token of an order for two different requests at most (the launcher
/// has one token in reserve). The next claims have tokens of their own.
const TRIES: u32 = 2;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What comes after an attempt.
enum Next {
    /// The claims are served, or were given up.
    Done,
    /// Other offerings may do.
    OtherOfferings { detail: String },
    /// Nothing will do.
    GiveUp(Why),
    /// Something that may pass.
    Later(LaunchError),
    /// The types are being read, or the placement group is.
    NotKnown,
}

/// Buys an instance for each of the claims, which are equal but for their names.
pub(super) async fn buy(act: &Act, names: &[Text]) {
    let (mut pause, mut tries) = (FIRST_PAUSE, 0);
    loop {
        let now = Timestamp::now();
        // Whoever was deleted, or found its instance, meanwhile needs none.
        let wanting =
            |entry: &ClaimEntry| entry.claim.deletion.is_none() && entry.claim.provider_id.is_none();
        let entries: Vec<ClaimEntry> = names
            .iter()
            .filter_map(|name| act.index.claim_entry(name))
            .filter(wanting)
            .collect();
        let Some(first) = entries.first() else { return };
        match attempt(act, &entries, first, now).await {
            Next::Done => return,
            Next::OtherOfferings { detail } => {
                tries += 1;
                if tries >= TRIES {
                    return give_up(act, &entries, &Why::InsufficientCapacity(detail)).await;
                }
            }
            Next::GiveUp(why) => return give_up(act, &entries, &why).await,
            Next::Later(cause) if tries > 0 => {
                return give_up(act, &entries, &Why::InsufficientCapacity(chain(&cause))).await;
            }
            Next::Later(cause) => {
                warn!(NodeClaim = %first.claim.name, reason = cause.reason(), error = %chain(&cause), "launch failed, trying again");
                not_yet(act, &entries, &cause, now).await;
                // The lifecycle loop deletes a claim that has waited too long.
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            Next::NotKnown => tokio::time::sleep(FIRST_PAUSE).await,
        }
    }
}

async fn attempt(act: &Act, entries: &[ClaimEntry], first: &ClaimEntry, now: Timestamp) -> Next {
    // Observe.
    let claim = &first.claim;
    let Some(class) = act.index.class_entry(&claim.class.name) else {
        return Next::GiveUp(Why::NodeClassNotReady(
            "NodeClass not found on cluster".to_owned(),
        ));
    };
    let resolved = match NodeClass::try_from(&*class) {
        Ok(resolved) => act.cloud.complete(resolved),
        Err(missing) => return Next::GiveUp(Why::NodeClassNotReady(missing.to_string())),
    };
    // Another instance than the class asks for would be worse than one that comes a moment later.
    if class.spec.placement_group_selector.is_some() && resolved.placement_group.is_none() {
        return Next::NotKnown;
    }
    let Some(types) = act.cloud.types_for(&act.index, claim.pool(), &class, now) else {
        return Next::NotKnown;
    };
    // Decide.
    let choice = match plan(&claim.requirements, &claim.requests, &types) {
        Ok(choice) => choice,
        Err(misfit) => return Next::GiveUp(Why::InsufficientCapacity(misfit.to_string())),
    };
    // Act.
    for entry in entries {
        act.stages.fleet_called(&entry.claim.name);
    }
    match act.buy(entries, &resolved, &choice, &types).await {
        Ok(launched) => {
            mark(act, &launched.shortages, now);
            note(act, entries, &launched, &class, &types, &choice).await;
            let unserved: Vec<ClaimEntry> = entries
                .iter()
                .filter(|entry| launched.unserved.iter().any(|it| **it == *entry.claim.name))
                .cloned()
                .collect();
            if !unserved.is_empty() {
                let why = Why::InsufficientCapacity("EC2 had fewer instances than were ordered".to_owned());
                give_up(act, &unserved, &why).await;
            }
            Next::Done
        }
        Err(LaunchError::InsufficientCapacity { shortages, detail }) => {
            mark(act, &shortages, now);
            warn!(NodeClaim = %claim.name, detail = %detail, offerings = shortages.len(), "EC2 has no capacity for the offerings");
            // Without a mark the next plan would be the same.
            match shortages.is_empty() {
                true => Next::GiveUp(Why::InsufficientCapacity(detail)),
                false => Next::OtherOfferings { detail },
            }
        }
        Err(cause @ LaunchError::NodeClassNotReady { .. }) => {
            Next::GiveUp(Why::NodeClassNotReady(chain(&cause)))
        }
        Err(cause) => Next::Later(cause),
    }
}

/// Notes the instances on their claims, all at the same time.
async fn note(
    act: &Act,
    entries: &[ClaimEntry],
    launched: &Launched,
    class: &Arc<EC2NodeClass>,
    types: &Arc<[InstanceType]>,
    choice: &Plan,
) {
    let mut notes = Vec::new();
    for bought in &launched.bought {
        let Some(entry) = entries.iter().find(|entry| *entry.claim.name == *bought.claim) else {
            continue;
        };
        let seconds = act.stages.fleet_answered(&entry.claim.name);
        let got = Got::from(bought);
        if let Some(id) = &got.reservation {
            act.cloud.reserved.took(id);
        }
        let price = choice
            .choices
            .iter()
            .find(|it| *it.instance_type == *got.instance_type && *it.zone == *got.zone);
        info!(
            NodeClaim = %entry.claim.name, provider_id = %instances::provider_id(&got.zone, &got.instance_id),
            instance_type = %got.instance_type, zone = %got.zone, capacity_type = %got.capacity_type,
            price = %price.map(|it| it.price.to_string()).unwrap_or_default(), ordered_together = entries.len(),
            seconds_pending_to_fleet = seconds.to_fleet, seconds_fleet = seconds.fleet, "launched nodeclaim"
        );
        let (act, entry, class, types) = (act.clone(), entry.clone(), class.clone(), types.clone());
        notes.push(async move {
            // Deleted meanwhile: its end, or the garbage loop, ends the instance.
            if let Err(failed) = act.note_instance(&entry, Some(&class), &types, &got, just_launched(&entry)).await {
                error!(NodeClaim = %entry.claim.name, error = %failed.chain(), "instance was not noted on nodeclaim");
            }
        });
    }
    join_all(notes).await;
}
