//! One watch for each kind; each feeds the index and repairs itself.

mod kinds;
mod optional;

use std::fmt::Debug;
use std::sync::Arc;

use futures::{Stream, StreamExt as _};
use jiff::Timestamp;
use joiner_api::{EC2NodeClass, NodeClaim, NodeOverlay, NodePool};
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{
    Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate, ResourceQuota, Service,
};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::storage::v1::{CSINode, StorageClass, VolumeAttachment};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tracing::{debug, warn};

use super::index::{Index, Kind};
use super::wanted::Wanted;
use crate::metrics::Metrics;

/// A kind that is watched: how the index takes an object of it in, and how it lets one go.
trait Watched: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static {
    /// Its name in the index.
    const KIND: Kind;

    /// Which objects of it.
    fn config() -> watcher::Config {
        watcher::Config::default()
    }

    /// The object was made or has changed.
    fn is(&self, told: &Told);

    /// The object is gone.
    fn gone(&self, told: &Told);
}

/// Who is told. Cheap to clone.
#[derive(Clone)]
struct Told {
    index: Arc<Index>,
    metrics: Arc<Metrics>,
}

/// Starts the watches of all kinds that are `wanted`. They end with the process.
pub(crate) fn start(client: &Client, index: &Arc<Index>, metrics: &Arc<Metrics>, wanted: Wanted) {
    let told = Told {
        index: index.clone(),
        metrics: metrics.clone(),
    };
    run::<Pod>(client, &told);
    run::<Node>(client, &told);
    run::<NodeClaim>(client, &told);
    run::<NodePool>(client, &told);
    run::<EC2NodeClass>(client, &told);
    run::<DaemonSet>(client, &told);
    run::<PodDisruptionBudget>(client, &told);
    run::<VolumeAttachment>(client, &told);
    run::<Namespace>(client, &told);
    run::<PersistentVolumeClaim>(client, &told);
    run::<PersistentVolume>(client, &told);
    run::<StorageClass>(client, &told);
    run::<CSINode>(client, &told);
    run::<ReplicaSet>(client, &told);
    run::<Job>(client, &told);
    run::<ResourceQuota>(client, &told);
    if wanted.overlays {
        run::<NodeOverlay>(client, &told);
    }
    if wanted.services {
        run::<Service>(client, &told);
    }
    if wanted.services || wanted.buffers {
        run::<StatefulSet>(client, &told);
    }
    if wanted.buffers {
        run::<Deployment>(client, &told);
        run::<PodTemplate>(client, &told);
        tokio::spawn(optional::buffers(client.clone(), told.clone()));
    }
    if wanted.devices {
        tokio::spawn(optional::devices(client.clone(), told));
    }
}

fn run<K: Watched>(client: &Client, told: &Told) {
    let api = Api::<K>::all(client.clone());
    let told = told.clone();
    tokio::spawn(async move {
        let stream = watcher(api, K::config());
        let kind = K::kind(&());
        follow(
            &told,
            K::KIND,
            &kind,
            stream,
            |it: &K| it.is(&told),
            |it: &K| it.gone(&told),
        )
        .await;
    });
}

/// Hands on what a watch tells, and takes it up again where it was interrupted.
async fn follow<K: Clone>(
    told: &Told,
    kind: Kind,
    name: &str,
    stream: impl Stream<Item = watcher::Result<watcher::Event<K>>>,
    is: impl Fn(&K),
    gone: impl Fn(&K),
) {
    let mut stream = std::pin::pin!(stream.default_backoff());
    while let Some(event) = stream.next().await {
        match event {
            Ok(watcher::Event::Init) => told.index.begin(kind),
            Ok(watcher::Event::InitApply(object) | watcher::Event::Apply(object)) => is(&object),
            Ok(watcher::Event::InitDone) => {
                told.index.finish(kind, Timestamp::now());
                debug!(kind = name, "listed");
            }
            Ok(watcher::Event::Delete(object)) => gone(&object),
            Err(error) => {
                warn!(kind = name, error = %error, "watch was interrupted and will be taken up again")
            }
        }
    }
}
