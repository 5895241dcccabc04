//! Which pods are on a system node: a watch, and one task for each pod.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, pin_mut};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::context::Context;
use super::worker::{Worker, is_over};

type Uid = String;

struct Pods {
    context: Arc<Context>,
    stop: CancellationToken,
    tell: BTreeMap<Uid, watch::Sender<Option<Arc<Pod>>>>,
    workers: JoinSet<()>,
    /// The pods listed since the watch began anew.
    listed: BTreeSet<Uid>,
}

/// Watches and runs the pods of a node until `stop`, then ends them.
pub(super) async fn run(context: Arc<Context>, node: &str, stop: CancellationToken) -> anyhow::Result<()> {
    let api = Api::<Pod>::all(context.client.clone());
    let config = watcher::Config::default().fields(&format!("spec.nodeName={node}"));
    let stream = watcher(api, config).default_backoff();
    pin_mut!(stream);
    let mut pods = Pods {
        context,
        stop: stop.clone(),
        tell: BTreeMap::new(),
        workers: JoinSet::new(),
        listed: BTreeSet::new(),
    };
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            event = stream.next() => match event {
                Some(Ok(event)) => pods.take(event),
                Some(Err(error)) => tracing::warn!(%error, "the watch of a system node's pods failed"),
                None => anyhow::bail!("the watch of a system node's pods ended"),
            },
            Some(_) = pods.workers.join_next() => {}
        }
    }
    let all = async { while pods.workers.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(Duration::from_secs(4), all).await;
    Ok(())
}

impl Pods {
    fn take(&mut self, event: Event<Pod>) {
        match event {
            Event::Init => self.listed.clear(),
            Event::InitApply(pod) => {
                self.listed.extend(pod.metadata.uid.clone());
                self.apply(pod);
            }
            Event::InitDone => {
                let gone: Vec<Uid> = self
                    .tell
                    .keys()
                    .filter(|uid| !self.listed.contains(*uid))
                    .cloned()
                    .collect();
                gone.iter().for_each(|uid| self.gone(uid));
            }
            Event::Apply(pod) => self.apply(pod),
            Event::Delete(pod) => self.gone(&pod.metadata.uid.unwrap_or_default()),
        }
    }

    fn apply(&mut self, pod: Pod) {
        let Some(uid) = pod.metadata.uid.clone() else {
            return;
        };
        let pod = Arc::new(pod);
        if let Some(tell) = self.tell.get(&uid) {
            let _ = tell.send(Some(pod));
            return;
        }
        if is_over(&pod) {
            return;
        }
        let (tell, newest) = watch::channel(Some(pod.clone()));
        self.tell.insert(uid, tell);
        self.workers
            .spawn(Worker::new(self.context.clone(), pod, newest, self.stop.clone()).run());
    }

    fn gone(&mut self, uid: &str) {
        if let Some(tell) = self.tell.remove(uid) {
            let _ = tell.send(None);
        }
    }
}
