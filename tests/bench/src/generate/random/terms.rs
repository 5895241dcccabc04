//! Requirements on labels as pods write them.

use serde_json::{Value, json};

use super::{TEAM, TEAMS, ZONES, types};
use crate::draw::Draw;
use crate::objects::{ARCH, CAPACITY_TYPE, INSTANCE_TYPE, ZONE, requirement};

/// A node selector of one pair.
pub(super) fn label_pair(draw: &mut Draw) -> Value {
    match draw.below(7) {
        0 => json!({ZONE: draw.pick(&ZONES)}),
        1 => json!({CAPACITY_TYPE: draw.pick(&["spot", "on-demand"])}),
        2 => json!({ARCH: draw.pick(&["amd64", "arm64"])}),
        3 => json!({"size": draw.pick(&["small", "large"])}),
        4 => json!({INSTANCE_TYPE: types::name(draw.below(4))}),
        5 => json!({"failure-domain.beta.kubernetes.io/zone": draw.pick(&ZONES)}),
        _ => json!({TEAM: draw.pick(&TEAMS)}),
    }
}

/// One expression of a node selector term.
pub(super) fn expression(draw: &mut Draw) -> Value {
    let set = |draw: &mut Draw, key: &str, values: &[&str]| {
        let operator = draw.word(&["In", "In", "In", "NotIn", "Exists", "DoesNotExist"]);
        let values = draw.some(values);
        requirement(key, operator, &values)
    };
    match draw.below(8) {
        0 | 1 => set(draw, ZONE, &ZONES),
        2 => set(draw, CAPACITY_TYPE, &["spot", "on-demand"]),
        3 => set(draw, TEAM, &TEAMS),
        4 => set(draw, "family", &["c", "m", "r"]),
        5 => set(draw, "size", &["small", "large"]),
        6 => requirement(
            "integer",
            draw.word(&["Gt", "Lt"]),
            &[draw.word(&["1", "3", "4", "8"])],
        ),
        _ => set(draw, ARCH, &["amd64", "arm64"]),
    }
}

/// A node selector term of one or two expressions.
pub(super) fn term(draw: &mut Draw) -> Value {
    let count = draw.between(1, 2);
    json!({"matchExpressions": (0..count).map(|_| expression(draw)).collect::<Vec<_>>()})
}
