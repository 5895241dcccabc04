//! The product's first promise: one apply brings up a cluster that gives its own pods their nodes. With every core.

use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_tests::{Cloud, Workspace, cluster, cores};

const PATIENCE: Duration = Duration::from_secs(180);

#[tokio::test]
async fn one_apply_then_nodes_then_no_changes_then_nothing_left() -> Result<()> {
    for kind in cores() {
        let cloud = Cloud::start(Duration::from_millis(500)).await?;
        let workspace = Workspace::of(&cloud, kind, "examples/quickstart")?;
        workspace.apply(&[])?;
        workspace.plan_is_empty()?;
        workspace.nothing_drifted()?;

        let client = cloud.client().await?;
        cloud.kubectl(&["apply", "-f", &workspace.file("deployment.yaml")])?;
        cloud.kubectl(&["scale", "deployment", "--all", "--replicas=10"])?;
        cluster::pods_run(&client, "default", 10, PATIENCE).await?;
        ensure!(
            !cluster::claims(&client).await?.is_empty(),
            "pods run without a NodeClaim"
        );
        workspace.plan_is_empty()?;

        ensure!(
            !cloud.sandbox.leftovers().await?.is_empty(),
            "the account's answer overlooks what is there"
        );
        workspace.destroy()?;
        let left = cloud.sandbox.leftovers().await?;
        ensure!(left.is_empty(), "{kind:?} left {left:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_replaced_cluster_gets_its_objects_in_the_same_apply() -> Result<()> {
    for kind in cores() {
        let cloud = Cloud::start(Duration::ZERO).await?;
        let workspace = Workspace::of(&cloud, kind, "examples/quickstart")?;
        workspace.apply(&[])?;
        let before = cloud.kubectl(&["get", "nodepools", "-o", "jsonpath={.items[*].metadata.uid}"])?;
        workspace.apply(&["-replace=sandbox_cluster.this"])?;
        let after = cloud.kubectl(&["get", "nodepools", "-o", "jsonpath={.items[*].metadata.uid}"])?;
        ensure!(!after.is_empty(), "{kind:?}: the new cluster has no pool");
        ensure!(before != after, "{kind:?}: the cluster was not replaced");
        workspace.plan_is_empty()?;
    }
    Ok(())
}
