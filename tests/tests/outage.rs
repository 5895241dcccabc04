//! A cluster that stops answering in the middle of an apply: the apply says what it waited for, keeps what was done, and is
//! simply repeated when the cluster is back.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use joiner_sandbox::Cluster;
use joiner_tests::chart::SmallChart;
use joiner_tests::cluster::revisions;
use joiner_tests::configuration::{by_kubeconfig, node_class, node_pool};
use joiner_tests::processes::Process;
use joiner_tests::{Cloud, CoreKind, Pause, Workspace, cores, eventually, tells};
use nix::sys::signal::Signal;

const PATIENCE: Duration = Duration::from_secs(180);

/// Waits until the API server answers again.
async fn answers(cloud: &Cloud, cluster: &Cluster) -> Result<()> {
    eventually("the API server answers", PATIENCE, || async {
        cloud
            .kubectl_of(cluster, &["get", "--raw", "/readyz", "--request-timeout=2s"])
            .map(drop)
    })
    .await
}

/// A class, then a pause, then a pool that may take eight seconds.
fn class_pause_pool(cluster: &Cluster) -> String {
    let pool = "depends_on = [terraform_data.pause]\n  timeouts = { create = \"8s\" }";
    [
        by_kubeconfig(cluster),
        node_class("first", ""),
        Pause::resource("joiner_ec2_node_class.first"),
        node_pool("second", "first", pool),
    ]
    .concat()
}

#[tokio::test]
async fn a_cluster_that_hangs_in_mid_apply_is_named_and_the_apply_repeated() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("hangs").await?;
    cloud.crds(&cluster)?;
    let server = cloud.part("hangs/kube-apiserver").await?;
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "hangs", &class_pause_pool(&cluster))?;

        let mut apply = workspace.start_apply()?;
        let pause = Pause::reached(&workspace, &mut apply).await?;
        ensure!(server.id.signal(Signal::SIGSTOP), "the API server does not run");
        pause.end();
        let said = apply.fails(PATIENCE).await;
        ensure!(server.id.signal(Signal::SIGCONT), "the API server does not run");
        tells(
            &said?,
            &[
                "NodePool second",
                "cannot reach the Kubernetes API of",
                "nothing is lost",
            ],
        )?;
        ensure!(
            workspace.state()? == ["joiner_ec2_node_class.first", "terraform_data.pause"],
            "{kind:?}: {:?}",
            workspace.state()?
        );

        answers(&cloud, &cluster).await?;
        workspace.apply(&[])?;
        workspace.plan_is_empty()?;
        workspace.destroy()?;
    }
    Ok(())
}

/// An API server that a test has started in place of the sandbox's.
struct Substitute(Child);

impl Substitute {
    fn of(gone: &Process) -> Result<Self> {
        let (program, arguments) = gone
            .command
            .split_first()
            .context("a process without a program")?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self(child))
    }
}

impl Drop for Substitute {
    fn drop(&mut self) {
        if let Err(error) = self.0.kill().and_then(|()| self.0.wait()) {
            eprintln!("the API server in place of the sandbox's was not ended: {error}");
        }
    }
}

#[tokio::test]
async fn a_cluster_that_refuses_connections_in_mid_apply_is_named_and_the_apply_repeated() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("refuses").await?;
    cloud.crds(&cluster)?;
    let main = class_pause_pool(&cluster);
    let workspace = Workspace::with(&cloud, CoreKind::OpenTofu, "refuses", &main)?;
    let server = cloud.part("refuses/kube-apiserver").await?;

    let mut apply = workspace.start_apply()?;
    let pause = Pause::reached(&workspace, &mut apply).await?;
    ensure!(server.id.signal(Signal::SIGKILL), "the API server does not run");
    pause.end();
    let said = apply.fails(PATIENCE).await?;
    tells(
        &said,
        &[
            "NodePool second",
            "cannot reach the Kubernetes API of",
            "refused",
            "nothing is lost",
        ],
    )?;

    // A plan has to look at the class, so it says the same.
    let said = workspace.fails(&["plan", "-input=false", "-no-color"])?;
    tells(&said, &["cannot reach the Kubernetes API of", "refused"])?;

    let _substitute = Substitute::of(&server)?;
    answers(&cloud, &cluster).await?;
    workspace.apply(&[])?;
    workspace.plan_is_empty()
}

#[tokio::test]
async fn a_cluster_that_hangs_while_a_release_is_waited_for_loses_nothing() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let chart = SmallChart::write(cloud.folder())?;
    let cluster = cloud.cluster("waits").await?;
    let client = cloud.client_of(&cluster).await?;
    let main = |ready: bool| {
        let release = chart.release("small", &format!("ready = {ready}"), "timeout = \"15s\"");
        by_kubeconfig(&cluster) + &release
    };
    let workspace = Workspace::with(&cloud, CoreKind::OpenTofu, "waits", &main(false))?;
    let server = cloud.part("waits/kube-apiserver").await?;

    let mut apply = workspace.start_apply()?;
    apply
        .meanwhile("Helm has installed the release", PATIENCE, async || {
            Ok(revisions(&client, "small").await? == ["1 deployed"])
        })
        .await?;
    ensure!(server.id.signal(Signal::SIGSTOP), "the API server does not run");
    let ended = apply.ended(PATIENCE).await;
    ensure!(server.id.signal(Signal::SIGCONT), "the API server does not run");
    let (_, said) = ended?;
    tells(&said, &["small", "cannot reach the Kubernetes API of"])?;

    answers(&cloud, &cluster).await?;
    ensure!(
        workspace.state()? == ["joiner_helm_release.small"],
        "{:?}",
        workspace.state()?
    );
    workspace.rewrite(&main(true))?;
    workspace.apply(&[])?;
    workspace.plan_is_empty()
}
