//! A workload that is scaled arrives in pieces, and is bought for as a whole: what is bought for all of it at once costs no more
//! than one late decision would have. Nothing is bought for pods that a quota keeps from being made.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use joiner_api::{NodeClaim, Quantity, labels};
use joiner_tests::{Quickstart, cluster, eventually};
use kube::ResourceExt;

const PATIENCE: Duration = Duration::from_secs(180);
/// As long as announced pods are believed in, and some more.
const LATER: Duration = Duration::from_secs(5);
const PODS: usize = 50;

#[tokio::test]
async fn a_workload_that_is_scaled_is_bought_for_as_a_whole() -> Result<()> {
    let quickstart = Quickstart::apply().await?;
    let only = |types: &str| {
        format!(
            "        - {{key: node.kubernetes.io/instance-type, operator: In, values: [{types}]}}\n        \
             - {{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}}"
        )
    };
    // Of two sizes with the same price for a core the larger wastes less: whoever decides on few pods buys small.
    quickstart.pool(
        "whole",
        &only("c5.large, c5.2xlarge, c5.4xlarge, c5.9xlarge"),
        "",
        "",
    )?;
    quickstart.pool("bounded", &only("c5.large, c5.xlarge"), "", "")?;
    tokio::try_join!(whole(&quickstart), bounded(&quickstart))?;
    Ok(())
}

async fn whole(quickstart: &Quickstart) -> Result<()> {
    let cloud = &quickstart.cloud;
    cloud.kubectl_apply(&cluster::deployment(
        "whole",
        "karpenter.sh/nodepool: whole",
        PODS,
        "1",
        "",
    ))?;
    cluster::pods_of(&quickstart.client, "whole", PODS, PATIENCE).await?;
    let in_pieces = claims_of(quickstart, "whole").await?;

    let cost = price(&in_pieces)?;
    // c5.4xlarge and c5.9xlarge hold 15 and 35 such pods: fifty fit on one of each.
    let best = 0.68 + 1.53;
    ensure!(
        cost <= best * 1.05,
        "{PODS} pods cost {cost} an hour instead of {best}: {:?}",
        types(&in_pieces)
    );
    Ok(())
}

async fn bounded(quickstart: &Quickstart) -> Result<()> {
    let cloud = &quickstart.cloud;
    cloud.kubectl(&["create", "namespace", "bounded"])?;
    cloud.kubectl(&[
        "create",
        "quota",
        "few",
        "--namespace",
        "bounded",
        "--hard=pods=3",
    ])?;
    eventually("the quota is in effect", PATIENCE, || async {
        let used = cloud.kubectl(&[
            "get",
            "quota",
            "few",
            "-n",
            "bounded",
            "-o",
            "jsonpath={.status.used.pods}",
        ])?;
        ensure!(used.trim() == "0", "used: {used:?}");
        Ok(())
    })
    .await?;
    let workload = cluster::deployment("bounded", "karpenter.sh/nodepool: bounded", 40, "1", "");
    cloud.kubectl_apply(&workload.replace("namespace: default", "namespace: bounded"))?;
    cluster::pods_run(&quickstart.client, "bounded", 3, PATIENCE).await?;
    tokio::time::sleep(LATER).await;
    let claims = claims_of(quickstart, "bounded").await?;
    let cores: i128 = claims.iter().map(cores).sum::<Result<i128>>()?;
    ensure!(
        cores <= 4,
        "{cores} cores were asked for, and three pods were made: {:?}",
        types(&claims)
    );
    Ok(())
}

async fn claims_of(quickstart: &Quickstart, pool: &str) -> Result<Vec<NodeClaim>> {
    let mut claims = cluster::claims(&quickstart.client).await?;
    claims.retain(|claim| claim.labels().get(labels::NODEPOOL).is_some_and(|it| it == pool));
    Ok(claims)
}

/// What the claims' instances cost together, in dollars an hour.
fn price(claims: &[NodeClaim]) -> Result<f64> {
    let of = |claim: &NodeClaim| -> Result<f64> {
        let price = claim.annotations().get(labels::HOURLY_PRICE);
        Ok(price
            .with_context(|| format!("{} has no price", claim.name_any()))?
            .parse()?)
    };
    claims.iter().map(of).sum()
}

fn types(claims: &[NodeClaim]) -> Vec<&str> {
    let names = claims
        .iter()
        .filter_map(|claim| claim.labels().get(labels::INSTANCE_TYPE));
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// The cores that a claim asks for, rounded up.
fn cores(claim: &NodeClaim) -> Result<i128> {
    let requests = claim.spec.resources.as_ref().map(|resources| &resources.requests);
    let cpu: &Quantity = requests
        .and_then(|requests| requests.get("cpu"))
        .context("no cpu is asked for")?;
    Ok(i128::from(cpu.value()))
}
