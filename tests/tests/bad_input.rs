//! Wrong configurations: a clear error at the earliest moment, with the attribute's path, before anything is changed.

use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_tests::{Cloud, Workspace, cores};

const HEAD: &str = r#"
terraform {
  required_providers {
    joiner = {
      source = "joiner-dev/joiner"
    }
  }
}
"#;

/// A pool with one requirement given as HCL.
fn pool(requirements: &str) -> String {
    format!(
        r#"{HEAD}
resource "joiner_node_pool" "bad" {{
  name = "bad"
  template = {{
    spec = {{
      node_class_ref = {{ name = "default" }}
      requirements   = [{requirements}]
    }}
  }}
}}
"#
    )
}

/// A class with the AMI terms given as HCL.
fn class(ami_terms: &str) -> String {
    format!(
        r#"{HEAD}
resource "joiner_ec2_node_class" "bad" {{
  name                          = "bad"
  role                          = "nodes"
  ami_selector_terms            = [{ami_terms}]
  subnet_selector_terms         = [{{ tags = {{ team = "a" }} }}]
  security_group_selector_terms = [{{ tags = {{ team = "a" }} }}]
}}
"#
    )
}

#[tokio::test]
async fn wrong_configurations_fail_without_a_cluster_and_name_the_attribute() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cases = [
        (
            "operator",
            pool(r#"{ key = "kubernetes.io/arch", operator = "Inn", values = ["amd64"] }"#),
            vec!["template.spec.requirements[0].operator", "Inn", "In"],
        ),
        (
            "exclude",
            pool(
                r#"{ key = "kubernetes.io/arch", operator = "In", values = ["amd64"] }, { key = "kubernetes.io/arch", operator = "In", values = ["arm64"] }"#,
            ),
            vec!["template.spec.requirements", "kubernetes.io/arch"],
        ),
        (
            "domain",
            pool(r#"{ key = "karpenter.sh/mine", operator = "In", values = ["a"] }"#),
            vec!["template.spec.requirements[0].key", "karpenter.sh"],
        ),
        (
            "alias",
            class(r#"{ alias = "al2023@latest", id = "ami-0123456789abcdef0" }"#),
            vec!["ami_selector_terms", "alias"],
        ),
    ];
    for kind in cores() {
        for (name, main, wanted) in &cases {
            let workspace = Workspace::with(&cloud, kind, name, main)?;
            let text = workspace.fails(&["validate", "-no-color"])?;
            for part in wanted {
                ensure!(
                    text.contains(part),
                    "{kind:?} {name}: {part:?} is not in:\n{text}"
                );
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_role_that_someone_else_made_is_left_alone() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    for kind in cores() {
        let cluster = format!("taken-{kind:?}").to_lowercase();
        let made = cloud.cluster(&cluster).await?;
        // The node role exists already, and is not ours.
        let main = format!(
            r#"{HEAD}
resource "joiner_irsa_role" "taken" {{
  name              = "{role}"
  cluster_name      = "{cluster}"
  oidc_provider_arn = "{oidc}"
}}
"#,
            role = made.aws.node_role_name,
            oidc = made.aws.oidc_provider_arn,
        );
        let workspace = Workspace::with(&cloud, kind, "taken", &main)?;
        let text = workspace.fails(&["apply", "-auto-approve", "-input=false", "-no-color"])?;
        ensure!(
            text.contains(&made.aws.node_role_name),
            "{kind:?}: the error does not name the role:\n{text}"
        );
        let state = workspace.run(&["show", "-json"])?;
        ensure!(
            !state.contains("joiner_irsa_role"),
            "{kind:?}: someone else's role is in the state: {state}"
        );
    }
    Ok(())
}
