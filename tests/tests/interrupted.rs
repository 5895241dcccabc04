//! Ctrl-C, as a terminal sends it to the whole group of processes, in a create, in a delete and in the quickstart: it ends soon,
//! nothing is lost, and the same command again finishes.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_api::NodePool;
use joiner_tests::chart::SmallChart;
use joiner_tests::cluster::revisions;
use joiner_tests::configuration::{by_kubeconfig, node_class, node_pool};
use joiner_tests::{Cloud, Watched, Workspace, cores, tells};
use kube::Api;

const PATIENCE: Duration = Duration::from_secs(240);
/// Far less than what the interrupted command would have waited for: an hour, or for ever.
const SOON: Duration = Duration::from_secs(120);

#[tokio::test]
async fn a_create_ends_soon_and_is_finished_by_the_next() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let chart = SmallChart::write(cloud.folder())?;
    let cluster = cloud.cluster("creates").await?;
    let client = cloud.client_of(&cluster).await?;
    for kind in cores() {
        let main =
            |values: &str| by_kubeconfig(&cluster) + &chart.release("small", values, "timeout = \"1h\"");
        // In the wait for the pods, then in Helm itself.
        for (values, status) in [
            ("ready = false", "deployed"),
            ("hookSeconds = 3600", "pending-install"),
        ] {
            let workspace = Workspace::with(&cloud, kind, status, &main(values))?;
            let mut apply = workspace.start_apply()?;
            apply
                .meanwhile("Helm is so far", PATIENCE, async || {
                    Ok(revisions(&client, "small").await? == [format!("1 {status}")])
                })
                .await?;
            apply.interrupt()?;
            let (_, said) = apply.ended(SOON).await?;
            tells(&said, &["stopped"])?;
            ensure!(
                workspace.state()? == ["joiner_helm_release.small"],
                "{kind:?} {status}: {:?} is in the state after\n{said}",
                workspace.state()?
            );
            workspace.rewrite(&main(""))?;
            workspace.apply(&[])?;
            workspace.plan_is_empty()?;
            workspace.destroy()?;
            let left = revisions(&client, "small").await?;
            ensure!(left.is_empty(), "{kind:?} {status}: {left:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_delete_ends_soon_and_is_finished_by_the_next() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("deletes").await?;
    cloud.crds(&cluster)?;
    let pools = Api::<NodePool>::all(cloud.client_of(&cluster).await?);
    let main = [
        by_kubeconfig(&cluster),
        node_class("first", ""),
        node_pool("second", "first", "depends_on = [joiner_ec2_node_class.first]"),
    ]
    .concat();
    let hold = |finalizers: &str| {
        let patch = format!(r#"{{"metadata":{{"finalizers":{finalizers}}}}}"#);
        cloud.kubectl_of(
            &cluster,
            &["patch", "nodepool", "second", "--type=merge", "-p", &patch],
        )
    };
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "deletes", &main)?;
        workspace.apply(&[])?;
        hold(r#"["example.com/held"]"#)?;
        let mut destroy = workspace.start_destroy()?;
        destroy
            .meanwhile("the deletion is asked for", PATIENCE, async || {
                let pool = pools.get_opt("second").await?;
                Ok(pool.is_some_and(|pool| pool.metadata.deletion_timestamp.is_some()))
            })
            .await?;
        destroy.interrupt()?;
        let said = destroy.fails(SOON).await?;
        tells(
            &said,
            &[
                "NodePool second is still there",
                "stopped on request",
                "example.com/held",
                "Destroy again",
            ],
        )?;
        ensure!(
            workspace.state()? == ["joiner_ec2_node_class.first", "joiner_node_pool.second"],
            "{kind:?}: {:?}",
            workspace.state()?
        );
        hold("[]")?;
        workspace.destroy()?;
        ensure!(
            workspace.state()?.is_empty(),
            "{kind:?}: {:?}",
            workspace.state()?
        );
        let left = cloud.kubectl_of(&cluster, &["get", "nodepools,ec2nodeclasses", "-o", "name"])?;
        ensure!(left.is_empty(), "{kind:?}: {left}");
    }
    Ok(())
}

/// The quickstart in a sandbox of its own, started by the command itself.
fn quickstart(cloud: &Cloud, example: &Path, more: &[&str], log: &str) -> Result<Watched> {
    let mut command = Command::new(cloud.binaries().join("joiner"));
    command
        .args([
            "sandbox",
            "quickstart",
            "--boot-time=0",
            "--replicas=2",
            "--example",
        ])
        .arg(example)
        .args(more)
        .arg("--dir")
        .arg(cloud.sandbox.layout().dir());
    Watched::start(command, "the quickstart", &cloud.folder().join(log))
}

#[tokio::test]
async fn the_quickstart_ends_soon_and_is_finished_by_the_next() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let example = cloud.folder().join("example");
    fs::create_dir_all(&example)?;
    for name in ["main.tf", "deployment.yaml"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../examples/quickstart")
            .join(name);
        fs::copy(source, example.join(name))?;
    }
    for point in [
        "sandbox_cluster.this: Creating...",
        "joiner_helm_release.controller: Creating...",
        "==> scaling",
    ] {
        let mut run = quickstart(&cloud, &example, &[], "interrupted.log")?;
        run.says(point, PATIENCE).await?;
        let started = run.below();
        run.interrupt()?;
        let (status, said) = run.ended(SOON).await?;
        ensure!(status.code() == Some(130), "{point}: {status}:\n{said}");
        tells(&said, &["interrupted", "again"])?;
        ensure!(
            started.iter().all(|process| !process.id.is_alive()),
            "{point}: the core outlives the quickstart"
        );
    }
    quickstart(&cloud, &example, &[], "finished.log")?
        .succeeds(PATIENCE)
        .await?;
    quickstart(&cloud, &example, &["--destroy"], "destroyed.log")?
        .succeeds(PATIENCE)
        .await
        .map(drop)
}
