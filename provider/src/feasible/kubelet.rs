//! Kubelet settings with which no pod would run, or that do not mean what they seem to.

use super::finding::{Finding, spec};
use super::types::Types;
use joiner_api::{AmiFamily, EC2NodeClass, Quantity};
use joiner_core::resources::ResourceName;
use std::collections::BTreeMap;

/// Disk usage in percent at which images are removed, and down to which, where a KubeletConfiguration says nothing.
const GC_HIGH: i32 = 85;
const GC_LOW: i32 = 80;

/// Looks at the kubelet settings of a class of this family.
pub(super) fn check(family: AmiFamily, class: &EC2NodeClass, types: &Types, found: &mut Vec<Finding>) {
    let Some(kubelet) = &class.spec.kubelet else {
        return;
    };
    if kubelet.max_pods == Some(0) {
        found.push(Finding::wrong(
            spec(&["kubelet", "maxPods"]),
            "No pod fits on the nodes",
            "Nodes would take no pod at all, so none is ever bought. Write at least 1, or leave it out."
                .to_owned(),
        ));
    }
    let reserved = [
        ("kubeReserved", &kubelet.kube_reserved),
        ("systemReserved", &kubelet.system_reserved),
    ];
    for (field, amounts) in reserved {
        check_reserved(field, amounts, types, found);
    }
    check_image_clean_up(class, found);
    if family == AmiFamily::Bottlerocket && kubelet.pods_per_core.is_some_and(|count| count > 0) {
        found.push(Finding::doubtful(
            spec(&["kubelet", "podsPerCore"]),
            "The image does not know it",
            "Bottlerocket has no such setting, so it is not passed on. Write maxPods, or use AL2023."
                .to_owned(),
        ));
    }
}

/// More kept back than any node has.
fn check_reserved(
    field: &'static str,
    amounts: &BTreeMap<String, String>,
    types: &Types,
    found: &mut Vec<Finding>,
) {
    let all = types.all();
    for (name, resource) in [("cpu", ResourceName::Cpu), ("memory", ResourceName::Memory)] {
        let Some(kept) = amounts.get(name).and_then(|text| text.parse::<Quantity>().ok()) else {
            continue;
        };
        let kept = match resource {
            ResourceName::Cpu => kept.milli(),
            _ => kept.value(),
        };
        let most = all.iter().map(|kind| kind.capacity.get(&resource)).max();
        if let Some(most) = most.filter(|most| kept >= *most) {
            found.push(Finding::wrong(
                spec(&["kubelet", field, name]),
                "No node has so much",
                format!(
                    "{} is kept from pods, and the largest type in {} has {}, so no pod would ever fit. Write less.",
                    resource.display(kept),
                    types.source(),
                    resource.display(most)
                ),
            ));
        }
    }
}

/// One threshold beside the default of the other.
fn check_image_clean_up(class: &EC2NodeClass, found: &mut Vec<Finding>) {
    let Some(kubelet) = &class.spec.kubelet else {
        return;
    };
    let (field, given, other, default) = match (
        kubelet.image_gc_high_threshold_percent,
        kubelet.image_gc_low_threshold_percent,
    ) {
        (None, Some(low)) if low >= GC_HIGH => (
            "imageGCLowThresholdPercent",
            low,
            "imageGCHighThresholdPercent",
            GC_HIGH,
        ),
        (Some(high), None) if high <= GC_LOW => (
            "imageGCHighThresholdPercent",
            high,
            "imageGCLowThresholdPercent",
            GC_LOW,
        ),
        _ => return,
    };
    // An image of one's own, or user data, may say otherwise: so it is a doubt.
    found.push(Finding::doubtful(
        spec(&["kubelet", field]),
        "The kubelet would not start",
        format!(
            "It is {given}, and {other} is not set: the kubelet's default for that is {default}, and it starts only where the high threshold is \
             above the low one. Set both."
        ),
    ));
}
