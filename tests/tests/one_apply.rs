//! The product's first promise: one apply brings up a cluster that gives its own pods their nodes. With every core.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use joiner_tests::{Cloud, Workspace, cluster, cores};
use serde_json::{Value as Json, json};

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

const BARRIER: &str = r#"
resource "joiner_teardown" "this" {
  cluster_name      = sandbox_cluster.this.id
  terminate_orphans = true
  timeouts          = { delete = "60s" }
}
"#;

/// A launch template as a controller of the quickstart's cluster makes it.
fn template(cloud: &Cloud, name: &str) -> Result<()> {
    let tags = json!([{ "ResourceType": "launch-template", "Tags": [
        { "Key": "eks:eks-cluster-name", "Value": "quickstart" }, { "Key": "kubernetes.io/cluster/quickstart", "Value": "owned" },
        { "Key": "karpenter.sh/nodepool", "Value": "p" }, { "Key": "karpenter.k8s.aws/ec2nodeclass", "Value": "c" },
    ] }]);
    let template = json!({
        "LaunchTemplateName": name, "LaunchTemplateData": { "InstanceType": "m5.large" }, "TagSpecifications": tags,
    });
    cloud.aws("ec2", "create_launch_template", &template).map(drop)
}

/// When the quickstart's cluster was made.
fn created(cloud: &Cloud) -> Option<Json> {
    let told = cloud
        .aws("eks", "describe_cluster", &json!({ "name": "quickstart" }))
        .ok()?;
    Some(told["cluster"]["createdAt"].clone())
}

#[tokio::test]
async fn the_barrier_of_a_replaced_cluster_leaves_alone_what_the_new_one_has() -> Result<()> {
    const TEMPLATES: [&str; 2] = ["karpenter.k8s.aws/old", "karpenter.k8s.aws/new"];
    for kind in cores() {
        let cloud = Cloud::start(Duration::ZERO).await?;
        let workspace = Workspace::of(&cloud, kind, "examples/quickstart")?;
        std::fs::write(workspace.dir().join("teardown.tf"), BARRIER)?;
        workspace.apply(&[])?;
        template(&cloud, TEMPLATES[0])?;
        let before = created(&cloud).context("a cluster")?;
        // What is younger than the new cluster is there before the barrier's destroy can be: that needs the cluster's endpoint.
        let (applied, made) = std::thread::scope(|scope| {
            let maker = scope.spawn(|| {
                let end = Instant::now() + Duration::from_secs(120);
                while Instant::now() < end {
                    if created(&cloud).is_some_and(|now| now != before) {
                        std::thread::sleep(Duration::from_secs(1));
                        return template(&cloud, TEMPLATES[1]);
                    }
                    std::thread::sleep(Duration::from_millis(200));
                }
                bail!("there is no new cluster")
            });
            (workspace.apply(&["-replace=sandbox_cluster.this"]), maker.join())
        });
        made.map_err(|_| anyhow!("the maker panicked"))??;
        let text = applied?;
        let there = cloud.aws("ec2", "describe_launch_templates", &json!({}))?;
        let there = there["LaunchTemplates"].as_array().context("a list")?;
        let has = |name: &str| {
            there
                .iter()
                .any(|template| template["LaunchTemplateName"] == name)
        };
        ensure!(!has(TEMPLATES[0]), "{kind:?}: the old cluster's is left:\n{text}");
        ensure!(
            has(TEMPLATES[1]),
            "{kind:?}: the new cluster's was removed:\n{text}"
        );
        let path = json!({ "PathPrefix": "/karpenter/us-west-2/quickstart/" });
        let profiles = cloud.aws("iam", "list_instance_profiles", &path)?;
        let profiles = profiles["InstanceProfiles"].as_array().context("a list")?;
        ensure!(
            !profiles.is_empty(),
            "{kind:?}: the new cluster's profile was removed:\n{text}"
        );
        workspace.plan_is_empty()?;
    }
    Ok(())
}
