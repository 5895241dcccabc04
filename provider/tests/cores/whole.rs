//! The whole of it in one apply, as in `examples/eks`: cluster, nodes' role, queue, barrier, the controller's role by pod identity, its
//! release, a class and a pool. Pods get nodes; one destroy leaves nothing.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use joiner_tests::{Cloud, Workspace, cores, eventually};

use crate::support::root;

/// The example, with the sandbox's cluster in the place of the modules.
fn configuration() -> Result<String> {
    let text = fs::read_to_string(root().join("examples/eks/main.tf")).context("examples/eks/main.tf")?;
    let begin = text
        .find("# What the pool's nodes are in the account")
        .context("the first resource")?;
    let resources = text[begin..]
        .replace("module.eks.cluster_name", "sandbox_cluster.this.id")
        .replace("module.eks.cluster_endpoint", "sandbox_cluster.this.endpoint")
        .replace("module.vpc, module.eks", "sandbox_cluster.this")
        .replace("module.eks,", "sandbox_cluster.this,")
        .replace(
            "\"karpenter.sh/discovery\" = var.cluster_name",
            "\"karpenter.sh/discovery\" = sandbox_cluster.this.id",
        );
    Ok(format!(
        r#"
terraform {{
  required_providers {{
    joiner  = {{ source = "joiner-dev/joiner" }}
    sandbox = {{ source = "joiner-dev/sandbox" }}
  }}
}}

variable "cluster_name" {{
  default = "whole"
}}

resource "sandbox_cluster" "this" {{
  name = var.cluster_name
}}

provider "joiner" {{
  eks = {{ cluster_name = sandbox_cluster.this.id }}
}}

{resources}
"#
    ))
}

#[tokio::test]
async fn one_apply_gives_pods_nodes_and_one_destroy_leaves_nothing() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let configuration = configuration()?;
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "whole", &configuration)?;
        workspace.apply(&[])?;
        workspace.plan_is_empty()?;
        let deployment = root().join("examples/quickstart/deployment.yaml");
        cloud.kubectl(&["apply", "-f", &deployment.display().to_string()])?;
        cloud.kubectl(&["scale", "deployment", "inflate", "--replicas=5"])?;
        eventually("5 pods run", Duration::from_secs(120), || async {
            let ready = "jsonpath={.status.readyReplicas}";
            let found = cloud.kubectl(&["get", "deployment", "inflate", "-o", ready])?;
            ensure!(found.trim() == "5", "{found} are ready");
            Ok(())
        })
        .await
        .with_context(|| format!("{kind:?}"))?;
        workspace.destroy()?;
        let left = cloud.sandbox.leftovers().await?;
        ensure!(left.is_empty(), "{kind:?}: {left:#?}");
    }
    Ok(())
}
