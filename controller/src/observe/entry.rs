//! What the index keeps of an object: its picture for decisions, and the little that commands need to write it.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use joiner_api::{NodeOverlay, NodePool};
use joiner_core::disrupt::drift::Machine;
use joiner_core::foresee::Verdict;
use joiner_core::snapshot::{Claim, NodeObject, Pod, PodKey, Pool};
use joiner_core::text::Text;
use k8s_openapi::api::core::v1 as k8s;
use kube::{Resource, ResourceExt as _};

use super::map;
use super::wanted::Wanted;

/// Namespace and name, the former where it has one.
pub(crate) fn path<K: Resource>(object: &K) -> Text {
    let name = object.meta().name.as_deref().unwrap_or_default();
    match object.meta().namespace.as_deref() {
        Some(namespace) => format!("{namespace}/{name}").into(),
        None => name.into(),
    }
}

/// A pod's key.
pub(crate) fn pod_key(pod: &k8s::Pod) -> PodKey {
    PodKey::new(
        pod.namespace().unwrap_or_else(|| "default".to_owned()),
        pod.name_any(),
    )
}

/// An object's resource version as a number; 0 where there is none, which any other beats.
pub(crate) fn version<K: Resource>(object: &K) -> u64 {
    object
        .meta()
        .resource_version
        .as_deref()
        .and_then(|version| version.parse().ok())
        .unwrap_or_default()
}

/// Kubernetes writes times in whole seconds; a pod that was made longer ago than this did not come just now.
const JUST_MADE: SignedDuration = SignedDuration::from_secs(2);

/// A pod.
#[derive(Clone, Debug)]
pub(crate) struct PodEntry {
    pub pod: Arc<Pod>,
    /// The node it is bound to.
    pub node: Option<Text>,
    /// The pod before volumes and namespaces were looked up, where it asks about such.
    pub unresolved: Option<Arc<map::PodObject>>,
    /// Its owner's path in the API, for metrics; empty where it has none.
    pub owner: Text,
    pub phase: PodPhase,
    pub ready: bool,
    /// When this process first saw it, or when it was made where that was long before.
    pub seen: Timestamp,
    /// When this process first saw that no node fits it.
    pub pending_since: Option<Timestamp>,
    /// Whether nothing holds it back and the scheduler has not looked at it yet.
    unlooked: bool,
}

/// Whether a pod's workload, which may come after it, is looked up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Workloads {
    Matter,
    DoNotMatter,
}

/// `status.phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PodPhase {
    Pending,
    Running,
    Succeeded,
    Failed,
    Unknown,
}

impl PodPhase {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            PodPhase::Pending => "Pending",
            PodPhase::Running => "Running",
            PodPhase::Succeeded => "Succeeded",
            PodPhase::Failed => "Failed",
            PodPhase::Unknown => "Unknown",
        }
    }
}

impl PodEntry {
    pub(super) fn new(object: &k8s::Pod, wanted: Wanted, now: Timestamp) -> PodEntry {
        let mut mapped = map::pod_object(object);
        if !wanted.devices {
            map::refuse_devices(&mut mapped);
        }
        let status = object.status.as_ref();
        let phase = match status.and_then(|status| status.phase.as_deref()) {
            Some("Pending") | None => PodPhase::Pending,
            Some("Running") => PodPhase::Running,
            Some("Succeeded") => PodPhase::Succeeded,
            Some("Failed") => PodPhase::Failed,
            Some(_) => PodPhase::Unknown,
        };
        let conditions = status
            .and_then(|status| status.conditions.as_deref())
            .unwrap_or_default();
        let ready = conditions
            .iter()
            .any(|condition| condition.type_ == "Ready" && condition.status == "True");
        let looked_at = conditions
            .iter()
            .any(|condition| condition.type_ == "PodScheduled");
        let free =
            mapped.node.is_none() && mapped.open.gates.is_empty() && mapped.open.nominated_node.is_none();
        let created = mapped.pod.created;
        PodEntry {
            owner: owner_path(object).into(),
            seen: if now.duration_since(created) > JUST_MADE {
                created
            } else {
                now
            },
            unlooked: free && !looked_at && phase == PodPhase::Pending,
            pod: Arc::new(mapped.pod.clone()),
            node: mapped.node.clone(),
            unresolved: Some(Arc::new(mapped)),
            phase,
            ready,
            pending_since: None,
        }
    }

    /// What the scheduler says of it.
    pub(super) fn verdict(&self) -> Verdict {
        match (self.pending_since, self.unlooked) {
            (Some(_), _) => Verdict::NoNode,
            (None, true) if self.pod.deletion.is_none() => Verdict::None,
            (None, _) => Verdict::Other,
        }
    }

    /// Looks up what the pod's own object leaves open; what cannot change later is not kept for another time.
    pub(super) fn resolve(&mut self, surroundings: &map::Surroundings, workloads: Workloads) {
        let Some(unresolved) = &self.unresolved else {
            return;
        };
        if !unresolved.open.is_closed() {
            let mut pod = unresolved.pod.clone();
            surroundings.complete(&mut pod, &unresolved.open);
            self.pod = Arc::new(pod);
        }
        if !unresolved.open.needs_lookup() && workloads == Workloads::DoNotMatter {
            self.unresolved = None;
        }
    }
}

fn owner_path(object: &k8s::Pod) -> String {
    let Some(owner) = object.metadata.owner_references.as_deref().and_then(<[_]>::first) else {
        return String::new();
    };
    let namespace = object.metadata.namespace.as_deref().unwrap_or("default");
    let root = if owner.api_version.contains('/') {
        "apis"
    } else {
        "api"
    };
    let kind = owner.kind.to_lowercase();
    format!(
        "/{root}/{}/namespaces/{namespace}/{kind}s/{}",
        owner.api_version, owner.name
    )
}

/// A Node.
#[derive(Clone, Debug)]
pub(crate) struct NodeEntry {
    pub node: Arc<NodeObject>,
    /// Needed for writes that must not overwrite somebody else's.
    pub resource_version: String,
    /// As written, times included: the list can only be written as a whole.
    pub taints: Vec<k8s::Taint>,
}

impl NodeEntry {
    pub(crate) fn of(object: &k8s::Node) -> NodeEntry {
        NodeEntry {
            node: Arc::new(map::node(object)),
            resource_version: object.metadata.resource_version.clone().unwrap_or_default(),
            taints: object
                .spec
                .as_ref()
                .and_then(|spec| spec.taints.clone())
                .unwrap_or_default(),
        }
    }
}

/// A NodeClaim.
#[derive(Clone, Debug)]
pub(crate) struct ClaimEntry {
    pub claim: Arc<Claim>,
    pub resource_version: String,
    pub generation: i64,
    /// `status.lastPodEventTime` as written; the claim itself may know of a later one.
    pub recorded_pod_event: Option<Timestamp>,
    /// What the claim itself says of its instance.
    pub machine: Machine,
}

impl ClaimEntry {
    pub(crate) fn new(object: &joiner_api::NodeClaim) -> ClaimEntry {
        ClaimEntry {
            recorded_pod_event: object
                .status
                .as_ref()
                .and_then(|status| Some(status.last_pod_event_time.as_ref()?.0)),
            machine: map::drift::machine(object),
            claim: Arc::new(map::claim(object)),
            resource_version: object.metadata.resource_version.clone().unwrap_or_default(),
            generation: object.metadata.generation.unwrap_or_default(),
        }
    }
}

/// A NodePool, whole: there are few, and the hash needs the template.
#[derive(Clone, Debug)]
pub(crate) struct PoolEntry {
    pub pool: Arc<Pool>,
    pub object: Arc<NodePool>,
}

impl PoolEntry {
    pub(super) fn new(object: &NodePool) -> PoolEntry {
        let mut object = object.clone();
        object.metadata.managed_fields = None;
        PoolEntry {
            pool: Arc::new(map::pool(&object)),
            object: Arc::new(object),
        }
    }
}

/// A NodeOverlay: there are few.
#[derive(Clone, Debug)]
pub(crate) struct OverlayEntry {
    /// The overlay, or why it cannot be applied.
    pub overlay: Result<map::Overlay, Text>,
    pub object: Arc<NodeOverlay>,
}

impl OverlayEntry {
    pub(super) fn new(object: &NodeOverlay) -> OverlayEntry {
        let mut object = object.clone();
        object.metadata.managed_fields = None;
        OverlayEntry {
            overlay: map::overlay(&object),
            object: Arc::new(object),
        }
    }
}
