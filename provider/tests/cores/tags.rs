//! Tags with real cores: the provider's `default_tags`, drift, and states of a release that did not store `tags_all`.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use joiner_tests::{Cloud, CoreKind, Workspace, cores, is_told};
use serde_json::{Value, json};

use crate::support::{HEAD, attributes};

const RESOURCES: &str = r#"
resource "joiner_node_role" "nodes" {
  name                = "tagged"
  cluster_name        = "tagged"
  create_access_entry = false
  tags                = { cost = "1" }
}

resource "joiner_interruption_queue" "this" {
  name = "tagged"
}
"#;

/// The resources with these default tags.
fn configuration(default_tags: &str) -> String {
    format!("{HEAD}\nprovider \"joiner\" {{\n  aws = {{ default_tags = {default_tags} }}\n}}\n{RESOURCES}")
}

/// The tags of the role in the account.
fn of_role(cloud: &Cloud) -> Result<Value> {
    let answer = cloud.aws("iam", "list_role_tags", &json!({ "RoleName": "tagged" }))?;
    let tags = answer["Tags"].as_array().context("no tags")?;
    Ok(tags
        .iter()
        .filter_map(|tag| Some((tag["Key"].as_str()?.to_owned(), tag["Value"].clone())))
        .collect::<serde_json::Map<_, _>>()
        .into())
}

fn plan(workspace: &Workspace) -> Result<String> {
    workspace.run(&["plan", "-no-color", "-input=false"])
}

#[tokio::test]
async fn default_tags_reach_what_exists_and_drift_is_set_right() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "tagged", &configuration(r#"{ team = "a" }"#))?;
        workspace.apply(&[])?;
        workspace.plan_is_empty()?;
        workspace.nothing_drifted()?;

        // Nothing but the provider's block changes.
        workspace.rewrite(&configuration(r#"{ team = "b", stage = "dev" }"#))?;
        workspace.nothing_drifted()?;
        let text = plan(&workspace)?;
        ensure!(
            is_told(&text, "2 to change") && is_told(&text, "tags_all"),
            "{kind:?}: {text}"
        );
        workspace.apply(&[])?;
        let all = json!({ "cost": "1", "team": "b", "stage": "dev", "joiner.dev/node-role": "tagged" });
        ensure!(of_role(&cloud)? == all, "{kind:?}: {}", of_role(&cloud)?);
        ensure!(
            attributes(&workspace, "joiner_node_role.nodes")?["tags_all"] == all,
            "{kind:?}"
        );
        let url = cloud.aws("sqs", "get_queue_url", &json!({ "QueueName": "tagged" }))?;
        let queue = cloud.aws("sqs", "list_queue_tags", &json!({ "QueueUrl": url["QueueUrl"] }))?;
        ensure!(queue["Tags"]["stage"] == "dev", "{kind:?}: {queue}");
        workspace.plan_is_empty()?;
        workspace.nothing_drifted()?;

        drift(&cloud, &workspace, kind)?;
        of_an_older_release(&workspace).with_context(|| format!("{kind:?}"))?;
        known_at_apply(&cloud, &workspace)?;
        workspace.destroy()?;
    }
    Ok(())
}

/// One taken away and one changed are seen, and set right; one that someone adds stays.
fn drift(cloud: &Cloud, workspace: &Workspace, kind: CoreKind) -> Result<()> {
    let tag = |key: &str| json!({ "RoleName": "tagged", "Tags": [{ "Key": key, "Value": "by hand" }] });
    cloud.aws("iam", "tag_role", &tag("theirs"))?;
    workspace.nothing_drifted()?;
    cloud.aws("iam", "tag_role", &tag("team"))?;
    cloud.aws(
        "iam",
        "untag_role",
        &json!({ "RoleName": "tagged", "TagKeys": ["stage"] }),
    )?;
    let text = workspace.fails(&[
        "plan",
        "-refresh-only",
        "-detailed-exitcode",
        "-no-color",
        "-input=false",
    ])?;
    ensure!(
        is_told(&text, "tags_all") && is_told(&text, "by hand"),
        "{kind:?}: {text}"
    );
    let text = plan(workspace)?;
    ensure!(is_told(&text, "1 to change"), "{kind:?}: {text}");
    workspace.apply(&[])?;
    let live = of_role(cloud)?;
    ensure!(
        live["team"] == "b" && live["stage"] == "dev" && live["theirs"] == "by hand",
        "{kind:?}: {live}"
    );
    workspace.plan_is_empty()?;
    workspace.nothing_drifted()
}

/// A state without `tags_all` is one of no change, and gets it at the first refresh.
fn of_an_older_release(workspace: &Workspace) -> Result<()> {
    let path = workspace.file("terraform.tfstate");
    let mut state: Value = serde_json::from_slice(&fs::read(&path)?)?;
    for resource in state["resources"].as_array_mut().context("no resources")? {
        let stored = resource["instances"][0]["attributes"].as_object_mut();
        ensure!(
            stored.and_then(|stored| stored.remove("tags_all")).is_some(),
            "{resource}"
        );
    }
    fs::write(&path, state.to_string())?;
    workspace.plan_is_empty()?;
    workspace.nothing_drifted()?;
    workspace.run(&[
        "apply",
        "-refresh-only",
        "-auto-approve",
        "-no-color",
        "-input=false",
    ])?;
    workspace.plan_is_empty()
}

/// Default tags that a resource of the same apply tells.
fn known_at_apply(cloud: &Cloud, workspace: &Workspace) -> Result<()> {
    let told = "\nresource \"terraform_data\" \"team\" {\n  input = \"c\"\n}\n";
    workspace.rewrite(&[&configuration("{ team = terraform_data.team.output }"), told].concat())?;
    workspace.apply(&[])?;
    let live = of_role(cloud)?;
    ensure!(live["team"] == "c" && live.get("stage").is_none(), "{live}");
    workspace.plan_is_empty()
}
