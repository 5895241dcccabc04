//! A handful of instance types.

use serde_json::{Value, json};

use super::ZONES;
use crate::draw::Draw;
use crate::objects::{ARCH, CAPACITY_TYPE, INSTANCE_TYPE, OS, ZONE, requirement};

const WELL_KNOWN: [&str; 3] = ["size", "integer", "family"];
const RESERVATION: &str = "karpenter.k8s.aws/capacity-reservation-id";

pub(super) fn catalogue(draw: &mut Draw) -> Value {
    let count = draw.between(2, 7);
    let types = (0..count).map(|index| one(draw, index)).collect();
    super::super::catalogue(&WELL_KNOWN, types)
}

/// The name of the type of that index.
pub(super) fn name(index: usize) -> String {
    format!("type-{index}")
}

fn one(draw: &mut Draw, index: usize) -> Value {
    let cores = *draw.pick(&[1u32, 2, 4, 8, 16]);
    let gib = cores * *draw.pick(&[1u32, 2, 4]);
    let arch = if draw.chance(80) { "amd64" } else { "arm64" };
    let price = 0.05 * f64::from(cores) * draw.fraction(0.7, 1.4);
    let mut offerings = Vec::new();
    for zone in ZONES {
        for (kind, part, share) in [("on-demand", 1.0, 85), ("spot", draw.fraction(0.3, 0.7), 60)] {
            let there = draw.chance(if zone == ZONES[2] { share / 2 } else { share });
            if there {
                let mut made = super::super::offering(zone, kind, micro(price * part));
                made["available"] = json!(draw.chance(92));
                offerings.push(made);
            }
        }
    }
    if draw.chance(8) {
        offerings.push(reserved(draw, index));
    }
    if offerings.is_empty() {
        offerings.push(super::super::offering(ZONES[0], "on-demand", micro(price)));
    }
    let values = |key: &str| -> Vec<String> {
        let mut all: Vec<String> = offerings
            .iter()
            .filter(|it| it["available"] == true)
            .flat_map(|it| it["requirements"].as_array().into_iter().flatten())
            .filter(|it| it["key"] == key)
            .filter_map(|it| it["values"][0].as_str().map(str::to_owned))
            .collect();
        all.sort();
        all.dedup();
        all
    };
    let name = name(index);
    let count = cores.to_string();
    let mut requirements = vec![
        requirement(INSTANCE_TYPE, "In", &[&name]),
        requirement(ARCH, "In", &[arch]),
        requirement(OS, "In", &["linux"]),
        json!({"key": ZONE, "operator": "In", "values": values(ZONE)}),
        json!({"key": CAPACITY_TYPE, "operator": "In", "values": values(CAPACITY_TYPE)}),
        requirement("size", "In", &[if cores > 4 { "large" } else { "small" }]),
        requirement("integer", "In", &[&count]),
    ];
    requirements.push(if draw.chance(70) {
        requirement("family", "In", &[["c", "m", "r"][draw.below(3)]])
    } else {
        requirement("family", "DoesNotExist", &[])
    });
    json!({
        "name": name,
        "requirements": requirements,
        "capacity": {"cpu": count, "memory": format!("{gib}Gi"), "pods": draw.pick(&["3", "10", "110"]), "ephemeral-storage": "20Gi"},
        "overhead": {"kubeReserved": {"cpu": "100m", "memory": "100Mi"}},
        "offerings": offerings,
    })
}

fn reserved(draw: &mut Draw, index: usize) -> Value {
    let mut made = super::super::offering(draw.word(&ZONES), "reserved", 0.000_001);
    made["reservationCapacity"] = json!(draw.between(1, 2));
    if let Some(all) = made["requirements"].as_array_mut() {
        all.push(json!({"key": RESERVATION, "operator": "In", "values": [format!("cr-{index}")]}));
    }
    made
}

/// Rounded to a millionth of a dollar.
fn micro(price: f64) -> f64 {
    (price * 1e6).round() / 1e6
}
