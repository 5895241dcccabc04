//! What a pod's volumes ask of its node: where a bound volume is, where a class may make one, and what has to be attached.

use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::snapshot::{Attachment, VolumeNeed};
use joiner_core::text::Text;
use joiner_core::well_known;
use k8s_openapi::api::core::v1 as k8s;
use k8s_openapi::api::storage::v1 as storage;

/// The driver of Elastic Block Store.
pub(crate) const EBS: &str = "ebs.csi.aws.com";

/// Drivers in the tree that a CSI driver stands in for today.
const IN_TREE: [(&str, &str); 4] = [
    ("kubernetes.io/aws-ebs", EBS),
    ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    ("kubernetes.io/azure-disk", "disk.csi.azure.com"),
    ("kubernetes.io/cinder", "cinder.csi.openstack.org"),
];

/// A PersistentVolumeClaim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) class: Option<Text>,
    pub(crate) volume: Option<Text>,
    pub(crate) deleting: bool,
    pub(crate) lost: bool,
    /// It names a volume, but the binding is not complete.
    pub(crate) binding: bool,
}

/// A PersistentVolume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Volume {
    /// Requirements one of which must hold of the node.
    pub(crate) alternatives: Vec<Requirements>,
    pub(crate) attach: Option<Attachment>,
    pub(crate) deleting: bool,
}

/// A StorageClass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) driver: Text,
    pub(crate) immediate: bool,
    pub(crate) alternatives: Vec<Requirements>,
    pub(crate) default: bool,
    pub(crate) created: jiff::Timestamp,
}

pub(crate) fn claim(object: &k8s::PersistentVolumeClaim) -> Claim {
    let spec = object.spec.as_ref();
    let named = |name: Option<&String>| {
        name.filter(|name| !name.is_empty())
            .map(|name| name.as_str().into())
    };
    let phase = object.status.as_ref().and_then(|status| status.phase.as_deref());
    let annotated = object
        .metadata
        .annotations
        .as_ref()
        .is_some_and(|all| all.contains_key("pv.kubernetes.io/bind-completed"));
    Claim {
        // An empty class is written on purpose: the claim is bound by hand.
        class: spec
            .and_then(|spec| spec.storage_class_name.as_deref())
            .map(Text::from),
        volume: named(spec.and_then(|spec| spec.volume_name.as_ref())),
        deleting: object.metadata.deletion_timestamp.is_some(),
        lost: phase == Some("Lost"),
        binding: phase == Some("Pending") && !annotated,
    }
}

pub(crate) fn volume(object: &k8s::PersistentVolume) -> Volume {
    let spec = object.spec.clone().unwrap_or_default();
    let here = spec.local.is_some() || spec.host_path.is_some();
    let required = spec
        .node_affinity
        .as_ref()
        .and_then(|affinity| affinity.required.as_ref());
    let mut alternatives: Vec<Requirements> = Vec::new();
    for term in required.iter().flat_map(|selector| &selector.node_selector_terms) {
        let rows = term.match_expressions.iter().flatten();
        // A disk inside a node holds nobody back: a pod that moves does not find its data again anyhow.
        let rows: Vec<_> = rows
            .filter(|row| !(here && row.key == well_known::HOSTNAME))
            .collect();
        let had = term.match_expressions.as_ref().is_some_and(|all| !all.is_empty());
        if had {
            alternatives.push(rows.into_iter().filter_map(requirement).collect());
        }
    }
    if alternatives.iter().any(Requirements::is_empty) {
        alternatives.clear();
    }
    let attach = match (&spec.csi, &spec.aws_elastic_block_store) {
        (Some(csi), _) => Some(Attachment {
            driver: csi.driver.as_str().into(),
            volume: csi.volume_handle.as_str().into(),
        }),
        (None, Some(disk)) => Some(Attachment {
            driver: EBS.into(),
            volume: disk.volume_id.as_str().into(),
        }),
        (None, None) => None,
    };
    Volume {
        alternatives,
        attach,
        deleting: object.metadata.deletion_timestamp.is_some(),
    }
}

fn requirement(row: &k8s::NodeSelectorRequirement) -> Option<Requirement> {
    let values = row.values.iter().flatten().map(String::as_str);
    Requirement::parse(row.key.as_str(), &row.operator, values).ok()
}

pub(crate) fn class(object: &storage::StorageClass) -> Class {
    let annotations = object.metadata.annotations.as_ref();
    let is_default = [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ]
    .iter()
    .any(|key| annotations.is_some_and(|all| all.get(*key).is_some_and(|value| value == "true")));
    let terms = object.allowed_topologies.iter().flatten();
    let alternatives = terms.map(|term| {
        let rows = term.match_label_expressions.iter().flatten();
        rows.map(|row| Requirement::is_in(row.key.as_str(), row.values.iter().map(String::as_str)))
            .collect::<Requirements>()
    });
    Class {
        driver: driver(&object.provisioner),
        immediate: object.volume_binding_mode.as_deref() != Some("WaitForFirstConsumer"),
        alternatives: alternatives.filter(|one| !one.is_empty()).collect(),
        default: is_default,
        created: crate::node::time(object.metadata.creation_timestamp.as_ref()),
    }
}

/// The CSI driver of a provisioner.
pub(crate) fn driver(provisioner: &str) -> Text {
    IN_TREE
        .iter()
        .find(|(old, _)| *old == provisioner)
        .map_or(provisioner, |(_, new)| new)
        .into()
}

/// How many volumes each driver can attach to a node, from its CSINode.
pub fn attach_limits(object: &storage::CSINode) -> std::collections::BTreeMap<Text, u32> {
    let drivers = object.spec.drivers.iter();
    drivers
        .filter_map(|driver| {
            let count = driver.allocatable.as_ref()?.count?;
            Some((driver.name.as_str().into(), u32::try_from(count).unwrap_or(0)))
        })
        .collect()
}

/// What the volumes of a claim ask, or why they cannot be had, in words.
pub(crate) fn need(
    name: &Text,
    namespace: &str,
    claim: &Claim,
    volume_of: impl Fn(&Text) -> Option<Volume>,
    class_of: impl Fn(Option<&Text>) -> Option<Class>,
) -> Result<VolumeNeed, Text> {
    let about = format!("its volume claim {namespace}/{name}");
    if claim.deleting {
        return Err(format!("{about} is being deleted").into());
    }
    if claim.lost {
        return Err(format!("{about} is lost: its volume does not exist any more").into());
    }
    if let Some(volume) = &claim.volume {
        if claim.binding {
            return Err(format!("{about} is not bound to its volume {volume} yet").into());
        }
        let Some(found) = volume_of(volume) else {
            return Err(format!("{about} is bound to the volume {volume}, which does not exist").into());
        };
        if found.deleting {
            return Err(format!("{about} is bound to the volume {volume}, which is being deleted").into());
        }
        return Ok(VolumeNeed {
            claim: name.clone(),
            alternatives: found.alternatives,
            attach: found.attach,
        });
    }
    let class = match (&claim.class, class_of(claim.class.as_ref())) {
        (Some(class), _) if class.is_empty() => {
            return Err(
                format!("{about} is not bound and names no storage class; bind it or name one").into(),
            );
        }
        (_, Some(class)) => class,
        (Some(class), None) => {
            return Err(format!("{about} names the storage class {class}, which does not exist").into());
        }
        (None, None) => {
            return Err(format!(
                "{about} is not bound, names no storage class, and the cluster has no default one"
            )
            .into());
        }
    };
    if class.immediate {
        return Err(format!(
            "{about} is not bound yet, and its storage class binds at once (volumeBindingMode Immediate)"
        )
        .into());
    }
    Ok(VolumeNeed {
        claim: name.clone(),
        alternatives: class.alternatives,
        attach: Some(Attachment {
            driver: class.driver,
            volume: format!("{namespace}/{name}").into(),
        }),
    })
}
