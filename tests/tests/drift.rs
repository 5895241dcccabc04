//! An edited pool or class rolls its nodes: within the budget, each successor before its node goes, no pod without a node for longer
//! than it takes to make it anew; also when the controller is killed in the middle.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use joiner_api::{NodeClaim, labels};
use joiner_tests::{Quickstart, cluster, eventually};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use nix::sys::signal::Signal;

const PATIENCE: Duration = Duration::from_secs(240);
/// Long enough to be caught in the middle.
const BOOT: Duration = Duration::from_secs(4);
const NODES: usize = 4;
const BUDGET: usize = 2;
/// As often as a controller that has just started lists the instances, and some more.
const LISTED: Duration = Duration::from_secs(12);
/// A release of the images that is not the newest one.
const OLDER: &str = "v20260715";
/// How long a pod that was made anew may wait for its node, in whole seconds as Kubernetes writes them.
const WAIT: i64 = 3;

#[tokio::test]
async fn edits_roll_nodes_within_the_budget_and_successors_come_first() -> Result<()> {
    let quickstart = Quickstart::apply_booting(BOOT, "").await?;
    let cloud = &quickstart.cloud;
    quickstart.pool(
        "rolled",
        "        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}\n        \
         - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}",
        "",
        &format!(
            "  disruption: {{consolidationPolicy: WhenEmpty, consolidateAfter: 1s, budgets: [{{nodes: \"{BUDGET}\"}}]}}"
        ),
    )?;
    cloud.kubectl_apply(&cluster::deployment(
        "rolled",
        "karpenter.sh/nodepool: rolled",
        NODES,
        "1500m",
        "",
    ))?;
    cluster::pods_of(&quickstart.client, "rolled", NODES, PATIENCE).await?;
    settled(&quickstart, &BTreeSet::new()).await?;

    // The instances have been listed by then: image, subnet and security groups are what the class says.
    tokio::time::sleep(LISTED).await;
    for claim in cluster::claims(&quickstart.client).await? {
        ensure!(holds(&claim, "Drifted").is_none(), "{claim:?}");
    }
    let before = names(&quickstart).await?;
    let label = r#"{"spec": {"template": {"metadata": {"labels": {"edition": "second"}}}}}"#;
    cloud.kubectl(&["patch", "nodepool", "rolled", "--type=merge", "-p", label])?;
    rolled(
        &quickstart,
        &before,
        "NodePoolDrifted",
        "label edition was absent, is second",
    )
    .await?;
    for claim in cluster::claims(&quickstart.client).await? {
        ensure!(
            claim.labels().get("edition").is_some_and(|it| it == "second"),
            "{claim:?}"
        );
    }
    for (kind, reason) in [
        ("NodeClaim", "DisruptionLaunching"),
        ("NodeClaim", "DisruptionWaitingReadiness"),
        ("NodeClaim", "DisruptionTerminating"),
        ("Node", "DisruptionTerminating"),
    ] {
        let told = cluster::events(&quickstart.client, kind, reason).await?;
        ensure!(told.len() >= NODES, "{kind} {reason}: {told:?}");
    }

    let before = names(&quickstart).await?;
    let tags = r#"{"spec": {"tags": {"team": "blue"}}}"#;
    cloud.kubectl(&["patch", "ec2nodeclass", "default", "--type=merge", "-p", tags])?;
    rolled(&quickstart, &before, "NodeClassDrift", ": tags").await?;
    for instance in cloud.instances().await? {
        ensure!(instance["tags"]["team"] == "blue", "{instance}");
    }

    // The terms are no static field: what counts is the image that they lead to.
    let before = names(&quickstart).await?;
    let older = format!(r#"{{"spec": {{"amiSelectorTerms": [{{"alias": "al2023@{OLDER}"}}]}}}}"#);
    cloud.kubectl(&["patch", "ec2nodeclass", "default", "--type=merge", "-p", &older])?;
    rolled(&quickstart, &before, "AMIDrift", "the image was ami-").await?;

    killed_in_the_middle(&quickstart).await?;
    cloud.kubectl(&["delete", "deployment", "rolled"])?;
    cloud.kubectl(&["delete", "nodepool", "rolled"])?;
    quickstart.workspace.destroy()?;
    let left = cloud.sandbox.leftovers().await?;
    ensure!(left.is_empty(), "{left:?}");
    Ok(())
}

/// Whoever takes over finds the claims that were made for the nodes in question, and buys none again.
async fn killed_in_the_middle(quickstart: &Quickstart) -> Result<()> {
    let cloud = &quickstart.cloud;
    let before = names(quickstart).await?;
    let launched = ever_launched(quickstart).await?;
    let label = r#"{"spec": {"template": {"metadata": {"labels": {"edition": "third"}}}}}"#;
    cloud.kubectl(&["patch", "nodepool", "rolled", "--type=merge", "-p", label])?;
    eventually("successors are on their way", PATIENCE, || async {
        let there = names(quickstart).await?;
        ensure!(there.len() > before.len(), "{there:?}");
        Ok(())
    })
    .await?;
    let controllers = cloud.pod_processes("joiner-controller");
    ensure!(!controllers.is_empty(), "no controller runs");
    for controller in &controllers {
        controller.id.signal(Signal::SIGKILL);
    }
    settled(quickstart, &before).await?;
    let bought = ever_launched(quickstart).await? - launched;
    ensure!(
        bought == NODES,
        "{bought} instances were bought for {NODES} nodes"
    );
    pods_did_not_wait(quickstart).await
}

/// Watches a roll-out from its begin to its end.
async fn rolled(
    quickstart: &Quickstart,
    before: &BTreeSet<String>,
    reason: &str,
    message: &str,
) -> Result<()> {
    let begin = Instant::now();
    let mut told = BTreeSet::new();
    loop {
        let claims = cluster::claims(&quickstart.client).await?;
        let going = disrupted(quickstart, &claims).await?;
        ensure!(going.len() <= BUDGET, "disrupted at once: {going:?}");
        let staying = claims
            .iter()
            .filter(|claim| {
                claim.metadata.deletion_timestamp.is_none() && holds(claim, "Initialized").is_some()
            })
            .count();
        ensure!(
            staying >= NODES,
            "a node went before its successor was complete: {staying} are left"
        );
        told.extend(claims.iter().filter_map(|claim| holds(claim, "Drifted")));
        let there: BTreeSet<String> = claims.iter().map(ResourceExt::name_any).collect();
        if there.is_disjoint(before) {
            break;
        }
        ensure!(
            begin.elapsed() < PATIENCE,
            "nodes are still there: {:?}, {told:?}",
            there.intersection(before)
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    ensure!(
        told.iter()
            .any(|it| it.starts_with(reason) && it.contains(message)),
        "{told:?}"
    );
    settled(quickstart, before).await?;
    pods_did_not_wait(quickstart).await
}

/// Waits until as many nodes are there as before, none of them of those, none marked, and all pods run.
async fn settled(quickstart: &Quickstart, before: &BTreeSet<String>) -> Result<()> {
    eventually("all nodes are new ones", PATIENCE, || async {
        let there = names(quickstart).await?;
        ensure!(there.len() == NODES && there.is_disjoint(before), "{there:?}");
        let marked = marked(quickstart).await?;
        ensure!(marked.is_empty(), "still marked: {marked:?}");
        Ok(())
    })
    .await?;
    cluster::pods_of(&quickstart.client, "rolled", NODES, PATIENCE)
        .await
        .map(drop)
}

async fn names(quickstart: &Quickstart) -> Result<BTreeSet<String>> {
    let claims = cluster::claims(&quickstart.client).await?;
    Ok(claims.iter().map(ResourceExt::name_any).collect())
}

/// The reason and message of a condition that holds.
fn holds(claim: &NodeClaim, kind: &str) -> Option<String> {
    let conditions = &claim.status.as_ref()?.conditions;
    let it = conditions
        .iter()
        .find(|it| it.type_ == kind && it.status == "True")?;
    Some(format!("{}: {}", it.reason, it.message))
}

/// The names of the nodes that carry the taint of those that are about to go.
async fn marked(quickstart: &Quickstart) -> Result<BTreeSet<String>> {
    let nodes = Api::<Node>::all(quickstart.client.clone())
        .list(&ListParams::default())
        .await?;
    let is_marked = |node: &&Node| {
        let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
        taints
            .into_iter()
            .any(|taint| taint.key == labels::DISRUPTED_TAINT)
    };
    let marked = nodes.items.iter().filter(is_marked);
    Ok(marked.map(ResourceExt::name_any).collect())
}

/// The claims whose nodes are marked, and not yet so far that the instance ends: those that budgets count.
async fn disrupted<'a>(quickstart: &Quickstart, claims: &'a [NodeClaim]) -> Result<Vec<&'a str>> {
    let marked = marked(quickstart).await?;
    let counts = |claim: &&NodeClaim| {
        let node = claim.status.as_ref().and_then(|status| status.node_name.as_ref());
        let ends = holds(claim, "InstanceTerminating").is_some();
        node.is_some_and(|node| marked.contains(node)) && !ends
    };
    let names = claims
        .iter()
        .filter(counts)
        .filter_map(|claim| claim.metadata.name.as_deref());
    Ok(names.collect())
}

/// Every pod was bound as soon as it was made.
async fn pods_did_not_wait(quickstart: &Quickstart) -> Result<()> {
    let pods = Api::<Pod>::namespaced(quickstart.client.clone(), "default")
        .list(&ListParams::default().labels("app=rolled"))
        .await?;
    for pod in &pods.items {
        let made = pod.creation_timestamp().context("no time of creation")?.0;
        let conditions = pod
            .status
            .iter()
            .flat_map(|status| status.conditions.iter().flatten());
        let bound = conditions
            .into_iter()
            .find(|it| it.type_ == "PodScheduled")
            .and_then(|it| it.last_transition_time.as_ref())
            .with_context(|| format!("{} is not bound", pod.name_any()))?;
        let waited = bound.0.duration_since(made).as_secs();
        ensure!(
            waited <= WAIT,
            "{} waited {waited} s for its node",
            pod.name_any()
        );
    }
    Ok(())
}

/// How many instances were ever launched, terminated ones included.
async fn ever_launched(quickstart: &Quickstart) -> Result<usize> {
    let answer = quickstart
        .cloud
        .sandbox
        .emulator("GET", "instances", None)
        .await?;
    Ok(answer["instances"].as_array().map_or(0, Vec::len))
}
