//! What `kubernetes_manifest` and `kubectl_manifest` cannot: leave one field to somebody else, and put an object in the place of the
//! one that it replaces, of the same name; and what keeps an object that they wait for without a word.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use joiner_tests::configuration::{by_kubeconfig, node_class, node_pool};
use joiner_tests::{Cloud, Workspace, cores, is_told};

const PLAN: [&str; 3] = ["plan", "-no-color", "-input=false"];

#[tokio::test]
async fn one_field_can_be_ignored_and_a_replaced_pool_is_there_again() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("pains").await?;
    cloud.crds(&cluster)?;
    let main = |more: &str| by_kubeconfig(&cluster) + &node_pool("p", "some", more);
    let field = |path: &str| {
        let path = format!("jsonpath={{{path}}}");
        cloud.kubectl(&["get", "nodepool", "p", "-o", &path])
    };
    let edit = |spec: &str| {
        let patch = format!(r#"{{"spec":{spec}}}"#);
        cloud
            .kubectl(&["patch", "nodepool", "p", "--type=merge", "-p", &patch])
            .map(drop)
    };
    let shared = r#"
  weight          = 7
  limits          = { cpu = "10" }
  force_conflicts = true
  lifecycle {
    ignore_changes = [weight]
  }
"#;
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "pains", &main(shared))?;
        workspace.apply(&[])?;
        // The one field is somebody else's; another one of the same object is not.
        edit(r#"{"weight":9}"#)?;
        workspace.plan_is_empty()?;
        edit(r#"{"limits":{"cpu":"99"}}"#)?;
        let text = workspace.run(&PLAN)?;
        ensure!(
            is_told(&text, r#""99" -> "10""#) && !is_told(&text, "9 -> 7"),
            "{kind:?}: {text}"
        );
        workspace.apply(&[])?;
        ensure!(field(".spec.weight")? == "9", "{kind:?}: the weight was set back");
        ensure!(
            field(".spec.limits.cpu")? == "10",
            "{kind:?}: the limit was not set back"
        );

        let before = field(".metadata.uid")?;
        workspace.rewrite(&main("replicas = 2"))?;
        let text = workspace.apply(&[])?;
        ensure!(
            is_told(&text, "1 added, 0 changed, 1 destroyed"),
            "{kind:?}: {text}"
        );
        ensure!(
            field(".metadata.uid")? != before,
            "{kind:?}: it is the pool of before"
        );
        ensure!(
            field(".spec.replicas")? == "2",
            "{kind:?}: it is not as it should be"
        );
        workspace.plan_is_empty()?;
        workspace.destroy()?;
    }
    Ok(())
}

#[tokio::test]
async fn a_finalizer_of_another_program_is_named_with_the_command_that_takes_it_away() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("held").await?;
    cloud.crds(&cluster)?;
    let main = by_kubeconfig(&cluster) + &node_pool("p", "some", "timeouts = { delete = \"3s\" }");
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "held", &main)?;
        workspace.apply(&[])?;
        let hold = r#"{"metadata":{"finalizers":["a.example/backup"]}}"#;
        cloud.kubectl(&["patch", "nodepool", "p", "--type=merge", "-p", hold])?;
        workspace.plan_is_empty()?;
        let text = workspace.fails(&["destroy", "-auto-approve", "-input=false", "-no-color"])?;
        ensure!(
            is_told(&text, "a.example/backup was set by another program"),
            "{kind:?}: {text}"
        );
        // Nothing is taken away that nobody gave up.
        let kept = cloud.kubectl(&["get", "nodepool", "p", "-o", "jsonpath={.metadata.finalizers}"])?;
        ensure!(kept.contains("a.example/backup"), "{kind:?}: {kept}");
        // The command as it is told.
        let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, command) = unwrapped.split_once(": kubectl ").context("no command")?;
        let (words, patch) = command.split_once(" -p '").context("no patch")?;
        let (patch, _) = patch.split_once('\'').context("the patch has no end")?;
        let words: Vec<&str> = words.split(' ').chain(["-p", patch]).collect();
        cloud
            .kubectl(&words)
            .with_context(|| format!("{kind:?}: {words:?}"))?;
        // The garbage collector takes its time with a kind that is new.
        cloud.kubectl(&["wait", "--for=delete", "nodepool/p", "--timeout=90s"])?;
        workspace.destroy()?;
    }
    Ok(())
}

/// Plays the controller: NodeClaims of the class `old` go once the pool refers to another one, and the class goes with the last of them.
fn nodes_follow_their_pool(cloud: &Cloud) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        let class = "jsonpath={.spec.template.spec.nodeClassRef.name}";
        if cloud.kubectl(&["get", "nodepool", "p", "-o", class])? != "old" {
            cloud.kubectl(&["delete", "nodeclaim", "p-1"])?;
            let free = r#"{"metadata":{"finalizers":[]}}"#;
            cloud.kubectl(&["patch", "ec2nodeclass", "old", "--type=merge", "-p", free])?;
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    bail!("the pool still refers to the old class")
}

#[tokio::test]
async fn a_class_in_use_gets_another_name_in_one_apply_when_it_is_created_first() -> Result<()> {
    const CLAIM: &str = r#"
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: p-1
  labels: { karpenter.k8s.aws/ec2nodeclass: old, karpenter.sh/nodepool: p }
spec:
  nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: old }
  requirements: [{ key: kubernetes.io/arch, operator: In, values: [amd64] }]
"#;
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("renamed").await?;
    cloud.crds(&cluster)?;
    let main = |name: &str, lifecycle: &str| {
        let class = node_class("c", &format!("timeouts = {{ delete = \"20s\" }}\n{lifecycle}"));
        let class = class.replacen("\"c\"\n", &format!("\"{name}\"\n"), 1);
        let pool = node_pool("p", "CLASS", "").replace("\"CLASS\"", "joiner_ec2_node_class.c.name");
        by_kubeconfig(&cluster) + &class + &pool
    };
    const FIRST: &str = "lifecycle {\n create_before_destroy = true\n}";
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "renamed", &main("old", ""))?;
        workspace.apply(&[])?;
        cloud.kubectl_apply(CLAIM)?;
        let held = r#"{"metadata":{"finalizers":["karpenter.k8s.aws/termination"]}}"#;
        cloud.kubectl(&["patch", "ec2nodeclass", "old", "--type=merge", "-p", held])?;

        // The plan says it, and so does the wait of who goes on.
        workspace.rewrite(&main("new", ""))?;
        let text = workspace.run(&PLAN)?;
        ensure!(
            is_told(&text, "EC2NodeClass old is replaced while it is in use")
                && is_told(&text, "node pools p and 1 NodeClaims use it"),
            "{kind:?}: {text}"
        );
        let text = workspace.fails(&["apply", "-auto-approve", "-input=false", "-no-color"])?;
        ensure!(is_told(&text, "create_before_destroy = true"), "{kind:?}: {text}");

        workspace.rewrite(&main("new", FIRST))?;
        let (applied, followed) = std::thread::scope(|scope| {
            let follower = scope.spawn(|| nodes_follow_their_pool(&cloud));
            (workspace.apply(&[]), follower.join())
        });
        applied?;
        followed.map_err(|_| anyhow!("the follower panicked"))??;
        workspace.plan_is_empty()?;
        workspace.destroy()?;
    }
    Ok(())
}
