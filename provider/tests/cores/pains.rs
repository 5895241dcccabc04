//! What `kubernetes_manifest` and `kubectl_manifest` cannot: leave one field to somebody else, and put an object in the place of the
//! one that it replaces, of the same name.

use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_tests::configuration::{by_kubeconfig, node_pool};
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
