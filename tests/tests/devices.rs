//! Dynamic resource allocation: pods that claim devices get nodes of types that will have them, once the controller is told to look
//! at claims. No driver runs on the nodes, which only play theirs: the test publishes what it would.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use joiner_api::{NodeClaim, labels};
use joiner_tests::{Quickstart, cluster, eventually};
use kube::ResourceExt;

const PATIENCE: Duration = Duration::from_secs(120);
const DRIVER: &str = "gpu.nvidia.com";

/// What the chart of NVIDIA's driver brings, and a claim of one GPU for each pod that names it.
const CLAIMED: &str = r#"---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec:
  selectors:
  - cel:
      expression: "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu, namespace: default}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: gpu.nvidia.com
          selectors: [{cel: {expression: "device.attributes['gpu.nvidia.com'].architecture == 'Turing'"}}]
"#;

#[tokio::test]
async fn pods_that_claim_devices_get_nodes_that_have_them() -> Result<()> {
    let quickstart = Quickstart::apply().await?;
    let (cloud, client) = (&quickstart.cloud, &quickstart.client);
    let only = "        - {key: node.kubernetes.io/instance-type, operator: In, values: [g4dn.12xlarge, m5.12xlarge]}";
    quickstart.pool("devices", only, "", "")?;
    cloud.kubectl_apply(&format!("{CLAIMED}{}", pod("first")))?;
    eventually("an event says that nobody looks at claims", PATIENCE, || async {
        let told = cluster::events(client, "Pod", "FailedScheduling").await?;
        ensure!(told.iter().any(|it| it.contains("ignoreDRARequests")), "{told:?}");
        Ok(())
    })
    .await?;
    ensure!(claims(&quickstart).await?.is_empty(), "nothing is bought for it");

    look_at_claims(&quickstart)?;
    let claim = eventually("its node waits for its driver", PATIENCE, || async {
        let claims = claims(&quickstart).await?;
        let claim = claims.first().context("there is no NodeClaim")?;
        let told = initialized(claim).context("nothing is known of it")?;
        ensure!(
            told.starts_with("Unknown DRADriverPoolsNotPublished") && told.contains(DRIVER),
            "{told}"
        );
        Ok(claim.clone())
    })
    .await?;
    let kind = claim.labels().get(labels::INSTANCE_TYPE);
    ensure!(kind.is_some_and(|kind| kind == "g4dn.12xlarge"), "{kind:?}");
    let drivers = claim.annotations().get(labels::REQUESTED_DRA_DRIVERS);
    ensure!(drivers.is_some_and(|drivers| drivers == DRIVER), "{drivers:?}");

    // Its type has four of them, so another pod finds one there before the driver has said so.
    let name = claim.name_any();
    let node = claim
        .status
        .and_then(|status| status.node_name)
        .context("it has no node")?;
    cloud.kubectl_apply(&pod("second"))?;
    eventually("the second pod is meant for the same node", PATIENCE, || async {
        let told = cluster::events(client, "Pod", "Nominated").await?;
        let there = |it: &String| it.starts_with("second") && (it.contains(&node) || it.contains(&name));
        ensure!(told.iter().any(there), "{told:?}");
        Ok(())
    })
    .await?;
    cloud.kubectl_apply(&slice(&node, 4))?;
    for name in ["first", "second"] {
        let pods = cluster::pods_of(client, name, 1, PATIENCE).await?;
        let on = pods[0].spec.as_ref().and_then(|spec| spec.node_name.as_ref());
        ensure!(on == Some(&node), "{name} runs on {on:?}");
    }
    eventually("the node is complete", PATIENCE, || async {
        let claims = claims(&quickstart).await?;
        ensure!(claims.len() == 1, "{} NodeClaims", claims.len());
        let told = initialized(&claims[0]).context("nothing is known of it")?;
        ensure!(told.starts_with("True"), "{told}");
        Ok(())
    })
    .await
}

/// Has the controller look at claims from now on.
fn look_at_claims(quickstart: &Quickstart) -> Result<()> {
    let workspace = &quickstart.workspace;
    let main = std::fs::read_to_string(workspace.file("main.tf"))?;
    let place = "    settings = {\n";
    ensure!(main.contains(place), "the quickstart's chart has no settings");
    workspace.rewrite(&main.replace(place, &format!("{place}      ignoreDRARequests = false\n")))?;
    workspace.apply(&[]).map(drop)
}

async fn claims(quickstart: &Quickstart) -> Result<Vec<NodeClaim>> {
    let mut claims = cluster::claims(&quickstart.client).await?;
    claims.retain(|claim| {
        claim
            .labels()
            .get(labels::NODEPOOL)
            .is_some_and(|it| it == "devices")
    });
    Ok(claims)
}

/// What a claim says of its node's completeness: status, reason and message.
fn initialized(claim: &NodeClaim) -> Option<String> {
    let mut conditions = claim.status.as_ref()?.conditions.iter();
    let found = conditions.find(|it| it.type_ == "Initialized")?;
    Some(format!("{} {}: {}", found.status, found.reason, found.message))
}

fn pod(name: &str) -> String {
    format!(
        r#"---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default, labels: {{app: {name}}}}}
spec:
  terminationGracePeriodSeconds: 0
  nodeSelector: {{karpenter.sh/nodepool: devices}}
  resourceClaims: [{{name: gpu, resourceClaimTemplateName: one-gpu}}]
  containers:
  - name: pause
    image: registry.k8s.io/pause:3.10
    resources: {{requests: {{cpu: "1"}}, claims: [{{name: gpu}}]}}
"#
    )
}

/// What the driver says of a node with `count` GPUs.
fn slice(node: &str, count: usize) -> String {
    let device = |index: usize| {
        format!(
            "  - {{name: gpu-{index}, attributes: {{type: {{string: gpu}}, architecture: {{string: Turing}}}}}}\n"
        )
    };
    let devices: String = (0..count).map(device).collect();
    format!(
        r#"---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: {node}-gpu}}
spec:
  driver: {DRIVER}
  nodeName: {node}
  pool: {{name: {node}, generation: 1, resourceSliceCount: 1}}
  devices:
{devices}"#
    )
}
