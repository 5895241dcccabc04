//! Clusters of a sandbox: bring one up, tell about it, take it down.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::emulator::NewCluster;
use super::parts::Task;
use super::run::Supervisor;
use super::{webhook, write_whole};
use crate::control_plane::flags::Ports;
use crate::control_plane::start::ControlPlane;
use crate::control_plane::{bootstrap, kubeconfig, pki};
use crate::error::{Error, Result};
use crate::kubelet::Kubelet;
use crate::layout::{ClusterLayout, check_name};
use crate::model::{Cluster, ClusterSpec};
use crate::node_agent::NodeAgent;
use crate::ports;
use crate::tools::KUBERNETES_VERSION;

/// How often a start is tried again when somebody took a port in between.
const ATTEMPTS: usize = 3;

/// The clusters there are.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    running: Mutex<BTreeMap<String, Entry>>,
}

#[derive(Debug)]
enum Entry {
    /// It is being brought up or taken down.
    Changing,
    Up(Box<Running>),
}

#[derive(Debug)]
struct Running {
    cluster: Cluster,
    /// Counts up with each cluster: the newest is the current context.
    order: u64,
    tasks: Vec<Task>,
}

/// A name that is being brought up; free again when dropped before its cluster is up, whatever the reason.
struct Claim<'a> {
    clusters: &'a Clusters,
    name: &'a str,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut running = self.clusters.lock();
        if matches!(running.get(self.name), Some(Entry::Changing)) {
            running.remove(self.name);
        }
    }
}

impl Clusters {
    /// The clusters that are up, in order of name.
    pub(super) fn list(&self) -> Vec<Cluster> {
        let up = |entry: &Entry| match entry {
            Entry::Up(running) => Some(running.cluster.clone()),
            Entry::Changing => None,
        };
        self.lock().values().filter_map(up).collect()
    }

    /// The names of all, also of those that change.
    pub(super) fn names(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Brings up a new cluster; nothing of it is left when that fails.
    pub(super) async fn create(&self, supervisor: &Arc<Supervisor>, spec: &ClusterSpec) -> Result<Cluster> {
        check_name("cluster name", &spec.name)?;
        if let Some(cluster) = self.claim(&spec.name).await? {
            return Ok(cluster);
        }
        let claim = Claim {
            clusters: self,
            name: &spec.name,
        };
        match bring_up(supervisor, spec).await {
            Ok((cluster, tasks)) => {
                let order = self.next_order();
                let running = Running {
                    cluster: cluster.clone(),
                    order,
                    tasks,
                };
                self.lock()
                    .insert(spec.name.clone(), Entry::Up(Box::new(running)));
                self.write_kubeconfig(supervisor)?;
                Ok(cluster)
            }
            Err(error) => {
                // Its logs stay until the next attempt, for whoever looks for the reason.
                stop_programs(supervisor, &spec.name).await;
                supervisor.parts.forget(&format!("{}/", spec.name));
                drop(claim);
                Err(error)
            }
        }
    }

    /// Marks a name as being brought up. When somebody else is at it already (a client that went away in between), waits for
    /// that and answers its cluster.
    async fn claim(&self, name: &str) -> Result<Option<Cluster>> {
        let mut waited = false;
        loop {
            {
                let mut running = self.lock();
                match running.get(name) {
                    None => {
                        running.insert(name.to_owned(), Entry::Changing);
                        return Ok(None);
                    }
                    Some(Entry::Up(up)) if waited => return Ok(Some(up.cluster.clone())),
                    Some(Entry::Up(_)) => {
                        return Err(Error::Refused(format!(
                            "the sandbox has a cluster {name:?} already; import it, delete it (joiner sandbox cluster delete {name}), or take another name"
                        )));
                    }
                    Some(Entry::Changing) => {}
                }
            }
            waited = true;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Takes a cluster down; true when there was one.
    pub(super) async fn delete(&self, supervisor: &Arc<Supervisor>, name: &str) -> Result<bool> {
        let Some(gone) = self.begin_change(name)? else {
            return Ok(false);
        };
        stop_tasks(gone.tasks).await;
        clean(supervisor, name).await;
        self.lock().remove(name);
        self.write_kubeconfig(supervisor)?;
        supervisor.emulator.unregister(name).await?;
        Ok(true)
    }

    /// Ends a cluster's parts, for the end of the whole sandbox: its logs stay.
    pub(super) async fn take_down(&self, supervisor: &Arc<Supervisor>, name: &str) {
        let entry = self.lock().remove(name);
        if let Some(Entry::Up(gone)) = entry {
            stop_tasks(gone.tasks).await;
        }
        stop_programs(supervisor, name).await;
    }

    /// Takes a running cluster out, leaving the mark that it changes; `None` when there is none.
    fn begin_change(&self, name: &str) -> Result<Option<Box<Running>>> {
        let mut running = self.lock();
        match running.insert(name.to_owned(), Entry::Changing) {
            Some(Entry::Up(gone)) => Ok(Some(gone)),
            Some(Entry::Changing) => Err(Error::Refused(format!(
                "cluster {name:?} is being changed; try again in a moment"
            ))),
            None => {
                running.remove(name);
                Ok(None)
            }
        }
    }

    fn next_order(&self) -> u64 {
        let order = |entry: &Entry| match entry {
            Entry::Up(running) => running.order,
            Entry::Changing => 0,
        };
        self.lock().values().map(order).max().unwrap_or(0) + 1
    }

    fn write_kubeconfig(&self, supervisor: &Supervisor) -> Result<()> {
        let newest = {
            let running = self.lock();
            let order = |(name, entry): (&String, &Entry)| match entry {
                Entry::Up(running) => Some((running.order, name.clone())),
                Entry::Changing => None,
            };
            running.iter().filter_map(order).max()
        };
        let current = newest.map(|(_, name)| name).unwrap_or_default();
        let text = kubeconfig::merged(&self.list(), &current);
        write_whole(&supervisor.layout.kubeconfig(), text.as_bytes())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn bring_up(supervisor: &Arc<Supervisor>, spec: &ClusterSpec) -> Result<(Cluster, Vec<Task>)> {
    let layout = supervisor.layout.cluster(&spec.name);
    let webhook_log = supervisor.layout.log("supervisor");
    let mut attempt = 1;
    loop {
        // What an earlier attempt left, should it have been cut off.
        stop_programs(supervisor, &spec.name).await;
        supervisor.parts.forget(&format!("{}/", spec.name));
        remove_folder(&layout)?;
        let ports = choose_ports(spec)?;
        let (listener, url) = webhook::listen().await?;
        let control_plane = ControlPlane {
            name: &spec.name,
            layout: &layout,
            ports,
            tools: &supervisor.settings.tools,
            parts: &supervisor.parts,
            webhook: &url,
        };
        // It must answer when the API server starts to ask.
        let webhook = webhook::serve(supervisor, &spec.name, listener, &webhook_log);
        let started = async {
            let client = control_plane.start().await?;
            let cluster = register(supervisor, spec, &layout, ports, &client).await?;
            let tasks = in_process(supervisor, &cluster, &layout, ports, client).await?;
            Ok((cluster, tasks))
        };
        match started.await {
            Ok((cluster, mut tasks)) => {
                tasks.insert(0, webhook);
                return Ok((cluster, tasks));
            }
            Err(error) => {
                webhook.stop(Duration::ZERO).await;
                let taken = matches!(&error, Error::PartFailed { lines, .. } if ports::is_taken(lines));
                if !taken || attempt == ATTEMPTS {
                    return Err(error);
                }
                tracing::info!(attempt, "a port was taken in between; trying others");
                attempt += 1;
            }
        }
    }
}

fn choose_ports(spec: &ClusterSpec) -> Result<Ports> {
    let api = ports::wanted(spec.port, &format!("{}/kube-apiserver", spec.name))?;
    let [etcd, etcd_peer, kubelet] = ports::free::<3>().map_err(|cause| Error::Start {
        program: "etcd".into(),
        cause,
    })?;
    Ok(Ports {
        etcd,
        etcd_peer,
        api,
        kubelet,
    })
}

async fn register(
    supervisor: &Supervisor,
    spec: &ClusterSpec,
    layout: &ClusterLayout,
    ports: Ports,
    client: &kube::Client,
) -> Result<Cluster> {
    let refused = |error: anyhow::Error| Error::Refused(format!("cluster {:?}: {error:#}", spec.name));
    bootstrap::apply(client).await.map_err(refused)?;
    let uid = bootstrap::uid(client).await.map_err(refused)?;
    let keys = bootstrap::key_set(client).await.map_err(refused)?;
    let read = |file: &str| {
        let path = layout.pki(file);
        std::fs::read_to_string(&path).map_err(Error::file("read", &path))
    };
    let ca = read("ca.crt")?;
    let endpoint = ports.endpoint();
    let authority = STANDARD.encode(&ca);
    let version = minor_version();

    supervisor.emulator.wait(supervisor).await?;
    let new = NewCluster {
        name: &spec.name,
        version: &version,
        endpoint: &endpoint,
        certificate_authority: &authority,
        oidc_issuer: &endpoint,
        jwks: &keys,
    };
    let aws = supervisor.emulator.register(&new).await?;
    let cluster = Cluster {
        name: spec.name.clone(),
        uid,
        version,
        certificate_authority: authority,
        ca_certificate: ca,
        client_certificate: read(&format!("{}.crt", pki::ADMIN.file))?,
        client_key: read(&format!("{}.key", pki::ADMIN.file))?,
        oidc_issuer: endpoint.clone(),
        endpoint,
        kubeconfig: layout.kubeconfig(),
        aws,
    };
    write_whole(&layout.kubeconfig(), kubeconfig::admin(&cluster).as_bytes())?;
    Ok(cluster)
}

async fn in_process(
    supervisor: &Arc<Supervisor>,
    cluster: &Cluster,
    layout: &ClusterLayout,
    ports: Ports,
    client: kube::Client,
) -> Result<Vec<Task>> {
    let refused = |error: anyhow::Error| Error::Refused(format!("cluster {:?}: {error:#}", cluster.name));
    let log = supervisor.layout.log("supervisor");
    let kubelet = Kubelet::new(supervisor, cluster, layout, ports.kubelet, client.clone());
    // The node must be there when the first pods look for one.
    kubelet.register().await.map_err(refused)?;
    let agent = NodeAgent::new(
        supervisor.emulator.clone(),
        cluster,
        supervisor.settings.boot_time(),
        client,
    );
    let part = |name: &str| format!("{}/{name}", cluster.name);
    Ok(vec![
        supervisor
            .parts
            .run_inside(&part("kubelet"), Some(ports.kubelet), &log, |stop| {
                kubelet.run(stop)
            }),
        supervisor
            .parts
            .run_inside(&part("node-agent"), None, &log, |stop| agent.run(stop)),
    ])
}

/// `v1.37.2` as EKS writes it: `1.37`.
fn minor_version() -> String {
    KUBERNETES_VERSION
        .trim_start_matches('v')
        .split('.')
        .take(2)
        .collect::<Vec<_>>()
        .join(".")
}

/// Pods end first, while the API server can still be told.
async fn stop_tasks(tasks: Vec<Task>) {
    for task in tasks.into_iter().rev() {
        task.stop(Duration::from_secs(5)).await;
    }
}

/// The state ends with the cluster, so nothing is gained by asking these to end slowly.
async fn stop_programs(supervisor: &Supervisor, name: &str) {
    for program in [
        "kwok",
        "kube-scheduler",
        "kube-controller-manager",
        "kube-apiserver",
        "etcd",
    ] {
        supervisor
            .parts
            .stop(&format!("{name}/{program}"), Duration::ZERO)
            .await;
    }
}

async fn clean(supervisor: &Supervisor, name: &str) {
    stop_programs(supervisor, name).await;
    supervisor.parts.forget(&format!("{name}/"));
    if let Err(error) = remove_folder(&supervisor.layout.cluster(name)) {
        tracing::warn!(%error, "cannot remove a cluster's folder");
    }
}

fn remove_folder(layout: &ClusterLayout) -> Result<()> {
    match std::fs::remove_dir_all(layout.dir()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::file("remove", layout.dir())(error))
        }
        _ => Ok(()),
    }
}
