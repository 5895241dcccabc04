//! joiner-controller: gives pending pods nodes, and gives nodes back.
//!
//! From top to bottom: options -> logs -> health and metrics servers -> watches fill the index -> the lease -> the loops
//! (observe, decide, act). Decisions are `joiner_core`'s, calls to AWS `joiner_aws`'.

mod act;
mod cloud;
mod health;
mod lease;
mod logs;
mod loops;
mod metrics;
#[cfg(test)]
mod names;
mod observe;
mod options;
mod registration_health;
mod stages;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser as _;
use joiner_aws::Aws;
use joiner_core::snapshot::{Gates, MinValuesPolicy, PreferencePolicy, Settings};
use kube::{Client, Config};
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info};

use crate::act::{Act, Events};
use crate::cloud::{Cloud, Cluster};
use crate::lease::{Identity, Leadership};
use crate::metrics::{Metrics, State};
use crate::observe::{Index, Wanted};
use crate::options::Options;

/// Mostly it waits: two threads serve the watches, and decisions get a thread of their own.
const THREADS: usize = 2;

fn main() -> ExitCode {
    let options = Options::parse();
    if let Err(cause) = logs::init(&options) {
        eprintln!("joiner-controller: {cause}");
        return ExitCode::FAILURE;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(options)),
        Err(cause) => Err(cause).context("the runtime could not be started"),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            error!(error = %format!("{cause:#}"), "controller ends");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> anyhow::Result<()> {
    info!(version = env!("CARGO_PKG_VERSION"), cluster = %options.cluster_name, "starting");
    // Two providers may be linked; the process says which one it means.
    if rustls::crypto::aws_lc_rs::default_provider()
        .install_default()
        .is_err()
    {
        tracing::debug!("a crypto provider was installed before");
    }
    let mut ended = signal(SignalKind::terminate()).context("SIGTERM cannot be handled")?;
    let mut interrupted = signal(SignalKind::interrupt()).context("SIGINT cannot be handled")?;

    let wanted = Wanted::of(&options);
    let index = Arc::new(Index::new(settings(&options), wanted));
    let state = State::new(index.clone(), options.disable_cluster_state_observability);
    let metrics = Arc::new(Metrics::new(Box::new(state)));
    let health = SocketAddr::new(options.bind_address, options.health_probe_port);
    let scrape = SocketAddr::new(options.bind_address, options.metrics_port);
    health::serve(
        health,
        scrape,
        health::Told {
            index: index.clone(),
            metrics: metrics.clone(),
        },
    )
    .await?;

    let config = Config::infer()
        .await
        .context("no way to the API server: set KUBECONFIG, or run in a pod")?;
    let client = Client::try_from(config.clone()).context("the API server's client could not be made")?;
    observe::start(&client, &index, &metrics, wanted);
    let aws = Aws::connect(joiner_aws::Settings::default())?;
    let cluster = Cluster::discover(&options, &client, &config, &aws).await?;
    let cloud = Arc::new(Cloud::new(aws, cluster, catalogue_settings(&options)));
    tokio::spawn(cloud::refresh(cloud.clone(), index.clone(), metrics.clone()));

    let mut leadership = leadership(&options, &client);
    let work = async {
        if let Some(leadership) = &mut leadership {
            leadership.acquire().await;
        }
        synced(&index).await;
        let act = Act {
            events: Events::start(client.clone()),
            client: client.clone(),
            index: index.clone(),
            cloud: cloud.clone(),
            metrics: metrics.clone(),
            stages: Arc::default(),
            health: Arc::default(),
            launching: Arc::default(),
        };
        loops::start(&act, &options);
        info!("all loops are running");
        match &mut leadership {
            Some(leadership) => Err(anyhow::Error::from(leadership.keep().await)),
            None => std::future::pending().await,
        }
    };
    let result = tokio::select! {
        lost = work => lost,
        _ = ended.recv() => Ok(()),
        _ = interrupted.recv() => Ok(()),
    };
    if result.is_ok() {
        info!("asked to end");
        if let Some(leadership) = &mut leadership {
            leadership.release().await;
        }
    }
    result
}

/// Waits until the index knows the whole cluster.
async fn synced(index: &Index) {
    loop {
        let missing = index.unsynced();
        if missing.is_empty() {
            return;
        }
        tracing::debug!(missing = ?missing, "waiting for the first lists");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn leadership(options: &Options, client: &Client) -> Option<Leadership> {
    if options.disable_leader_election {
        return None;
    }
    let namespace = [&options.leader_election_namespace, &options.system_namespace]
        .into_iter()
        .find(|name| !name.is_empty())
        .map_or(client.default_namespace(), |name| name.as_str());
    let me = Identity::of(&options.pod_name, &options.pod_uid);
    Some(Leadership::new(
        client.clone(),
        namespace,
        &options.leader_election_name,
        me,
    ))
}

fn settings(options: &Options) -> Settings {
    Settings {
        preference_policy: match options.preference_policy {
            options::PreferencePolicy::Respect => PreferencePolicy::Respect,
            options::PreferencePolicy::Ignore => PreferencePolicy::Ignore,
        },
        min_values_policy: match options.min_values_policy {
            options::MinValuesPolicy::Strict => MinValuesPolicy::Strict,
            options::MinValuesPolicy::BestEffort => MinValuesPolicy::BestEffort,
        },
        default_spread: options.default_spread.0.clone(),
        gates: Gates {
            reserved_capacity: options.feature_gates.reserved_capacity,
            dynamic_resources: !options.ignore_dra_requests,
        },
        ..Settings::default()
    }
}

fn catalogue_settings(options: &Options) -> joiner_aws::catalogue::Settings {
    joiner_aws::catalogue::Settings {
        // From ten-thousandths to millionths.
        vm_memory_overhead: options.vm_memory_overhead_percent * 100,
        reserved_interfaces: options.reserved_enis,
        reserved_capacity: options.feature_gates.reserved_capacity,
        ..joiner_aws::catalogue::Settings::default()
    }
}
