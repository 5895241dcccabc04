//! A NodeOverlay on a real API server.

use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_tests::{Cloud, Workspace, cores, is_told};

use crate::support::{HEAD, root};

fn configuration(adjustment: &str) -> String {
    format!(
        r#"{HEAD}
provider "joiner" {{
  eks = {{ cluster_name = "overlays" }}
}}

resource "joiner_node_overlay" "discount" {{
  name = "discount"
  requirements = [
    {{ key = "karpenter.k8s.aws/instance-family", operator = "In", values = ["m7i", "m6i"] }},
    {{ key = "karpenter.k8s.aws/instance-cpu", operator = "Gt", values = ["4"] }},
  ]
  price_adjustment = {adjustment:?}
  capacity         = {{ "smarter-devices/fuse" = "1" }}
  weight           = 10
}}
"#
    )
}

#[tokio::test]
async fn an_overlay_is_applied_changed_and_removed() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    cloud.cluster("overlays").await?;
    let crds = root().join("controller/chart/crds").display().to_string();
    cloud.kubectl(&["apply", "--server-side", "-f", &crds])?;
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "overlay", &configuration("-15%"))?;
        workspace.apply(&[])?;
        workspace.plan_is_empty()?;
        std::fs::write(workspace.file("main.tf"), configuration("-0.05"))?;
        workspace.apply(&[])?;
        let live = cloud.kubectl(&[
            "get",
            "nodeoverlay",
            "discount",
            "-o",
            "jsonpath={.spec.priceAdjustment}",
        ])?;
        ensure!(live == "-0.05", "{kind:?}: {live}");
        cloud.kubectl(&[
            "patch",
            "nodeoverlay",
            "discount",
            "--type=merge",
            "-p",
            r#"{"spec":{"weight":20}}"#,
        ])?;
        let plan = workspace.run(&["plan", "-no-color"])?;
        ensure!(
            is_told(&plan, "20 -> 10") || is_told(&plan, "20"),
            "{kind:?}: {plan}"
        );
        workspace.destroy()?;
        ensure!(
            cloud
                .kubectl(&["get", "nodeoverlays", "-o", "name"])?
                .trim()
                .is_empty()
        );
    }
    Ok(())
}
