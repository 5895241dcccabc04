//! What stands around a controller: roles, queue, definitions and the barrier, in one configuration on a real API server and in the
//! emulated account, by every core.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use joiner_tests::{Cloud, Workspace, cores, is_told};
use serde_json::{Value, json};

use crate::support::{HEAD, attributes};

const QUEUE: &str = "around";

const OVERLAY: &str = r#"
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata:
  name: x
spec:
  price: "1"
  requirements:
    - { key: kubernetes.io/arch, operator: In, values: [amd64] }
"#;

fn configuration(more: &str) -> String {
    format!(
        r#"{HEAD}
provider "joiner" {{
  eks = {{ cluster_name = "around" }}
  aws = {{ default_tags = {{ team = "a" }} }}
}}

resource "joiner_node_role" "nodes" {{
  name                    = "around-nodes"
  cluster_name            = "around"
  create_instance_profile = true
}}

resource "joiner_interruption_queue" "this" {{
  name = {QUEUE:?}
}}

resource "joiner_teardown" "this" {{
  cluster_name = "around"
  timeouts     = {{ delete = "10s" }}
  depends_on   = [joiner_node_role.nodes]
}}

resource "joiner_pod_identity_role" "controller" {{
  name                   = "around-joiner"
  cluster_name           = "around"
  node_role_arns         = [joiner_node_role.nodes.arn]
  interruption_queue_arn = joiner_interruption_queue.this.arn
  depends_on             = [joiner_teardown.this]
{more}
}}

resource "joiner_crds" "this" {{
  on_destroy = "delete"
  depends_on = [joiner_teardown.this]
}}
"#
    )
}

/// The bodies of the messages that are in the queue.
fn messages(cloud: &Cloud) -> Result<Vec<Value>> {
    let url = cloud.aws("sqs", "get_queue_url", &json!({ "QueueName": QUEUE }))?;
    let asked = json!({ "QueueUrl": url["QueueUrl"], "MaxNumberOfMessages": 10, "WaitTimeSeconds": 2 });
    let answer = cloud.aws("sqs", "receive_message", &asked)?;
    let bodies = answer["Messages"].as_array().into_iter().flatten();
    Ok(bodies
        .filter_map(|message| serde_json::from_str(message["Body"].as_str()?).ok())
        .collect())
}

#[tokio::test]
async fn everything_is_made_kept_right_and_taken_away() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    cloud.cluster("around").await?;
    for kind in cores() {
        let workspace = Workspace::with(&cloud, kind, "around", &configuration(""))?;
        workspace.apply(&[])?;
        workspace.plan_is_empty()?;

        // As AWS has it.
        let associations = cloud.aws(
            "eks",
            "list_pod_identity_associations",
            &json!({ "clusterName": "around", "serviceAccount": "joiner" }),
        )?;
        let list = associations["associations"].as_array().context("a list")?;
        ensure!(list.len() == 1, "{kind:?}: {associations}");
        let role = attributes(&workspace, "joiner_pod_identity_role.controller")?;
        ensure!(
            role["association_id"] == list[0]["associationId"],
            "{kind:?}: {role}"
        );
        let policy = role["policy_json"].as_str().unwrap_or_default();
        ensure!(
            policy.contains("arn:aws:sqs:us-west-2:123456789012:around")
                && policy.contains("role/around-nodes"),
            "{policy}"
        );
        let entry =
            json!({ "clusterName": "around", "principalArn": "arn:aws:iam::123456789012:role/around-nodes" });
        let entry = cloud.aws("eks", "describe_access_entry", &entry)?;
        ensure!(entry["accessEntry"]["type"] == "EC2_LINUX", "{entry}");
        ensure!(entry["accessEntry"]["tags"]["team"] == "a", "{entry}");
        let named = json!({ "InstanceProfileName": "around-nodes" });
        let profile = cloud.aws("iam", "get_instance_profile", &named)?;
        ensure!(
            profile["InstanceProfile"]["Roles"][0]["RoleName"] == "around-nodes",
            "{profile}"
        );

        // An event of EC2 arrives: the rules' patterns, targets and the queue's policy fit together.
        let event = json!({ "Entries": [{
            "Source": "aws.ec2", "DetailType": "EC2 Spot Instance Interruption Warning", "Resources": [],
            "Detail": json!({ "instance-id": "i-1", "instance-action": "terminate" }).to_string(),
        }] });
        cloud.aws("events", "put_events", &event)?;
        let arrived = messages(&cloud)?;
        ensure!(
            arrived
                .iter()
                .any(|message| message["detail"]["instance-id"] == "i-1"),
            "{kind:?}: {arrived:?}"
        );

        // What somebody takes away is made anew.
        let rule = "around-spot";
        cloud.aws(
            "events",
            "remove_targets",
            &json!({ "Rule": rule, "Ids": ["joiner"] }),
        )?;
        cloud.aws("events", "delete_rule", &json!({ "Name": rule }))?;
        cloud.aws(
            "eks",
            "delete_pod_identity_association",
            &json!({ "clusterName": "around", "associationId": list[0]["associationId"] }),
        )?;
        cloud.kubectl(&["delete", "crd", "nodeoverlays.karpenter.sh"])?;
        let plan = workspace.run(&["plan", "-no-color", "-input=false"])?;
        ensure!(is_told(&plan, "3 to change"), "{kind:?}: {plan}");
        workspace.apply(&[])?;
        workspace.plan_is_empty()?;

        // A change in place.
        workspace.rewrite(&configuration("  manage_instance_profiles = false"))?;
        let plan = workspace.run(&["plan", "-no-color", "-input=false"])?;
        ensure!(is_told(&plan, "1 to change"), "{kind:?}: {plan}");
        workspace.apply(&[])?;
        workspace.plan_is_empty()?;

        // A pool that is left keeps the definitions, and an instance the barrier.
        cloud.kubectl_apply(OVERLAY)?;
        let failed = workspace.fails(&["destroy", "-auto-approve", "-input=false", "-no-color"])?;
        ensure!(is_told(&failed, "NodeOverlay x"), "{kind:?}: {failed}");
        cloud.kubectl(&["delete", "nodeoverlay", "x"])?;
        workspace.destroy()?;
        let left = cloud.sandbox.leftovers().await?;
        ensure!(left.is_empty(), "{kind:?}: {left:#?}");
        ensure!(
            !cloud
                .kubectl(&["get", "crd", "-o", "name"])?
                .contains("karpenter"),
            "the definitions are gone"
        );
    }
    Ok(())
}

#[tokio::test]
async fn the_barrier_names_what_is_left_and_ends_it_on_request() -> Result<()> {
    let cloud = Cloud::start(Duration::ZERO).await?;
    let cluster = cloud.cluster("left").await?;
    let tags = |kind: &str| {
        json!([{ "ResourceType": kind, "Tags": [
            { "Key": "eks:eks-cluster-name", "Value": "left" }, { "Key": "kubernetes.io/cluster/left", "Value": "owned" },
            { "Key": "karpenter.sh/nodepool", "Value": "p" }, { "Key": "karpenter.k8s.aws/ec2nodeclass", "Value": "c" },
        ] }])
    };
    let configuration = |orphans: bool| {
        format!(
            r#"{HEAD}
provider "joiner" {{
  eks = {{ cluster_name = "left" }}
}}

resource "joiner_teardown" "this" {{
  cluster_name      = "left"
  terminate_orphans = {orphans}
  timeouts          = {{ delete = "{}" }}
}}
"#,
            if orphans { "60s" } else { "1s" }
        )
    };
    for kind in cores() {
        let subnet = cluster.aws.subnet_ids.first().context("a subnet")?;
        let run = json!({
            "ImageId": image(&cloud)?, "InstanceType": "m5.large", "MinCount": 1, "MaxCount": 1, "SubnetId": subnet,
            "TagSpecifications": tags("instance"),
        });
        let started = cloud.aws("ec2", "run_instances", &run)?;
        let id = started["Instances"][0]["InstanceId"]
            .as_str()
            .context("an instance")?
            .to_owned();
        let template = json!({
            "LaunchTemplateName": "karpenter.k8s.aws/left", "LaunchTemplateData": { "InstanceType": "m5.large" },
            "TagSpecifications": tags("launch-template"),
        });
        cloud.aws("ec2", "create_launch_template", &template)?;
        let workspace = Workspace::with(&cloud, kind, "left", &configuration(false))?;
        workspace.apply(&[])?;
        workspace.plan_is_empty()?;
        let failed = workspace.fails(&["destroy", "-auto-approve", "-input=false", "-no-color"])?;
        for part in [id.as_str(), "karpenter.k8s.aws/left", "terminate_orphans"] {
            ensure!(is_told(&failed, part), "{kind:?}: {part:?} is not in:\n{failed}");
        }
        workspace.rewrite(&configuration(true))?;
        workspace.apply(&[])?;
        workspace.destroy()?;
        let left = cloud.sandbox.leftovers().await?;
        ensure!(left.is_empty(), "{kind:?}: {left:#?}");
    }
    Ok(())
}

/// An image of EKS that is in the account.
fn image(cloud: &Cloud) -> Result<String> {
    let filters = json!([
        { "Name": "name", "Values": ["amazon-eks-node-al2023*"] }, { "Name": "architecture", "Values": ["x86_64"] },
    ]);
    let answer = cloud.aws("ec2", "describe_images", &json!({ "Filters": filters }))?;
    let image = answer["Images"][0]["ImageId"].as_str();
    Ok(image.context("an image")?.to_owned())
}
