//! What becomes of claims on a running controller: capacity that EC2 has not, age, a grace period that ends, selectors that find
//! nothing. Each has its events, as Karpenter's users know them.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Result, ensure};
use joiner_api::{NodeClaim, labels};
use joiner_tests::configuration::by_eks;
use joiner_tests::{CoreKind, Quickstart, Workspace, cluster, eventually, tells};
use kube::ResourceExt;
use serde_json::json;

const PATIENCE: Duration = Duration::from_secs(180);

#[tokio::test]
async fn claims_end_for_a_reason_that_events_tell() -> Result<()> {
    let quickstart = Quickstart::apply().await?;
    // They share a cluster, each with a pool of its own.
    tokio::try_join!(
        no_capacity_is_told_and_another_pool_serves(&quickstart),
        an_expired_claim_is_replaced(&quickstart),
        a_grace_period_that_ends_takes_guarded_pods_along(&quickstart),
        selectors_without_a_match_are_told(&quickstart),
    )?;
    Ok(())
}

async fn claims_of(quickstart: &Quickstart, pool: &str) -> Result<Vec<NodeClaim>> {
    let mut claims = cluster::claims(&quickstart.client).await?;
    claims.retain(|claim| claim.labels().get(labels::NODEPOOL).is_some_and(|it| it == pool));
    Ok(claims)
}

fn only_type(name: &str) -> String {
    format!("        - {{key: node.kubernetes.io/instance-type, operator: In, values: [{name}]}}")
}

async fn no_capacity_is_told_and_another_pool_serves(quickstart: &Quickstart) -> Result<()> {
    let cloud = &quickstart.cloud;
    cloud
        .fault(&json!({ "kind": "insufficient-capacity", "match": { "instanceType": "c5.2xlarge" } }))
        .await?;
    // A label of both pools, so that the pods may go to either.
    let of_group = |kind: &str| {
        format!(
            "{}\n        - {{key: group, operator: In, values: [scarce]}}",
            only_type(kind)
        )
    };
    quickstart.pool("scarce", &of_group("c5.2xlarge"), "", "  weight: 10")?;
    quickstart.pool("second", &of_group("m5.2xlarge"), "", "  weight: 1")?;
    cloud.kubectl_apply(&cluster::deployment("picky", "group: scarce", 1, "4", ""))?;
    eventually("an event tells that EC2 has no capacity", PATIENCE, || async {
        let told = cluster::events(&quickstart.client, "NodeClaim", "InsufficientCapacityError").await?;
        ensure!(
            told.iter()
                .any(|it| it.starts_with("scarce-") && it.contains("c5.2xlarge")),
            "{told:?}"
        );
        Ok(())
    })
    .await?;
    cluster::pods_of(&quickstart.client, "picky", 1, PATIENCE).await?;
    let claims = claims_of(quickstart, "second").await?;
    ensure!(
        claims.len() == 1,
        "{} NodeClaims of the second pool",
        claims.len()
    );
    eventually("the claim without an instance is gone", PATIENCE, || async {
        let left = claims_of(quickstart, "scarce").await?;
        ensure!(left.is_empty(), "{} are left", left.len());
        Ok(())
    })
    .await
}

async fn an_expired_claim_is_replaced(quickstart: &Quickstart) -> Result<()> {
    quickstart.pool("brief", &only_type("m6i.large"), "      expireAfter: 10s", "")?;
    let pods = cluster::deployment("brief", "karpenter.sh/nodepool: brief", 1, "1", "");
    quickstart.cloud.kubectl_apply(&pods)?;
    cluster::pods_of(&quickstart.client, "brief", 1, PATIENCE).await?;
    let names = |claims: Vec<NodeClaim>| claims.iter().map(NodeClaim::name_any).collect::<BTreeSet<_>>();
    let first = names(claims_of(quickstart, "brief").await?);
    ensure!(!first.is_empty(), "pods run without a NodeClaim");
    // What comes in its place is not to expire while this looks.
    quickstart.pool("brief", &only_type("m6i.large"), "      expireAfter: 1h", "")?;
    eventually(
        "the expired claim is gone and another is there",
        PATIENCE,
        || async {
            let now = names(claims_of(quickstart, "brief").await?);
            ensure!(
                !now.is_empty() && now.is_disjoint(&first),
                "first {first:?}, now {now:?}"
            );
            Ok(())
        },
    )
    .await?;
    cluster::pods_of(&quickstart.client, "brief", 1, PATIENCE)
        .await
        .map(drop)
}

async fn a_grace_period_that_ends_takes_guarded_pods_along(quickstart: &Quickstart) -> Result<()> {
    let (cloud, client) = (&quickstart.cloud, &quickstart.client);
    let template = "      terminationGracePeriod: 8s";
    quickstart.pool("granted", &only_type("m7i.large"), template, "")?;
    let guard = "      annotations:\n        karpenter.sh/do-not-disrupt: \"true\"";
    let budget = r"---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: granted, namespace: default}
spec:
  minAvailable: 1
  selector: {matchLabels: {app: granted}}
";
    cloud.kubectl_apply(
        &(cluster::deployment("granted", "karpenter.sh/nodepool: granted", 1, "1", guard) + budget),
    )?;
    let before = cluster::pods_of(client, "granted", 1, PATIENCE).await?;
    let claims = claims_of(quickstart, "granted").await?;
    ensure!(claims.len() == 1, "{} NodeClaims", claims.len());
    let name = claims[0].name_any();
    cloud.kubectl(&["delete", "nodeclaim", &name, "--wait=false"])?;
    for (kind, reason, words) in [
        (
            "NodeClaim",
            "TerminationGracePeriodExpiring",
            "All pods will be deleted by ",
        ),
        ("Node", "FailedDraining", "granted"),
        (
            "Pod",
            "Disrupted",
            "bypasses the PDB of the pod and the do-not-disrupt annotation",
        ),
    ] {
        eventually(&format!("an event {reason} of a {kind}"), PATIENCE, || async {
            let told = cluster::events(client, kind, reason).await?;
            ensure!(told.iter().any(|it| it.contains(words)), "{told:?}");
            Ok(())
        })
        .await?;
    }
    eventually("the claim is gone", PATIENCE, || async {
        let left = claims_of(quickstart, "granted").await?;
        ensure!(left.iter().all(|claim| claim.name_any() != name), "it is there");
        Ok(())
    })
    .await?;
    let after = cluster::pods_of(client, "granted", 1, PATIENCE).await?;
    ensure!(
        before[0].uid() != after[0].uid(),
        "the same pod runs on a node that is gone"
    );
    Ok(())
}

async fn selectors_without_a_match_are_told(quickstart: &Quickstart) -> Result<()> {
    let (cloud, client) = (&quickstart.cloud, &quickstart.client);
    let main = by_eks(&quickstart.cluster)
        + &format!(
            r#"
resource "joiner_ec2_node_class" "lost" {{
  name                          = "lost"
  role                          = "{role}"
  ami_selector_terms            = [{{ alias = "al2023@latest" }}]
  subnet_selector_terms         = [{{ tags = {{ team = "nobody" }} }}]
  security_group_selector_terms = [{{ tags = {{ team = "nobody" }} }}]
  wait                          = {{ timeout = "4s" }}
}}

resource "joiner_node_pool" "lost" {{
  name = "lost"
  wait = {{ timeout = "4s" }}
  template = {{
    spec = {{
      node_class_ref = {{ name = joiner_ec2_node_class.lost.name }}
      requirements   = [{{ key = "kubernetes.io/arch", operator = "In", values = ["amd64"] }}]
    }}
  }}
}}
"#,
            role = quickstart.cluster.aws.node_role_name
        );
    let workspace = Workspace::with(cloud, CoreKind::OpenTofu, "lost", &main)?;
    let mut apply = workspace.start_apply()?;
    let said = apply.succeeds(PATIENCE).await?;
    tells(
        &said,
        &[
            "EC2NodeClass lost is not ready yet",
            "SubnetsReady:",
            "SecurityGroupsReady:",
            "team",
            "nobody",
            "NodePool lost is not ready yet",
        ],
    )?;
    for reason in ["SubnetsReady", "SecurityGroupsReady", "Ready"] {
        eventually(&format!("an event {reason} of the class"), PATIENCE, || async {
            let told = cluster::events(client, "EC2NodeClass", reason).await?;
            ensure!(
                told.iter()
                    .any(|it| it.starts_with("lost: ") && it.contains("-> False")),
                "{told:?}"
            );
            Ok(())
        })
        .await?;
    }
    cloud.kubectl_apply(&cluster::deployment(
        "lost",
        "karpenter.sh/nodepool: lost",
        1,
        "1",
        "",
    ))?;
    eventually("an event says why the pod waits", PATIENCE, || async {
        let told = cluster::events(client, "Pod", "FailedScheduling").await?;
        ensure!(
            told.iter()
                .any(|it| it.starts_with("lost-") && it.to_lowercase().contains("nodepool")),
            "{told:?}"
        );
        Ok(())
    })
    .await?;
    cloud.kubectl(&["delete", "deployment", "lost"])?;
    workspace.plan_is_empty()
}
