//! A sandbox with the quickstart applied: a cluster with a running controller, for tests of what comes after the apply.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use joiner_sandbox::Cluster;
use kube::Client;

use crate::{Cloud, CoreKind, Workspace};

/// The applied quickstart.
pub struct Quickstart {
    /// A client of its cluster.
    pub client: Client,
    /// Its cluster.
    pub cluster: Cluster,
    /// Where it was applied.
    pub workspace: Workspace,
    /// Its sandbox.
    pub cloud: Cloud,
}

impl Quickstart {
    /// Starts a sandbox whose instances boot in no time and applies the example with OpenTofu.
    ///
    /// # Errors
    /// What kept one of both from being done.
    pub async fn apply() -> Result<Self> {
        Self::apply_with("").await
    }

    /// As [`Quickstart::apply`]; `settings` is HCL for the `settings` of the controller's chart.
    ///
    /// # Errors
    /// What kept one of both from being done.
    pub async fn apply_with(settings: &str) -> Result<Self> {
        Self::apply_booting(Duration::ZERO, settings).await
    }

    /// As [`Quickstart::apply_with`], with instances that become nodes `boot_time` after their launch.
    ///
    /// # Errors
    /// What kept one of both from being done.
    pub async fn apply_booting(boot_time: Duration, settings: &str) -> Result<Self> {
        let cloud = Cloud::start(boot_time).await?;
        let workspace = Workspace::of(&cloud, CoreKind::OpenTofu, "examples/quickstart")?;
        if !settings.is_empty() {
            let main = std::fs::read_to_string(workspace.file("main.tf"))?;
            let place = "    settings = {\n";
            ensure!(main.contains(place), "the quickstart's chart has no settings");
            workspace.rewrite(&main.replace(place, &format!("{place}      {settings}\n")))?;
        }
        workspace.apply(&[])?;
        let cluster = cloud.sandbox.cluster("quickstart").await?;
        let cluster = cluster.context("the quickstart made no cluster of its name")?;
        let client = cloud.client_of(&cluster).await?;
        Ok(Self {
            client,
            cluster,
            workspace,
            cloud,
        })
    }

    /// Applies a pool on the quickstart's class: `requirements` and `template` are YAML of its template's spec, indented by six
    /// and by six; `spec` is YAML of its own spec, indented by two.
    ///
    /// # Errors
    /// What kubectl says.
    pub fn pool(&self, name: &str, requirements: &str, template: &str, spec: &str) -> Result<()> {
        let manifest = format!(
            r#"---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: {name}
spec:
  template:
    spec:
      nodeClassRef:
        group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: default
      requirements:
{requirements}
{template}
{spec}
"#
        );
        self.cloud.kubectl_apply(&manifest).map(drop)
    }
}
