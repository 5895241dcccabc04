//! Block devices of an EC2NodeClass: what EC2 refuses at every launch.
//!
//! The limits are those of `EbsBlockDevice` in EC2's API reference, and the ratios those of "Amazon EBS volume types" in its user guide.

use std::collections::BTreeMap;

use super::{Violation, names, view::View};
use crate::Quantity;

/// What EC2 lets be set of a kind of volume.
struct Limits {
    kind: &'static str,
    /// Sizes in GiB.
    gib: (i64, i64),
    /// IOPS that can be asked for; none where the kind has none to set.
    iops: Option<Iops>,
}

/// IOPS that can be asked for.
#[derive(Clone, Copy)]
struct Iops {
    range: (i64, i64),
    /// The most for each GiB of the volume.
    per_gib: i64,
}

const LIMITS: [Limits; 7] = [
    limits("standard", (1, 1024), None),
    limits("gp2", (1, 16_384), None),
    limits("gp3", (1, 65_536), iops((3000, 80_000), 500)),
    limits("io1", (4, 16_384), iops((100, 64_000), 50)),
    limits("io2", (4, 65_536), iops((100, 256_000), 1000)),
    limits("st1", (125, 16_384), None),
    limits("sc1", (125, 16_384), None),
];

/// Throughput that can be asked for, in MiB a second; gp3 alone has any to set.
const THROUGHPUT: (i64, i64) = (125, 2000);
/// A MiB a second needs so many IOPS.
const IOPS_PER_MIB: i64 = 4;
/// What a gp3 volume has without asking, whatever its size.
const BASE_IOPS: i64 = 3000;

const fn limits(kind: &'static str, gib: (i64, i64), iops: Option<Iops>) -> Limits {
    Limits { kind, gib, iops }
}

const fn iops(range: (i64, i64), per_gib: i64) -> Option<Iops> {
    Some(Iops { range, per_gib })
}

/// Rules of the block devices of a class' spec.
pub(super) fn check(spec: &View<'_>, found: &mut Vec<Violation>) {
    for mapping in spec.field("blockDeviceMappings").iter().flat_map(View::items) {
        check_name(&mapping, found);
        if let Some(ebs) = mapping.field("ebs") {
            check_source(&ebs, found);
            check_kind(&ebs, found);
        }
    }
    check_names_differ(spec, found);
}

/// EC2: "Missing device name".
fn check_name(mapping: &View<'_>, found: &mut Vec<Violation>) {
    const REMEDY: &str = "name it, such as /dev/xvda for the root volume of Amazon Linux";
    match mapping.field("deviceName") {
        Some(name) if name.value.as_str() == Some("") => {
            found.push(name.fail(format!("a volume needs a device's name: {REMEDY}")));
        }
        None if !mapping.may_have("deviceName") => {
            found.push(mapping.fail(format!("the volume has no 'deviceName': {REMEDY}")));
        }
        _ => {}
    }
}

fn check_names_differ(spec: &View<'_>, found: &mut Vec<Violation>) {
    let mut seen = BTreeMap::new();
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

/// The snapshot that a volume is made from, and the key that encrypts it.
fn check_source(ebs: &View<'_>, found: &mut Vec<Violation>) {
    if let Some(snapshot) = ebs.field("snapshotID")
        && let Some(text) = snapshot.value.as_str().filter(|text| !text.is_empty())
        && !names::is_id("snap", text)
    {
        found.push(snapshot.fail(format!(
            "{text:?} is no snapshot's id: write one such as snap-0123456789abcdef0"
        )));
    }
    // EC2: "The parameter KmsKeyId requires the parameter Encrypted to be set".
    let is_encrypted = || ebs.field("encrypted").is_some_and(|it| it.value == true);
    if let Some(key) = ebs.field("kmsKeyID")
        && key.value.as_str().is_some_and(|text| !text.is_empty())
        && !is_encrypted()
        && (ebs.field("encrypted").is_some() || !ebs.may_have("encrypted"))
    {
        found.push(key.fail(
            "the key encrypts a volume whose encryption is not asked for, which EC2 refuses: set 'encrypted' to true, or remove the key",
        ));
    }
}

/// Settings that the kind of volume does not have, or not so much of.
fn check_kind(ebs: &View<'_>, found: &mut Vec<Violation>) {
    let Some(kind) = ebs.text("volumeType") else {
        return;
    };
    let Some(limits) = LIMITS.iter().find(|it| it.kind == kind) else {
        return;
    };
    let size = ebs.field("volumeSize").and_then(|size| Some((gib(&size)?, size)));
    if let Some((gib, place)) = &size {
        let (least, most) = limits.gib;
        if !(least..=most).contains(gib) {
            found.push(place.fail(format!(
                "{kind} volumes have from {least}Gi to {most}Gi: give a size in between, or use another kind"
            )));
        }
    }
    let size = size.map(|(gib, _)| gib);
    match (limits.iops, ebs.field("iops")) {
        (None, Some(asked)) => found.push(asked.fail(format!(
            "{kind} volumes have no settable IOPS: remove it, or use gp3, io1 or io2"
        ))),
        (Some(limits), Some(asked)) => check_iops(kind, limits, size, &asked, found),
        (Some(_), None) if kind != "gp3" && !ebs.may_have("iops") => {
            found.push(ebs.fail(format!("{kind} volumes need 'iops': set it, or use gp3")));
        }
        _ => {}
    }
    if let Some(asked) = ebs.field("throughput") {
        if kind == "gp3" {
            check_throughput(ebs, &asked, found);
        } else {
            found.push(asked.fail(format!(
                "{kind} volumes have no settable throughput: remove it, or use gp3"
            )));
        }
    }
}

fn check_iops(kind: &str, limits: Iops, size: Option<i64>, asked: &View<'_>, found: &mut Vec<Violation>) {
    let Iops {
        range: (least, most),
        per_gib,
    } = limits;
    let Some(given) = asked.value.as_i64() else { return };
    if !(least..=most).contains(&given) {
        let leave = if kind == "gp3" { ", or leave it out" } else { "" };
        found.push(asked.fail(format!(
            "{kind} volumes have from {least} to {most} IOPS: give a number in between{leave}"
        )));
        return;
    }
    let Some(gib) = size else { return };
    let base = if kind == "gp3" { BASE_IOPS } else { least };
    let allowed = gib.saturating_mul(per_gib).clamp(base, most);
    if given > allowed {
        found.push(asked.fail(format!(
            "{kind} volumes have at most {per_gib} IOPS a GiB, so one of {gib}Gi has {allowed}: lower it, or give a size of at least {}Gi",
            (given + per_gib - 1) / per_gib
        )));
    }
}

fn check_throughput(ebs: &View<'_>, asked: &View<'_>, found: &mut Vec<Violation>) {
    let (least, most) = THROUGHPUT;
    let Some(given) = asked.value.as_i64() else { return };
    if !(least..=most).contains(&given) {
        found.push(asked.fail(format!(
            "gp3 volumes have a throughput from {least} to {most} MiB a second: give a number in between, or leave it out"
        )));
        return;
    }
    let iops = match ebs.field("iops") {
        Some(iops) => iops.value.as_i64(),
        None => (!ebs.may_have("iops")).then_some(BASE_IOPS),
    };
    let Some(iops) = iops.filter(|iops| *iops >= BASE_IOPS) else {
        return;
    };
    let allowed = iops / IOPS_PER_MIB;
    if given > allowed {
        found.push(asked.fail(format!(
            "gp3 volumes have at most 0.25 MiB a second for each IOPS, so {iops} IOPS give {allowed}: lower it, or set 'iops' to at least {}",
            given * IOPS_PER_MIB
        )));
    }
}

/// Whole GiB, rounded up, as EC2 is asked for them.
fn gib(size: &View<'_>) -> Option<i64> {
    let bytes = size.value.as_str()?.parse::<Quantity>().ok()?.value();
    Some(bytes.checked_add((1 << 30) - 1)? >> 30)
}
