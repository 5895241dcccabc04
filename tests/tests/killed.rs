//! `kill -9` in the middle of an apply, of the core, of the provider, of Helm: the apply is repeated, finishes what was begun,
//! makes nothing twice, and no lock is left.

use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_tests::chart::SmallChart;
use joiner_tests::cluster::revisions;
use joiner_tests::configuration::{SOURCES, by_kubeconfig, node_class, node_pool};
use joiner_tests::processes::Process;
use joiner_tests::{Cloud, CoreKind, Pause, Watched, Workspace, cores, eventually, is_told};
use kube::Client;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(180);

/// The processes below an apply whose program is called so.
fn below(apply: &Watched, program: &str) -> Vec<Process> {
    let mut found = apply.below();
    found.retain(|process| process.program().starts_with(program));
    found
}

/// Waits until Helm is in the middle of the first install: its hook runs.
async fn until_pending(client: &Client, apply: &mut Watched) -> Result<()> {
    apply
        .meanwhile("the release is pending", PATIENCE, async || {
            Ok(revisions(client, "small").await? == ["1 pending-install"])
        })
        .await
}

#[tokio::test]
async fn a_core_that_is_killed_between_resources_is_no_loss() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("core").await?;
    cloud.crds(&cluster)?;
    for kind in cores() {
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
    let cluster = cloud.cluster("left").await?;
    let client = cloud.client_of(&cluster).await?;
    for kind in cores() {
        let main = |seconds: u32| {
            by_kubeconfig(&cluster) + &chart.release("small", &format!("hookSeconds = {seconds}"), "")
        };
        let workspace = Workspace::with(&cloud, kind, "left", &main(3600))?;
        let mut apply = workspace.start_apply()?;
        until_pending(&client, &mut apply).await?;
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
        let found = revisions(&client, "small").await?;
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
    let client = cloud.client_of(&cluster).await?;
    let main = |seconds: u32| {
        by_kubeconfig(&cluster) + &chart.release("small", &format!("hookSeconds = {seconds}"), "")
    };
    let workspace = Workspace::with(&cloud, CoreKind::OpenTofu, "pending", &main(3600))?;
    let mut apply = workspace.start_apply()?;
    until_pending(&client, &mut apply).await?;
    let killed = [below(&apply, "terraform-provider-joiner"), below(&apply, "helm")].concat();
    ensure!(killed.len() == 2, "{killed:?}");
    for process in &killed {
        process.id.signal(Signal::SIGKILL);
    }
    apply.fails(PATIENCE).await?;
    let found = revisions(&client, "small").await?;
    ensure!(found == ["1 pending-install"], "{found:?}");

    workspace.rewrite(&main(0))?;
    let said = workspace.apply(&[])?;
    ensure!(
        is_told(&said, "An unfinished release was taken up"),
        "nothing is told of it:\n{said}"
    );
    workspace.plan_is_empty()?;
    let found = revisions(&client, "small").await?;
    ensure!(found == ["1 superseded", "2 deployed"], "{found:?}");
    Ok(())
}

#[tokio::test]
async fn a_helm_that_outlives_its_provider_is_waited_for() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let chart = SmallChart::write(cloud.folder())?;
    let cluster = cloud.cluster("outlives").await?;
    let client = cloud.client_of(&cluster).await?;
    let main = by_kubeconfig(&cluster) + &chart.release("small", "hookSeconds = 12", "");
    let workspace = Workspace::with(&cloud, CoreKind::OpenTofu, "outlives", &main)?;
    let mut apply = workspace.start_apply()?;
    until_pending(&client, &mut apply).await?;
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
    let deployed = revisions(&client, "small").await?;
    ensure!(
        deployed.iter().filter(|it| it.ends_with("deployed")).count() == 1
            && !deployed.iter().any(|it| it.contains("failed")),
        "{deployed:?}"
    );
    Ok(())
}

#[tokio::test]
async fn a_role_survives_kills_and_lost_answers() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("roles").await?;
    let role = |name: &str| {
        format!(
            r#"{SOURCES}
resource "joiner_irsa_role" "this" {{
  name              = "{name}"
  cluster_name      = "roles"
  oidc_provider_arn = "{}"
}}
"#,
            cluster.aws.oidc_provider_arn
        )
    };
    for kind in cores() {
        let name = format!("half-{kind:?}").to_lowercase();
        a_half_made_role_is_finished(&cloud, &Workspace::with(&cloud, kind, &name, &role(&name))?).await?;
    }
    // A role whose creation nobody heard of is not made a second time.
    let workspace = Workspace::with(&cloud, CoreKind::OpenTofu, "lost", &role("lost"))?;
    cloud.fault(&lost("iam:CreateRole")).await?;
    workspace.apply(&[])?;
    workspace.plan_is_empty()?;
    workspace.destroy()?;
    let left = cloud.sandbox.leftovers().await?;
    ensure!(left.is_empty(), "{left:?}");
    Ok(())
}

/// One answer to `action` that gets lost on the way: what was asked for is done.
fn lost(action: &str) -> Value {
    json!({ "kind": "lost-response", "times": 1, "match": { "action": action } })
}

async fn a_half_made_role_is_finished(cloud: &Cloud, workspace: &Workspace) -> Result<()> {
    // The role is made; its policy is on the way when the core dies, and the provider with it.
    cloud
        .fault(
            &json!({ "kind": "latency", "milliseconds": 4000, "match": { "action": "iam:PutRolePolicy" } }),
        )
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
    cloud.fault(&lost("iam:PutRolePolicy")).await?;
    workspace.apply(&[])?;
    workspace.plan_is_empty()?;
    workspace.destroy().map(drop)
}
