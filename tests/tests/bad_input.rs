//! Wrong configurations: a clear error at the earliest moment, with the attribute's path, before anything is changed.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use joiner_tests::configuration::SOURCES as HEAD;
use joiner_tests::{Cloud, Ground, Workspace, cores, tells};
use serde_json::json;

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

/// A pool with limits given as HCL.
fn limited(limits: &str) -> String {
    let requirement = r#"{ key = "kubernetes.io/arch", operator = "In", values = ["amd64"] }"#;
    let pool = pool(requirement);
    pool.replacen(
        "  name = \"bad\"\n",
        &format!("  name = \"bad\"\n  limits = {limits}\n"),
        1,
    )
}

/// A class with other attributes given as HCL.
fn class_with(attributes: &str) -> String {
    class(r#"{ alias = "al2023@latest" }"#).replacen(
        "  name                          = \"bad\"\n",
        &format!("  name = \"bad\"\n  {attributes}\n"),
        1,
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
    let ground = Ground::take().await?;
    let cases = [
        (
            "operator",
            pool(r#"{ key = "kubernetes.io/arch", operator = "Inn", values = ["amd64"] }"#),
            vec![
                "template.spec.requirements[0].operator",
                "\"Inn\"",
                "did you mean \"In\"",
            ],
        ),
        (
            "exclude",
            pool(
                r#"{ key = "kubernetes.io/arch", operator = "In", values = ["amd64"] }, { key = "kubernetes.io/arch", operator = "In", values = ["arm64"] }"#,
            ),
            vec![
                "template.spec.requirements",
                "kubernetes.io/arch",
                "no node can meet",
            ],
        ),
        (
            "domain",
            pool(r#"{ key = "karpenter.sh/mine", operator = "In", values = ["a"] }"#),
            vec![
                "template.spec.requirements[0].key",
                "karpenter.sh/mine",
                "reserved domain karpenter.sh",
            ],
        ),
        (
            "resource",
            limited(r#"{ "" = "1" }"#),
            vec!["limits[\"\"]", "is no resource", "cpu, memory or nodes"],
        ),
        (
            "amount",
            limited(r#"{ cpu = "1e999999" }"#),
            vec![
                "limits[\"cpu\"]",
                "1e999999 is beyond Kubernetes' largest quantity",
                "leave it out",
            ],
        ),
        (
            "ratio",
            class_with(
                r#"block_device_mappings = [{ device_name = "/dev/xvda", ebs = { volume_size = "10Gi", volume_type = "gp3", iops = 16000 } }]"#,
            ),
            vec![
                "block_device_mappings[0].ebs.iops",
                "at most 500 IOPS a GiB",
                "a size of at least 32Gi",
            ],
        ),
        (
            "words",
            class_with(
                r#"block_device_mappings = [{ device_name = "/dev/xvda", ebs = { volume_size = "10Gi", volume_initialization_rate = 200 } }]"#,
            ),
            vec![
                "block_device_mappings[0].ebs",
                "set 'snapshot_id' or remove 'volume_initialization_rate'",
            ],
        ),
        (
            "tag",
            class_with(r#"tags = { "aws:x" = "1" }"#),
            vec!["tags[\"aws:x\"]", "are AWS' own", "choose another key"],
        ),
        (
            "twice",
            class_with("kubelet = { max_pods = 10, other = { maxPods = 20 } }"),
            vec!["kubelet.max_pods", "remove maxPods from other"],
        ),
        (
            "alias",
            class(r#"{ alias = "al2023@latest", id = "ami-0123456789abcdef0" }"#),
            vec!["ami_selector_terms", "alias", "id"],
        ),
    ];
    for kind in cores() {
        for (name, main, wanted) in &cases {
            let workspace = Workspace::without_cloud(&ground, kind, name, main)?;
            // No state, no plan, no cluster: the configuration alone tells.
            let text = workspace.fails(&["validate", "-no-color"])?;
            tells(&text, wanted).with_context(|| format!("{kind:?} {name}"))?;
            let text = workspace.fails(&["plan", "-input=false", "-no-color"])?;
            tells(&text, wanted).with_context(|| format!("plan of {kind:?} {name}"))?;
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
        let look = || cloud.aws("iam", "get_role", &json!({ "RoleName": made.aws.node_role_name }));
        let before = look()?["Role"].clone();
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
        tells(
            &text,
            &[
                "The role name is taken",
                &made.aws.node_role_arn,
                "it was not touched",
                "import the role",
            ],
        )?;
        ensure!(
            workspace.state()?.is_empty(),
            "{kind:?}: someone else's role is in the state"
        );
        let role = look()?["Role"].clone();
        ensure!(role == before, "{kind:?}: {before} was changed to {role}");
    }
    Ok(())
}
