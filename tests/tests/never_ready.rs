//! A chart whose pod never gets ready: what keeps it is told with its reasons, the release is in the state, not tainted, and what
//! was wrong is put right by the next apply.

use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_tests::chart::SmallChart;
use joiner_tests::configuration::by_kubeconfig;
use joiner_tests::{Cloud, CoreKind, Workspace, cores, tells};

#[tokio::test]
async fn reasons_are_told_and_the_next_apply_puts_it_right() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let chart = SmallChart::write(cloud.folder())?;
    let cluster = cloud.cluster("unready").await?;
    for kind in cores() {
        let main =
            |values: &str| by_kubeconfig(&cluster) + &chart.release("small", values, "timeout = \"8s\"");
        let workspace = Workspace::with(&cloud, kind, "unready", &main("ready = false"))?;
        let said = workspace.apply(&[])?;
        tells(
            &said,
            &[
                "Release small is installed, but not ready",
                "Deployment small: 0 of 1 pods ready",
                "container sleeper runs but its readiness probe does not pass",
            ],
        )?;
        // Nothing to change, and still said.
        let said = workspace.run(&["plan", "-detailed-exitcode", "-input=false", "-no-color"])?;
        tells(&said, &["is not ready", "readiness probe does not pass"])?;

        workspace.rewrite(&main("image = \"joiner/nothing\""))?;
        let said = workspace.apply(&[])?;
        tells(
            &said,
            &[
                "container sleeper ErrImagePull",
                "joiner-nothing",
                "1 changed, 0 destroyed",
            ],
        )?;

        workspace.rewrite(&main(""))?;
        let said = workspace.apply(&[])?;
        tells(&said, &["0 added, 1 changed, 0 destroyed"])?;
        ensure!(
            !said.contains("is installed, but not ready"),
            "it is ready:\n{said}"
        );
        workspace.plan_is_empty()?;
        workspace.destroy()?;
    }
    Ok(())
}

#[tokio::test]
async fn an_atomic_release_goes_back_and_says_why() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let chart = SmallChart::write(cloud.folder())?;
    let cluster = cloud.cluster("atomic").await?;
    let main = |values: &str| {
        by_kubeconfig(&cluster) + &chart.release("small", values, "atomic = true\n  timeout = \"8s\"")
    };
    let workspace = Workspace::with(&cloud, CoreKind::OpenTofu, "atomic", &main("ready = false"))?;
    let said = workspace.fails(&["apply", "-auto-approve", "-input=false", "-no-color"])?;
    tells(
        &said,
        &["readiness probe does not pass", "The release was removed again"],
    )?;
    ensure!(workspace.state()?.is_empty(), "{:?}", workspace.state()?);
    let left = cloud.kubectl_of(
        &cluster,
        &["get", "secrets,deployments", "-o", "name", "-l", "owner=helm"],
    )?;
    ensure!(left.trim().is_empty(), "{left}");

    workspace.rewrite(&main(""))?;
    workspace.apply(&[])?;
    workspace.rewrite(&main("ready = false"))?;
    let said = workspace.fails(&["apply", "-auto-approve", "-input=false", "-no-color"])?;
    tells(
        &said,
        &["readiness probe does not pass", "rolled back to revision 1"],
    )?;
    // What the configuration asks for is not there, and the plan says so.
    let said = workspace.fails(&["plan", "-detailed-exitcode", "-input=false", "-no-color"])?;
    tells(&said, &["0 to add, 1 to change, 0 to destroy"])?;
    workspace.rewrite(&main(""))?;
    workspace.apply(&[])?;
    workspace.plan_is_empty()
}
