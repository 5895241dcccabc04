//! Drift hashes: what of a pool or class, when changed, makes running nodes outdated.
//!
//! Input: the object. Output: decimal digits. Invariants: an unset field, an empty one and a default that the
//! API server fills in by itself count the same where nodes come out the same; the order of lists does not
//! count; a field that is added to the API later changes no hash until somebody sets it.

use std::collections::BTreeMap;

use crate::{
    AmiFamily, BlockDevice, BlockDeviceMapping, ConnectionTracking, CpuOptions, EC2NodeClass,
    EC2NodeClassSpec, KubeletConfiguration, MetadataOptions, NetworkInterface, NillableDuration,
    NodeClaimTemplate, NodeClaimTemplateSpec, NodeClassRef, NodePool, PlacementGroupSelector, Taint,
    TemplateMetadata,
};

/// The version that goes with the hashes. It is not one of Karpenter's, so that a cluster that moves between
/// the two controllers gets its hashes rewritten and not its nodes replaced.
pub const VERSION: &str = "joiner-v1";

/// The hash of a NodePool's template.
pub fn node_pool(pool: &NodePool) -> String {
    let NodeClaimTemplate { metadata, spec } = &pool.spec.template;
    let mut fields = Fields::default();
    if let Some(TemplateMetadata { annotations, labels }) = metadata {
        fields.map("annotations", annotations);
        fields.map("labels", labels);
    }
    let NodeClaimTemplateSpec {
        expire_after,
        node_class_ref: NodeClassRef { group, kind, name },
        requirements: _, // compared with each node's labels instead
        startup_taints,
        taints,
        termination_grace_period,
    } = spec;
    // The API server's default, so that reading an object before and after defaulting makes no difference.
    let expiry = match expire_after {
        None => Some(30 * 24 * 3600 * 1_000_000_000),
        Some(NillableDuration::After(duration)) => Some(duration.nanos()),
        Some(NillableDuration::Never) => None,
    };
    fields.text("expireAfter", expiry.map(|nanos| nanos.to_string()));
    fields.text("nodeClassRef", Some(format!("{group}/{kind}/{name}")));
    fields.set("startupTaints", startup_taints.iter().map(taint));
    fields.set("taints", taints.iter().map(taint));
    fields.text(
        "terminationGracePeriod",
        termination_grace_period
            .as_ref()
            .map(|grace| grace.nanos().to_string()),
    );
    fields.hash()
}

/// The hash of an EC2NodeClass' static fields.
pub fn ec2_node_class(class: &EC2NodeClass) -> String {
    static_fields(class).hash()
}

/// A short hash of each static field of an EC2NodeClass that is set, by the field's name: to say which of them have changed. The
/// names are those of the spec; the hashes are eight hexadecimal digits.
pub fn ec2_node_class_fields(class: &EC2NodeClass) -> BTreeMap<String, String> {
    let short = |value: &str| format!("{:08x}", fnv(value) & 0xffff_ffff);
    let fields = static_fields(class).0;
    fields
        .into_iter()
        .map(|(name, value)| (name, short(&value)))
        .collect()
}

fn static_fields(class: &EC2NodeClass) -> Fields {
    let EC2NodeClassSpec {
        ami_family,
        ami_selector_terms,
        associate_public_ip_address,
        block_device_mappings,
        capacity_reservation_selector_terms: _, // compared with the node's reservation instead
        connection_tracking,
        context,
        cpu_options,
        detailed_monitoring,
        instance_profile,
        instance_store_policy,
        ip_prefix_count: _, // upstream leaves it out
        kubelet,
        metadata_options,
        network_interfaces,
        placement_group_selector,
        role,
        security_group_selector_terms: _, // compared with the node's groups instead
        subnet_selector_terms: _,         // compared with the node's subnet instead
        tags,
        user_data,
    } = &class.spec;
    let mut fields = Fields::default();
    // The image terms are compared with the node's image; here counts which family they lead to.
    let alias = ami_selector_terms.iter().find_map(|term| term.alias.as_deref());
    fields.text(
        "amiFamily",
        family(*ami_family, alias).map(|family| family.to_string()),
    );
    fields.text(
        "associatePublicIPAddress",
        associate_public_ip_address.map(|on| on.to_string()),
    );
    fields.set("blockDeviceMappings", block_device_mappings.iter().map(disk));
    fields.nested(
        "connectionTracking",
        connection_tracking.as_ref().map(connections),
    );
    fields.text("context", context.clone());
    fields.nested(
        "cpuOptions",
        cpu_options.as_ref().map(
            |CpuOptions {
                 nested_virtualization,
             }| {
                let mut fields = Fields::default();
                fields.text(
                    "nestedVirtualization",
                    nested_virtualization.map(|on| on.to_string()),
                );
                fields
            },
        ),
    );
    fields.text(
        "detailedMonitoring",
        detailed_monitoring.filter(|on| *on).map(|on| on.to_string()),
    );
    fields.text("instanceProfile", instance_profile.clone());
    fields.text(
        "instanceStorePolicy",
        instance_store_policy.map(|policy| format!("{policy:?}")),
    );
    fields.nested("kubelet", kubelet.as_ref().map(kubelet_fields));
    fields.nested("metadataOptions", Some(metadata(metadata_options.as_ref())));
    fields.set(
        "networkInterfaces",
        network_interfaces.iter().map(|interface| {
            let NetworkInterface {
                device_index,
                interface_type,
                network_card_index,
            } = interface;
            format!("{network_card_index}/{device_index}/{interface_type:?}")
        }),
    );
    fields.nested(
        "placementGroupSelector",
        placement_group_selector.as_ref().map(|selector| {
            let PlacementGroupSelector { id, name } = selector;
            let mut fields = Fields::default();
            fields.text("id", id.clone());
            fields.text("name", name.clone());
            fields
        }),
    );
    fields.text("role", role.clone());
    fields.map("tags", tags);
    fields.text("userData", user_data.clone());
    fields
}

/// The family whose user data and defaults are used: the one that is named, or the alias'.
fn family(named: Option<AmiFamily>, alias: Option<&str>) -> Option<AmiFamily> {
    named.or_else(|| {
        let word = alias?.split('@').next()?;
        AmiFamily::ALIASES
            .iter()
            .find(|(known, _)| *known == word)
            .map(|(_, family)| *family)
    })
}

fn taint(taint: &Taint) -> String {
    let Taint {
        effect,
        key,
        time_added: _,
        value,
    } = taint; // Kubernetes sets the time
    format!("{key}={}:{effect}", value.as_deref().unwrap_or_default())
}

fn disk(mapping: &BlockDeviceMapping) -> String {
    let BlockDeviceMapping {
        device_name,
        ebs,
        root_volume,
    } = mapping;
    let mut fields = Fields::default();
    fields.text("deviceName", device_name.clone());
    fields.text(
        "rootVolume",
        root_volume.filter(|on| *on).map(|on| on.to_string()),
    );
    if let Some(ebs) = ebs {
        let BlockDevice {
            delete_on_termination,
            encrypted,
            iops,
            kms_key_id,
            snapshot_id,
            throughput,
            volume_initialization_rate,
            volume_size,
            volume_type,
        } = ebs;
        fields.text(
            "deleteOnTermination",
            delete_on_termination.map(|on| on.to_string()),
        );
        fields.text("encrypted", encrypted.map(|on| on.to_string()));
        fields.text("iops", iops.map(|n| n.to_string()));
        fields.text("kmsKeyID", kms_key_id.clone());
        fields.text("snapshotID", snapshot_id.clone());
        fields.text("throughput", throughput.map(|n| n.to_string()));
        fields.text(
            "volumeInitializationRate",
            volume_initialization_rate.map(|n| n.to_string()),
        );
        fields.text(
            "volumeSize",
            volume_size.as_ref().map(|size| size.nanos().to_string()),
        );
        fields.text("volumeType", volume_type.map(|kind| kind.to_string()));
    }
    fields.line()
}

fn connections(tracking: &ConnectionTracking) -> Fields {
    let ConnectionTracking {
        tcp_established_timeout,
        udp_stream_timeout,
        udp_timeout,
    } = tracking;
    let mut fields = Fields::default();
    fields.text(
        "tcpEstablishedTimeout",
        tcp_established_timeout.map(|n| n.to_string()),
    );
    fields.text("udpStreamTimeout", udp_stream_timeout.map(|n| n.to_string()));
    fields.text("udpTimeout", udp_timeout.map(|n| n.to_string()));
    fields
}

/// With the API server's defaults, so that reading an object before and after defaulting makes no difference.
fn metadata(options: Option<&MetadataOptions>) -> Fields {
    let unset = MetadataOptions::default();
    let MetadataOptions {
        http_endpoint,
        http_protocol_ipv6,
        http_put_response_hop_limit,
        http_tokens,
    } = options.unwrap_or(&unset);
    let mut fields = Fields::default();
    let text = |set: Option<&'static str>, default: &str| Some(set.unwrap_or(default).to_owned());
    fields.text("httpEndpoint", text(http_endpoint.map(|s| s.as_str()), "enabled"));
    fields.text(
        "httpProtocolIPv6",
        text(http_protocol_ipv6.map(|s| s.as_str()), "disabled"),
    );
    fields.text(
        "httpPutResponseHopLimit",
        Some(http_put_response_hop_limit.unwrap_or(1).to_string()),
    );
    fields.text("httpTokens", text(http_tokens.map(|s| s.as_str()), "required"));
    fields
}

fn kubelet_fields(kubelet: &KubeletConfiguration) -> Fields {
    let KubeletConfiguration {
        cluster_dns,
        cpu_cfs_quota,
        eviction_hard,
        eviction_max_pod_grace_period,
        eviction_soft,
        eviction_soft_grace_period,
        image_gc_high_threshold_percent,
        image_gc_low_threshold_percent,
        kube_reserved,
        max_pods,
        pods_per_core,
        system_reserved,
        other,
    } = kubelet;
    let mut fields = Fields::default();
    fields.set("clusterDNS", cluster_dns.iter().cloned());
    fields.text("cpuCFSQuota", cpu_cfs_quota.map(|on| on.to_string()));
    fields.map("evictionHard", eviction_hard);
    fields.text(
        "evictionMaxPodGracePeriod",
        eviction_max_pod_grace_period.map(|n| n.to_string()),
    );
    fields.map("evictionSoft", eviction_soft);
    fields.map("evictionSoftGracePeriod", eviction_soft_grace_period);
    fields.text(
        "imageGCHighThresholdPercent",
        image_gc_high_threshold_percent.map(|n| n.to_string()),
    );
    fields.text(
        "imageGCLowThresholdPercent",
        image_gc_low_threshold_percent.map(|n| n.to_string()),
    );
    fields.map("kubeReserved", kube_reserved);
    fields.text("maxPods", max_pods.map(|n| n.to_string()));
    fields.text("podsPerCore", pods_per_core.map(|n| n.to_string()));
    fields.map("systemReserved", system_reserved);
    for (name, value) in other {
        fields.text(name, Some(value.to_string()));
    }
    fields
}

/// What is set, by name. Nothing is written for what is not set.
#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Fields {
    fn text(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.0.insert(name.to_owned(), value);
        }
    }

    fn map(&mut self, name: &str, values: &BTreeMap<String, String>) {
        self.nested(name, Some(Fields(values.clone())));
    }

    fn set(&mut self, name: &str, values: impl Iterator<Item = String>) {
        let mut values: Vec<String> = values.collect();
        values.sort_unstable();
        values.dedup();
        self.nested(
            name,
            Some(Fields(
                values.into_iter().map(|value| (value, String::new())).collect(),
            )),
        );
    }

    fn nested(&mut self, name: &str, fields: Option<Fields>) {
        self.text(name, fields.map(|fields| fields.line()));
    }

    /// Length-prefixed, so that no two sets of fields give the same line.
    fn line(&self) -> String {
        self.0
            .iter()
            .map(|(name, value)| format!("{}:{name}{}:{value}", name.len(), value.len()))
            .collect()
    }

    fn hash(&self) -> String {
        fnv(&self.line()).to_string()
    }
}

/// FNV-1a, 64 bits.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
