//! `kill -9` of the controller between CreateFleet and the NodeClaim's status: the next process finds the instances that were
//! bought, so that each claim has exactly one, and none is left over; and it buys nothing for pods that have a claim already.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use joiner_api::NodeClaim;
use joiner_tests::{Quickstart, cluster, eventually};
use nix::sys::signal::Signal;
use serde_json::json;

const PATIENCE: Duration = Duration::from_secs(120);
const PODS: usize = 3;

#[tokio::test]
async fn each_claim_has_exactly_one_instance() -> Result<()> {
    let quickstart = Quickstart::apply().await?;
    let cloud = &quickstart.cloud;
    // One node for each pod.
    let requirements = "        - {key: karpenter.k8s.aws/instance-cpu, operator: In, values: [\"4\"]}";
    quickstart.pool(
        "four",
        requirements,
        "",
        "  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 1s}",
    )?;
    for fault in [
        // The order is on its way to EC2: it is carried out, and the one who gave it is gone.
        json!({ "kind": "latency", "milliseconds": 3000, "match": { "action": "ec2:CreateFleet" } }),
        // EC2 has carried the order out, and the answer is lost.
        json!({ "kind": "lost-response", "match": { "action": "ec2:CreateFleet" } }),
    ] {
        let kind = fault["kind"].as_str().unwrap_or_default().to_owned();
        let before = launched(&quickstart).await?;
        cloud.fault(&fault).await?;
        cloud.kubectl_apply(&cluster::deployment(
            "lonely",
            "karpenter.sh/nodepool: four",
            PODS,
            "2500m",
            "",
        ))?;
        eventually("EC2 is asked for instances", PATIENCE, || async {
            let met = cloud.faults().await?;
            ensure!(met.get(&kind).is_some_and(|used| *used > 0), "{met:?}");
            Ok(())
        })
        .await?;
        // Both replicas: whichever leads has given the order.
        // The one that leads, and whoever stands by: the next process knows nothing of what was ordered.
        let controllers = cloud.pod_processes("joiner-controller");
        ensure!(!controllers.is_empty(), "no controller runs");
        for controller in &controllers {
            controller.id.signal(Signal::SIGKILL);
        }
        cloud.mend().await?;

        cluster::pods_of(&quickstart.client, "lonely", PODS, PATIENCE).await?;
        eventually(
            "each claim has one instance, and none is left over",
            PATIENCE,
            || async {
                let claims = cluster::claims(&quickstart.client).await?;
                ensure!(
                    claims.len() == PODS,
                    "{kind}: {} claims for {PODS} pods",
                    claims.len()
                );
                let held: BTreeSet<String> = claims.iter().map(instance_of).collect::<Result<_>>()?;
                ensure!(
                    held.len() == claims.len(),
                    "{kind}: {} claims hold {held:?}",
                    claims.len()
                );
                let all = launched(&quickstart).await?;
                let bought: BTreeSet<String> = all.difference(&before).cloned().collect();
                ensure!(
                    bought == held,
                    "{kind}: {bought:?} were bought, {held:?} are on claims"
                );
                Ok(())
            },
        )
        .await?;

        cloud.kubectl(&["delete", "deployment", "lonely"])?;
        eventually("claims and instances are gone", PATIENCE, || async {
            let (claims, instances) = (
                cluster::claims(&quickstart.client).await?,
                cloud.instances().await?,
            );
            ensure!(
                claims.is_empty() && instances.is_empty(),
                "{} claims, {} instances",
                claims.len(),
                instances.len()
            );
            Ok(())
        })
        .await?;
    }
    quickstart.workspace.destroy()?;
    let left = cloud.sandbox.leftovers().await?;
    ensure!(left.is_empty(), "{left:?}");
    Ok(())
}

fn instance_of(claim: &NodeClaim) -> Result<String> {
    let provider_id = claim
        .status
        .as_ref()
        .and_then(|status| status.provider_id.as_deref());
    let id = provider_id.and_then(|id| id.rsplit('/').next());
    id.map(str::to_owned)
        .with_context(|| format!("{:?} has no instance", claim.metadata.name))
}

/// The ids of all instances that were ever launched, terminated ones included.
async fn launched(quickstart: &Quickstart) -> Result<BTreeSet<String>> {
    let answer = quickstart
        .cloud
        .sandbox
        .emulator("GET", "instances", None)
        .await?;
    let instances = answer["instances"].as_array().into_iter().flatten();
    Ok(instances
        .filter_map(|instance| instance["id"].as_str().map(str::to_owned))
        .collect())
}
