//! A Deployment is scaled; a watch and the emulator's list of calls say when what happened.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use futures::StreamExt as _;
use joiner_api::{NodeClaim, NodePool};
use joiner_tests::eventually;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
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
    pub(crate) many_to_fleet: f64,
    pub(crate) many_last_fleet: f64,
    pub(crate) many_running: f64,
    pub(crate) many_nodes: f64,
    pub(crate) many_price: f64,
    pub(crate) many_at_once_price: f64,
    pub(crate) many_mib: f64,
}

/// What one scaling took, with instances that boot in no time.
pub(crate) struct Instantly {
    /// From the first pod's appearance to the first call of CreateFleet.
    pub(crate) to_fleet: f64,
    /// From the last pod's appearance to the last call of CreateFleet; negative where that came before.
    pub(crate) last_fleet: f64,
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
        many_to_fleet: of(|it| it.many_to_fleet),
        many_last_fleet: of(|it| it.many_last_fleet),
        many_running: of(|it| it.many_running),
        many_nodes: of(|it| it.many_nodes),
        many_price: of(|it| it.many_price),
        many_at_once_price: of(|it| it.many_at_once_price),
        many_mib: of(|it| it.many_mib),
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
    let (mut first, mut last) = (None, begin);
    let (mut seen, mut running) = (BTreeSet::new(), BTreeSet::new());
    let all_running = tokio::time::timeout(PATIENCE, async {
        while running.len() < count {
            let Some(event) = events.next().await else {
                bail!("the watch ended")
            };
            if let Event::Apply(pod) | Event::InitApply(pod) = event? {
                first.get_or_insert_with(now);
                if seen.insert(pod.name_any()) {
                    last = now();
                }
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
    let (called, called_last) = fleets(contender).await?;
    Ok(Instantly {
        to_fleet: called - first.unwrap_or(begin),
        last_fleet: called_last - last,
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

/// What `count` pods cost that are decided on at once: nothing may be bought until all of them wait.
pub(crate) async fn price_at_once(contender: &Contender, name: &str, count: usize) -> Result<f64> {
    let client = &contender.client;
    let pools = Api::<NodePool>::all(client.clone());
    let limit = |cpu: &str| Patch::Merge(json!({"spec": {"limits": {"cpu": cpu}}}));
    let most = pools.get("default").await?.spec.limits.unwrap_or_default();
    let most = most.get("cpu").context("the pool has no limit")?.to_string();
    pools
        .patch("default", &PatchParams::default(), &limit("0"))
        .await?;
    let deployments = Api::<Deployment>::default_namespaced(client.clone());
    deployments
        .create(&PostParams::default(), &deployment(name, count)?)
        .await?;
    let pods = Api::<Pod>::default_namespaced(client.clone());
    let ours = ListParams::default().labels(&format!("app={name}"));
    eventually("all pods wait", PATIENCE, || async {
        let waiting = pods
            .list(&ours)
            .await?
            .items
            .iter()
            .filter(|pod| waits(pod))
            .count();
        ensure!(waiting == count, "{waiting} of {count} pods wait");
        Ok(())
    })
    .await?;
    pools
        .patch("default", &PatchParams::default(), &limit(&most))
        .await?;
    eventually("all pods run", PATIENCE, || async {
        let all = pods.list(&ours).await?.items;
        let phase = |pod: &Pod| pod.status.as_ref().and_then(|it| it.phase.clone());
        let running = all.iter().filter(|pod| phase(pod).as_deref() == Some("Running"));
        let running = running.count();
        ensure!(running == count, "{running} of {count} pods run");
        Ok(())
    })
    .await?;
    price(contender).await
}

/// Whether the scheduler has looked for a node for a pod and found none.
fn waits(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|it| it.conditions.iter().flatten());
    conditions
        .filter(|it| it.type_ == "PodScheduled")
        .any(|it| it.reason.as_deref() == Some("Unschedulable"))
}

/// When CreateFleet was called first and last since the calls were cleared.
async fn fleets(contender: &Contender) -> Result<(f64, f64)> {
    let answer = contender
        .cloud
        .sandbox
        .emulator("GET", "requests?limit=2000", None)
        .await?;
    let calls = answer["requests"].as_array().context("no list of requests")?;
    let fleets = calls.iter().filter(|call| call["call"] == "ec2:CreateFleet");
    let mut called = Vec::new();
    for fleet in fleets {
        // The list has the moment of the answer.
        let answered = fleet["time"].as_f64().context("no time")?;
        called.push(answered - fleet["ms"].as_f64().unwrap_or_default() / 1000.0);
    }
    let first = called.iter().copied().reduce(f64::min);
    let last = called.iter().copied().reduce(f64::max);
    first.zip(last).context("CreateFleet was not called")
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
