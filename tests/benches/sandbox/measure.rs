//! A Deployment is scaled; a watch and the emulator's list of calls say when what happened.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use futures::StreamExt as _;
use joiner_api::NodeClaim;
use joiner_tests::eventually;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, ResourceExt as _};
use serde_json::json;

use super::contender::Contender;

/// How long a scaling may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// What is reported of one contender. Times in seconds, memory in MiB, price in dollars per hour.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    pub(crate) idle_mib: f64,
    pub(crate) one_to_fleet: f64,
    pub(crate) one_running: f64,
    pub(crate) fifty_to_fleet: f64,
    pub(crate) fifty_running: f64,
    pub(crate) fifty_nodes: f64,
    pub(crate) fifty_price: f64,
    pub(crate) warm_mib: f64,
}

/// What one scaling took, with instances that boot in no time.
pub(crate) struct Instantly {
    /// From the first pod's appearance to the call of CreateFleet.
    pub(crate) to_fleet: f64,
    /// From the scaling to the last pod's running.
    pub(crate) all_running: f64,
    /// Instances bought.
    pub(crate) nodes: usize,
    /// What they cost.
    pub(crate) price: f64,
}

/// The median of each figure.
pub(crate) fn median(rounds: &[Figures]) -> Figures {
    let of = |get: fn(&Figures) -> f64| {
        let mut all: Vec<f64> = rounds.iter().map(get).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or_default()
    };
    Figures {
        idle_mib: of(|it| it.idle_mib),
        one_to_fleet: of(|it| it.one_to_fleet),
        one_running: of(|it| it.one_running),
        fifty_to_fleet: of(|it| it.fifty_to_fleet),
        fifty_running: of(|it| it.fifty_running),
        fifty_nodes: of(|it| it.fifty_nodes),
        fifty_price: of(|it| it.fifty_price),
        warm_mib: of(|it| it.warm_mib),
    }
}

/// Creates a Deployment of `count` pods of 1 cpu and waits until all of them run.
pub(crate) async fn scale(contender: &Contender, name: &str, count: usize) -> Result<Instantly> {
    let client = &contender.client;
    contender.cloud.sandbox.emulator("DELETE", "calls", None).await?;
    let pods = Api::<Pod>::default_namespaced(client.clone());
    let events = watcher(pods, watcher::Config::default().labels(&format!("app={name}")));
    let mut events = std::pin::pin!(events);
    let deployments = Api::<Deployment>::default_namespaced(client.clone());
    let begin = now();
    deployments
        .create(&PostParams::default(), &deployment(name, count)?)
        .await?;
    let mut first = None;
    let mut running = BTreeSet::new();
    let all_running = tokio::time::timeout(PATIENCE, async {
        while running.len() < count {
            let Some(event) = events.next().await else {
                bail!("the watch ended")
            };
            if let Event::Apply(pod) | Event::InitApply(pod) = event? {
                first.get_or_insert_with(now);
                let status = pod.status.as_ref();
                if status.and_then(|it| it.phase.as_deref()) == Some("Running") {
                    running.insert(pod.name_any());
                }
            }
        }
        Ok(now() - begin)
    })
    .await
    .with_context(|| format!("{count} pods do not run"))??;
    let nodes = Api::<NodeClaim>::all(client.clone())
        .list(&ListParams::default())
        .await?
        .items
        .len();
    let called = first_fleet(contender).await?;
    Ok(Instantly {
        to_fleet: called - first.unwrap_or(begin),
        all_running,
        nodes,
        price: price(contender).await?,
    })
}

/// Deletes all Deployments and waits until their nodes are gone.
pub(crate) async fn settle(contender: &Contender) -> Result<()> {
    let client = &contender.client;
    let deployments = Api::<Deployment>::default_namespaced(client.clone());
    deployments
        .delete_collection(&DeleteParams::default(), &ListParams::default())
        .await?;
    let claims = Api::<NodeClaim>::all(client.clone());
    claims
        .delete_collection(&DeleteParams::default(), &ListParams::default())
        .await?;
    let nodes = Api::<Node>::all(client.clone());
    let ours = ListParams::default().labels("karpenter.sh/nodepool");
    eventually("the nodes are gone", PATIENCE, || async {
        let left = claims.list(&ListParams::default()).await?.items.len();
        let nodes = nodes.list(&ours).await?.items.len();
        ensure!(left + nodes == 0, "{left} NodeClaims and {nodes} nodes are left");
        Ok(())
    })
    .await
}

/// When CreateFleet was called first since the calls were cleared.
async fn first_fleet(contender: &Contender) -> Result<f64> {
    let answer = contender
        .cloud
        .sandbox
        .emulator("GET", "requests?limit=2000", None)
        .await?;
    let calls = answer["requests"].as_array().context("no list of requests")?;
    let fleet = calls
        .iter()
        .find(|call| call["call"] == "ec2:CreateFleet")
        .context("CreateFleet was not called")?;
    // The list has the moment of the answer.
    let answered = fleet["time"].as_f64().context("no time")?;
    Ok(answered - fleet["ms"].as_f64().unwrap_or_default() / 1000.0)
}

/// What the running instances cost per hour.
async fn price(contender: &Contender) -> Result<f64> {
    let answer = contender
        .cloud
        .sandbox
        .emulator("GET", "instances?after=0", None)
        .await?;
    let instances = answer["instances"].as_array().context("no list of instances")?;
    let running = instances
        .iter()
        .filter(|it| matches!(it["state"].as_str(), Some("pending" | "running")));
    let prices = running.map(|it| {
        let price = it["pricePerHour"]
            .as_str()
            .and_then(|price| price.parse::<f64>().ok());
        price.with_context(|| format!("no price in {it}"))
    });
    prices.sum()
}

fn deployment(name: &str, count: usize) -> Result<Deployment> {
    Ok(serde_json::from_value(json!({
        "metadata": {"name": name},
        "spec": {
            "replicas": count,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "terminationGracePeriodSeconds": 0,
                    "nodeSelector": {"karpenter.sh/nodepool": "default"},
                    "containers": [{
                        "name": "pause", "image": "registry.k8s.io/pause:3.10",
                        "resources": {"requests": {"cpu": "1", "memory": "256Mi"}},
                    }],
                },
            },
        },
    }))?)
}

fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs_f64()
}
