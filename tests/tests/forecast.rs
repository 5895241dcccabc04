//! What a plan says of nodes is what becomes of them: those that it names are replaced, and no others.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use joiner_api::NodeClaim;
use joiner_tests::{Quickstart, cluster, eventually, is_told};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(180);
const PODS: usize = 12;

#[tokio::test]
async fn the_nodes_that_a_plan_names_are_the_nodes_that_are_replaced() -> Result<()> {
    let quickstart = Quickstart::apply().await?;
    let (cloud, workspace) = (&quickstart.cloud, &quickstart.workspace);
    // Small nodes, so that there are several; and time, since the provider under test is not optimised.
    let main = std::fs::read_to_string(workspace.file("main.tf"))?.replace(
        "provider \"joiner\" {\n",
        "provider \"joiner\" {\n  checks = { forecast_timeout = \"60s\" }\n",
    );
    let small = main.replace(
        r#"{ key = "karpenter.k8s.aws/instance-category", operator = "In", values = ["c", "m", "r"] },"#,
        r#"{ key = "node.kubernetes.io/instance-type", operator = "In", values = ["c5.xlarge"] },"#,
    );
    ensure!(small != main, "the quickstart's pool has another shape");
    workspace.rewrite(&small)?;
    workspace.apply(&[])?;
    cloud.kubectl_apply(&cluster::deployment(
        "web",
        "karpenter.sh/nodepool: default",
        PODS,
        "1",
        "",
    ))?;
    cluster::pods_of(&quickstart.client, "web", PODS, PATIENCE).await?;
    let before = nodes(&quickstart).await?;
    ensure!(before.len() >= 3, "{PODS} pods are on {before:?}");
    workspace.plan_is_empty()?;

    let edited = small.replace(
        "  template = {\n    spec = {",
        "  template = {\n    metadata = { labels = { team = \"platform\" } }\n    spec = {",
    );
    ensure!(edited != small, "the quickstart's pool has another shape");
    let edited = edited.replace(
        "consolidate_after    = \"30s\"",
        "consolidate_after    = \"30s\"\n    budgets = [{ nodes = \"2\" }]",
    );
    workspace.rewrite(&edited)?;
    let text = workspace.run(&["plan", "-input=false", "-no-color", "-out=change"])?;
    ensure!(
        is_told(
            &text,
            &format!("The change of NodePool default replaces {} nodes", before.len())
        ),
        "{text}"
    );
    // The release of the same plan tells the controller's settings.
    ensure!(!is_told(&text, "It is assumed that the controller"), "{text}");
    for node in before.values() {
        ensure!(is_told(&text, node), "{node} is not in:\n{text}");
    }
    workspace.run(&["apply", "-input=false", "-no-color", "change"])?;
    let forecast = stored(&quickstart)?;
    let named: BTreeMap<String, String> = forecast["nodes"]
        .as_array()
        .context("nodes are named")?
        .iter()
        .filter_map(|node| {
            let text = |key: &str| Some(node[key].as_str()?.to_owned());
            Some((text("node_claim")?, text("name")?))
        })
        .collect();
    ensure!(named == before, "{named:?} are named of {before:?}");
    ensure!(forecast["replaces"] == "all", "{forecast}");

    let after = eventually("the nodes are replaced", PATIENCE, || async {
        let now = nodes(&quickstart).await?;
        // A new node may have an old one's address, and so its name.
        let left: Vec<&String> = named.keys().filter(|claim| now.contains_key(*claim)).collect();
        ensure!(left.is_empty(), "{left:?} are still there");
        Ok(now)
    })
    .await?;
    ensure!(!after.is_empty(), "nothing has taken their place");
    cluster::pods_of(&quickstart.client, "web", PODS, PATIENCE).await?;
    workspace.plan_is_empty()?;
    other_subnets(&quickstart, &edited).await
}

/// A class that leaves a subnet replaces the nodes in it, and no others.
async fn other_subnets(quickstart: &Quickstart, main: &str) -> Result<()> {
    let (cloud, workspace) = (&quickstart.cloud, &quickstart.workspace);
    let before = eventually("no node is on its way", PATIENCE, || places(quickstart)).await?;
    let (left, _) = before.values().next().context("there are nodes")?;
    let described = cloud.aws("ec2", "describe_subnets", &json!({}))?;
    let subnets = described["Subnets"].as_array().context("there are subnets")?;
    let discovered = subnets.iter().filter(|subnet| {
        let mut tags = subnet["Tags"].as_array().into_iter().flatten();
        tags.any(|tag| tag["Key"] == "karpenter.sh/discovery") && subnet["SubnetId"] != left.as_str()
    });
    let terms: Vec<String> = discovered
        .filter_map(|subnet| Some(format!("{{ id = {:?} }}", subnet["SubnetId"].as_str()?)))
        .collect();
    ensure!(!terms.is_empty(), "{left} is the only one of {subnets:?}");
    let was = "{ tags = { \"karpenter.sh/discovery\" = sandbox_cluster.this.id } }";
    workspace.rewrite(&main.replacen(was, &terms.join(", "), 1))?;
    let text = workspace.run(&["plan", "-input=false", "-no-color", "-out=change"])?;
    let (gone, kept): (Vec<_>, Vec<_>) = before.values().partition(|(subnet, _)| subnet == left);
    let (count, s) = (gone.len(), if gone.len() == 1 { "" } else { "s" });
    let title = format!("The change of EC2NodeClass default replaces {count} node{s}");
    ensure!(is_told(&text, &title), "{title:?} is not in:\n{text}");
    for (_, node) in gone {
        ensure!(
            is_told(&text, &format!("{node} (wave")),
            "{node} is not in:\n{text}"
        );
    }
    for (_, node) in kept {
        ensure!(!text.contains(&format!("{node} (wave")), "{node} is in:\n{text}");
    }
    workspace.run(&["apply", "-input=false", "-no-color", "change"])?;
    eventually("the subnet has no node", PATIENCE, || async {
        let now = places(quickstart).await?;
        ensure!(now.values().all(|(subnet, _)| subnet != left), "{now:?}");
        for (claim, (subnet, _)) in &before {
            ensure!(
                subnet == left || now.contains_key(claim),
                "{claim} is gone: {now:?}"
            );
        }
        Ok(())
    })
    .await?;
    workspace.plan_is_empty()?;
    Ok(())
}

/// The subnet and the name of each node, by claim.
async fn places(quickstart: &Quickstart) -> Result<BTreeMap<String, (String, String)>> {
    let described = quickstart.cloud.aws("ec2", "describe_instances", &json!({}))?;
    let reservations = described["Reservations"].as_array().into_iter().flatten();
    let instances = reservations.flat_map(|it| it["Instances"].as_array().into_iter().flatten());
    let subnets: BTreeMap<&str, &str> = instances
        .filter_map(|it| Some((it["InstanceId"].as_str()?, it["SubnetId"].as_str()?)))
        .collect();
    let mut places = BTreeMap::new();
    for claim in cluster::claims(&quickstart.client).await? {
        let status = claim.status.context("a claim has a status")?;
        let id = status.provider_id.context("a claim has an instance")?;
        let id = id.rsplit('/').next().unwrap_or_default();
        let subnet = subnets.get(id).with_context(|| format!("{id} has no subnet"))?;
        let name = claim.metadata.name.context("a claim has a name")?;
        let node = status.node_name.context("a claim has a node")?;
        places.insert(name, ((*subnet).to_owned(), node));
    }
    Ok(places)
}

/// The forecast of the pool in the state.
fn stored(quickstart: &Quickstart) -> Result<Value> {
    let shown = quickstart.workspace.run(&["show", "-json"])?;
    let state: Value = serde_json::from_str(shown.trim())?;
    let resources = state["values"]["root_module"]["resources"].as_array();
    let pool = resources
        .into_iter()
        .flatten()
        .find(|resource| resource["address"] == "joiner_node_pool.default")
        .context("the pool is in the state")?;
    Ok(pool["values"]["forecast"].clone())
}

/// The names of the pool's nodes, by claim.
async fn nodes(quickstart: &Quickstart) -> Result<BTreeMap<String, String>> {
    let claims = cluster::claims(&quickstart.client).await?;
    let node = |claim: NodeClaim| Some((claim.metadata.name?, claim.status?.node_name?));
    Ok(claims.into_iter().filter_map(node).collect())
}
