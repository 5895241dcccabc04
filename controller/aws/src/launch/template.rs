//! A launch template as data: everything that an instance is made with and that offerings do not say. Equal data has an
//! equal name, so a template is made once and found again.

use super::error::LaunchError;
use super::order::Order;
use crate::family;
use crate::node_class::NodeClass;
use crate::tags::Tags;
use crate::userdata::{Bootstrap, render};
use joiner_api::labels::{CAPACITY_TYPE, DO_NOT_SYNC_TAINTS};
use joiner_api::{
    AmiFamily, BlockDeviceMapping, CapacityReservationType, InstanceStorePolicy, InterfaceType, Quantity,
};
use joiner_core::catalogue::CapacityType;
use joiner_core::taints::Taint;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// What templates of one order can differ in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// The image.
    pub image: String,
    /// Most pods of a node.
    pub max_pods: i64,
    /// Fabric adapters to attach.
    pub efas: i64,
    /// Id of the capacity reservation to launch into.
    pub reservation: Option<String>,
}

/// The capacity reservation that a template launches into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Target {
    /// Its id.
    pub reservation: String,
    /// The market of one that is not the ordinary kind.
    pub market: Option<Market>,
}

/// Markets of capacity reservations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Market {
    /// Blocks for a set time.
    CapacityBlock,
    /// Capacity that AWS may take back.
    Interruptible,
}

/// A launch template as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TemplateSpec {
    /// The image.
    pub image: String,
    /// Name of the instance profile.
    pub instance_profile: String,
    /// User data, base64 encoded.
    pub user_data: String,
    /// Disks.
    pub disks: Vec<Disk>,
    /// Metadata service: endpoint, tokens, IPv6, hop limit.
    pub metadata: (String, String, String, i32),
    /// Metrics every minute.
    pub detailed_monitoring: bool,
    /// Network interfaces; at least one.
    pub interfaces: Vec<Interface>,
    /// Timeouts in seconds: TCP established, UDP stream, UDP.
    pub connection_tracking: Option<(Option<i32>, Option<i32>, Option<i32>)>,
    /// `enabled`, `disabled`, or left to the type.
    pub nested_virtualization: Option<String>,
    /// `default` or `dedicated`.
    pub tenancy: String,
    /// For spot requests.
    pub spot: bool,
    /// The capacity reservation; none: no reservation is used, not even an open one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// Id of the placement group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement_group: Option<String>,
    /// Tags of the template and of what is made with it.
    pub tags: Tags,
}

/// A disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// Such as `/dev/xvda`.
    pub device: String,
    /// Size in GiB.
    pub gib: Option<i32>,
    /// Such as `gp3`.
    pub kind: Option<String>,
    /// Operations per second.
    pub iops: Option<i32>,
    /// MiB per second.
    pub throughput: Option<i32>,
    /// Whether it is encrypted.
    pub encrypted: Option<bool>,
    /// Whether it goes with the instance.
    pub delete_on_termination: Option<bool>,
    /// The key it is encrypted with.
    pub kms_key: Option<String>,
    /// The snapshot it is made from.
    pub snapshot: Option<String>,
    /// MiB per second that are fetched from the snapshot.
    pub initialization_rate: Option<i32>,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Interface {
    /// Network card.
    pub card: Option<i32>,
    /// Place on the card.
    pub device: i32,
    /// `interface`, `efa`, `efa-only`; none: ordinary.
    pub kind: Option<String>,
    /// Security groups.
    pub security_groups: Vec<String>,
    /// Public address; none: the subnet decides.
    pub public_ip: Option<bool>,
    /// Prefixes of IPv4 addresses.
    pub ipv4_prefixes: Option<i32>,
    /// Prefixes of IPv6 addresses.
    pub ipv6_prefixes: Option<i32>,
    /// One IPv6 address, which is the node's.
    pub primary_ipv6: bool,
    /// Whether the template's timeouts of tracked connections apply.
    pub tracks_connections: bool,
}

impl TemplateSpec {
    /// `karpenter.k8s.aws/<hash of all of it>`
    pub fn name(&self) -> String {
        // The data holds only text, numbers and lists, which always serialise.
        let json = serde_json::to_vec(self).unwrap_or_default();
        format!(
            "{}/{}",
            joiner_api::labels::AWS_GROUP,
            hex::encode(&Sha256::digest(json)[..12])
        )
    }
}

/// The template of an order in one shape.
pub fn template(order: &Order<'_>, shape: &Shape) -> Result<TemplateSpec, LaunchError> {
    let class = order.class;
    let spot = order.plan.capacity_type == CapacityType::Spot;
    let metadata = &class.metadata;
    Ok(TemplateSpec {
        image: shape.image.clone(),
        instance_profile: class.instance_profile.clone(),
        user_data: user_data(order, shape)?,
        disks: disks(class),
        metadata: (
            metadata.endpoint.as_str().to_owned(),
            metadata.tokens.as_str().to_owned(),
            metadata.ipv6.as_str().to_owned(),
            metadata.hop_limit,
        ),
        detailed_monitoring: class.detailed_monitoring,
        interfaces: interfaces(order, shape),
        connection_tracking: class.connection_tracking.as_ref().map(|tracking| {
            (
                tracking.tcp_established_timeout,
                tracking.udp_stream_timeout,
                tracking.udp_timeout,
            )
        }),
        nested_virtualization: class
            .nested_virtualization
            .map(|switch| switch.as_str().to_owned()),
        tenancy: order.tenancy.as_str().to_owned(),
        spot,
        target: target(class, shape),
        placement_group: class.placement_group.clone(),
        tags: order.tags(),
    })
}

fn target(class: &NodeClass, shape: &Shape) -> Option<Target> {
    let id = shape.reservation.as_ref()?;
    let reservation = class.reservations.iter().find(|it| it.id == *id);
    let market = reservation.and_then(|it| match (it.kind, it.interruptible) {
        (CapacityReservationType::CapacityBlock, _) => Some(Market::CapacityBlock),
        (CapacityReservationType::Default, true) => Some(Market::Interruptible),
        (CapacityReservationType::Default, false) => None,
    });
    Some(Target {
        reservation: id.clone(),
        market,
    })
}

fn user_data(order: &Order<'_>, shape: &Shape) -> Result<String, LaunchError> {
    let class = order.class;
    let mut labels: BTreeMap<String, String> = order
        .labels
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect();
    labels.insert(
        CAPACITY_TYPE.to_owned(),
        order.plan.capacity_type.as_str().to_owned(),
    );
    if class.family != AmiFamily::Custom {
        // The node registers with all its taints; taking them over later would bring back startup taints.
        labels.insert(DO_NOT_SYNC_TAINTS.to_owned(), "true".to_owned());
    }
    let taints: Vec<Taint> = order.taints.iter().chain(order.startup_taints).cloned().collect();
    let image_version = if class.alias_version.is_empty() {
        version_in_name(
            class
                .images
                .iter()
                .find(|image| image.id == shape.image)
                .map_or("", |image| &image.name),
        )
    } else {
        &class.alias_version
    };
    let bootstrap = Bootstrap {
        cluster: order.cluster,
        kubelet: &class.kubelet,
        max_pods: shape.max_pods,
        taints: &taints,
        labels: &labels,
        striped_local_disks: class.instance_store == Some(InstanceStorePolicy::RAID0),
        custom: class.user_data.as_deref(),
        image_version,
    };
    render(class.family, &bootstrap)
        .map(|data| data.base64())
        .map_err(|cause| LaunchError::UserData {
            name: class.name.clone(),
            cause,
        })
}

/// `v1.46.0` of `bottlerocket-aws-k8s-1.33-x86_64-v1.46.0-431fe75a`; "" where there is none.
fn version_in_name(name: &str) -> &str {
    name.split('-')
        .find(|part| part.starts_with('v') && part.contains('.'))
        .unwrap_or("")
}

fn disks(class: &NodeClass) -> Vec<Disk> {
    let own = &class.block_devices;
    let mappings: Vec<BlockDeviceMapping> = if own.is_empty() {
        family::default_block_devices(class.family)
    } else {
        own.clone()
    };
    mappings.into_iter().map(disk).collect()
}

fn disk(mapping: BlockDeviceMapping) -> Disk {
    let BlockDeviceMapping {
        device_name,
        ebs,
        root_volume: _,
    } = mapping;
    let ebs = ebs.unwrap_or_default();
    let small = |number: i64| i32::try_from(number).ok().filter(|number| *number != 0);
    Disk {
        device: device_name.unwrap_or_default(),
        gib: ebs.volume_size.as_ref().and_then(gib),
        kind: ebs.volume_type.map(|kind| kind.as_str().to_owned()),
        iops: ebs.iops.and_then(small),
        throughput: ebs.throughput.and_then(small),
        encrypted: ebs.encrypted,
        delete_on_termination: ebs.delete_on_termination,
        kms_key: ebs.kms_key_id,
        snapshot: ebs.snapshot_id,
        initialization_rate: ebs.volume_initialization_rate,
    }
}

/// Whole GiB, rounded up.
fn gib(size: &Quantity) -> Option<i32> {
    let bytes = size.value();
    i32::try_from((bytes + (1 << 30) - 1) >> 30).ok()
}

fn interfaces(order: &Order<'_>, shape: &Shape) -> Vec<Interface> {
    let class = order.class;
    let ipv6 = order.cluster.dns.is_some_and(|address| address.is_ipv6());
    let ordinary = Interface {
        card: None,
        device: 0,
        kind: None,
        security_groups: class.security_groups.clone(),
        public_ip: class.public_ip,
        ipv4_prefixes: class.ip_prefixes.filter(|_| !ipv6),
        ipv6_prefixes: class.ip_prefixes.filter(|_| ipv6),
        primary_ipv6: ipv6,
        tracks_connections: true,
    };
    if !class.network_interfaces.is_empty() {
        let of = |written: &joiner_api::NetworkInterface| {
            let place = (Some(written.network_card_index), written.device_index);
            match written.interface_type {
                InterfaceType::Interface => Interface {
                    card: place.0,
                    device: place.1,
                    kind: Some("interface".to_owned()),
                    ..ordinary.clone()
                },
                // EC2 refuses addresses on an interface that carries fabric traffic alone.
                InterfaceType::EfaOnly => Interface {
                    card: place.0,
                    device: place.1,
                    kind: Some("efa-only".to_owned()),
                    security_groups: class.security_groups.clone(),
                    ..Interface::default()
                },
            }
        };
        return class.network_interfaces.iter().map(of).collect();
    }
    if shape.efas > 0 {
        let count = i32::try_from(shape.efas).unwrap_or(0);
        return (0..count)
            .map(|card| Interface {
                card: Some(card),
                // The first card's interface is the primary one.
                device: i32::from(card != 0),
                kind: Some("efa".to_owned()),
                ..ordinary.clone()
            })
            .collect();
    }
    vec![ordinary]
}
