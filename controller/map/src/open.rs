//! What a pod's own object leaves open: volumes behind claims, namespaces behind selectors, its workload, its devices.

use joiner_core::requirements::Requirements;
use joiner_core::snapshot::Attachment;
use joiner_core::text::Text;
use k8s_openapi::api::core::v1 as k8s;

use crate::placement::{named_namespaces, selector};

/// What only other objects can tell about a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Open {
    /// Its volumes that stand for something outside the pod.
    pub(crate) volumes: Vec<VolumeRef>,
    /// Its terms about pods of namespaces with certain labels.
    pub(crate) namespaces: Vec<NamespaceRef>,
    /// Its claims of devices.
    pub(crate) devices: Vec<DeviceRef>,
    /// Kind and name of the controller that made it.
    pub(crate) owner: Option<(Text, Text)>,
    /// The DaemonSet that made it.
    pub(crate) daemon_set: Option<Text>,
    /// Its priority class, where its priority is not written.
    pub(crate) priority_class: Option<Text>,
    /// Whether its priority is written.
    pub(crate) has_priority: bool,
    /// The gates that keep it from being scheduled.
    pub gates: Vec<Text>,
    /// The node that a preemption makes room on for it.
    pub nominated_node: Option<Text>,
}

/// A volume that stands for something outside the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VolumeRef {
    /// A claim in the pod's namespace.
    Claim(Text),
    /// A claim that is made for the pod; the class is that of its template.
    Ephemeral { claim: Text, class: Option<Text> },
    /// A volume that a driver attaches, named in the pod itself.
    Attached { volume: Text, attach: Attachment },
}

/// A term that speaks of namespaces with certain labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamespaceRef {
    pub(crate) list: TermList,
    pub(crate) index: usize,
    pub(crate) named: Vec<Text>,
    pub(crate) selector: Requirements,
}

/// One of the four lists of terms about pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermList {
    Affinity,
    PreferredAffinity,
    AntiAffinity,
    PreferredAntiAffinity,
}

/// A claim of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceRef {
    /// Its name in the pod.
    pub(crate) name: Text,
    /// The claim in the pod's namespace, where it names one.
    pub(crate) claim: Option<Text>,
    /// The template it is made from, where it names one.
    pub(crate) template: Option<Text>,
    /// Whether the pod has lost its node, and with it the devices that it alone used.
    pub(crate) lost: bool,
}

impl Open {
    /// Whether volumes, namespaces or devices have to be looked up: what may change while the pod does not.
    pub fn needs_lookup(&self) -> bool {
        !(self.volumes.is_empty() && self.namespaces.is_empty() && self.devices.is_empty())
    }

    /// Whether the pod's own object says all there is to say.
    pub fn is_closed(&self) -> bool {
        self.volumes.is_empty()
            && self.namespaces.is_empty()
            && self.devices.is_empty()
            && self.owner.is_none()
            && self.has_priority
    }
}

pub(crate) fn open(object: &k8s::Pod, spec: &k8s::PodSpec) -> Open {
    let meta = &object.metadata;
    let name = meta.name.as_deref().unwrap_or_default();
    let namespace = meta.namespace.as_deref().unwrap_or("default");
    let owner = meta
        .owner_references
        .iter()
        .flatten()
        .find(|owner| owner.controller == Some(true))
        .or_else(|| meta.owner_references.as_ref()?.first());
    let nominated = object
        .status
        .as_ref()
        .and_then(|status| status.nominated_node_name.as_deref())
        .filter(|name| !name.is_empty());
    Open {
        volumes: spec
            .volumes
            .iter()
            .flatten()
            .filter_map(|volume| volume_ref(volume, name))
            .collect(),
        namespaces: namespaces(spec, namespace),
        devices: devices(object, spec),
        owner: owner
            .filter(|owner| owner.kind != "Node" && owner.kind != "DaemonSet")
            .map(|owner| (owner.kind.as_str().into(), owner.name.as_str().into())),
        daemon_set: owner
            .filter(|owner| owner.kind == "DaemonSet")
            .map(|owner| owner.name.as_str().into()),
        priority_class: spec.priority_class_name.as_deref().map(Text::from),
        has_priority: spec.priority.is_some(),
        gates: spec
            .scheduling_gates
            .iter()
            .flatten()
            .map(|gate| gate.name.as_str().into())
            .collect(),
        nominated_node: nominated.map(Text::from),
    }
}

fn volume_ref(volume: &k8s::Volume, pod: &str) -> Option<VolumeRef> {
    if let Some(claim) = &volume.persistent_volume_claim {
        return Some(VolumeRef::Claim(claim.claim_name.as_str().into()));
    }
    if let Some(ephemeral) = &volume.ephemeral {
        let template = ephemeral.volume_claim_template.as_ref();
        return Some(VolumeRef::Ephemeral {
            claim: format!("{pod}-{}", volume.name).into(),
            class: template
                .and_then(|template| template.spec.storage_class_name.as_deref())
                .map(Text::from),
        });
    }
    let disk = volume.aws_elastic_block_store.as_ref()?;
    Some(VolumeRef::Attached {
        volume: volume.name.as_str().into(),
        attach: Attachment {
            driver: crate::volumes::EBS.into(),
            volume: disk.volume_id.as_str().into(),
        },
    })
}

fn namespaces(spec: &k8s::PodSpec, own: &str) -> Vec<NamespaceRef> {
    let affinity = spec.affinity.as_ref();
    let beside = affinity.and_then(|affinity| affinity.pod_affinity.as_ref());
    let apart = affinity.and_then(|affinity| affinity.pod_anti_affinity.as_ref());
    let mut found = Vec::new();
    let mut look = |list: TermList, index: usize, term: &k8s::PodAffinityTerm| {
        let Some(written) = &term.namespace_selector else {
            return;
        };
        let selector = selector(Some(written)).labels;
        // An empty selector means every namespace, which the term says already.
        if !selector.is_empty() {
            found.push(NamespaceRef {
                list,
                index,
                named: named_namespaces(term, own),
                selector,
            });
        }
    };
    let required = [
        (
            TermList::Affinity,
            beside.and_then(|it| it.required_during_scheduling_ignored_during_execution.as_ref()),
        ),
        (
            TermList::AntiAffinity,
            apart.and_then(|it| it.required_during_scheduling_ignored_during_execution.as_ref()),
        ),
    ];
    for (list, terms) in required {
        for (index, term) in terms.into_iter().flatten().enumerate() {
            look(list, index, term);
        }
    }
    let wished = [
        (
            TermList::PreferredAffinity,
            beside.and_then(|it| it.preferred_during_scheduling_ignored_during_execution.as_ref()),
        ),
        (
            TermList::PreferredAntiAffinity,
            apart.and_then(|it| it.preferred_during_scheduling_ignored_during_execution.as_ref()),
        ),
    ];
    for (list, terms) in wished {
        for (index, term) in terms.into_iter().flatten().enumerate() {
            look(list, index, &term.pod_affinity_term);
        }
    }
    found
}

/// The claims; one that is made from a template has its name in the pod's status once it is there.
fn devices(object: &k8s::Pod, spec: &k8s::PodSpec) -> Vec<DeviceRef> {
    let made = |name: &str| {
        let statuses = object.status.as_ref()?.resource_claim_statuses.as_ref()?;
        let status = statuses.iter().find(|status| status.name == name)?;
        status.resource_claim_name.clone()
    };
    spec.resource_claims
        .iter()
        .flatten()
        .map(|it| DeviceRef {
            name: it.name.as_str().into(),
            claim: it
                .resource_claim_name
                .clone()
                .or_else(|| made(&it.name))
                .map(Text::from),
            template: it.resource_claim_template_name.as_deref().map(Text::from),
            lost: false,
        })
        .collect()
}
