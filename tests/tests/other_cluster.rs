//! The state file of another cluster: nothing is touched in the cluster that the provider reaches by mistake, and the plan says
//! what is wrong before anything is done.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use joiner_sandbox::Cluster;
use joiner_tests::chart::SmallChart;
use joiner_tests::configuration::{by_kubeconfig, node_class, node_pool};
use joiner_tests::{Cloud, Workspace, cores, tells};

/// What of a cluster must not change, with the uids.
fn objects(cloud: &Cloud, cluster: &Cluster) -> Result<String> {
    let columns =
        "custom-columns=KIND:.kind,NAME:.metadata.name,UID:.metadata.uid,GENERATION:.metadata.generation";
    let kinds = "nodepools,ec2nodeclasses,deployments";
    cloud.kubectl_of(cluster, &["get", kinds, "-o", columns])
}

#[tokio::test]
async fn a_state_of_another_cluster_deletes_and_changes_nothing() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let chart = SmallChart::write(cloud.folder())?;
    let (right, wrong) = tokio::try_join!(cloud.cluster("right"), cloud.cluster("wrong"))?;
    for cluster in [&right, &wrong] {
        cloud.crds(cluster)?;
    }
    let main = |cluster: &Cluster, more: &str| {
        [
            by_kubeconfig(cluster),
            node_class("same", ""),
            node_pool("same", "same", more),
            chart.release("same", "", ""),
        ]
        .concat()
    };
    for kind in cores() {
        // Both clusters hold objects of the same names, each with a state of its own.
        let here = Workspace::with(&cloud, kind, "right", &main(&right, ""))?;
        let there = Workspace::with(&cloud, kind, "wrong", &main(&wrong, ""))?;
        here.apply(&[])?;
        there.apply(&[])?;
        let before = (objects(&cloud, &right)?, objects(&cloud, &wrong)?);

        // The state of the one with a provider that reaches the other.
        let kept = std::fs::read(here.dir().join("terraform.tfstate"))?;
        here.rewrite(&main(&wrong, "weight = 7"))?;
        for command in [
            &["plan", "-input=false", "-no-color"][..],
            &["apply", "-auto-approve", "-input=false", "-no-color"],
            &["destroy", "-auto-approve", "-input=false", "-no-color"],
            // Without a look at the cluster first, the operations themselves have to notice.
            &[
                "apply",
                "-refresh=false",
                "-auto-approve",
                "-input=false",
                "-no-color",
            ],
            &[
                "destroy",
                "-refresh=false",
                "-auto-approve",
                "-input=false",
                "-no-color",
            ],
        ] {
            let said = here.fails(command)?;
            tells(
                &said,
                &[
                    "The state belongs to another cluster",
                    &right.uid,
                    &right.endpoint,
                    &wrong.uid,
                    &wrong.endpoint,
                    "Check the provider block and the workspace",
                    "state rm",
                ],
            )
            .with_context(|| format!("{kind:?} {command:?}"))?;
            ensure!(
                before == (objects(&cloud, &right)?, objects(&cloud, &wrong)?),
                "{kind:?}: {command:?} changed something:\n{said}"
            );
            ensure!(
                here.state()?.len() == 3,
                "{kind:?}: {command:?} lost {:?}",
                here.state()?
            );
        }

        // A state that is gone: what another state has is not taken over and changed.
        std::fs::remove_file(here.dir().join("terraform.tfstate"))?;
        let said = here.fails(&["apply", "-auto-approve", "-input=false", "-no-color"])?;
        tells(
            &said,
            &["exists already", "with another configuration", "adopt = true"],
        )?;
        ensure!(
            before == (objects(&cloud, &right)?, objects(&cloud, &wrong)?),
            "{kind:?}: the apply without a state changed something:\n{said}"
        );

        // With the right provider block again, everything is as it was.
        std::fs::write(here.dir().join("terraform.tfstate"), &kept)?;
        here.rewrite(&main(&right, ""))?;
        here.plan_is_empty()?;
        there.plan_is_empty()?;
        here.destroy()?;
        there.destroy()?;
    }
    Ok(())
}
