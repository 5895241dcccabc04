//! One claim gets its instance: plan, CreateFleet, note. What EC2 has run out of is marked and the next offerings are tried in
//! the same breath; when nothing is left, the claim goes and its pods are decided on anew.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use joiner_aws::instances::{self, Instance, instance_id};
use joiner_aws::launch::{ClaimKey, LaunchError, find_lost};
use joiner_aws::node_class::NodeClass;
use joiner_aws::unavailable::Shortage;
use joiner_core::conditions::{LAUNCHED, Wanted};
use joiner_core::launch::plan;
use joiner_core::text::Text;
use joiner_core::well_known;
use tracing::{error, info, warn};

use crate::act::{Act, ClaimStatus, Event, Failed, Got, Object, chain};
use crate::observe::ClaimEntry;

/// How often the next offerings are tried within one launch.
const TRIES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Buys the instance of a claim that was just made.
pub(super) async fn launch(act: Act, entry: ClaimEntry) {
    let Some(_under) = act.launching.begin(&entry.claim.name) else { return };
    buy(&act, entry).await;
}

/// Takes up a claim without an instance that an earlier process has left: its instance may have been bought already.
pub(super) fn resume(act: &Act, entry: &ClaimEntry) {
    let Some(under) = act.launching.begin(&entry.claim.name) else { return };
    let (act, entry) = (act.clone(), entry.clone());
    tokio::spawn(async move {
        let _under = under;
        match lost(&act, &entry).await {
            Ok(Some(instance)) => adopt(&act, &entry.claim.name, &instance).await,
            Ok(None) => buy(&act, entry).await,
            Err(failed) => error!(NodeClaim = %entry.claim.name, error = %failed.chain(), "instances could not be listed"),
        }
    });
}

/// The instance that was bought for the claim although the claim does not say so.
async fn lost(act: &Act, entry: &ClaimEntry) -> Result<Option<Instance>, Failed> {
    let found = instances::list(&act.cloud.aws, &act.cloud.cluster.name).await;
    let found = found.map_err(|cause| Failed::Cloud { what: "list of instances".to_owned(), cause })?;
    let entries = act.index.claim_entries();
    let held: BTreeSet<&str> =
        entries.iter().filter_map(|entry| instance_id(entry.claim.provider_id.as_deref()?)).collect();
    let key = ClaimKey { name: entry.claim.name.to_string(), uid: entry.claim.uid.to_string() };
    let lost = find_lost(&found, &held, std::slice::from_ref(&key));
    Ok(lost.into_values().next().cloned())
}

/// Notes an instance on the claim it was bought for.
pub(super) async fn adopt(act: &Act, claim: &Text, instance: &Instance) {
    let Some(entry) = act.index.claim_entry(claim) else { return };
    let class = act.index.class_entry(&entry.claim.class.name);
    let types = class.as_ref().and_then(|class| act.cloud.types(class, Timestamp::now())).unwrap_or_default();
    match act.note_instance(&entry, class.as_deref(), &types, &Got::from(instance)).await {
        Ok(()) => info!(NodeClaim = %claim, instance = %instance.id, "found the instance of nodeclaim"),
        Err(failed) => error!(NodeClaim = %claim, error = %failed.chain(), "instance was not noted on nodeclaim"),
    }
}

async fn buy(act: &Act, entry: ClaimEntry) {
    let name = entry.claim.name.clone();
    let (mut pause, mut tries) = (FIRST_PAUSE, 0);
    loop {
        // Observe.
        let now = Timestamp::now();
        let Some(entry) = act.index.claim_entry(&name).filter(|entry| entry.claim.deletion.is_none()) else { return };
        let Some(class) = act.index.class_entry(&entry.claim.class.name) else {
            return give_up(act, &entry, Why::NodeClassNotReady("NodeClass not found on cluster".to_owned())).await;
        };
        let resolved = match NodeClass::try_from(&*class) {
            Ok(resolved) => resolved,
            Err(missing) => return give_up(act, &entry, Why::NodeClassNotReady(missing.to_string())).await,
        };
        let Some(types) = act.cloud.types(&class, now) else {
            tokio::time::sleep(FIRST_PAUSE).await;
            continue;
        };
        // Decide.
        let choice = match plan(&entry.claim.requirements, &entry.claim.requests, &types) {
            Ok(choice) => choice,
            Err(misfit) => return give_up(act, &entry, Why::InsufficientCapacity(misfit.to_string())).await,
        };
        // Act.
        act.stages.fleet_called(&name);
        match act.buy(&entry, &resolved, &choice, &types).await {
            Ok(launched) => {
                let seconds = act.stages.fleet_answered(&name);
                mark(act, &launched.shortages, now);
                let Some(bought) = launched.bought.first() else {
                    return give_up(act, &entry, Why::InsufficientCapacity("EC2 returned no instance".to_owned())).await;
                };
                let got = Got::from(bought);
                match act.note_instance(&entry, Some(&class), &types, &got).await {
                    Ok(()) => {}
                    // Deleted meanwhile: its end, or the garbage loop, ends the instance.
                    Err(failed) => error!(NodeClaim = %name, error = %failed.chain(), "instance was not noted on nodeclaim"),
                }
                let price = choice.choices.iter().find(|it| *it.instance_type == *got.instance_type && *it.zone == *got.zone);
                return info!(
                    NodeClaim = %name, provider_id = %instances::provider_id(&got.zone, &got.instance_id),
                    instance_type = %got.instance_type, zone = %got.zone, capacity_type = %got.capacity_type,
                    price = %price.map(|it| it.price.to_string()).unwrap_or_default(),
                    seconds_pending_to_fleet = seconds.to_fleet, seconds_fleet = seconds.fleet, "launched nodeclaim"
                );
            }
            Err(LaunchError::InsufficientCapacity { shortages, detail }) => {
                mark(act, &shortages, now);
                tries += 1;
                warn!(NodeClaim = %name, detail = %detail, offerings = shortages.len(), "EC2 has no capacity, trying the next offerings");
                // Without a mark the next plan would be the same.
                if shortages.is_empty() || tries >= TRIES {
                    return give_up(act, &entry, Why::InsufficientCapacity(detail)).await;
                }
            }
            Err(cause @ LaunchError::NodeClassNotReady { .. }) => {
                return give_up(act, &entry, Why::NodeClassNotReady(chain(&cause))).await;
            }
            Err(cause) => {
                warn!(NodeClaim = %name, reason = cause.reason(), error = %chain(&cause), "launch failed, trying again");
                not_yet(act, &entry, &cause, now).await;
                // The lifecycle loop deletes a claim that has waited too long.
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// Why a claim cannot have an instance.
enum Why {
    InsufficientCapacity(String),
    NodeClassNotReady(String),
}

async fn give_up(act: &Act, entry: &ClaimEntry, why: Why) {
    let (reason, metric, detail) = match why {
        Why::InsufficientCapacity(detail) => ("InsufficientCapacityError", "insufficient_capacity", detail),
        Why::NodeClassNotReady(detail) => ("NodeClassNotReady", "nodeclass_not_ready", detail),
    };
    let claim = &entry.claim;
    warn!(NodeClaim = %claim.name, reason = reason, detail = %detail, "failed launching nodeclaim");
    let message = format!("NodeClaim {} event: {detail}", claim.name);
    act.events.publish(Event::warning(Object::claim(claim), reason, message));
    if let Err(failed) = act.delete_claim(claim).await {
        error!(NodeClaim = %claim.name, error = %failed.chain(), "nodeclaim was not deleted");
        return;
    }
    let label = |key: &str| claim.labels.get(key).map_or("", |value| value);
    act.metrics.nodeclaim_disrupted(label(well_known::NODE_POOL), metric, label(well_known::CAPACITY_TYPE));
    act.stages.forget(&claim.name);
}

/// Says on the claim why it has no instance yet.
async fn not_yet(act: &Act, entry: &ClaimEntry, cause: &LaunchError, now: Timestamp) {
    let wanted = Wanted::unknown(LAUNCHED, cause.reason(), shorten(&chain(cause)));
    if !entry.claim.conditions.differs(&wanted) {
        return;
    }
    let status = ClaimStatus { conditions: vec![wanted], ..ClaimStatus::default() };
    if let Err(failed) = act.set_claim_status(entry, &status, now).await {
        tracing::debug!(NodeClaim = %entry.claim.name, error = %failed.chain(), "condition was not written");
    }
}

fn mark(act: &Act, shortages: &[(Shortage, String)], now: Timestamp) {
    for (shortage, reason) in shortages {
        if let Shortage::Offering { capacity_type, zone, .. } = shortage {
            act.metrics.launch_failure(zone, "", capacity_type, reason);
        }
        act.cloud.mark(shortage.clone(), reason, now);
    }
}

/// Karpenter's limit for a condition's message.
fn shorten(message: &str) -> String {
    const LIMIT: usize = 300;
    let mut cut: String = message.chars().take(LIMIT).collect();
    if cut.len() < message.len() {
        cut.push_str("...");
    }
    cut
}
