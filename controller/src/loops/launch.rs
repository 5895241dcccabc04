//! Claims get their instances. One order serves all claims of a round that are equal; a claim that an earlier process has left
//! without an instance is taken up again, and its instance found where it was bought already.

mod buy;
mod failed;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use joiner_aws::instances::{self, Instance, instance_id};
use joiner_aws::launch::{ClaimKey, find_lost};
use joiner_core::conditions::{LAUNCHED, Wanted};
use joiner_core::register::{Published, advance};
use joiner_core::snapshot::Claim;
use joiner_core::text::Text;
use tracing::{error, info};

use crate::act::{Act, Failed, Got, Under};
use crate::observe::ClaimEntry;

/// How often a process that has just started looks whether it knows what EC2 sells.
const PAUSE: Duration = Duration::from_millis(200);
/// How long after a claim was made the order of an earlier process may still arrive.
const ON_ITS_WAY: SignedDuration = SignedDuration::from_secs(10);
/// How often the instances are listed meanwhile.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Buys the instances of claims that were just made and are equal but for their names. Their places among those under way were
/// taken before they were made, so that nobody takes them for claims of an earlier process.
pub(super) async fn launch(act: Act, made: Vec<(Text, Under)>) {
    let (names, _under): (Vec<Text>, Vec<Under>) = made.into_iter().unzip();
    buy::buy(&act, &names).await;
}

/// Takes up a claim without an instance that an earlier process has left.
pub(super) fn resume(act: &Act, entry: &ClaimEntry) {
    let Some(under) = act.launching.begin(&entry.claim.name) else {
        return;
    };
    let (act, entry) = (act.clone(), entry.clone());
    tokio::spawn(async move {
        let _under = under;
        // What an instance has is noted with it, so EC2's facts come first.
        while !act.cloud.knows_types() {
            tokio::time::sleep(PAUSE).await;
        }
        let name = entry.claim.name.clone();
        loop {
            match lost(&act, &entry).await {
                Ok(Some(instance)) => return adopt(&act, &name, &instance).await,
                Ok(None) if may_be_on_its_way(&entry, Timestamp::now()) => {
                    tokio::time::sleep(LOOK_AGAIN).await
                }
                Ok(None) => return buy::buy(&act, &[name]).await,
                Err(failed) => {
                    error!(NodeClaim = %name, error = %failed.chain(), "instances could not be listed");
                    return;
                }
            }
        }
    });
}

/// Whether the order of an earlier process may still be on its way to EC2, or EC2 does not list what it has bought yet: another
/// order would buy a second instance.
fn may_be_on_its_way(entry: &ClaimEntry, now: Timestamp) -> bool {
    now.duration_since(entry.claim.created) < ON_ITS_WAY
}

/// The instance that was bought for the claim although the claim does not say so. Instances of one order serve any of its claims,
/// so they are handed out to all that hold none: each finds another one.
async fn lost(act: &Act, entry: &ClaimEntry) -> Result<Option<Instance>, Failed> {
    let found = instances::list(&act.cloud.aws, &act.cloud.cluster.name).await;
    let found = found.map_err(|cause| Failed::Cloud {
        what: "list of instances".to_owned(),
        cause,
    })?;
    let lost = bought_for(&found, &act.index.claim_entries());
    Ok(lost.get(&*entry.claim.name).map(|instance| (*instance).clone()))
}

/// The instances that were bought for claims which do not say so, by the claim's name.
pub(super) fn bought_for<'a>(found: &'a [Instance], claims: &[ClaimEntry]) -> BTreeMap<String, &'a Instance> {
    let held: BTreeSet<&str> = claims
        .iter()
        .filter_map(|entry| instance_id(entry.claim.provider_id.as_deref()?))
        .collect();
    let without: Vec<ClaimKey> = claims
        .iter()
        .filter(|entry| entry.claim.provider_id.is_none())
        .map(|entry| ClaimKey {
            name: entry.claim.name.to_string(),
            uid: entry.claim.uid.to_string(),
        })
        .collect();
    find_lost(found, &held, &without)
}

/// Notes an instance that was found on the claim it was bought for, unless a launch of this process is about to do so.
pub(super) async fn adopt_found(act: &Act, claim: &Text, instance: &Instance) {
    if let Some(_under) = act.launching.begin(claim) {
        adopt(act, claim, instance).await;
    }
}

/// The conditions of a claim whose instance has just been bought, those of the way that lies before it included: one write
/// instead of two.
fn just_launched(entry: &ClaimEntry) -> Vec<Wanted> {
    let now = Timestamp::now();
    let mut claim = Claim::clone(&entry.claim);
    claim.conditions.apply(&Wanted::yes(LAUNCHED), now);
    let mut conditions = advance(&claim, &[], &Published::Ignored, now).conditions;
    conditions.push(Wanted::yes(LAUNCHED));
    conditions
}

async fn adopt(act: &Act, claim: &Text, instance: &Instance) {
    let Some(entry) = act.index.claim_entry(claim) else {
        return;
    };
    let class = act.index.class_entry(&entry.claim.class.name);
    let types = class
        .as_ref()
        .and_then(|class| {
            act.cloud
                .types_for(&act.index, entry.claim.pool(), class, Timestamp::now())
        })
        .unwrap_or_default();
    match act
        .note_instance(
            &entry,
            class.as_deref(),
            &types,
            &Got::from(instance),
            just_launched(&entry),
        )
        .await
    {
        Ok(()) => info!(NodeClaim = %claim, instance = %instance.id, "found the instance of nodeclaim"),
        Err(failed) => {
            error!(NodeClaim = %claim, error = %failed.chain(), "instance was not noted on nodeclaim")
        }
    }
}
