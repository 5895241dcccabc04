//! Features behind Karpenter's gates, all of them on: static pools, node overlays, capacity buffers.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use joiner_api::{NodeClaim, NodeOverlay, labels};
use joiner_tests::{Quickstart, cluster, eventually, upstream};
use kube::{Api, ResourceExt};

const PATIENCE: Duration = Duration::from_secs(180);
const GATES: &str = "featureGates = { nodeOverlay = true, staticCapacity = true, capacityBuffer = true }";

#[tokio::test]
async fn what_a_gate_opens_works() -> Result<()> {
    let quickstart = Quickstart::apply_with(GATES).await?;
    tokio::try_join!(
        a_static_pool_has_its_number(&quickstart),
        an_overlay_changes_what_is_bought(&quickstart),
        a_buffer_keeps_room(&quickstart),
    )?;
    let cloud = &quickstart.cloud;
    cloud.kubectl(&["delete", "nodepools", "fixed", "priced", "buffered"])?;
    quickstart.workspace.destroy()?;
    let left = cloud.sandbox.leftovers().await?;
    ensure!(left.is_empty(), "{left:?}");
    Ok(())
}

async fn a_static_pool_has_its_number(quickstart: &Quickstart) -> Result<()> {
    let cloud = &quickstart.cloud;
    quickstart.pool(
        "fixed",
        &only_types("m6i.large"),
        "",
        "  replicas: 2\n  limits: {nodes: 3}",
    )?;
    nodes_of(quickstart, "fixed", 2).await?;
    for (replicas, want) in [(5, 3), (1, 1)] {
        let patch = format!("{{\"spec\": {{\"replicas\": {replicas}}}}}");
        cloud.kubectl(&["patch", "nodepool", "fixed", "--type=merge", "-p", &patch])?;
        nodes_of(quickstart, "fixed", want).await?;
    }
    // One that goes is replaced.
    let before = claims_of(quickstart, "fixed")
        .await?
        .first()
        .map(ResourceExt::name_any)
        .context("no claim")?;
    cloud.kubectl(&["delete", "nodeclaim", &before, "--wait=false"])?;
    eventually("another takes its place", PATIENCE, || async {
        let names: Vec<String> = claims_of(quickstart, "fixed")
            .await?
            .iter()
            .map(ResourceExt::name_any)
            .collect();
        ensure!(names.len() == 1 && names[0] != before, "{names:?}");
        Ok(())
    })
    .await?;
    nodes_of(quickstart, "fixed", 1).await?;
    // One that is not what the pool says any more is, too.
    let label = r#"{"spec": {"template": {"metadata": {"labels": {"edition": "second"}}}}}"#;
    cloud.kubectl(&["patch", "nodepool", "fixed", "--type=merge", "-p", label])?;
    eventually("the node of the older template is replaced", PATIENCE, || async {
        let claims = claims_of(quickstart, "fixed").await?;
        let new = claims.iter().all(|claim| claim.labels().contains_key("edition"));
        ensure!(claims.len() == 1 && new, "{claims:?}");
        Ok(())
    })
    .await?;
    nodes_of(quickstart, "fixed", 1).await
}

async fn an_overlay_changes_what_is_bought(quickstart: &Quickstart) -> Result<()> {
    let cloud = &quickstart.cloud;
    quickstart.pool("priced", &only_types("m5.large, m6i.xlarge"), "", "")?;
    let overlay = |name: &str, kind: &str, change: &str| {
        format!(
            "---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {{name: {name}}}\nspec:\n  requirements:\n  \
             - {{key: node.kubernetes.io/instance-type, operator: In, values: [{kind}]}}\n  \
             - {{key: karpenter.sh/nodepool, operator: In, values: [priced]}}\n  {change}\n"
        )
    };
    // The larger type costs next to nothing, and has a device of which the cloud knows nothing.
    cloud.kubectl_apply(&overlay(
        "bargain",
        "m6i.xlarge",
        "price: \"0.001\"\n  capacity: {example.com/dongle: \"1\"}",
    ))?;
    cloud.kubectl_apply(&overlay("other", "m6i.xlarge", "price: \"5\""))?;
    let overlays = Api::<NodeOverlay>::all(quickstart.client.clone());
    for (name, want) in [
        ("bargain", "False Conflict"),
        ("other", "True ValidationSucceeded"),
    ] {
        eventually(&format!("overlay {name} says {want}"), PATIENCE, || async {
            let status = overlays.get(name).await?.status.unwrap_or_default();
            let valid = status
                .conditions
                .iter()
                .find(|it| it.type_ == "ValidationSucceeded");
            let valid = valid.with_context(|| format!("{:?}", status.conditions))?;
            let told = format!("{} {}", valid.status, valid.reason);
            ensure!(told == want, "{told}");
            Ok(())
        })
        .await?;
    }
    cloud.kubectl(&["delete", "nodeoverlay", "other"])?;
    eventually("the overlay is in effect", PATIENCE, || async {
        let status = overlays.get("bargain").await?.status.unwrap_or_default();
        let ready = status
            .conditions
            .iter()
            .any(|it| it.type_ == "Ready" && it.status == "True");
        ensure!(ready, "{:?}", status.conditions);
        Ok(())
    })
    .await?;
    cloud.kubectl_apply(&cluster::deployment(
        "priced",
        "karpenter.sh/nodepool: priced",
        1,
        "1",
        "",
    ))?;
    cluster::pods_of(&quickstart.client, "priced", 1, PATIENCE).await?;
    let claims = claims_of(quickstart, "priced").await?;
    let label = |key: &str| claims.first().and_then(|claim| claim.labels().get(key)).cloned();
    ensure!(
        label(labels::INSTANCE_TYPE).as_deref() == Some("m6i.xlarge"),
        "{claims:?}"
    );
    let price = claims[0].annotations().get(labels::HOURLY_PRICE);
    ensure!(price.is_some_and(|price| price.starts_with("0.001")), "{price:?}");
    let device = claims[0]
        .status
        .as_ref()
        .and_then(|status| status.capacity.get("example.com/dongle"));
    ensure!(device.is_some(), "{:?}", claims[0].status);
    Ok(())
}

async fn a_buffer_keeps_room(quickstart: &Quickstart) -> Result<()> {
    let cloud = &quickstart.cloud;
    let karpenter = upstream::module("sigs.k8s.io/karpenter")?;
    let crd = karpenter.join("pkg/apis/crds/autoscaling.x-k8s.io_capacitybuffers.yaml");
    cloud.kubectl(&["apply", "--server-side", "-f", &crd.display().to_string()])?;
    let spec = "  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 1s}";
    quickstart.pool("buffered", &only_types("m5.xlarge"), "", spec)?;
    cloud.kubectl(&[
        "wait",
        "--for=condition=Established",
        "crd/capacitybuffers.autoscaling.x-k8s.io",
    ])?;
    cloud.kubectl_apply(
        "---\napiVersion: v1\nkind: PodTemplate\nmetadata: {name: unit, namespace: default}\ntemplate:\n  spec:\n    \
         nodeSelector: {karpenter.sh/nodepool: buffered}\n    \
         containers: [{name: unit, image: \"registry.k8s.io/pause:3.10\", resources: {requests: {cpu: \"3\"}}}]\n\
         ---\napiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: spare, namespace: default}\n\
         spec: {podTemplateRef: {name: unit}, replicas: 1}\n",
    )?;
    let told = || {
        cloud.kubectl(&[
            "get",
            "capacitybuffer",
            "spare",
            "-o",
            "jsonpath={.status.conditions[?(@.type==\"Provisioning\")].reason}",
        ])
    };
    eventually("the buffer's room is there", PATIENCE, || async {
        let told = told()?;
        ensure!(told.trim() == "FitsExistingCapacity", "{told:?}");
        Ok(())
    })
    .await?;
    // Empty as it is, it stays; and when a pod takes the room, another node is bought.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let first = claims_of(quickstart, "buffered").await?;
    ensure!(first.len() == 1, "{} NodeClaims", first.len());
    cloud.kubectl_apply(&cluster::deployment(
        "taker",
        "karpenter.sh/nodepool: buffered",
        1,
        "3",
        "",
    ))?;
    cluster::pods_of(&quickstart.client, "taker", 1, PATIENCE).await?;
    nodes_of(quickstart, "buffered", 2).await?;
    cloud.kubectl(&["delete", "capacitybuffer", "spare"])?;
    nodes_of(quickstart, "buffered", 1).await?;
    cloud.kubectl(&["delete", "deployment", "taker"]).map(drop)
}

fn only_types(names: &str) -> String {
    format!("        - {{key: node.kubernetes.io/instance-type, operator: In, values: [{names}]}}")
}

async fn claims_of(quickstart: &Quickstart, pool: &str) -> Result<Vec<NodeClaim>> {
    let mut claims = cluster::claims(&quickstart.client).await?;
    claims.retain(|claim| {
        let ours = claim.labels().get(labels::NODEPOOL).is_some_and(|it| it == pool);
        ours && claim.metadata.deletion_timestamp.is_none()
    });
    Ok(claims)
}

/// Waits until the pool has exactly `count` complete nodes.
async fn nodes_of(quickstart: &Quickstart, pool: &str, count: usize) -> Result<()> {
    eventually(&format!("{pool} has {count} nodes"), PATIENCE, || async {
        let claims = claims_of(quickstart, pool).await?;
        let complete = |claim: &&NodeClaim| {
            let conditions = claim.status.iter().flat_map(|status| &status.conditions);
            conditions
                .into_iter()
                .any(|it| it.type_ == "Initialized" && it.status == "True")
        };
        let complete = claims.iter().filter(complete).count();
        ensure!(
            claims.len() == count && complete == count,
            "{complete} of {} are complete",
            claims.len()
        );
        Ok(())
    })
    .await
}
