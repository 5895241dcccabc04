//! `kill -9` in the middle of an apply, of the core, of the provider, of Helm: the apply is repeated, finishes what was begun,
//! makes nothing twice, and no lock is left.

use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_sandbox::Cluster;
use joiner_tests::chart::SmallChart;
use joiner_tests::configuration::{SOURCES, by_kubeconfig, node_class, node_pool};
use joiner_tests::processes::Process;
use joiner_tests::{Cloud, CoreKind, Pause, Watched, Workspace, cores, eventually, is_told};
use nix::sys::signal::Signal;
use serde_json::json;

const PATIENCE: Duration = Duration::from_secs(90);

/// The processes below an apply whose program is called so.
fn below(apply: &Watched, program: &str) -> Vec<Process> {
    let mut found = apply.below();
    found.retain(|process| process.program().starts_with(program));
    found
}

/// The revisions of release `small` as `REVISION STATUS`.
fn revisions(cloud: &Cloud, cluster: &Cluster) -> Result<Vec<String>> {
    let found = cloud.kubectl_of(
        cluster,
        &[
            "get",
            "secrets",
            "-l",
            "owner=helm,name=small",
            "-o",
            "jsonpath={range .items[*]}{.metadata.labels.version} {.metadata.labels.status}{\"\\n\"}{end}",
        ],
    )?;
    Ok(found.lines().map(str::to_owned).collect())
}

/// Waits until Helm is in the middle of the first install: its hook runs.
async fn until_pending(cloud: &Cloud, cluster: &Cluster, apply: &mut Watched) -> Result<()> {
    apply
        .until("the release is pending", PATIENCE, |_| {
            revisions(cloud, cluster).is_ok_and(|found| found == ["1 pending-install"])
        })
        .await
}

#[tokio::test]
async fn a_core_that_is_killed_between_resources_is_no_loss() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    for kind in cores() {
        let cluster = cloud.cluster(&format!("core-{kind:?}").to_lowercase()).await?;
        cloud.crds(&cluster)?;
        let main = [
            by_kubeconfig(&cluster),
            node_class("first", ""),
            Pause::resource("joiner_ec2_node_class.first"),
            node_pool("second", "first", "depends_on = [terraform_data.pause]"),
        ]
        .concat();
        let workspace = Workspace::with(&cloud, kind, "core", &main)?;
        let mut apply = workspace.start_apply()?;
        let pause = Pause::reached(&workspace, &mut apply).await?;
        let providers = below(&apply, "terraform-provider-joiner");
        ensure!(!providers.is_empty(), "no provider runs");
        apply.kill()?;
        apply.fails(PATIENCE).await?;
        pause.end();
        eventually("the providers end by themselves", PATIENCE, || async {
            ensure!(
                providers.iter().all(|provider| !provider.id.is_alive()),
                "one runs on"
            );
            Ok(())
        })
        .await?;
        workspace.apply(&[])?;
        workspace.plan_is_empty()?;
        workspace.destroy()?;
    }
    Ok(())
}

#[tokio::test]
async fn a_release_that_a_killed_core_left_is_taken_up() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let chart = SmallChart::write(cloud.folder())?;
    for kind in cores() {
        let cluster = cloud.cluster(&format!("left-{kind:?}").to_lowercase()).await?;
        let main = |seconds: u32| {
            by_kubeconfig(&cluster) + &chart.release("small", &format!("hookSeconds = {seconds}"), "")
        };
        let workspace = Workspace::with(&cloud, kind, "left", &main(3600))?;
        let mut apply = workspace.start_apply()?;
        until_pending(&cloud, &cluster, &mut apply).await?;
        let helms = below(&apply, "helm");
        ensure!(helms.len() == 1, "{helms:?}");
        apply.kill()?;
        apply.fails(PATIENCE).await?;
        eventually("Helm ends with its core", PATIENCE, || async {
            ensure!(!helms[0].id.is_alive(), "it runs on");
            Ok(())
        })
        .await?;
        workspace.rewrite(&main(0))?;
        let said = workspace.apply(&[])?;
        ensure!(
            is_told(&said, "was taken"),
            "nothing is told of the release:\n{said}"
        );
        workspace.plan_is_empty()?;
        let found = revisions(&cloud, &cluster)?;
        ensure!(found == ["1 superseded", "2 deployed"], "{found:?}");
        workspace.destroy()?;
    }
    Ok(())
}

#[tokio::test]
async fn a_release_that_a_killed_provider_and_helm_left_pending_is_taken_up() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let chart = SmallChart::write(cloud.folder())?;
    let cluster = cloud.cluster("pending").await?;
    let main = |seconds: u32| {
        by_kubeconfig(&cluster) + &chart.release("small", &format!("hookSeconds = {seconds}"), "")
    };
    let workspace = Workspace::with(&cloud, CoreKind::OpenTofu, "pending", &main(3600))?;
    let mut apply = workspace.start_apply()?;
    until_pending(&cloud, &cluster, &mut apply).await?;
    let killed = [below(&apply, "terraform-provider-joiner"), below(&apply, "helm")].concat();
    ensure!(killed.len() == 2, "{killed:?}");
    for process in &killed {
        process.id.signal(Signal::SIGKILL);
    }
    apply.fails(PATIENCE).await?;
    let found = revisions(&cloud, &cluster)?;
    ensure!(found == ["1 pending-install"], "{found:?}");

    workspace.rewrite(&main(0))?;
    let said = workspace.apply(&[])?;
    ensure!(
        is_told(&said, "An unfinished release was taken up"),
        "nothing is told of it:\n{said}"
    );
    workspace.plan_is_empty()?;
    let found = revisions(&cloud, &cluster)?;
    ensure!(found == ["1 superseded", "2 deployed"], "{found:?}");
    Ok(())
}

#[tokio::test]
async fn a_helm_that_outlives_its_provider_is_waited_for() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let chart = SmallChart::write(cloud.folder())?;
    let cluster = cloud.cluster("outlives").await?;
    let main = by_kubeconfig(&cluster) + &chart.release("small", "hookSeconds = 12", "");
    let workspace = Workspace::with(&cloud, CoreKind::OpenTofu, "outlives", &main)?;
    let mut apply = workspace.start_apply()?;
    until_pending(&cloud, &cluster, &mut apply).await?;
    let helms = below(&apply, "helm");
    ensure!(helms.len() == 1, "{helms:?}");
    for provider in below(&apply, "terraform-provider-joiner") {
        provider.id.signal(Signal::SIGKILL);
    }
    apply.fails(PATIENCE).await?;
    ensure!(
        helms[0].id.is_alive(),
        "Helm has ended already; the test needs a longer hook"
    );

    workspace.apply(&[])?;
    workspace.plan_is_empty()?;
    ensure!(
        !helms[0].id.is_alive(),
        "two Helm processes worked on one release"
    );
    let deployed: Vec<String> = revisions(&cloud, &cluster)?;
    ensure!(
        deployed.iter().filter(|it| it.ends_with("deployed")).count() == 1
            && !deployed.iter().any(|it| it.contains("failed")),
        "{deployed:?}"
    );
    Ok(())
}

#[tokio::test]
async fn a_role_that_a_killed_core_left_half_made_is_finished() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("roles").await?;
    for kind in cores() {
        let name = format!("half-{kind:?}").to_lowercase();
        let main = format!(
            r#"{SOURCES}
resource "joiner_irsa_role" "this" {{
  name              = "{name}"
  cluster_name      = "roles"
  oidc_provider_arn = "{}"
}}
"#,
            cluster.aws.oidc_provider_arn
        );
        let workspace = Workspace::with(&cloud, kind, &name, &main)?;
        // The role is made; its policy is on the way when the core dies, and the provider with it.
        cloud
            .fault(&json!({ "kind": "latency", "milliseconds": 4000, "match": { "action": "iam:PutRolePolicy" } }))
            .await?;
        let mut apply = workspace.start_apply()?;
        eventually("the role's policy is being put on it", PATIENCE, || async {
            let met = cloud.faults().await?;
            ensure!(met.get("latency").is_some_and(|used| *used > 0), "{met:?}");
            Ok(())
        })
        .await?;
        let providers = below(&apply, "terraform-provider-joiner");
        apply.kill()?;
        for provider in providers {
            provider.id.signal(Signal::SIGKILL);
        }
        apply.fails(PATIENCE).await?;
        cloud.mend().await?;
        ensure!(workspace.state()?.is_empty(), "{:?}", workspace.state()?);

        // An answer that gets lost on the way is no loss either.
        cloud
            .fault(
                &json!({ "kind": "lost-response", "times": 1, "match": { "action": "iam:PutRolePolicy" } }),
            )
            .await?;
        workspace.apply(&[])?;
        workspace.plan_is_empty()?;
        workspace.destroy()?;
    }
    let left = cloud.sandbox.leftovers().await?;
    ensure!(left.is_empty(), "{left:?}");
    Ok(())
}

#[tokio::test]
async fn an_answer_that_is_lost_while_a_role_is_made_makes_no_second_one() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("lost").await?;
    let main = format!(
        r#"{SOURCES}
resource "joiner_irsa_role" "this" {{
  name              = "lost"
  cluster_name      = "lost"
  oidc_provider_arn = "{}"
}}
"#,
        cluster.aws.oidc_provider_arn
    );
    let workspace = Workspace::with(&cloud, CoreKind::OpenTofu, "lost", &main)?;
    cloud
        .fault(&json!({ "kind": "lost-response", "times": 1, "match": { "action": "iam:CreateRole" } }))
        .await?;
    workspace.apply(&[])?;
    workspace.plan_is_empty()?;
    workspace.destroy()?;
    let left = cloud.sandbox.leftovers().await?;
    ensure!(left.is_empty(), "{left:?}");
    Ok(())
}
