//! One watch for each kind; each feeds the index and repairs itself.

use std::sync::Arc;

use futures::StreamExt as _;
use jiff::Timestamp;
use joiner_api::{EC2NodeClass, NodeClaim, NodePool};
use joiner_core::snapshot::PodKey;
use joiner_core::text::Text;
use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::storage::v1::{CSINode, StorageClass, VolumeAttachment};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use tracing::{debug, warn};

use super::entry::version;
use super::index::{Index, Kind};
use crate::metrics::Metrics;

/// Starts all watches. They end with the process.
pub(crate) fn start(client: &Client, index: &Arc<Index>, metrics: &Arc<Metrics>) {
    // Pods that have come to their end take nothing; they leave such a watch as if they were deleted.
    let living = watcher::Config::default().fields("status.phase!=Succeeded,status.phase!=Failed");
    let pods = (index.clone(), metrics.clone());
    run(
        client,
        living,
        index,
        Kind::Pod,
        move |change: Change<Pod>| match change {
            Change::Is(pod) => {
                if let Some(took) = pods.0.pod(&pod, Timestamp::now()) {
                    pods.1.pod_started(took);
                }
            }
            Change::Gone(pod) => pods.0.pod_gone(&key(&pod), version(&pod), Timestamp::now()),
        },
    );
    let all = watcher::Config::default;
    let it = index.clone();
    run(
        client,
        all(),
        index,
        Kind::Node,
        move |change: Change<Node>| match change {
            Change::Is(node) => it.node(&node),
            Change::Gone(node) => it.node_gone(&node.name_any(), version(&node)),
        },
    );
    let it = index.clone();
    run(
        client,
        all(),
        index,
        Kind::Claim,
        move |change: Change<NodeClaim>| match change {
            Change::Is(claim) => it.claim(&claim),
            Change::Gone(claim) => it.claim_gone(&claim.name_any(), version(&claim)),
        },
    );
    let it = index.clone();
    run(
        client,
        all(),
        index,
        Kind::Pool,
        move |change: Change<NodePool>| match change {
            Change::Is(pool) => it.pool(pool),
            Change::Gone(pool) => it.pool_gone(&pool.name_any(), version(&pool)),
        },
    );
    let it = index.clone();
    run(
        client,
        all(),
        index,
        Kind::Class,
        move |change: Change<EC2NodeClass>| match change {
            Change::Is(class) => it.class(class),
            Change::Gone(class) => it.class_gone(&class.name_any(), version(&class)),
        },
    );
    let it = index.clone();
    run(
        client,
        all(),
        index,
        Kind::DaemonSet,
        move |change: Change<DaemonSet>| match change {
            Change::Is(set) => it.daemon_set(&set),
            Change::Gone(set) => it.daemon_set_gone(&path(&set), version(&set)),
        },
    );
    let it = index.clone();
    run(
        client,
        all(),
        index,
        Kind::Pdb,
        move |change: Change<PodDisruptionBudget>| match change {
            Change::Is(pdb) => it.pdb(&pdb),
            Change::Gone(pdb) => it.pdb_gone(&path(&pdb), version(&pdb)),
        },
    );
    let it = index.clone();
    run(
        client,
        all(),
        index,
        Kind::Attachment,
        move |change: Change<VolumeAttachment>| match change {
            Change::Is(attachment) => it.attachment(&attachment),
            Change::Gone(attachment) => {
                it.attachment_gone(&attachment.name_any().into(), version(&attachment))
            }
        },
    );
    around(client, index);
}

/// What pods ask about beside nodes: namespaces, volumes, what can be attached.
fn around(client: &Client, index: &Arc<Index>) {
    let all = watcher::Config::default;
    let it = index.clone();
    run(
        client,
        all(),
        index,
        Kind::Namespace,
        move |change: Change<Namespace>| match change {
            Change::Is(namespace) => it.namespace(namespace),
            Change::Gone(namespace) => it.namespace_gone(&namespace),
        },
    );
    let it = index.clone();
    run(
        client,
        all(),
        index,
        Kind::VolumeClaim,
        move |change: Change<PersistentVolumeClaim>| match change {
            Change::Is(claim) => it.volume_claim(claim),
            Change::Gone(claim) => it.volume_claim_gone(&claim),
        },
    );
    let it = index.clone();
    run(
        client,
        all(),
        index,
        Kind::Volume,
        move |change: Change<PersistentVolume>| match change {
            Change::Is(volume) => it.volume(volume),
            Change::Gone(volume) => it.volume_gone(&volume),
        },
    );
    let it = index.clone();
    run(
        client,
        all(),
        index,
        Kind::StorageClass,
        move |change: Change<StorageClass>| match change {
            Change::Is(class) => it.storage_class(class),
            Change::Gone(class) => it.storage_class_gone(&class),
        },
    );
    let it = index.clone();
    run(
        client,
        all(),
        index,
        Kind::CsiNode,
        move |change: Change<CSINode>| match change {
            Change::Is(node) => it.csi_node(&node),
            Change::Gone(node) => it.csi_node_gone(&node),
        },
    );
}

/// What happened to one object.
enum Change<K> {
    Is(K),
    Gone(K),
}

fn run<K>(
    client: &Client,
    config: watcher::Config,
    index: &Arc<Index>,
    kind: Kind,
    mut apply: impl FnMut(Change<K>) + Send + 'static,
) where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug + Send + 'static,
{
    let api = Api::<K>::all(client.clone());
    let index = index.clone();
    tokio::spawn(async move {
        let mut stream = std::pin::pin!(watcher(api, config).default_backoff());
        while let Some(event) = stream.next().await {
            match event {
                Ok(watcher::Event::Init) => index.begin(kind),
                Ok(watcher::Event::InitApply(object) | watcher::Event::Apply(object)) => {
                    apply(Change::Is(object))
                }
                Ok(watcher::Event::InitDone) => {
                    index.finish(kind, Timestamp::now());
                    debug!(kind = K::kind(&()).as_ref(), "listed");
                }
                Ok(watcher::Event::Delete(object)) => apply(Change::Gone(object)),
                Err(error) => {
                    warn!(kind = K::kind(&()).as_ref(), error = %error, "watch was interrupted and will be taken up again")
                }
            }
        }
    });
}

fn key(pod: &Pod) -> PodKey {
    PodKey::new(
        pod.namespace().unwrap_or_else(|| "default".to_owned()),
        pod.name_any(),
    )
}

/// `namespace/name`.
fn path<K: Resource>(object: &K) -> Text {
    let namespace = object.meta().namespace.as_deref().unwrap_or("default");
    format!(
        "{namespace}/{}",
        object.meta().name.as_deref().unwrap_or_default()
    )
    .into()
}
