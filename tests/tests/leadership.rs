//! Two replicas on two nodes, as on EKS: one leads, the other is ready to. A leader that is killed comes back as itself; one that
//! hangs loses the lease, the other gives pods their nodes, and the first one ends as soon as it looks.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use joiner_api::labels::LEASE;
use joiner_tests::processes::Process;
use joiner_tests::{Quickstart, cluster, eventually};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use nix::sys::signal::Signal;

const PATIENCE: Duration = Duration::from_secs(180);
/// How long a lease holds without renewal, and how often a candidate looks; and as much again for a machine that is busy.
const LEASE_TIME: Duration = Duration::from_secs((15 + 2) * 2);

#[tokio::test]
async fn the_other_replica_takes_over() -> Result<()> {
    let quickstart = Quickstart::apply().await?;
    let nodes = replicas(&quickstart).await?;
    ensure!(nodes.len() == 2, "the replicas are on {nodes:?}");

    // Killed: the kubelet starts it again, and it is the same candidate.
    let (_, process) = leader(&quickstart).await?;
    process.id.signal(Signal::SIGKILL);
    let killed = process.id;
    eventually("the killed one, or the other, leads", PATIENCE, || async {
        let (_, process) = leader(&quickstart).await?;
        ensure!(process.id != killed, "the killed one still holds the lease");
        Ok(())
    })
    .await?;
    // Whoever starts anew reads first what EC2 sells.
    pods_get_nodes(&quickstart, "killed", PATIENCE).await?;

    // Hanging: nobody starts it again, and nobody may act beside it.
    let (first, process) = eventually("somebody leads", PATIENCE, || leader(&quickstart)).await?;
    process.id.signal(Signal::SIGSTOP);
    let begin = Instant::now();
    let second = eventually("the other one leads", PATIENCE, || async {
        let holder = holder(&quickstart).await?;
        ensure!(holder != first, "{holder} leads");
        Ok(holder)
    })
    .await?;
    ensure!(
        begin.elapsed() <= LEASE_TIME,
        "{second} took over from {first} after {:?}",
        begin.elapsed()
    );
    pods_get_nodes(&quickstart, "hanging", PATIENCE).await?;
    process.id.signal(Signal::SIGCONT);
    eventually("the one that hung ends", PATIENCE, || async {
        ensure!(!process.id.is_alive(), "it is alive");
        Ok(())
    })
    .await?;
    ensure!(holder(&quickstart).await? == second, "leadership went back");
    Ok(())
}

/// The nodes of the replicas, once all are ready.
async fn replicas(quickstart: &Quickstart) -> Result<BTreeSet<String>> {
    let api = Api::<Pod>::all(quickstart.client.clone());
    let ours = ListParams::default().labels("app.kubernetes.io/name=joiner");
    let pods = api.list(&ours).await?;
    Ok(pods.into_iter().filter_map(|pod| pod.spec?.node_name).collect())
}

/// The name of the pod that leads.
async fn holder(quickstart: &Quickstart) -> Result<String> {
    let leases = Api::<Lease>::all(quickstart.client.clone())
        .list(&ListParams::default())
        .await?;
    let lease = leases
        .into_iter()
        .find(|lease| lease.name_any() == LEASE)
        .context("there is no lease")?;
    let holder = lease
        .spec
        .and_then(|spec| spec.holder_identity)
        .unwrap_or_default();
    let pod = holder.split('_').next().unwrap_or_default().to_owned();
    ensure!(!pod.is_empty(), "nobody leads");
    Ok(pod)
}

/// The pod that leads, and its process.
async fn leader(quickstart: &Quickstart) -> Result<(String, Process)> {
    let holder = holder(quickstart).await?;
    let variable = format!("POD_NAME={holder}");
    let is_it = |process: &Process| {
        let environment = fs::read(format!("/proc/{}/environ", process.id.pid)).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|it| it == variable.as_bytes())
    };
    let all = quickstart.cloud.pod_processes("joiner-controller");
    let process = all
        .into_iter()
        .find(is_it)
        .with_context(|| format!("{holder} has no process"))?;
    Ok((holder, process))
}

/// Pods that are made now run on nodes that are bought for them.
async fn pods_get_nodes(quickstart: &Quickstart, name: &str, patience: Duration) -> Result<()> {
    let pool = format!("pool-{name}");
    let requirements = "        - {key: karpenter.k8s.aws/instance-cpu, operator: In, values: [\"4\"]}";
    quickstart.pool(&pool, requirements, "", "")?;
    let pods = cluster::deployment(name, &format!("karpenter.sh/nodepool: {pool}"), 2, "2500m", "");
    quickstart.cloud.kubectl_apply(&pods)?;
    cluster::pods_of(&quickstart.client, name, 2, patience)
        .await
        .map(drop)
}
