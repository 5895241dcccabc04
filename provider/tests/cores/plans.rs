//! What a plan tells beyond the rules of the API: by the catalogue, by the account, by the cluster.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use joiner_tests::{Cloud, CoreKind, Workspace, cores, is_told};
use serde_json::json;

use crate::support::{HEAD, chart};

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

/// A plan of `configuration` succeeds and tells all of `parts`.
fn warns(workspace: &Workspace, kind: CoreKind, configuration: &str, parts: &[&str]) -> Result<()> {
    workspace.rewrite(configuration)?;
    let text = workspace.run(&PLAN)?;
    for part in parts {
        ensure!(is_told(&text, part), "{kind:?}: {part:?} is not in:\n{text}");
    }
    Ok(())
}

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
        let warned = |configuration: &str, parts: &[&str]| warns(&workspace, kind, configuration, parts);
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

/// A class with reservations and a placement group, and a pool of reserved capacity.
fn reserving(reservations: &str, group: &str, families: &str, limit: &str) -> String {
    format!(
        r#"{HEAD}
provider "joiner" {{
  eks = {{ cluster_name = "reserving" }}
}}

resource "joiner_ec2_node_class" "this" {{
  name                                = "reserving"
  role                                = "reserving-node"
  ami_selector_terms                  = [{{ alias = "al2023@latest" }}]
  subnet_selector_terms               = [{{ tags = {{ "karpenter.sh/discovery" = "reserving" }} }}]
  security_group_selector_terms       = [{{ tags = {{ "karpenter.sh/discovery" = "reserving" }} }}]
  capacity_reservation_selector_terms = [{reservations}]
  placement_group_selector            = {{ name = {group:?} }}
  wait                                = {{ ready = false }}
}}

resource "joiner_node_pool" "this" {{
  name = "reserving"
  template = {{
    spec = {{
      node_class_ref = {{ name = joiner_ec2_node_class.this.name }}
      requirements = [
        {{ key = "karpenter.sh/capacity-type", operator = "In", values = ["reserved", "on-demand"] }},
        {{ key = "karpenter.k8s.aws/instance-family", operator = "In", values = {families} }},
      ]
    }}
  }}
  limits = {{ cpu = {limit:?} }}
  wait   = {{ ready = false }}
}}
"#
    )
}

#[tokio::test]
async fn a_plan_knows_reservations_groups_quotas_and_old_definitions() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("reserving").await?;
    cloud.crds(&cluster)?;
    let reserve = |zone: &str| -> Result<String> {
        let asked = json!({
            "InstanceType": "m5.large", "InstancePlatform": "Linux/UNIX", "AvailabilityZone": zone, "InstanceCount": 2,
        });
        let made = cloud.aws("ec2", "create_capacity_reservation", &asked)?;
        let id = made["CapacityReservation"]["CapacityReservationId"].as_str();
        Ok(id.context("a reservation")?.to_owned())
    };
    let (near, far, gone) = (
        reserve("us-west-2a")?,
        reserve("us-west-2d")?,
        reserve("us-west-2a")?,
    );
    cloud.aws(
        "ec2",
        "cancel_capacity_reservation",
        &json!({ "CapacityReservationId": gone }),
    )?;
    cloud.aws(
        "ec2",
        "create_placement_group",
        &json!({ "GroupName": "spread", "Strategy": "spread" }),
    )?;
    let id = |id: &str| format!("{{ id = {id:?} }}");
    let limit = |code: &'static str, value: u32| {
        let (cloud, body) = (&cloud, json!({ "code": code, "value": value }));
        async move { cloud.sandbox.emulator("POST", "quotas", Some(&body)).await }
    };
    for kind in cores() {
        let quiet = reserving(&id(&near), "spread", r#"["m5"]"#, "1000");
        let workspace = Workspace::with(&cloud, kind, "reserving", &quiet)?;
        let text = workspace.run(&PLAN)?;
        ensure!(!text.contains("Warning"), "{kind:?}: {text}");
        let warned = |configuration: &str, parts: &[&str]| warns(&workspace, kind, configuration, parts);
        let terms = format!("{}, {}, {}", id(&near), id(&gone), id("cr-0123456789abcdef0"));
        warned(
            &reserving(&terms, "nothing", r#"["m5"]"#, "1000"),
            &[
                "capacity_reservation_selector_terms[1]",
                &format!("{gone} (m5.large in us-west-2a) is cancelled"),
                "capacity_reservation_selector_terms[2]",
                "no such capacity reservations",
                "placement_group_selector.name",
                "no placement group \"nothing\"",
            ],
        )?;
        warned(
            &reserving(&id(&far), "spread", r#"["m5"]"#, "1000"),
            &[
                "Reservations are in zones without a subnet",
                &format!("{far} (m5.large in us-west-2d) cannot be used"),
            ],
        )?;
        warned(
            &reserving(&id(&near), "spread", r#"["c5"]"#, "1000"),
            &[
                "template.spec.requirements[0].values",
                &format!("{near} (m5.large in us-west-2a)"),
            ],
        )?;
        limit("L-1216C47A", 64).await?;
        warned(
            &reserving(&id(&near), "spread", r#"["m5"]"#, "100"),
            &[
                "limits",
                "may grow to 100 vCPUs",
                "(L-1216C47A): 64",
                "at most 64",
            ],
        )?;
        limit("L-1216C47A", 1).await?;
        warned(
            &reserving(&id(&near), "spread", r#"["m5"]"#, "100"),
            &["quota is below the smallest node", "m5.large with 2"],
        )?;
        limit("L-1216C47A", 100_000).await?;

        // A release without the placement group, as those before it are.
        let spec =
            "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/placementGroupSelector";
        let patch = json!([{ "op": "remove", "path": spec }]).to_string();
        let definition = "ec2nodeclasses.karpenter.k8s.aws";
        cloud.kubectl(&["patch", "crd", definition, "--type=json", "-p", &patch])?;
        workspace.rewrite(&quiet)?;
        let text = workspace.fails(&PLAN)?;
        for part in [
            "placement_group_selector",
            "is too old",
            definition,
            "joiner_crds",
        ] {
            ensure!(is_told(&text, part), "{kind:?}: {part:?} is not in:\n{text}");
        }
        // The same plan brings them.
        let class = r#"resource "joiner_ec2_node_class" "this" {"#;
        let after = quiet.replace(class, &format!("{class}\n  depends_on = [joiner_crds.this]"));
        workspace.rewrite(&format!("{after}\nresource \"joiner_crds\" \"this\" {{}}\n"))?;
        workspace.run(&PLAN)?;
        cloud.kubectl(&["delete", "crd", definition])?;
        cloud.crds(&cluster)?;
    }
    Ok(())
}

/// Two pools that buy the same.
fn sharing(limits: [u32; 2]) -> String {
    let pool = |(name, limit): (&str, u32)| {
        format!(
            r#"
resource "joiner_node_pool" {name:?} {{
  name = "shares-{name}"
  template = {{
    spec = {{
      node_class_ref = {{ name = joiner_ec2_node_class.this.name }}
      requirements = [
        {{ key = "karpenter.sh/capacity-type", operator = "In", values = ["on-demand"] }},
        {{ key = "karpenter.k8s.aws/instance-family", operator = "In", values = ["m5"] }},
      ]
    }}
  }}
  limits = {{ cpu = "{limit}" }}
  wait   = {{ ready = false }}
}}
"#
        )
    };
    let pools: String = ["a", "b"].into_iter().zip(limits).map(pool).collect();
    format!(
        r#"{HEAD}
provider "joiner" {{
  eks = {{ cluster_name = "sharing" }}
}}

resource "joiner_ec2_node_class" "this" {{
  name                          = "sharing"
  role                          = "sharing-node"
  ami_selector_terms            = [{{ alias = "al2023@latest" }}]
  subnet_selector_terms         = [{{ tags = {{ "karpenter.sh/discovery" = "sharing" }} }}]
  security_group_selector_terms = [{{ tags = {{ "karpenter.sh/discovery" = "sharing" }} }}]
  wait                          = {{ ready = false }}
}}
{pools}"#
    )
}

#[tokio::test]
async fn pools_that_share_a_quota_are_compared_with_it_together() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("sharing").await?;
    cloud.crds(&cluster)?;
    let quota = json!({ "code": "L-1216C47A", "value": 64 });
    cloud.sandbox.emulator("POST", "quotas", Some(&quota)).await?;
    let images = json!({ "Filters": [
        { "Name": "name", "Values": ["amazon-eks-node-al2023*"] }, { "Name": "architecture", "Values": ["x86_64"] },
    ] });
    let images = cloud.aws("ec2", "describe_images", &images)?;
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "sharing", &sharing([30, 20]))?;
        let text = workspace.apply(&[])?;
        ensure!(!text.contains("Warning"), "{kind:?}: {text}");
        workspace.plan_is_empty()?;
        // One that does not change counts, and it is told once.
        workspace.rewrite(&sharing([30, 40]))?;
        let text = workspace.run(&PLAN)?;
        for part in [
            "pools shares-a, shares-b may grow to 70 vCPUs together",
            "(L-1216C47A): 64.",
            "limits that are at most 64 together",
        ] {
            ensure!(is_told(&text, part), "{kind:?}: {part:?} is not in:\n{text}");
        }
        ensure!(
            text.matches("The limits together are above").count() == 1,
            "{kind:?}: {text}"
        );
        workspace.rewrite(&sharing([31, 20]))?;
        let text = workspace.run(&PLAN)?;
        ensure!(!text.contains("Warning"), "{kind:?}: {text}");
        // What others run takes its part; what the pools run is within their limits.
        let run = |kind: &str, tags: serde_json::Value| {
            cloud.aws(
                "ec2",
                "run_instances",
                &json!({
                    "ImageId": images["Images"][0]["ImageId"], "InstanceType": kind, "MinCount": 1, "MaxCount": 1,
                    "SubnetId": cluster.aws.subnet_ids[0],
                    "TagSpecifications": [{ "ResourceType": "instance", "Tags": tags }],
                }),
            )
        };
        let others = run("m5.4xlarge", json!([{ "Key": "team", "Value": "other" }]))?;
        let own = run(
            "m5.4xlarge",
            json!([{ "Key": "karpenter.sh/nodepool", "Value": "shares-a" }]),
        )?;
        warns(
            &workspace,
            kind,
            &sharing([31, 20]),
            &[
                "may grow to 51 vCPUs together",
                "(L-1216C47A): 64, of which others run 16",
                "at most 48 together",
            ],
        )?;
        warns(
            &workspace,
            kind,
            &sharing([49, 20]),
            &["The pool may grow to 49 vCPUs, and the account may run 48"],
        )?;
        let ids: Vec<&serde_json::Value> = [&others, &own]
            .map(|answer| &answer["Instances"][0]["InstanceId"])
            .into();
        cloud.aws("ec2", "terminate_instances", &json!({ "InstanceIds": ids }))?;
        workspace.rewrite(&sharing([30, 20]))?;
        workspace.destroy()?;
    }
    Ok(())
}

#[tokio::test]
async fn a_role_for_another_service_account_than_the_releases_is_told() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("accounts").await?;
    let configuration = |account: &str| {
        format!(
            r#"{HEAD}
provider "joiner" {{
  eks = {{ cluster_name = "accounts" }}
}}

resource "joiner_irsa_role" "this" {{
  name              = "accounts-joiner"
  cluster_name      = "accounts"
  service_account   = {account:?}
  oidc_provider_arn = {:?}
}}

resource "joiner_helm_release" "this" {{
  name      = "joiner"
  namespace = "kube-system"
  values = {{
    settings       = {{ clusterName = "accounts" }}
    serviceAccount = {{ annotations = {{ "eks.amazonaws.com/role-arn" = joiner_irsa_role.this.arn }} }}
  }}
}}
"#,
            cluster.aws.oidc_provider_arn
        )
    };
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "accounts", &configuration("joiner"))?;
        let text = workspace.run(&PLAN)?;
        ensure!(!text.contains("Warning"), "{kind:?}: {text}");
        warns(
            &workspace,
            kind,
            &configuration("karpenter"),
            &[
                "Role and release are for different service accounts",
                r#"service_account of joiner_irsa_role "accounts-joiner" is "karpenter""#,
                r#"joiner_helm_release "kube-system/joiner""#,
                r#"service_account = "joiner" in the role, or serviceAccount = { name = "karpenter" } in the release's values"#,
            ],
        )?;
    }
    Ok(())
}

#[tokio::test]
async fn a_plan_renders_the_controllers_chart_and_one_on_this_machine() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("rendering").await?;
    let own = chart(cloud.folder(), "own", "1.0.0")?;
    let template = own.join("templates/map.yaml");
    fs::write(
        &template,
        fs::read_to_string(&template)?.replace(".Values.text", "required \"word is missing\" .Values.word"),
    )?;
    let own = format!("chart = {:?}", own.display().to_string());
    let configuration = |chart: &str, values: &str| {
        format!(
            r#"{HEAD}
provider "joiner" {{
  kubernetes = {{ config_path = {:?} }}
}}

resource "terraform_data" "name" {{
  input = "rendering"
}}

resource "joiner_helm_release" "this" {{
  name      = "joiner"
  namespace = "kube-system"
  values    = {values}
  {chart}
}}
"#,
            cluster.kubeconfig.display()
        )
    };
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "rendering", &configuration("", "{ replicas = 1 }"))?;
        for (chart, values, parts) in [
            (
                "",
                "{ replicas = 1 }",
                ["values", "settings.clusterName is empty", "Set what it asks for"],
            ),
            (
                own.as_str(),
                r#"{ text = "x" }"#,
                ["values", "word is missing", "or correct the chart"],
            ),
        ] {
            workspace.rewrite(&configuration(chart, values))?;
            let text = workspace.fails(&PLAN)?;
            for part in parts {
                ensure!(is_told(&text, part), "{kind:?}: {part:?} is not in:\n{text}");
            }
        }
        for (chart, fine) in [
            ("", r#"{ settings = { clusterName = "rendering" } }"#),
            // Known in the apply.
            ("", "{ settings = { clusterName = terraform_data.name.output } }"),
            (own.as_str(), r#"{ word = "x" }"#),
            (own.as_str(), "{ text = terraform_data.name.output }"),
        ] {
            workspace.rewrite(&configuration(chart, fine))?;
            workspace
                .run(&PLAN)
                .with_context(|| format!("{kind:?}: {chart} {fine}"))?;
        }
    }
    Ok(())
}
