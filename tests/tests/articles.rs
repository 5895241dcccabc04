//! The pools this project grew out of, each applied in one apply, with pods scheduled on it.

use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_api::labels;
use joiner_tests::{Cloud, CoreKind, Workspace, cluster, eventually};
use kube::ResourceExt;

const PATIENCE: Duration = Duration::from_secs(180);

#[tokio::test]
async fn the_network_pool_serves_its_pods_and_is_removed_when_empty() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let workspace = Workspace::of(&cloud, CoreKind::OpenTofu, "examples/from-articles/network-pool")?;
    workspace.apply(&[])?;
    let client = cloud.client().await?;
    cloud.kubectl(&["apply", "-f", &workspace.file("deployment.yaml")])?;
    cluster::pods_run(&client, "default", 2, PATIENCE).await?;
    for claim in cluster::claims(&client).await? {
        let label = |key: &str| claim.labels().get(key).cloned().unwrap_or_default();
        ensure!(
            label(labels::INSTANCE_TYPE) == "c5n.4xlarge",
            "{:?}",
            claim.labels()
        );
        ensure!(
            label(labels::CAPACITY_TYPE) == "on-demand",
            "{:?}",
            claim.labels()
        );
        ensure!(
            ["us-west-2a", "us-west-2c"].contains(&label(labels::ZONE).as_str()),
            "{:?}",
            claim.labels()
        );
    }
    // Empty for 30 s removes the nodes.
    cloud.kubectl(&["scale", "deployment", "gateway", "--replicas=0"])?;
    eventually("the empty nodes are removed", PATIENCE, || async {
        let left = cluster::claims(&client).await?;
        ensure!(left.is_empty(), "{} NodeClaims are left", left.len());
        Ok(())
    })
    .await?;
    workspace.plan_is_empty()
}

#[tokio::test]
async fn the_spot_pool_keeps_its_cpu_limit_and_says_why_pods_wait() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let workspace = Workspace::of(&cloud, CoreKind::OpenTofu, "examples/from-articles/spot-batch")?;
    workspace.apply(&[])?;
    let client = cloud.client().await?;
    cloud.kubectl(&["apply", "-f", &workspace.file("deployment.yaml")])?;
    cluster::pods_run(&client, "default", 4, PATIENCE).await?;
    // Long enough for one node too many to show.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let claims = cluster::claims(&client).await?;
    ensure!(
        claims.len() == 4,
        "16 vCPU are four nodes of 4 vCPU, not {}",
        claims.len()
    );
    for claim in &claims {
        let label = |key: &str| claim.labels().get(key).cloned().unwrap_or_default();
        ensure!(
            label(labels::CAPACITY_TYPE) == "spot" && label(labels::ARCH) == "arm64",
            "{:?}",
            claim.labels()
        );
    }
    eventually("an event names the limit", PATIENCE, || async {
        let told = cluster::events(&client, "Pod", "FailedScheduling").await?;
        ensure!(
            told.iter()
                .any(|it| it.contains("limit") && it.contains("cpu") && it.contains("16")),
            "{told:?}"
        );
        Ok(())
    })
    .await
}
