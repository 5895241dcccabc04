//! What the CRD of EC2NodeClass cannot say.

use super::{Violation, kubelet, view::View};

/// EC2's limit on user data before encoding, in bytes.
const USER_DATA_LIMIT: usize = 16 * 1024;

/// Rules of an EC2NodeClass.
pub(super) fn ec2_node_class(class: &View<'_>, found: &mut Vec<Violation>) {
    let Some(spec) = class.field("spec") else { return };
    for mapping in spec.field("blockDeviceMappings").iter().flat_map(View::items) {
        if let Some(ebs) = mapping.field("ebs") {
            check_volume(&ebs, found);
        }
    }
    check_device_names(&spec, found);
    if let Some(data) = spec.field("userData")
        && let Some(text) = data.value.as_str()
        && text.len() > USER_DATA_LIMIT
    {
        found.push(data.fail(format!(
            "has {} bytes, but EC2 accepts at most {USER_DATA_LIMIT} in all: fetch the larger part at boot",
            text.len()
        )));
    }
    if let Some(settings) = spec.field("kubelet") {
        kubelet::check(&settings, found);
    }
}

/// EC2 refuses a launch with settings that the kind of volume does not have.
fn check_volume(ebs: &View<'_>, found: &mut Vec<Violation>) {
    let Some(kind) = ebs.text("volumeType") else {
        return;
    };
    if let Some(iops) = ebs.field("iops")
        && !matches!(kind, "gp3" | "io1" | "io2")
    {
        found.push(iops.fail(format!(
            "{kind} volumes have no settable IOPS: remove it, or use gp3, io1 or io2"
        )));
    }
    for (field, value, least) in [
        ("iops", ebs.field("iops"), least_iops(kind)),
        ("throughput", ebs.field("throughput"), least_throughput(kind)),
    ] {
        if let (Some(value), Some(least)) = (value, least)
            && value.value.as_i64().is_some_and(|given| given < least)
        {
            found.push(value.fail(format!(
                "{kind} volumes have a {field} of at least {least}: give that or more, or leave it out"
            )));
        }
    }
    if !ebs.may_have("iops") && matches!(kind, "io1" | "io2") {
        found.push(ebs.fail(format!("{kind} volumes need 'iops': set it, or use gp3")));
    }
    if let Some(throughput) = ebs.field("throughput")
        && kind != "gp3"
    {
        found.push(throughput.fail(format!(
            "{kind} volumes have no settable throughput: remove it, or use gp3"
        )));
    }
}

/// The least IOPS that EC2 takes for a kind of volume (`EbsBlockDevice` in its API reference).
fn least_iops(kind: &str) -> Option<i64> {
    match kind {
        "gp3" => Some(3000),
        "io1" | "io2" => Some(100),
        _ => None,
    }
}

/// The least throughput that EC2 takes, in MiB a second.
fn least_throughput(kind: &str) -> Option<i64> {
    (kind == "gp3").then_some(125)
}

fn check_device_names(spec: &View<'_>, found: &mut Vec<Violation>) {
    let mut seen = std::collections::BTreeMap::new();
    for mapping in spec.field("blockDeviceMappings").iter().flat_map(View::items) {
        let Some(name) = mapping.field("deviceName") else {
            continue;
        };
        let Some(text) = name.value.as_str() else { continue };
        if let Some(first) = seen.insert(text, mapping.path.clone()) {
            found.push(name.fail(format!(
                "the device {text} is already mapped at {first}: use another name"
            )));
        }
    }
}
