//! Whether pools and classes keep the rules, in words.

use joiner_api::rules::{Kind, UnknownPaths, check};
use joiner_api::{EC2NodeClass, NodePool};
use joiner_core::conditions::Conditions;
use joiner_core::text::Text;
use serde::Serialize;

use crate::node::conditions;

/// The rules that a pool breaks.
pub fn violations(pool: &NodePool) -> Vec<Text> {
    broken(Kind::NodePool, pool)
}

/// The rules that a class breaks.
pub fn class_violations(class: &EC2NodeClass) -> Vec<Text> {
    broken(Kind::EC2NodeClass, class)
}

/// A class' conditions.
pub fn class_conditions(class: &EC2NodeClass) -> Conditions {
    conditions(class.status.as_ref().map_or(&[], |status| &status.conditions))
}

fn broken(kind: Kind, object: &impl Serialize) -> Vec<Text> {
    let Ok(mut value) = serde_json::to_value(object) else {
        return vec!["it cannot be read".into()];
    };
    // What the controller itself writes is not what a person has to mend.
    if let Some(fields) = value.as_object_mut() {
        fields.remove("status");
    }
    check(kind, &value, &UnknownPaths::none(), None)
        .iter()
        .map(|it| it.to_string().into())
        .collect()
}
