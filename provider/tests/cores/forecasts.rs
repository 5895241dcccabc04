//! What a change does to nodes that run, told by a plan: with real cores and a real API server, in which no controller replaces anything.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use joiner_tests::{Cloud, Workspace, cluster, cores, is_told};
use serde_json::{Value, json};

use crate::support::{HEAD, attributes};

const PATIENCE: Duration = Duration::from_secs(60);
const POOL: &str = "joiner_node_pool.this";
const ASSUMED: &str = "It is assumed that the controller has its default settings";

/// A pod with the settings of a controller, which runs nowhere.
const CONTROLLER: &str = r#"
apiVersion: v1
kind: Pod
metadata:
  name: controller
spec:
  nodeSelector: { no: where }
  containers:
    - name: controller
      image: joiner/nothing
      env:
        - { name: KARPENTER_SERVICE, value: joiner }
        - { name: FEATURE_GATES, value: "NodeOverlay=true" }
"#;

fn configuration(role: &str, template: &str) -> String {
    format!(
        r#"{HEAD}
provider "joiner" {{
  eks    = {{ cluster_name = "forecasts" }}
  checks = {{ forecast_timeout = "60s" }}
}}

resource "joiner_ec2_node_class" "this" {{
  name                          = "forecasts"
  role                          = {role:?}
  ami_selector_terms            = [{{ alias = "al2023@latest" }}]
  subnet_selector_terms         = [{{ tags = {{ "karpenter.sh/discovery" = "forecasts" }} }}]
  security_group_selector_terms = [{{ tags = {{ "karpenter.sh/discovery" = "forecasts" }} }}]
  wait                          = {{ ready = false }}
}}

resource "joiner_node_pool" "this" {{
  name = "forecasts"
  template = {{
    {template}
    spec = {{
      node_class_ref = {{ name = joiner_ec2_node_class.this.name }}
      requirements = [
        {{ key = "karpenter.sh/capacity-type", operator = "In", values = ["on-demand"] }},
      ]
    }}
  }}
  disruption = {{ budgets = [{{ nodes = "1" }}] }}
  wait       = {{ ready = false }}
}}
"#
    )
}

/// A complete node of the pool, as a controller would have made it by the spec that is there.
fn node(cloud: &Cloud, name: &str) -> Result<()> {
    let labels = json!({
        "karpenter.sh/nodepool": "forecasts", "karpenter.k8s.aws/ec2nodeclass": "forecasts",
        "karpenter.sh/capacity-type": "on-demand", "node.kubernetes.io/instance-type": "m5.large",
        "topology.kubernetes.io/zone": "us-west-2a", "topology.kubernetes.io/region": "us-west-2", "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux", "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true",
    });
    let size = json!({ "cpu": "2", "memory": "7Gi", "pods": "29", "ephemeral-storage": "20Gi" });
    let id = format!("aws:///us-west-2a/i-{name}");
    let claim = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": { "name": format!("claim-{name}"), "labels": labels, "annotations": {
            "karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3",
        } },
        "spec": {
            "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "forecasts" },
            "requirements": [{ "key": "kubernetes.io/os", "operator": "In", "values": ["linux"] }],
        },
    });
    let object = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "labels": labels, "annotations": { "kwok.x-k8s.io/node": "fake" } },
        "spec": { "providerID": id }, "status": { "capacity": size, "allocatable": size },
    });
    cloud.kubectl_apply(&format!("{claim}\n---\n{object}"))?;
    let holds = ["Launched", "Registered", "Initialized"].map(|kind| {
        json!({ "type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": "2026-11-30T08:00:00Z" })
    });
    let status = json!({
        "nodeName": name, "providerID": id, "capacity": size, "allocatable": size, "conditions": holds,
    });
    patch_status(cloud, "nodeclaim", &format!("claim-{name}"), &status)
}

fn patch_status(cloud: &Cloud, kind: &str, name: &str, status: &Value) -> Result<()> {
    let patch = json!({ "status": status }).to_string();
    let options = ["--subresource=status", "--type=merge", "-p", &patch];
    cloud
        .kubectl(&[&["patch", kind, name], &options[..]].concat())
        .map(drop)
}

/// What a stored plan says in the attribute.
fn forecast(workspace: &Workspace, plan: &str) -> Result<Value> {
    let shown: Value = serde_json::from_str(workspace.run(&["show", "-json", plan])?.trim())?;
    let changes = shown["resource_changes"]
        .as_array()
        .context("a plan has changes")?;
    let pool = changes
        .iter()
        .find(|change| change["address"] == POOL)
        .context("the pool changes")?;
    Ok(pool["change"]["after"]["forecast"].clone())
}

#[tokio::test]
async fn a_plan_names_the_nodes_and_the_apply_keeps_to_it() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let own = cloud.cluster("forecasts").await?;
    cloud.crds(&own)?;
    let client = cloud.client_of(&own).await?;
    for kind in cores() {
        let role = &own.aws.node_role_name;
        let before = configuration(role, "");
        let after = configuration(role, r#"metadata = { labels = { team = "a" } }"#);
        let workspace = Workspace::with(&cloud, kind, "forecasts", &before)?;
        workspace.apply(&[])?;
        cloud.kubectl(&[
            "annotate",
            "nodepool",
            "forecasts",
            "karpenter.sh/nodepool-hash=1",
            "karpenter.sh/nodepool-hash-version=v3",
        ])?;
        let ready = json!([{ "type": "Ready", "status": "True", "reason": "Ready", "message": "",
            "lastTransitionTime": "2026-11-30T08:00:00Z" }]);
        patch_status(&cloud, "nodepool", "forecasts", &json!({ "conditions": ready }))?;
        for name in ["n1", "n2"] {
            node(&cloud, name)?;
        }
        let web = cluster::deployment("web", "karpenter.sh/nodepool: forecasts", 2, "1500m", "");
        cloud.kubectl_apply(&web)?;
        cluster::pods_of(&client, "web", 2, PATIENCE).await?;
        // Nothing has changed, and nodes that run are no news.
        workspace.plan_is_empty()?;

        workspace.rewrite(&after)?;
        let text = workspace.run(&["plan", "-input=false", "-no-color", "-out=change"])?;
        for part in [
            "The change of NodePool forecasts replaces 2 nodes",
            "in 2 waves within the budgets",
            "n1 (wave 1, 1 pod moves; NodePool forecasts has changed",
            "label team was absent, is a",
            ASSUMED,
        ] {
            ensure!(is_told(&text, part), "{kind:?}: {part:?} is not in:\n{text}");
        }
        // With a pod of the controller there is nothing to assume.
        cloud.kubectl_apply(CONTROLLER)?;
        let text = workspace.run(&["plan", "-input=false", "-no-color", "-out=change"])?;
        ensure!(
            is_told(&text, "replaces 2 nodes") && !is_told(&text, "It is assumed"),
            "{kind:?}: {text}"
        );
        cloud.kubectl(&["delete", "pod", "controller", "--now"])?;
        let planned = forecast(&workspace, "change")?;
        ensure!(planned["replaces"] == "all", "{kind:?}: {planned}");
        // Between plan and apply a node goes and another comes; the apply is that of the plan all the same.
        cloud.kubectl(&["delete", "nodeclaim", "claim-n2"])?;
        cloud.kubectl(&["delete", "node", "n2"])?;
        node(&cloud, "n3")?;
        workspace.run(&["apply", "-input=false", "-no-color", "change"])?;
        let stored = attributes(&workspace, POOL)?;
        let names: BTreeSet<&str> = stored["forecast"]["nodes"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|node| node["name"].as_str())
            .collect();
        ensure!(names == BTreeSet::from(["n1", "n3"]), "{kind:?}: {stored}");
        ensure!(stored["forecast"]["waves"].is_u64(), "{kind:?}: {stored}");

        // The nodes are counted from now on, and no plan changes for it.
        cloud.kubectl(&[
            "annotate",
            "--overwrite",
            "nodepool",
            "forecasts",
            "karpenter.sh/nodepool-hash=2",
        ])?;
        workspace.plan_is_empty()?;
        workspace.run(&[
            "apply",
            "-refresh-only",
            "-auto-approve",
            "-input=false",
            "-no-color",
        ])?;
        let counted = attributes(&workspace, POOL)?;
        ensure!(counted["nodes_drifted"] == 2, "{kind:?}: {counted}");
        let text = workspace.run(&["plan", "-refresh-only", "-input=false", "-no-color"])?;
        ensure!(is_told(&text, "No changes."), "{kind:?}: {text}");

        let text = workspace.run(&["plan", "-destroy", "-input=false", "-no-color"])?;
        ensure!(is_told(&text, "would have no node"), "{kind:?}: {text}");
        workspace.rewrite(&configuration(role, r#"metadata = { labels = { team = "b" } }"#))?;
        let off = fs::read_to_string(workspace.file("main.tf"))?
            .replace("forecast_timeout = \"60s\"", "forecast = \"off\"");
        workspace.rewrite(&off)?;
        let text = workspace.run(&["plan", "-input=false", "-no-color"])?;
        ensure!(!text.contains("Warning"), "{kind:?}: {text}");

        for object in ["deployment/web", "node/n1", "node/n3"] {
            cloud.kubectl(&["delete", object])?;
        }
        cloud.kubectl(&["delete", "nodeclaims", "--all"])?;
        workspace.destroy()?;
    }
    Ok(())
}
