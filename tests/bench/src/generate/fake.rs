//! Instance types as Karpenter's own benchmark makes them up: the n-th has n cores, twice that in GiB, ten times that
//! in pods, and costs a tenth of a dollar for every core and every gigabyte.

use serde_json::{Value, json};

use super::{catalogue, offering};
use crate::objects::{ARCH, CAPACITY_TYPE, INSTANCE_TYPE, OS, ZONE, requirement};

/// The labels that these types have and Kubernetes does not know.
pub const WELL_KNOWN: [&str; 3] = ["size", "special", "integer"];
const PLACES: [(&str, &str); 5] = [
    ("test-zone-1", "spot"),
    ("test-zone-2", "spot"),
    ("test-zone-1", "on-demand"),
    ("test-zone-2", "on-demand"),
    ("test-zone-3", "on-demand"),
];

/// A catalogue of `count` types.
pub fn types(count: u32) -> Value {
    catalogue(&WELL_KNOWN, (1..=count).map(one).collect())
}

fn one(cores: u32) -> Value {
    let name = format!("fake-it-{}", cores - 1);
    let gib = 2 * u64::from(cores);
    let price = 0.1 * f64::from(cores) + 0.1 * f64::from(2 * cores) * f64::from(1u32 << 30) / 1e9;
    // Prices are whole micro-dollars here.
    let price = (price * 1e6).round() / 1e6;
    let large = cores > 4 && gib > 8;
    let count = cores.to_string();
    let mut requirements = vec![
        requirement(INSTANCE_TYPE, "In", &[&name]),
        requirement(ARCH, "In", &["amd64"]),
        requirement(OS, "In", &["linux", "windows", "darwin"]),
        requirement(ZONE, "In", &["test-zone-1", "test-zone-2", "test-zone-3"]),
        requirement(CAPACITY_TYPE, "In", &["spot", "on-demand"]),
        requirement("size", "In", &[if large { "large" } else { "small" }]),
        requirement("integer", "In", &[&count]),
    ];
    requirements.push(if large {
        requirement("special", "In", &["optional"])
    } else {
        requirement("special", "DoesNotExist", &[])
    });
    json!({
        "name": name,
        "requirements": requirements,
        "capacity": {"cpu": count, "memory": format!("{gib}Gi"), "pods": (10 * cores).to_string()},
        "overhead": {"kubeReserved": {"cpu": "100m", "memory": "10Mi"}},
        "offerings": (PLACES.map(|(zone, capacity_type)| offering(zone, capacity_type, price))),
    })
}
