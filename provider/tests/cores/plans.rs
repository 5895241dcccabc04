//! What a plan tells beyond the rules of the API: by the catalogue, by the account, by the cluster.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use joiner_tests::{Cloud, Workspace, cores, is_told};

use crate::support::HEAD;

fn configuration(checks: &str, subnets: &str, role: &str, alias: &str, zones: &str) -> String {
    format!(
        r#"{HEAD}
provider "joiner" {{
  eks    = {{ cluster_name = "plans" }}
  checks = {{ {checks} }}
}}

resource "joiner_ec2_node_class" "this" {{
  name                          = "plans"
  role                          = {role:?}
  ami_selector_terms            = [{{ alias = {alias:?} }}]
  subnet_selector_terms         = [{{ tags = {{ "karpenter.sh/discovery" = {subnets:?} }} }}]
  security_group_selector_terms = [{{ tags = {{ "karpenter.sh/discovery" = "plans" }} }}]
  wait                          = {{ ready = false }}
}}

resource "joiner_node_pool" "this" {{
  name = "plans"
  template = {{
    spec = {{
      node_class_ref = {{ name = joiner_ec2_node_class.this.name }}
      requirements = [
        {{ key = "topology.kubernetes.io/zone", operator = "In", values = {zones} }},
      ]
    }}
  }}
  wait = {{ ready = false }}
}}
"#
    )
}

const FINE: &str = r#"["us-west-2a", "us-west-2b"]"#;
const PLAN: [&str; 3] = ["plan", "-input=false", "-no-color"];

#[tokio::test]
async fn a_plan_asks_the_account_and_the_cluster() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("plans").await?;
    cloud.crds(&cluster)?;
    let role = &cluster.aws.node_role_name;
    for kind in cores() {
        let quiet = configuration("", "plans", role, "al2023@latest", FINE);
        let workspace = Workspace::with(&cloud, kind, "plans", &quiet)?;
        let text = workspace.run(&PLAN)?;
        ensure!(!text.contains("Warning"), "{kind:?}: {text}");
        let warned = |configuration: &str, parts: &[&str]| -> Result<()> {
            workspace.rewrite(configuration)?;
            let text = workspace.run(&PLAN)?;
            for part in parts {
                ensure!(is_told(&text, part), "{kind:?}: {part:?} is not in:\n{text}");
            }
            Ok(())
        };
        let wrong = configuration("", "plan", "nobody", "al2023@v20990101", FINE);
        warned(
            &wrong,
            &[
                "subnet_selector_terms[0]",
                "have tag karpenter.sh/discovery with plans, none with plan",
                "no role \"nobody\"",
                "ami_selector_terms[0]",
                "v20990101",
            ],
        )?;
        // The sandbox' region has a zone more than the cluster has subnets.
        let far = configuration(
            "",
            "plans",
            role,
            "al2023@latest",
            r#"["us-west-2a", "us-west-2d"]"#,
        );
        warned(
            &far,
            &[
                "template.spec.requirements[0].values",
                "has no subnet in us-west-2d",
            ],
        )?;
        let controllers = configuration("", "plans", "plans-cluster", "al2023@latest", FINE);
        warned(&controllers, &["does not let ec2.amazonaws.com take it on"])?;
        // The same as errors, by the setting.
        workspace.rewrite(&configuration(
            "account = \"error\"",
            "plan",
            role,
            "al2023@latest",
            FINE,
        ))?;
        let text = workspace.fails(&PLAN)?;
        ensure!(is_told(&text, "none with plan"), "{kind:?}: {text}");
        workspace.rewrite(&configuration(
            "account = \"off\"",
            "plan",
            role,
            "al2023@latest",
            FINE,
        ))?;
        let text = workspace.run(&PLAN)?;
        ensure!(!text.contains("Warning"), "{kind:?}: {text}");
        // A name clash, found by the dry run.
        cloud.kubectl_apply(CLASS)?;
        workspace.rewrite(&configuration(
            "cluster = \"error\"",
            "plans",
            role,
            "al2023@latest",
            FINE,
        ))?;
        let text = workspace.fails(&PLAN)?;
        ensure!(is_told(&text, "exists already"), "{kind:?}: {text}");
        cloud
            .kubectl(&["delete", "ec2nodeclass", "plans"])
            .with_context(|| format!("{kind:?}"))?;
    }
    Ok(())
}

const CLASS: &str = r#"
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: plans
spec:
  role: someone
  amiSelectorTerms: [{ alias: al2023@latest }]
  subnetSelectorTerms: [{ tags: { a: b } }]
  securityGroupSelectorTerms: [{ tags: { a: b } }]
"#;
