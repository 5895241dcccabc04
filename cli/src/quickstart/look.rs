//! Looks at the cluster: one list a kind, mapped into a [`Picture`].

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use joiner_api::{NodeClaim, labels};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};

use super::progress::{Claim, Picture, Stage};

/// Pods with `selector` in `namespace`, all NodeClaims and their nodes.
pub(crate) async fn look(client: &Client, namespace: &str, selector: &str) -> Result<Picture> {
    let everything = ListParams::default();
    let ours = ListParams::default().labels(selector);
    let (pods, claims, nodes) = (
        Api::<Pod>::namespaced(client.clone(), namespace),
        Api::<NodeClaim>::all(client.clone()),
        Api::<Node>::all(client.clone()),
    );
    let (pods, claims, nodes) = tokio::try_join!(
        pods.list(&ours),
        claims.list(&everything),
        nodes.list(&everything)
    )
    .context("the cluster could not be read")?;
    let phase = |pod: &Pod| {
        pod.status
            .as_ref()
            .and_then(|status| status.phase.clone())
            .unwrap_or_default()
    };
    let running = pods.iter().filter(|pod| phase(pod) == "Running").count();
    Ok(Picture {
        pending: pods.items.len() - running,
        running,
        claims: claims.iter().map(|item| (item.name_any(), claim(item))).collect(),
        ready_nodes: nodes
            .iter()
            .filter(|node| is_claimed(node) && is_ready(node))
            .count(),
    })
}

fn claim(item: &NodeClaim) -> Claim {
    let label = |key: &str| text(item.labels(), key);
    let price = text(item.annotations(), labels::HOURLY_PRICE);
    Claim {
        instance_type: label(labels::INSTANCE_TYPE),
        zone: label(labels::ZONE),
        capacity_type: label(labels::CAPACITY_TYPE),
        price: if price.is_empty() {
            price
        } else {
            format!("${price}/h")
        },
        stage: stage(item),
    }
}

fn stage(item: &NodeClaim) -> Stage {
    let conditions = item.status.iter().flat_map(|status| &status.conditions);
    let met = |kind: &str| {
        conditions
            .clone()
            .any(|condition| condition.type_ == kind && condition.status == "True")
    };
    if met("Initialized") {
        Stage::Initialized
    } else if met("Registered") {
        Stage::Registered
    } else if met("Launched") {
        Stage::Launched
    } else {
        Stage::Created
    }
}

fn text(map: &BTreeMap<String, String>, key: &str) -> String {
    map.get(key).cloned().unwrap_or_default()
}

fn is_claimed(node: &Node) -> bool {
    node.labels().contains_key(labels::NODEPOOL)
}

fn is_ready(node: &Node) -> bool {
    let mut conditions = node
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True")
}
