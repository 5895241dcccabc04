//! What has lost its other half: instances without a claim are ended, claims without an instance deleted, and an instance whose
//! claim does not know it yet (the process was killed in between) is noted on it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use joiner_aws::instances::{self, Instance};
use joiner_core::collect::{self, collect};
use joiner_core::text::Text;
use tracing::{error, info};

use super::{demoted, launch};
use crate::act::Act;
use crate::cloud;
use crate::observe::ClaimEntry;

/// Karpenter looks often after its start, since that is when something may have been lost, and seldom afterwards.
const OFTEN: Duration = Duration::from_secs(10);
const SELDOM: Duration = Duration::from_secs(120);
const OFTEN_TIMES: u32 = 20;

/// Runs for ever.
pub(super) async fn run(act: Act) {
    let mut times = 0;
    if let Err(cause) = act.cloud.launcher.hydrate(Timestamp::now()).await {
        error!(error = %crate::act::chain(&cause), "launch templates of an earlier controller could not be listed");
    }
    loop {
        tokio::time::sleep(if times < OFTEN_TIMES { OFTEN } else { SELDOM }).await;
        times += 1;
        round(&act).await;
        match act.cloud.launcher.sweep(Timestamp::now()).await {
            Ok(names) if names.is_empty() => {}
            Ok(names) => info!(
                launch_templates = names.len(),
                "deleted launch templates that are not used any more"
            ),
            Err(cause) => {
                error!(error = %crate::act::chain(&cause), "unused launch templates were not deleted")
            }
        }
    }
}

async fn round(act: &Act) {
    // Observe.
    if !act.cloud.knows_types() {
        return;
    }
    let started = Instant::now();
    let listed = instances::list(&act.cloud.aws, &act.cloud.cluster.name).await;
    act.metrics.cloud_call(
        "instance.garbagecollection",
        "List",
        started.elapsed(),
        listed.as_ref().err().map(cloud::kind),
    );
    let found = match listed {
        Ok(found) => found,
        Err(cause) => {
            error!(error = %crate::act::chain(&cause), "instances could not be listed");
            return;
        }
    };
    let now = Timestamp::now();
    let claims = act.index.claim_entries();
    let news = act.cloud.note_machines(&found);
    let owners = owners(&found, &claims);
    let known: Vec<collect::Instance> = found
        .iter()
        .map(|it| as_listed(it, owners.get(it.id.as_str())))
        .collect();
    // Decide.
    let plan = collect(&known, &act.index.snapshot(now).nodes, now);
    // Act.
    for entry in &claims {
        if entry
            .claim
            .provider_id
            .as_ref()
            .is_some_and(|id| news.contains(id))
        {
            // Whether it has drifted can be said now.
            act.index.changes.lifecycle.ring(&entry.claim.name);
        }
    }
    demoted::look(act, &found, &claims).await;
    for (claim, provider_id) in &plan.adopt {
        if let Some(instance) = found.iter().find(|it| it.provider_id() == **provider_id) {
            launch::adopt_found(act, claim, instance).await;
        }
    }
    for provider_id in &plan.terminate {
        info!(provider_id = %provider_id, "instance has no nodeclaim and is terminated");
        if let Err(failed) = act.terminate_instance(provider_id).await {
            error!(provider_id = %provider_id, error = %failed.chain(), "instance was not terminated");
        }
    }
    for name in &plan.delete_claims {
        let Some(entry) = act.index.claim_entry(name) else {
            continue;
        };
        info!(NodeClaim = %name, "instance of nodeclaim is gone, nodeclaim is deleted");
        if let Err(failed) = act.delete_claim(&entry.claim).await {
            error!(NodeClaim = %name, error = %failed.chain(), "nodeclaim was not deleted");
        }
    }
}

/// The claims of instances that say for whom they were bought, by the instance's id.
fn owners<'a>(found: &'a [Instance], claims: &[ClaimEntry]) -> BTreeMap<&'a str, Text> {
    launch::bought_for(found, claims)
        .into_iter()
        .map(|(claim, instance)| (instance.id.as_str(), claim.into()))
        .collect()
}

fn as_listed(instance: &Instance, owner: Option<&Text>) -> collect::Instance {
    collect::Instance {
        provider_id: instance.provider_id().into(),
        // One without a time is taken as just launched: nothing is ended in doubt.
        launched: instance.launched.unwrap_or_else(Timestamp::now),
        claim: owner.cloned().or_else(|| instance.node_claim().map(Text::from)),
        terminating: instance.state.is_ending(),
    }
}
