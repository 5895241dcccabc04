//! One object of a text, read and mapped by its kind.

use joiner_api::{EC2NodeClass, NodeClaim, NodeOverlay, NodePool};
use joiner_core::snapshot::{Claim, DaemonSet, DefaultSpread, NodeObject, Pdb, Pool, Readiness};
use joiner_core::text::Text;
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1 as k8s;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::resource::v1 as dra;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::api::storage::v1 as storage;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::error::Fault;
use super::source::{Head, Source, from_value};
use super::{mend, scheduler, sound};
use crate::buffers::{Buffer, Scalable};
use crate::catalog::CatalogDocument;
use crate::overlay::Overlay;
use crate::pod::PodObject;
use crate::seen::Key;
use crate::workload::{ServiceObject, WorkloadObject};

/// An object, mapped as far as it can be alone.
#[derive(Debug, PartialEq)]
pub(crate) enum Item {
    Pod(Box<PodObject>),
    Node(Box<NodeObject>),
    Claim(Box<Claim>),
    Pool(Box<Pool>),
    Class(Box<EC2NodeClass>),
    Overlay(Box<Overlay>),
    DaemonSet(Box<DaemonSet>),
    Pdb(Box<Pdb>),
    Attachment((Text, Text)),
    Namespace(Box<k8s::Namespace>),
    VolumeClaim(Box<k8s::PersistentVolumeClaim>),
    Volume(Box<k8s::PersistentVolume>),
    StorageClass(Box<storage::StorageClass>),
    CsiNode(Box<storage::CSINode>),
    PriorityClass(Box<PriorityClass>),
    /// Its kind, a workload, and what a buffer may take of it.
    Workload(
        &'static str,
        Option<Box<WorkloadObject>>,
        Box<(ScalableKey, Scalable)>,
    ),
    Job(Box<WorkloadObject>),
    Service(Box<ServiceObject>),
    Buffer(Box<Buffer>),
    ResourceClaim(Box<dra::ResourceClaim>),
    ResourceClaimTemplate(Box<dra::ResourceClaimTemplate>),
    DeviceClass(Box<dra::DeviceClass>),
    ResourceSlice(Box<dra::ResourceSlice>),
    Catalog(Box<CatalogDocument>),
    /// Cluster-wide default spread constraints.
    DefaultSpread(Vec<DefaultSpread>),
    /// Something that does not matter, with a word why.
    Ignored(String),
}

impl Item {
    /// What it is called; none for what has no name that two could share.
    pub(crate) fn key(&self) -> Option<Key> {
        let nowhere = || Text::from("");
        let meta = |kind: &'static str, meta: &ObjectMeta| (kind, nowhere(), crate::text(meta.name.as_ref()));
        let inside = |kind: &'static str, meta: &ObjectMeta| {
            let namespace = meta.namespace.as_deref().unwrap_or("default");
            (kind, namespace.into(), crate::text(meta.name.as_ref()))
        };
        Some(match self {
            Item::Pod(it) => ("Pod", it.pod.key.namespace.clone(), it.pod.key.name.clone()),
            Item::Node(it) => ("Node", nowhere(), it.name.clone()),
            Item::Claim(it) => ("NodeClaim", nowhere(), it.name.clone()),
            Item::Pool(it) => ("NodePool", nowhere(), it.name.clone()),
            Item::Class(it) => meta("EC2NodeClass", &it.metadata),
            Item::Overlay(it) => ("NodeOverlay", nowhere(), it.name.clone()),
            // Namespace and name already.
            Item::DaemonSet(it) => ("DaemonSet", nowhere(), it.name.clone()),
            Item::Pdb(it) => ("PodDisruptionBudget", it.namespace.clone(), it.name.clone()),
            Item::Namespace(it) => meta("Namespace", &it.metadata),
            Item::VolumeClaim(it) => inside("PersistentVolumeClaim", &it.metadata),
            Item::Volume(it) => meta("PersistentVolume", &it.metadata),
            Item::StorageClass(it) => meta("StorageClass", &it.metadata),
            Item::CsiNode(it) => meta("CSINode", &it.metadata),
            Item::PriorityClass(it) => meta("PriorityClass", &it.metadata),
            Item::Workload(kind, _, it) => (*kind, it.0.1.clone(), it.0.2.clone()),
            Item::Job(it) => ("Job", it.key.1.clone(), it.key.2.clone()),
            Item::Service(it) => ("Service", it.namespace.clone(), it.name.clone()),
            Item::Buffer(it) => ("CapacityBuffer", it.namespace.clone(), it.name.clone()),
            Item::ResourceClaim(it) => inside("ResourceClaim", &it.metadata),
            Item::ResourceClaimTemplate(it) => inside("ResourceClaimTemplate", &it.metadata),
            Item::DeviceClass(it) => meta("DeviceClass", &it.metadata),
            Item::ResourceSlice(it) => meta("ResourceSlice", &it.metadata),
            Item::DefaultSpread(_) => ("KubeSchedulerConfiguration", nowhere(), nowhere()),
            Item::Attachment(_) | Item::Catalog(_) | Item::Ignored(_) => return None,
        })
    }
}

/// Kind, namespace and name.
pub(crate) type ScalableKey = (Text, Text, Text);

/// Reads one object.
pub(super) fn read(head: &Head, source: &Source<'_>) -> Result<Item, Fault> {
    version(head).map_err(|fault| fault.of(any_title(head, source)))?;
    dispatch(head, source).map_err(|fault| fault.of(head.kind.as_str()))
}

/// Whether an object of Karpenter's is of the version that is read: one of an older version has other fields.
fn version(head: &Head) -> Result<(), Fault> {
    let (wanted, plural, migrates) = match (head.group.as_str(), head.kind.as_str()) {
        ("karpenter.sh", "NodePool") => ("v1", "nodepools", true),
        ("karpenter.k8s.aws", "EC2NodeClass") => ("v1", "ec2nodeclasses", true),
        ("karpenter.sh", "NodeClaim") => ("v1", "nodeclaims", false),
        ("karpenter.sh", "NodeOverlay") => ("v1alpha1", "nodeoverlays", false),
        _ => return Ok(()),
    };
    let Head { group, version, .. } = head;
    if version == wanted {
        return Ok(());
    }
    let convert = match migrates {
        true => ", or run `joiner migrate`, which converts it",
        false => "",
    };
    let found = format!("{group}/{version}");
    Err(Fault::new(
        "apiVersion",
        format!(
            "{found:?} found, {group}/{wanted} wanted: ask a cluster that serves it (kubectl get {plural}.{wanted}.{group} -o yaml){convert}"
        ),
    ))
}

/// Kind and name of an object that is not read any further.
fn any_title(head: &Head, source: &Source<'_>) -> String {
    let value = source.value().unwrap_or_default();
    match value["metadata"]["name"].as_str() {
        Some(name) => format!("{} {name}", head.kind),
        None => head.kind.clone(),
    }
}

fn dispatch(head: &Head, source: &Source<'_>) -> Result<Item, Fault> {
    Ok(match (head.group.as_str(), head.kind.as_str()) {
        ("", "Pod") => {
            let mut pod: k8s::Pod = source.typed()?;
            generated(&mut pod.metadata, "Pod")?;
            about(&pod.metadata, "Pod", sound::pod(&pod))?;
            Item::Pod(Box::new(crate::pod_object(&pod)))
        }
        ("", "Node") => {
            let node: k8s::Node = source.typed()?;
            named(&node.metadata, "Node")?;
            about(&node.metadata, "Node", sound::node(&node))?;
            Item::Node(Box::new(bare_node(&node)))
        }
        ("karpenter.sh", "NodeClaim") => {
            let claim: NodeClaim = source.typed().or_else(|_| {
                let mut value = source.value()?;
                mend::node_claim(&mut value);
                from_value(&value)
            })?;
            named(&claim.metadata, "NodeClaim")?;
            Item::Claim(Box::new(crate::claim(&claim)))
        }
        ("karpenter.sh", "NodePool") => Item::Pool(Box::new(pool(source)?)),
        ("karpenter.k8s.aws", "EC2NodeClass") => match source.typed::<EC2NodeClass>() {
            Ok(class) => Item::Class(Box::new(class)),
            // Only the account can make use of a class, and it refuses a bad one itself.
            Err(fault) => Item::Ignored(format!(
                "EC2NodeClass that cannot be read ({}: {})",
                fault.field, fault.message
            )),
        },
        ("karpenter.sh", "NodeOverlay") => {
            let mut value = source.value()?;
            mend::node_overlay(&mut value);
            let object: NodeOverlay = from_value(&value)?;
            named(&object.metadata, "NodeOverlay")?;
            let overlay = crate::overlay(&object).map_err(|why| Fault::new("", why.to_string()));
            about(
                &object.metadata,
                "NodeOverlay",
                overlay.as_ref().map(|_| ()).map_err(Clone::clone),
            )?;
            Item::Overlay(Box::new(overlay?))
        }
        ("apps", "DaemonSet") => {
            let set: apps::DaemonSet = source.typed()?;
            let spec = set.spec.as_ref().and_then(|spec| spec.template.spec.as_ref());
            let checked = sound::pod_spec(spec, "spec.template.spec");
            about(&set.metadata, "DaemonSet", checked)?;
            Item::DaemonSet(Box::new(crate::daemon_set(&set)))
        }
        ("policy", "PodDisruptionBudget") => {
            Item::Pdb(Box::new(crate::pdb(&source.typed::<PodDisruptionBudget>()?)))
        }
        ("storage.k8s.io", "VolumeAttachment") => match crate::attachment(&source.typed()?) {
            Some(attachment) => Item::Attachment(attachment),
            None => Item::Ignored("VolumeAttachment without a volume".to_owned()),
        },
        ("storage.k8s.io", "StorageClass") => Item::StorageClass(Box::new(source.typed()?)),
        ("storage.k8s.io", "CSINode") => Item::CsiNode(Box::new(source.typed()?)),
        ("scheduling.k8s.io", "PriorityClass") => Item::PriorityClass(Box::new(source.typed()?)),
        ("", "Namespace") => Item::Namespace(Box::new(source.typed()?)),
        ("", "PersistentVolumeClaim") => Item::VolumeClaim(Box::new(source.typed()?)),
        ("", "PersistentVolume") => Item::Volume(Box::new(source.typed()?)),
        ("", "Service") => match crate::service(&source.typed()?) {
            Some(service) => Item::Service(Box::new(service)),
            None => Item::Ignored("Service without a selector".to_owned()),
        },
        ("", "PodTemplate") => {
            let object: k8s::PodTemplate = source.typed()?;
            scalable(
                "PodTemplate",
                &object.metadata,
                object.template.clone(),
                Some(0),
                None,
            )
        }
        ("apps", "Deployment") => {
            let object: apps::Deployment = source.typed()?;
            let spec = object.spec.unwrap_or_default();
            scalable(
                "Deployment",
                &object.metadata,
                Some(spec.template),
                spec.replicas,
                None,
            )
        }
        ("apps", "ReplicaSet") => {
            let object: apps::ReplicaSet = source.typed()?;
            let workload = crate::replica_set(&object);
            let spec = object.spec.unwrap_or_default();
            scalable(
                "ReplicaSet",
                &object.metadata,
                spec.template,
                spec.replicas,
                Some(workload),
            )
        }
        ("apps", "StatefulSet") => {
            let object: apps::StatefulSet = source.typed()?;
            let workload = crate::stateful_set(&object);
            let spec = object.spec.unwrap_or_default();
            scalable(
                "StatefulSet",
                &object.metadata,
                Some(spec.template),
                spec.replicas,
                Some(workload),
            )
        }
        ("batch", "Job") => Item::Job(Box::new(crate::job(&source.typed::<Job>()?))),
        ("autoscaling.x-k8s.io", "CapacityBuffer") => {
            let buffer = crate::buffer(&source.value()?)
                .map_err(|error| Fault::new(error.path().to_string(), error.inner().to_string()))?;
            Item::Buffer(Box::new(buffer))
        }
        ("resource.k8s.io", "ResourceClaim") if head.version == "v1" => {
            Item::ResourceClaim(Box::new(source.typed()?))
        }
        ("resource.k8s.io", "ResourceClaimTemplate") if head.version == "v1" => {
            Item::ResourceClaimTemplate(Box::new(source.typed()?))
        }
        ("resource.k8s.io", "DeviceClass") if head.version == "v1" => {
            Item::DeviceClass(Box::new(source.typed()?))
        }
        ("resource.k8s.io", "ResourceSlice") if head.version == "v1" => {
            Item::ResourceSlice(Box::new(source.typed()?))
        }
        ("joiner.dev", "InstanceTypeCatalog") => {
            let document: CatalogDocument = source.typed()?;
            document
                .check()
                .map_err(|(field, message)| Fault::new(field, message))?;
            Item::Catalog(Box::new(document))
        }
        ("kubescheduler.config.k8s.io", "KubeSchedulerConfiguration") => {
            Item::DefaultSpread(scheduler::default_spread(&source.value()?)?)
        }
        (_, kind) => Item::Ignored(kind.to_owned()),
    })
}

/// The pool; what its status leaves unsaid counts as ready, what breaks a rule does not.
fn pool(source: &Source<'_>) -> Result<Pool, Fault> {
    let mut value = source.value()?;
    mend::node_pool(&mut value);
    let object: NodePool = from_value(&value)?;
    named(&object.metadata, "NodePool")?;
    let mut pool = crate::pool(&object);
    let conditions = object
        .status
        .as_ref()
        .map_or(&[][..], |status| &status.conditions);
    if !conditions.iter().any(|condition| condition.type_ == "Ready") {
        let broken = crate::violations(&object);
        pool.readiness = match broken.first() {
            None => Readiness::Ready,
            Some(rule) => Readiness::NotReady { reason: rule.clone() },
        };
    }
    Ok(pool)
}

/// A node; one written by hand may say nothing of its conditions and of what is left for pods.
fn bare_node(object: &k8s::Node) -> NodeObject {
    let mut node = crate::node(object);
    let conditions = object
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_ref());
    node.ready = node.ready || conditions.is_none_or(Vec::is_empty);
    if node.allocatable.is_empty() {
        node.allocatable = node.capacity.clone();
    }
    if node.capacity.is_empty() {
        node.capacity = node.allocatable.clone();
    }
    node.labels
        .entry(joiner_core::well_known::HOSTNAME.into())
        .or_insert_with(|| node.name.clone());
    node
}

fn scalable(
    kind: &'static str,
    meta: &ObjectMeta,
    template: Option<k8s::PodTemplateSpec>,
    replicas: Option<i32>,
    workload: Option<WorkloadObject>,
) -> Item {
    let key = (
        kind.into(),
        meta.namespace.as_deref().unwrap_or("default").into(),
        crate::text(meta.name.as_ref()),
    );
    let scalable = Scalable {
        template: template.unwrap_or_default(),
        replicas: replicas.map_or(1, |count| u32::try_from(count).unwrap_or(0)),
    };
    Item::Workload(kind, workload.map(Box::new), Box::new((key, scalable)))
}

/// `Kind namespace/name`, for messages.
fn title(kind: &str, meta: &ObjectMeta) -> String {
    let name = meta.name.as_deref().unwrap_or("without a name");
    match (&meta.namespace, kind) {
        (Some(namespace), _) => format!("{kind} {namespace}/{name}"),
        (None, "Pod" | "DaemonSet") => format!("{kind} default/{name}"),
        (None, _) => format!("{kind} {name}"),
    }
}

fn about(meta: &ObjectMeta, kind: &str, result: Result<(), Fault>) -> Result<(), Fault> {
    result.map_err(|fault| fault.of(title(kind, meta)))
}

fn named(meta: &ObjectMeta, kind: &str) -> Result<(), Fault> {
    match meta.name.as_deref() {
        Some(name) if !name.is_empty() => Ok(()),
        _ => Err(Fault::new(
            "metadata.name",
            format!("it is missing; a {kind} needs a name"),
        )),
    }
}

/// A pod that the API server would have named keeps the prefix; [`crate::Objects`] tells such pods apart.
fn generated(meta: &mut ObjectMeta, kind: &str) -> Result<(), Fault> {
    if meta.name.as_deref().is_none_or(str::is_empty)
        && let Some(prefix) = meta.generate_name.as_deref().filter(|prefix| !prefix.is_empty())
    {
        meta.name = Some(prefix.to_owned());
        return Ok(());
    }
    named(meta, kind)
}
