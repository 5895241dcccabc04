//! The state file of another cluster: nothing is touched in the cluster that the provider reaches by mistake, and the plan says
//! what is wrong before anything is done.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use joiner_api::{EC2NodeClass, NodePool};
use joiner_sandbox::Cluster;
use joiner_tests::chart::SmallChart;
use joiner_tests::configuration::{by_kubeconfig, node_class, node_pool};
use joiner_tests::{Cloud, Workspace, cores, tells};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::{Api, Client};

/// What of a cluster must not change: name, uid and generation of each object.
async fn objects(client: &Client) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for kind in [
        ApiResource::erase::<NodePool>(&()),
        ApiResource::erase::<EC2NodeClass>(&()),
        ApiResource::erase::<Deployment>(&()),
    ] {
        let all = Api::<DynamicObject>::all_with(client.clone(), &kind);
        for object in all.list_metadata(&ListParams::default()).await? {
            let meta = object.metadata;
            found.push(format!(
                "{} {:?} {:?} {:?}",
                kind.kind, meta.name, meta.uid, meta.generation
            ));
        }
    }
    Ok(found)
}

#[tokio::test]
async fn a_state_of_another_cluster_deletes_and_changes_nothing() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let chart = SmallChart::write(cloud.folder())?;
    let (right, wrong) = tokio::try_join!(cloud.cluster("right"), cloud.cluster("wrong"))?;
    for cluster in [&right, &wrong] {
        cloud.crds(cluster)?;
    }
    let (in_right, in_wrong) = (cloud.client_of(&right).await?, cloud.client_of(&wrong).await?);
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
        let before = (objects(&in_right).await?, objects(&in_wrong).await?);
        ensure!(before.0.len() == 3 && before.1.len() == 3, "{before:?}");

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
                before == (objects(&in_right).await?, objects(&in_wrong).await?),
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
            before == (objects(&in_right).await?, objects(&in_wrong).await?),
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
