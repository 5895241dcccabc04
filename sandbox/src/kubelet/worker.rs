//! One pod: from its first sight to its end. One task owns its state and is the only writer of its status.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Container, Pod};
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::container::{Change, Restart, Runner};
use super::context::Context;
use super::prepare::{self, Prepared};
use super::status::{self, Conditions, Picture, View};
use super::{node, token};

/// The pod's newest object; `None` once it is gone.
pub(super) type Newest = watch::Receiver<Option<Arc<Pod>>>;

/// How long processes get when the whole sandbox ends.
const LAST_GRACE: Duration = Duration::from_millis(1500);

/// A pod's task.
#[derive(Debug)]
pub(super) struct Worker {
    context: Arc<Context>,
    pod: Arc<Pod>,
    newest: Newest,
    stop: CancellationToken,
    views: BTreeMap<String, View>,
    conditions: Conditions,
    initialized: bool,
    prepared: Option<Arc<Prepared>>,
    started: Timestamp,
}

/// Why a pod ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Its object asks for it.
    Deleted(Duration),
    /// Its object is gone.
    Gone,
    /// The sandbox ends.
    Stopped,
}

impl End {
    fn grace(self) -> Duration {
        match self {
            End::Deleted(grace) => grace,
            End::Gone => Duration::ZERO,
            End::Stopped => LAST_GRACE,
        }
    }
}

/// What containers tell their pod.
enum News {
    Change(Box<Change>),
    Initialized,
}

impl Worker {
    /// A task for `pod`.
    pub(super) fn new(context: Arc<Context>, pod: Arc<Pod>, newest: Newest, stop: CancellationToken) -> Self {
        Self {
            context,
            pod,
            newest,
            stop,
            views: BTreeMap::new(),
            conditions: Conditions::new(),
            initialized: false,
            prepared: None,
            started: Timestamp::now(),
        }
    }

    /// Runs the pod to its end.
    pub(super) async fn run(mut self) {
        let mut newest = self.newest.clone();
        let stop = self.stop.clone();
        let end = tokio::select! {
            end = ends(&mut newest, &stop) => end,
            prepared = self.prepare() => self.run_containers(prepared).await,
        };
        if let End::Deleted(_) = end {
            self.delete().await;
        }
        if end != End::Stopped {
            let folder = self.context.folder(&self.pod);
            let _ = tokio::fs::remove_dir_all(folder).await;
        }
    }

    async fn prepare(&mut self) -> Arc<Prepared> {
        self.report().await;
        let mut told = String::new();
        loop {
            let result = match self.context.addresses.take() {
                Some(address) => prepare::prepare(&self.context, &self.pod, Arc::new(address)).await,
                None => Err("no loopback address is free".to_owned()),
            };
            match result {
                Ok(prepared) => {
                    let prepared = Arc::new(prepared);
                    self.prepared = Some(prepared.clone());
                    return prepared;
                }
                Err(reason) => {
                    if reason != told {
                        self.context
                            .events
                            .warning(&self.pod, "", "FailedMount", reason.clone());
                        for name in self
                            .pod
                            .spec
                            .iter()
                            .flat_map(|spec| &spec.containers)
                            .map(|c| c.name.clone())
                        {
                            self.views
                                .insert(name, View::waiting("ContainerCreating", reason.clone()));
                        }
                        self.report().await;
                        told = reason;
                    }
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            }
        }
    }

    async fn run_containers(&mut self, prepared: Arc<Prepared>) -> End {
        let fresh = CancellationToken::new();
        let _stop_tokens = fresh.clone().drop_guard();
        for (wanted, due) in prepared.tokens.iter().cloned() {
            let (client, pod) = (self.context.client.clone(), (*self.pod).clone());
            tokio::spawn(token::keep(client, pod, wanted, due, fresh.clone()));
        }
        let (tell_end, end) = watch::channel(None);
        let (news, mut inbox) = mpsc::channel(64);
        let template = Template {
            context: self.context.clone(),
            pod: self.pod.clone(),
            prepared,
            news,
            end,
        };
        let mut driver = tokio::spawn(drive(template));
        let mut newest = self.newest.clone();
        let stop = self.stop.clone();
        let mut ending = None;
        let mut done = false;
        loop {
            tokio::select! {
                Some(first) = inbox.recv() => {
                    self.take(first);
                    while let Ok(more) = inbox.try_recv() {
                        self.take(more);
                    }
                    if ending != Some(End::Stopped) {
                        self.report().await;
                    }
                }
                end = ends(&mut newest, &stop), if ending.is_none() => {
                    ending = Some(end);
                    let _ = tell_end.send(Some(end.grace()));
                }
                _ = &mut driver, if !done => {
                    done = true;
                    while let Ok(more) = inbox.try_recv() {
                        self.take(more);
                    }
                    if ending != Some(End::Stopped) {
                        self.report().await;
                    }
                }
            }
            if let (true, Some(end)) = (done, ending) {
                return end;
            }
        }
    }

    fn take(&mut self, news: News) {
        match news {
            News::Initialized => self.initialized = true,
            News::Change(change) => {
                self.views.insert(change.name, change.view);
            }
        }
    }

    async fn report(&mut self) {
        let newest = self.newest.borrow().clone();
        // Readiness gates are written by others, so the newest object counts.
        let pod = newest.unwrap_or_else(|| self.pod.clone());
        let picture = Picture {
            pod: &pod,
            views: &self.views,
            initialized: self.initialized,
            sandboxed: self.prepared.is_some(),
            ip: self.prepared.as_ref().map(|prepared| prepared.address.ip),
            host_ip: node::HOST_IP,
            started: self.started,
        };
        let status = status::status(&picture, &mut self.conditions, Timestamp::now());
        let patch = json!({ "metadata": { "uid": pod.metadata.uid }, "status": status });
        let name = pod.metadata.name.clone().unwrap_or_default();
        for attempt in 0..5 {
            match self
                .api()
                .patch_status(&name, &PatchParams::default(), &Patch::Strategic(&patch))
                .await
            {
                Ok(_) => return,
                Err(kube::Error::Api(answer)) if matches!(answer.code, 404 | 409) => return,
                Err(error) => {
                    tracing::warn!(pod = %name, %error, attempt, "cannot report a pod's status");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
        }
    }

    async fn delete(&self) {
        let name = self.pod.metadata.name.clone().unwrap_or_default();
        let params = DeleteParams {
            grace_period_seconds: Some(0),
            preconditions: Some(Preconditions {
                uid: self.pod.metadata.uid.clone(),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        if let Err(error) = self.api().delete(&name, &params).await {
            tracing::debug!(pod = %name, %error, "the pod's object is gone already");
        }
    }

    fn api(&self) -> Api<Pod> {
        let namespace = self.pod.metadata.namespace.as_deref().unwrap_or("default");
        Api::namespaced(self.context.client.clone(), namespace)
    }
}

/// Waits until the pod is to end.
async fn ends(newest: &mut Newest, stop: &CancellationToken) -> End {
    let decided = |pod: &Option<Arc<Pod>>| match pod {
        None => Some(End::Gone),
        Some(pod) => {
            pod.metadata.deletion_timestamp.as_ref()?;
            let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or(30);
            Some(End::Deleted(Duration::from_secs(
                u64::try_from(grace).unwrap_or(0),
            )))
        }
    };
    tokio::select! {
        () = stop.cancelled() => End::Stopped,
        pod = newest.wait_for(|pod| decided(pod).is_some()) => match pod {
            Ok(pod) => decided(&pod).unwrap_or(End::Gone),
            Err(_) => End::Gone,
        },
    }
}

/// What all containers of a pod share.
struct Template {
    context: Arc<Context>,
    pod: Arc<Pod>,
    prepared: Arc<Prepared>,
    news: mpsc::Sender<News>,
    end: watch::Receiver<Option<Duration>>,
}

impl Template {
    fn runner(
        &self,
        container: &Container,
        restart: Restart,
        end: watch::Receiver<Option<Duration>>,
    ) -> Runner {
        let (changes, mut inbox) = mpsc::channel(16);
        let news = self.news.clone();
        tokio::spawn(async move {
            while let Some(change) = inbox.recv().await {
                if news.send(News::Change(Box::new(change))).await.is_err() {
                    return;
                }
            }
        });
        Runner {
            context: self.context.clone(),
            pod: self.pod.clone(),
            container: container.clone(),
            prepared: self.prepared.clone(),
            restart,
            changes,
            end,
        }
    }
}

/// Runs init containers in order, then the containers; sidecars live until those are done.
async fn drive(template: Template) {
    let Some(spec) = template.pod.spec.clone() else {
        return;
    };
    let restart = match spec.restart_policy.as_deref() {
        Some("Never") => Restart::Never,
        Some("OnFailure") => Restart::OnFailure,
        _ => Restart::Always,
    };
    // Sidecars get a signal of their own: they end after the containers.
    let (end_sidecars, sidecar_end) = watch::channel(None);
    let mut sidecars = JoinSet::new();
    for container in spec.init_containers.iter().flatten() {
        if container.restart_policy.as_deref() == Some("Always") {
            sidecars.spawn(
                template
                    .runner(container, Restart::Always, sidecar_end.clone())
                    .run(),
            );
            continue;
        }
        let again = if restart == Restart::Always {
            Restart::OnFailure
        } else {
            restart
        };
        let view = template
            .runner(container, again, template.end.clone())
            .run()
            .await;
        if !view.succeeded() {
            end_all(&template, &end_sidecars, sidecars).await;
            return;
        }
    }
    let _ = template.news.send(News::Initialized).await;
    let mut containers = JoinSet::new();
    for container in &spec.containers {
        containers.spawn(template.runner(container, restart, template.end.clone()).run());
    }
    while containers.join_next().await.is_some() {}
    end_all(&template, &end_sidecars, sidecars).await;
}

async fn end_all(template: &Template, end: &watch::Sender<Option<Duration>>, mut sidecars: JoinSet<View>) {
    let grace = template.end.borrow().unwrap_or(Duration::from_secs(5));
    let _ = end.send(Some(grace));
    while sidecars.join_next().await.is_some() {}
}

/// True when nothing of a pod runs any more, as its object says.
pub(super) fn is_over(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed")) && pod.metadata.deletion_timestamp.is_none()
}
