//! What the API server would have filled in, for objects written by hand.

use serde_json::{Map, Value, json};

/// The member `key` of an object, made where it is missing; none where `value` is no object.
fn member<'a>(value: &'a mut Value, key: &str, absent: Value) -> Option<&'a mut Value> {
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    let slot = value.as_object_mut()?.entry(key).or_insert(Value::Null);
    if slot.is_null() {
        *slot = absent;
    }
    Some(slot)
}

/// Conditions whose time was never set have it null; those written by hand say no more than what holds.
fn times(object: &mut Value) {
    let conditions = object
        .pointer_mut("/status/conditions")
        .and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten().filter(|it| it.is_object()) {
        member(condition, "lastTransitionTime", json!("1970-01-01T00:00:00Z"));
        member(condition, "reason", json!(""));
        member(condition, "message", json!(""));
    }
}

/// A NodePool: its class is called `default` where it names none.
pub(super) fn node_pool(pool: &mut Value) {
    times(pool);
    let Some(spec) = member(pool, "spec", json!({})) else {
        return;
    };
    if let Some(disruption) = spec.get_mut("disruption").filter(|it| it.is_object()) {
        member(disruption, "consolidateAfter", json!("0s"));
    }
    if let Some(template) = member(spec, "template", json!({}))
        && let Some(spec) = member(template, "spec", json!({}))
    {
        template_spec(spec);
    }
}

/// A NodeClaim.
pub(super) fn node_claim(claim: &mut Value) {
    times(claim);
    if let Some(spec) = member(claim, "spec", json!({})) {
        template_spec(spec);
    }
}

fn template_spec(spec: &mut Value) {
    if let Some(requirements) = member(spec, "requirements", json!([])) {
        quoted(requirements);
    }
    if let Some(class) = member(spec, "nodeClassRef", json!({})) {
        member(class, "group", json!("karpenter.k8s.aws"));
        member(class, "kind", json!("EC2NodeClass"));
        member(class, "name", json!("default"));
    }
}

/// A NodeOverlay.
pub(super) fn node_overlay(overlay: &mut Value) {
    times(overlay);
    if let Some(spec) = member(overlay, "spec", json!({}))
        && let Some(requirements) = member(spec, "requirements", json!([]))
    {
        quoted(requirements);
    }
}

/// Amounts that are written as numbers become the texts that mean them, wherever they are. Whether there were any.
pub(super) fn amounts(value: &mut Value) -> bool {
    const LISTS: [&str; 6] = [
        "requests",
        "limits",
        "overhead",
        "capacity",
        "allocatable",
        "allocatedResources",
    ];
    let mut changed = false;
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                if let (true, Value::Object(list)) = (LISTS.contains(&&**key), &mut *member) {
                    for amount in list.values_mut().filter(|amount| amount.is_number()) {
                        *amount = Value::String(amount.to_string());
                        changed = true;
                    }
                }
                changed |= amounts(member);
            }
        }
        Value::Array(items) => {
            for item in items {
                changed |= amounts(item);
            }
        }
        _ => {}
    }
    changed
}

/// Values of requirements that look like numbers or truths and were not quoted.
fn quoted(requirements: &mut Value) {
    let rows = requirements.as_array_mut().into_iter().flatten();
    let lists = rows.filter_map(|row| row.get_mut("values")?.as_array_mut());
    for value in lists
        .flatten()
        .filter(|value| value.is_number() || value.is_boolean())
    {
        *value = Value::String(value.to_string());
    }
}
