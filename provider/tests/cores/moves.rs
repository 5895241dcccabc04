//! Taking over what other providers manage, with `moved` blocks: from the state of another provider to a plan without a change.
//!
//! Both cores ask each provider that the state names for its schemas, even when a `moved` block takes its last resource away; they ask
//! it for nothing else. So the other provider must be installed until the move is applied, and here a copy of ours stands in for it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use joiner_tests::{Cloud, CoreKind, Workspace, cores, is_told};
use serde_json::{Value, json};

use crate::support::{HEAD, attributes, chart};

const PROVIDER: &str = r#"
provider "joiner" {
  eks = { cluster_name = "moves" }
}
"#;

const POOL: &str = r#"
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: moved
  labels:
    team: a
spec:
  template:
    metadata:
      labels:
        team: a
    spec:
      nodeClassRef:
        group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: moved
      requirements:
        - key: kubernetes.io/arch
          operator: In
          values: [arm64, amd64]
      expireAfter: 24h
  limits:
    cpu: 16
"#;

const CLASS: &str = r#"
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: moved
spec:
  role: node
  amiSelectorTerms:
    - alias: al2023@latest
  subnetSelectorTerms:
    - tags:
        team: a
  securityGroupSelectorTerms:
    - tags:
        team: a
  kubelet:
    maxPods: 42
"#;

const OVERLAY: &str = r#"
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata:
  name: moved
spec:
  requirements:
    - key: karpenter.k8s.aws/instance-family
      operator: In
      values: [m7i]
  priceAdjustment: "-10%"
"#;

/// The same, as resources of ours.
const RESOURCES: &str = r#"
resource "joiner_ec2_node_class" "this" {
  name                          = "moved"
  role                          = "node"
  ami_selector_terms            = [{ alias = "al2023@latest" }]
  subnet_selector_terms         = [{ tags = { team = "a" } }]
  security_group_selector_terms = [{ tags = { team = "a" } }]
  kubelet                       = { max_pods = 42 }
}

resource "joiner_node_pool" "this" {
  name   = "moved"
  labels = { team = "a" }
  template = {
    metadata = { labels = { team = "a" } }
    spec = {
      node_class_ref = { name = joiner_ec2_node_class.this.name }
      requirements   = [{ key = "kubernetes.io/arch", operator = "In", values = ["amd64", "arm64"] }]
      expire_after   = "24h"
    }
  }
  limits = { cpu = "16" }
}

resource "joiner_node_overlay" "this" {
  name             = "moved"
  requirements     = [{ key = "karpenter.k8s.aws/instance-family", operator = "In", values = ["m7i"] }]
  price_adjustment = "-10%"
}
"#;

/// A state with one resource of another provider for each of `resources`: type, name and attributes.
fn state(provider: &str, resources: &[(&str, &str, Value)]) -> Value {
    let resources: Vec<Value> = resources
        .iter()
        .map(|(kind, name, attributes)| {
            json!({
                "mode": "managed", "type": kind, "name": name, "provider": format!("provider[{provider:?}]"),
                "instances": [{ "schema_version": 1, "attributes": attributes, "sensitive_attributes": [], "private": "bnVsbA==" }],
            })
        })
        .collect();
    json!({
        "version": 4, "terraform_version": "1.9.0", "serial": 7, "lineage": "5f2d7a52-7a0b-4b6c-9f6e-0d3f8c1d2e4b", "outputs": {},
        "resources": resources, "check_results": null,
    })
}

/// A CLI configuration in which a copy of our provider stands in for the others: a core asks them for schemas alone.
fn stand_ins(cloud: &Cloud, workspace: &Workspace) -> Result<String> {
    let folder = workspace.dir().join("stand-ins");
    fs::create_dir_all(&folder)?;
    let ours = cloud.binaries();
    let mut overrides = vec![format!(
        "    \"joiner-dev/joiner\" = {:?}\n",
        with_helm(cloud, workspace)?
    )];
    for (provider, name) in [
        ("gavinbunney/kubectl", "kubectl"),
        ("alekc/kubectl", "kubectl"),
        ("hashicorp/kubernetes", "kubernetes"),
        ("hashicorp/helm", "helm"),
    ] {
        let binary = folder.join(format!("terraform-provider-{name}"));
        if !binary.exists() {
            std::os::unix::fs::symlink(ours.join("terraform-provider-joiner"), &binary)?;
        }
        for host in ["registry.opentofu.org", "registry.terraform.io"] {
            overrides.push(format!(
                "    \"{host}/{provider}\" = {:?}\n",
                folder.display().to_string()
            ));
        }
    }
    let file = workspace.dir().join("stand-ins.tfrc");
    let text = format!(
        "provider_installation {{\n  dev_overrides {{\n{}  }}\n}}\n",
        overrides.concat()
    );
    fs::write(&file, text)?;
    Ok(file.display().to_string())
}

/// A folder with our provider and Helm beside it.
fn with_helm(cloud: &Cloud, workspace: &Workspace) -> Result<String> {
    let folder = workspace.dir().join("ours");
    fs::create_dir_all(&folder)?;
    for (from, name) in [
        (
            cloud.binaries().join("terraform-provider-joiner"),
            "terraform-provider-joiner",
        ),
        (cloud.tools.path("helm"), "helm"),
    ] {
        let link = folder.join(name);
        if !link.exists() {
            std::os::unix::fs::symlink(from, link)?;
        }
    }
    Ok(folder.display().to_string())
}

/// A workspace with that configuration and state, set up before the state names other providers.
fn workspace(cloud: &Cloud, kind: CoreKind, name: &str, main: &str, state: &Value) -> Result<Workspace> {
    let mut workspace = Workspace::with(cloud, kind, name, main)?;
    fs::write(workspace.dir().join("terraform.tfstate"), state.to_string())?;
    let file = stand_ins(cloud, &workspace)?;
    workspace.set_environment(&[("TF_CLI_CONFIG_FILE", Some(&file))]);
    Ok(workspace)
}

/// `tofu plan` says that nothing but the addresses changes; the apply says the same, and then there is nothing to do.
fn moves_alone(workspace: &Workspace, moved: usize) -> Result<()> {
    let text = workspace.run(&["plan", "-no-color", "-input=false"])?;
    ensure!(text.matches("has moved to").count() == moved, "{text}");
    ensure!(
        is_told(&text, "0 to add, 0 to change, 0 to destroy"),
        "only addresses are to change: {text}"
    );
    let text = workspace.apply(&[])?;
    ensure!(is_told(&text, "0 added, 0 changed, 0 destroyed"), "{text}");
    workspace.plan_is_empty()
}

fn blocks(from: &str, resources: &[&str]) -> String {
    resources
        .iter()
        .map(|resource| format!("moved {{\n  from = {from}.{resource}\n  to   = {resource}.this\n}}\n"))
        .collect()
}

fn manifest(cloud: &Cloud, kind: &str) -> Result<Value> {
    let text = cloud.kubectl(&["get", kind, "moved", "-o", "json"])?;
    Ok(serde_json::from_str(&text)?)
}

const OURS: [&str; 3] = ["joiner_node_pool", "joiner_ec2_node_class", "joiner_node_overlay"];

#[tokio::test]
async fn manifests_of_other_providers_move_without_a_change() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("moves").await?;
    cloud.crds(&cluster)?;
    for (kind, yaml) in [
        ("nodepool", POOL),
        ("ec2nodeclass", CLASS),
        ("nodeoverlay", OVERLAY),
    ] {
        cloud.kubectl_apply(yaml).with_context(|| kind.to_owned())?;
    }
    let before = manifest(&cloud, "nodepool")?;
    let typed = |value: Value| json!({ "value": value, "type": "dynamic" });
    let kubectl = |yaml: &str| json!({ "yaml_body": yaml, "uid": "x", "kind": "x", "name": "moved" });
    let live = |kind: &str| anyhow::Ok(json!({ "manifest": typed(manifest(&cloud, kind)?), "object": null }));
    for core in cores() {
        for provider in [
            "registry.opentofu.org/gavinbunney/kubectl",
            "registry.terraform.io/alekc/kubectl",
            "registry.terraform.io/hashicorp/kubernetes",
        ] {
            let is_kubectl = provider.ends_with("/kubectl");
            let source = if is_kubectl {
                "kubectl_manifest"
            } else {
                "kubernetes_manifest"
            };
            let attributes = if is_kubectl {
                [kubectl(POOL), kubectl(CLASS), kubectl(OVERLAY)]
            } else {
                [live("nodepool")?, live("ec2nodeclass")?, live("nodeoverlay")?]
            };
            let resources: Vec<(&str, &str, Value)> = OURS
                .into_iter()
                .zip(attributes)
                .map(|(ours, attributes)| (source, ours, attributes))
                .collect();
            let name = provider.replace(['/', '.'], "-");
            let main = format!("{HEAD}{PROVIDER}{RESOURCES}{}", blocks(source, &OURS));
            let workspace = workspace(&cloud, core, &name, &main, &state(provider, &resources))?;
            moves_alone(&workspace, 3).with_context(|| format!("{core:?} {provider}"))?;
            let uid = attributes_uid(&workspace)?;
            ensure!(before["metadata"]["uid"] == uid, "it is another pool: {uid}");
        }
        // What does not fit is refused with the kind that was found.
        let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\n";
        let resources = [("kubectl_manifest", "joiner_node_pool", kubectl(deployment))];
        let main = format!(
            "{HEAD}{PROVIDER}{RESOURCES}{}",
            blocks("kubectl_manifest", &["joiner_node_pool"])
        );
        let state = state("registry.opentofu.org/gavinbunney/kubectl", &resources);
        let workspace = workspace(&cloud, core, "refused", &main, &state)?;
        let text = workspace.fails(&["plan", "-no-color", "-input=false"])?;
        ensure!(is_told(&text, "holds Deployment in apps/v1"), "{core:?}: {text}");
    }
    Ok(())
}

fn attributes_uid(workspace: &Workspace) -> Result<Value> {
    Ok(attributes(workspace, "joiner_node_pool.this")?["uid"].clone())
}

#[tokio::test]
async fn a_release_of_another_provider_moves_without_a_change() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    cloud.cluster("moves").await?;
    let chart = chart(cloud.folder(), "moving", "0.1.0")?;
    helm(&cloud, &chart)?;
    let path = chart.display().to_string();
    let main = format!(
        r#"{HEAD}{PROVIDER}
resource "joiner_helm_release" "this" {{
  name      = "moving"
  namespace = "default"
  chart     = {path:?}
  values    = {{ text = "from values" }}
  set       = [{{ name = "more", value = "1" }}]
}}

moved {{
  from = helm_release.this
  to   = joiner_helm_release.this
}}
"#
    );
    for core in cores() {
        for (version, is_nested) in [("v2", false), ("v3", true)] {
            let metadata = json!({ "name": "moving", "chart": "moving", "version": "0.1.0", "app_version": "", "revision": 1 });
            let attributes = json!({
                "id": "moving", "name": "moving", "namespace": "default", "chart": path, "repository": null, "version": "0.1.0",
                "values": ["text: from values\n"], "set": [{ "name": "more", "value": "1", "type": "" }], "timeout": 300, "wait": true,
                "max_history": 0, "status": "deployed", "metadata": if is_nested { metadata } else { json!([metadata]) },
            });
            let state = state(
                "registry.terraform.io/hashicorp/helm",
                &[("helm_release", "this", attributes)],
            );
            let workspace = workspace(&cloud, core, &format!("release-{version}"), &main, &state)?;
            moves_alone(&workspace, 1).with_context(|| format!("{core:?} {version}"))?;
        }
    }
    Ok(())
}

/// Installs the release as the other provider would.
fn helm(cloud: &Cloud, chart: &Path) -> Result<()> {
    let output = std::process::Command::new(cloud.tools.path("helm"))
        .args([
            "install",
            "moving",
            "--namespace",
            "default",
            "--set",
            "more=1",
            "--set",
            "text=from values",
        ])
        .arg(chart)
        .envs(cloud.environment())
        .output()?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}
