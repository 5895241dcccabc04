//! One to three pools.

use serde_json::{Value, json};

use super::{TEAM, TEAMS, ZONES};
use crate::draw::Draw;
use crate::objects::{ARCH, CAPACITY_TYPE, INSTANCE_TYPE, ZONE, pool, requirement};

pub(super) fn all(draw: &mut Draw) -> Vec<Value> {
    (0..draw.between(1, 3)).map(|index| one(draw, index)).collect()
}

fn one(draw: &mut Draw, index: usize) -> Value {
    let mut requirements = Vec::new();
    if draw.chance(50) {
        requirements.push(requirement(
            CAPACITY_TYPE,
            "In",
            &draw.some(&["spot", "on-demand", "reserved"]),
        ));
    }
    if draw.chance(25) {
        requirements.push(requirement(ZONE, "In", &draw.some(&ZONES)));
    }
    if draw.chance(15) {
        requirements.push(requirement(ARCH, "In", &draw.some(&["amd64", "arm64"])));
    }
    if draw.chance(15) {
        requirements.push(requirement(
            "size",
            draw.word(&["In", "NotIn"]),
            &[draw.word(&["small", "large"])],
        ));
    }
    if draw.chance(10) {
        requirements.push(requirement(
            "integer",
            draw.word(&["Gt", "Lt"]),
            &[draw.word(&["1", "4", "8"])],
        ));
    }
    if draw.chance(10) {
        requirements.push(requirement("family", draw.word(&["Exists", "DoesNotExist"]), &[]));
    }
    if draw.chance(8) {
        requirements
            .push(json!({"key": INSTANCE_TYPE, "operator": "Exists", "minValues": draw.between(1, 3)}));
    }
    if draw.chance(10) {
        requirements.push(requirement(
            TEAM,
            draw.word(&["In", "NotIn", "Exists"]),
            &draw.some(&TEAMS),
        ));
    }
    let mut made = pool(&format!("pool-{index}"), requirements);
    let template = &mut made["spec"]["template"];
    if draw.chance(30) {
        template["metadata"] = json!({"labels": {TEAM: draw.pick(&TEAMS)}});
    }
    if draw.chance(30) {
        template["spec"]["taints"] = json!([taint(draw)]);
    }
    if draw.chance(10) {
        template["spec"]["startupTaints"] = json!([{"key": "example.com/starting", "effect": "NoSchedule"}]);
    }
    if draw.chance(25) {
        made["spec"]["weight"] = json!(draw.between(1, 100));
    }
    if draw.chance(15) {
        made["spec"]["limits"] = match draw.below(3) {
            0 => json!({"cpu": draw.pick(&["2", "8", "20"])}),
            1 => json!({"memory": draw.pick(&["4Gi", "16Gi", "64Gi"])}),
            _ => json!({"nodes": draw.pick(&["1", "2", "4"])}),
        };
    }
    made
}

/// One of the taints that tolerations speak of.
pub(super) fn taint(draw: &mut Draw) -> Value {
    json!({
        "key": "dedicated", "value": draw.pick(&["a", "b"]),
        "effect": draw.pick(&["NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"]),
    })
}
