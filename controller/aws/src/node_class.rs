//! An EC2NodeClass as the catalogue and the launch need it: translated once, complete, without `Option<String>`.

use crate::tags::Tags;
use joiner_api::{
    AmiFamily, BlockDeviceMapping, CapacityReservationState, CapacityReservationType, ConnectionTracking,
    EC2NodeClass, EC2NodeClassSpec, InstanceStorePolicy, InterfaceType, KubeletConfiguration,
    MetadataOptions, NetworkInterface, Switch, TokenState,
};
use joiner_core::requirements::{Operator, Requirement, Requirements};
use std::collections::BTreeMap;

/// A node class whose selectors have been resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeClass {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// How user data is made and which defaults apply.
    pub family: AmiFamily,
    /// Version in the alias, such as `v1.46.0` or `latest`; empty without an alias.
    pub alias_version: String,
    /// Candidate subnets, sorted by id.
    pub subnets: Vec<Subnet>,
    /// Ids of the security groups, sorted.
    pub security_groups: Vec<String>,
    /// Candidate images, best first.
    pub images: Vec<Image>,
    /// Name of the instance profile.
    pub instance_profile: String,
    /// Disks as written; empty: the family's own.
    pub block_devices: Vec<BlockDeviceMapping>,
    /// What is made of local disks.
    pub instance_store: Option<InstanceStorePolicy>,
    /// Kubelet settings as written.
    pub kubelet: KubeletConfiguration,
    /// How instances reach their metadata.
    pub metadata: Metadata,
    /// Network interfaces instead of the usual one.
    pub network_interfaces: Vec<NetworkInterface>,
    /// Timeouts of tracked connections.
    pub connection_tracking: Option<ConnectionTracking>,
    /// Whether virtual machines shall run on the instances.
    pub nested_virtualization: Option<Switch>,
    /// Metrics every minute.
    pub detailed_monitoring: bool,
    /// Public address; none: the subnet decides.
    pub public_ip: Option<bool>,
    /// Address prefixes of the first interface.
    pub ip_prefixes: Option<i32>,
    /// The user's part of the user data.
    pub user_data: Option<String>,
    /// The user's tags.
    pub tags: Tags,
    /// Passed to CreateFleet as it is.
    pub context: Option<String>,
    /// Capacity reservations that instances may be launched into, sorted by id.
    pub reservations: Vec<Reservation>,
    /// Id of the placement group that instances are launched into. A status does not hold it: who has looked it up sets it.
    pub placement_group: Option<String>,
}

/// A capacity reservation that instances may be launched into.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reservation {
    /// Such as `cr-0123`.
    pub id: String,
    /// The type that it holds.
    pub instance_type: String,
    /// The zone that it is in.
    pub zone: String,
    /// Whether it is a block for a set time.
    pub kind: CapacityReservationType,
    /// Whether AWS may take the capacity back.
    pub interruptible: bool,
    /// Whether it is about to end, so that nothing is launched into it any more.
    pub expiring: bool,
    /// How many more instances it holds. A status does not say so: who has looked it up sets it.
    pub remaining: u32,
}

/// A subnet that instances may be put into.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subnet {
    /// Such as `subnet-0123`.
    pub id: String,
    /// Such as `us-west-2a`.
    pub zone: String,
    /// Such as `usw2-az1`; empty if not known.
    pub zone_id: String,
}

/// An image and the instance types that it runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Such as `ami-0123`.
    pub id: String,
    /// Its name; empty if not known.
    pub name: String,
    /// What an instance type must be.
    pub requirements: Requirements,
}

/// How an instance reaches its metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Whether the service answers.
    pub endpoint: Switch,
    /// Whether it answers over IPv6.
    pub ipv6: Switch,
    /// Network hops that an answer may take.
    pub hop_limit: i32,
    /// Whether a session token is needed (IMDSv2).
    pub tokens: TokenState,
}

/// Why nothing can be launched with a node class yet: parts that its status lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("EC2NodeClass {name} is not ready: its status has no {}", .missing.join(", no "))]
pub struct NotReady {
    /// Name of the node class.
    pub name: String,
    /// `subnets`, `securityGroups`, `amis`, `instanceProfile`, `amiFamily`.
    pub missing: Vec<&'static str>,
}

/// Family and version of the alias among the image terms.
pub fn alias(spec: &EC2NodeClassSpec) -> Option<(AmiFamily, &str)> {
    let text = spec
        .ami_selector_terms
        .iter()
        .find_map(|term| term.alias.as_deref())?;
    let (word, version) = text.split_once('@')?;
    let (_, family) = AmiFamily::ALIASES.into_iter().find(|(known, _)| *known == word)?;
    Some((family, version))
}

/// The family that user data is made for: as written, else the alias'.
pub fn family(spec: &EC2NodeClassSpec) -> Option<AmiFamily> {
    spec.ami_family.or_else(|| alias(spec).map(|(family, _)| family))
}

impl NodeClass {
    /// The zones of the subnets with their ids, sorted, each once.
    pub fn zones(&self) -> BTreeMap<&str, &str> {
        self.subnets
            .iter()
            .map(|subnet| (subnet.zone.as_str(), subnet.zone_id.as_str()))
            .collect()
    }

    /// Ids of the subnets in a zone.
    pub fn subnets_in(&self, zone: &str) -> Vec<&str> {
        self.subnets
            .iter()
            .filter(|subnet| subnet.zone == zone)
            .map(|subnet| subnet.id.as_str())
            .collect()
    }

    /// How many of the network interfaces carry fabric traffic alone.
    pub fn efa_only_interfaces(&self) -> usize {
        self.network_interfaces
            .iter()
            .filter(|card| card.interface_type == InterfaceType::EfaOnly)
            .count()
    }
}

/// What must be there before anything can be launched.
impl TryFrom<&EC2NodeClass> for NodeClass {
    type Error = NotReady;

    fn try_from(class: &EC2NodeClass) -> Result<Self, NotReady> {
        let resolved = for_catalogue(class)?;
        let mut missing = Vec::new();
        if resolved.security_groups.is_empty() {
            missing.push("securityGroups");
        }
        if resolved.images.is_empty() {
            missing.push("amis");
        }
        if resolved.instance_profile.is_empty() {
            missing.push("instanceProfile");
        }
        if missing.is_empty() {
            Ok(resolved)
        } else {
            Err(NotReady {
                name: resolved.name,
                missing,
            })
        }
    }
}

/// As [`NodeClass::try_from`], for the catalogue alone, which needs family and subnets only.
pub fn for_catalogue(class: &EC2NodeClass) -> Result<NodeClass, NotReady> {
    let name = class.metadata.name.clone().unwrap_or_default();
    let status = class.status.clone().unwrap_or_default();
    let family = family(&class.spec);
    let mut subnets: Vec<Subnet> = status
        .subnets
        .into_iter()
        .map(|subnet| Subnet {
            id: subnet.id,
            zone: subnet.zone,
            zone_id: subnet.zone_id.unwrap_or_default(),
        })
        .collect();
    subnets.sort();
    let (Some(family), false) = (family, subnets.is_empty()) else {
        let mut missing = Vec::new();
        if subnets.is_empty() {
            missing.push("subnets");
        }
        if family.is_none() {
            missing.push("amiFamily");
        }
        return Err(NotReady { name, missing });
    };
    let mut reservations: Vec<Reservation> = status
        .capacity_reservations
        .into_iter()
        .map(|it| Reservation {
            id: it.id,
            instance_type: it.instance_type,
            zone: it.availability_zone,
            kind: it.reservation_type,
            interruptible: it.interruptible.unwrap_or(false),
            expiring: it.state == CapacityReservationState::Expiring,
            remaining: 0,
        })
        .collect();
    reservations.sort();
    let mut security_groups: Vec<String> = status.security_groups.into_iter().map(|group| group.id).collect();
    security_groups.sort();
    let images = status
        .amis
        .into_iter()
        .map(|ami| Image {
            id: ami.id,
            name: ami.name.unwrap_or_default(),
            requirements: image_requirements(&ami.requirements),
        })
        .collect();
    let EC2NodeClassSpec {
        ami_family: _,
        ami_selector_terms: _,
        associate_public_ip_address,
        block_device_mappings,
        capacity_reservation_selector_terms: _,
        connection_tracking,
        context,
        cpu_options,
        detailed_monitoring,
        instance_profile,
        instance_store_policy,
        ip_prefix_count,
        kubelet,
        metadata_options,
        network_interfaces,
        placement_group_selector: _,
        role: _,
        security_group_selector_terms: _,
        subnet_selector_terms: _,
        tags,
        user_data,
    } = class.spec.clone();
    Ok(NodeClass {
        name,
        uid: class.metadata.uid.clone().unwrap_or_default(),
        family,
        alias_version: alias(&class.spec)
            .map(|(_, version)| version.to_owned())
            .unwrap_or_default(),
        subnets,
        security_groups,
        images,
        instance_profile: status.instance_profile.or(instance_profile).unwrap_or_default(),
        block_devices: block_device_mappings,
        instance_store: instance_store_policy,
        kubelet: kubelet.unwrap_or_default(),
        metadata: metadata(metadata_options.unwrap_or_default()),
        network_interfaces,
        connection_tracking,
        nested_virtualization: cpu_options.and_then(|options| options.nested_virtualization),
        detailed_monitoring: detailed_monitoring.unwrap_or(false),
        public_ip: associate_public_ip_address,
        ip_prefixes: ip_prefix_count,
        user_data,
        tags,
        context,
        reservations,
        placement_group: None,
    })
}

fn metadata(options: MetadataOptions) -> Metadata {
    let MetadataOptions {
        http_endpoint,
        http_protocol_ipv6,
        http_put_response_hop_limit,
        http_tokens,
    } = options;
    Metadata {
        endpoint: http_endpoint.unwrap_or(Switch::Enabled),
        ipv6: http_protocol_ipv6.unwrap_or(Switch::Disabled),
        hop_limit: http_put_response_hop_limit
            .and_then(|hops| i32::try_from(hops).ok())
            .unwrap_or(1),
        tokens: http_tokens.unwrap_or(TokenState::Required),
    }
}

/// Reads the requirements in a status; one that has no meaning is left out, since only we write them.
fn image_requirements(written: &[joiner_api::SelectorRequirement]) -> Requirements {
    written
        .iter()
        .filter_map(|requirement| {
            let operator = Operator::parse(requirement.operator.as_str())?;
            Requirement::new(
                requirement.key.as_str(),
                operator,
                requirement.values.iter().map(String::as_str),
            )
            .ok()
        })
        .collect()
}
