//! State files that another version of the provider wrote, read by real cores.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use joiner_tests::configuration::{by_kubeconfig, node_class, node_pool};
use joiner_tests::{Cloud, Workspace, cores, is_told};
use serde_json::{Value, json};

/// What the first release did not know.
const LATER: [&str; 2] = ["forecast", "nodes_drifted"];

/// The state file of a workspace, changed: `change` is given each resource's instance.
fn rewrite(workspace: &Workspace, change: impl Fn(&mut Value)) -> Result<()> {
    let path = workspace.file("terraform.tfstate");
    let mut state: Value = serde_json::from_slice(&fs::read(&path)?)?;
    let resources = state["resources"].as_array_mut().context("no resources")?;
    for resource in resources {
        change(&mut resource["instances"][0]);
    }
    state["serial"] = json!(state["serial"].as_u64().unwrap_or_default() + 1);
    Ok(fs::write(&path, state.to_string())?)
}

/// As the first release stored it: without what came later, with what is gone since, without private data and identity.
fn as_at_first(instance: &mut Value) {
    if let Some(attributes) = instance["attributes"].as_object_mut() {
        attributes.retain(|name, _| !LATER.contains(&name.as_str()));
        let limits = json!({ "create": null, "delete": "1h", "read": "5m", "update": null });
        attributes.insert("timeouts".to_owned(), limits);
    }
    if let Some(instance) = instance.as_object_mut() {
        instance.retain(|name, _| name != "private" && !name.starts_with("identity"));
    }
}

#[tokio::test]
async fn a_state_of_the_first_release_plans_no_change_and_a_newer_one_is_refused() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("stored").await?;
    cloud.crds(&cluster)?;
    let limits = "timeouts = { delete = \"1h\" }";
    let main = [
        by_kubeconfig(&cluster),
        node_class("c", limits),
        node_pool("p", "c", limits),
    ]
    .concat();
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "stored", &main)?;
        workspace.apply(&[])?;
        rewrite(&workspace, as_at_first)?;
        workspace.plan_is_empty().with_context(|| format!("{kind:?}"))?;
        workspace.apply(&[])?;
        workspace.plan_is_empty().with_context(|| format!("{kind:?}"))?;

        let newer = workspace.file("terraform.tfstate");
        let kept = fs::read(&newer)?;
        rewrite(&workspace, |instance| instance["schema_version"] = json!(1))?;
        let text = workspace.fails(&["plan", "-no-color", "-input=false"])?;
        ensure!(is_told(&text, "newer provider version"), "{kind:?}: {text}");
        fs::write(&newer, kept)?;
        workspace.destroy()?;
    }
    Ok(())
}
