//! Importing what exists: by ID and by identity, by command and by block, and with a configuration that the core writes.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use joiner_tests::{Cloud, CoreKind, Workspace, cores, is_told};

use crate::support::HEAD;

const PROVIDER: &str = r#"
provider "joiner" {
  eks = { cluster_name = "imports" }
  aws = { default_tags = { team = "a" } }
}
"#;

/// One of each resource; the controller's release without a pod.
fn everything(oidc_provider_arn: &str) -> String {
    format!(
        r#"
resource "joiner_irsa_role" "this" {{
  name              = "imports-joiner"
  cluster_name      = "imports"
  oidc_provider_arn = {oidc_provider_arn:?}
  node_role_arns    = [joiner_node_role.this.arn]
  region            = "eu-west-1"
  tags              = {{ cost = "1" }}
}}

resource "joiner_pod_identity_role" "this" {{
  name                   = "imports-controller"
  cluster_name           = "imports"
  interruption_queue_arn = joiner_interruption_queue.this.arn
  region                 = "eu-central-1"
  tags                   = {{ cost = "1" }}
}}

resource "joiner_node_role" "this" {{
  name                    = "imports-nodes"
  cluster_name            = "imports"
  create_instance_profile = true
  tags                    = {{ cost = "1" }}
}}

resource "joiner_interruption_queue" "this" {{
  name             = "imports"
  rule_name_prefix = "imports-rules"
  tags             = {{ cost = "1" }}
}}

resource "joiner_crds" "this" {{}}

resource "joiner_teardown" "this" {{
  cluster_name = "imports"
}}

resource "joiner_helm_release" "this" {{
  name      = "joiner"
  namespace = "kube-system"
  values = {{
    replicas = 0
    settings = {{ clusterName = "imports" }}
  }}
}}

resource "joiner_ec2_node_class" "this" {{
  name                          = "imported"
  role                          = "node"
  ami_selector_terms            = [{{ alias = "al2023@latest" }}]
  subnet_selector_terms         = [{{ tags = {{ team = "a" }} }}]
  security_group_selector_terms = [{{ tags = {{ team = "a" }} }}]
  wait                          = {{ ready = false }}
  depends_on                    = [joiner_helm_release.this]
}}

resource "joiner_node_pool" "this" {{
  name = "imported"
  template = {{
    spec = {{
      node_class_ref = {{ name = joiner_ec2_node_class.this.name }}
      requirements = [
        {{ key = "kubernetes.io/arch", operator = "In", values = ["arm64", "amd64"] }},
      ]
      taints = [{{ key = "a", value = "b", effect = "NoSchedule" }}]
    }}
  }}
  limits = {{ cpu = "16000m" }}
  wait   = {{ ready = false }}
}}

resource "joiner_node_overlay" "this" {{
  name             = "imported"
  requirements     = [{{ key = "karpenter.k8s.aws/instance-family", operator = "In", values = ["m7i"] }}]
  price_adjustment = "-10%"
  depends_on       = [joiner_helm_release.this]
}}
"#
    )
}

const IDS: [(&str, &str); 10] = [
    ("joiner_pod_identity_role", "imports-controller"),
    ("joiner_node_role", "imports-nodes"),
    ("joiner_interruption_queue", "imports"),
    ("joiner_crds", "crds"),
    ("joiner_teardown", "imports"),
    ("joiner_irsa_role", "imports-joiner"),
    ("joiner_helm_release", "kube-system/joiner"),
    ("joiner_ec2_node_class", "imported"),
    ("joiner_node_pool", "imported"),
    ("joiner_node_overlay", "imported"),
];

/// Those of which an import finds all that a configuration says.
const WHOLE: [&str; 4] = [
    "joiner_pod_identity_role",
    "joiner_node_role",
    "joiner_interruption_queue",
    "joiner_irsa_role",
];

const IDENTITIES: [(&str, &str); 10] = [
    ("joiner_pod_identity_role", r#"{ name = "imports-controller" }"#),
    (
        "joiner_node_role",
        r#"{ name = "imports-nodes", account_id = "123456789012" }"#,
    ),
    (
        "joiner_interruption_queue",
        r#"{ name = "imports", account_id = "123456789012", region = "us-west-2" }"#,
    ),
    ("joiner_crds", r#"{ name = "crds" }"#),
    ("joiner_teardown", r#"{ cluster_name = "imports" }"#),
    (
        "joiner_irsa_role",
        r#"{ name = "imports-joiner", account_id = "123456789012" }"#,
    ),
    (
        "joiner_helm_release",
        r#"{ namespace = "kube-system", name = "joiner" }"#,
    ),
    ("joiner_ec2_node_class", r#"{ name = "imported" }"#),
    ("joiner_node_pool", r#"{ name = "imported" }"#),
    ("joiner_node_overlay", r#"{ name = "imported" }"#),
];

fn blocks(by: &str, values: &[(&str, &str)]) -> String {
    let block =
        |(kind, value): &(&str, &str)| format!("import {{\n  to = {kind}.this\n  {by} = {value}\n}}\n");
    values.iter().map(block).collect()
}

#[tokio::test]
async fn what_exists_is_imported_in_every_way() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("imports").await?;
    let resources = everything(&cluster.aws.oidc_provider_arn);
    let whole = format!("{HEAD}{PROVIDER}{resources}");
    let owner = Workspace::with(&cloud, CoreKind::OpenTofu, "owner", &whole)?;
    owner.apply(&[])?;
    owner.plan_is_empty()?;
    let ids: Vec<(&str, String)> = IDS.iter().map(|(kind, id)| (*kind, format!("{id:?}"))).collect();
    let ids: Vec<(&str, &str)> = ids.iter().map(|(kind, id)| (*kind, id.as_str())).collect();
    for kind in cores() {
        // By the command, one by one.
        let command = Workspace::with(&cloud, kind, "command", &whole)?;
        for (resource, id) in IDS {
            command.run(&[
                "import",
                "-no-color",
                "-input=false",
                &format!("{resource}.this"),
                id,
            ])?;
        }
        // What a state alone has, such as how to wait, may differ once; nothing is replaced or made.
        let text = command.apply(&[])?;
        ensure!(
            is_told(&text, "0 added") && is_told(&text, "0 destroyed"),
            "{kind:?}: {text}"
        );
        for resource in WHOLE {
            ensure!(
                !is_told(&text, &format!("{resource}.this will be updated")),
                "{kind:?}: {text}"
            );
        }
        command.plan_is_empty()?;
        command.nothing_drifted()?;

        // By blocks.
        let by_id = Workspace::with(&cloud, kind, "blocks", &format!("{whole}{}", blocks("id", &ids)))?;
        let text = by_id.apply(&[])?;
        ensure!(
            is_told(&text, "10 imported, 0 added") && is_told(&text, "0 destroyed"),
            "{kind:?}: {text}"
        );
        by_id.plan_is_empty()?;

        // With a configuration that the core writes: it is complete, and means what is there.
        let generated = Workspace::with(
            &cloud,
            kind,
            "generated",
            &format!("{HEAD}{PROVIDER}{}", blocks("id", &ids)),
        )?;
        generated.run(&[
            "plan",
            "-no-color",
            "-input=false",
            "-generate-config-out=generated.tf",
        ])?;
        let written = fs::read_to_string(generated.file("generated.tf"))?;
        let text = generated.apply(&[]).with_context(|| written.clone())?;
        ensure!(
            is_told(&text, "10 imported, 0 added") && is_told(&text, "0 destroyed"),
            "{kind:?}: {text}\n{written}"
        );
        // Cores write [] for a list that is sensitive, though it is null.
        for (resource, _) in IDS
            .iter()
            .filter(|(resource, _)| *resource != "joiner_helm_release")
        {
            ensure!(
                !is_told(&text, &format!("{resource}.this will be updated")),
                "{kind:?}: {text}\n{written}"
            );
        }
        generated.plan_is_empty()?;
    }
    // By identity, which OpenTofu has since 1.12 and Terraform since 1.12.
    let by_identity = format!("{whole}{}", blocks("identity", &IDENTITIES));
    let workspace = Workspace::with(&cloud, CoreKind::OpenTofu, "identity", &by_identity)?;
    let text = workspace.apply(&[])?;
    ensure!(is_told(&text, "10 imported, 0 added"), "{text}");
    workspace.plan_is_empty()?;
    // What does not exist.
    let missing = format!("{HEAD}{PROVIDER}import {{\n  to = joiner_node_pool.this\n  id = \"nobody\"\n}}\n");
    let workspace = Workspace::with(&cloud, CoreKind::OpenTofu, "missing", &missing)?;
    let text = workspace.fails(&[
        "plan",
        "-no-color",
        "-input=false",
        "-generate-config-out=generated.tf",
    ])?;
    ensure!(
        is_told(&text, "nobody") && is_told(&text, "object's name"),
        "{text}"
    );
    Ok(())
}
