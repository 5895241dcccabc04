//! When two values of a spec mean the same: quantities, durations and lists whose order does not matter.
//!
//! Input: JSON of a spec or of a part of it, in the field names of Kubernetes. Output: a normal form, so that equal normal
//! forms mean the same. Invariant: nothing is rewritten that a user may mean literally (texts, keys, ordered lists).

use joiner_api::{NEVER, NillableDuration, Quantity};
use serde_json::{Map, Value};

/// How the values of a field are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// As they are.
    Literal,
    /// As quantities: `1000m` is `1`.
    Quantity,
    /// As durations: `60m` is `1h`.
    Duration,
    /// As a list whose order does not matter.
    Unordered,
}

/// The meaning of a field, by its name; no name has two meanings in the specs. A map's values have their map's meaning.
fn meaning(field: &str) -> Meaning {
    match field {
        "limits" | "capacity" | "volumeSize" | "systemReserved" | "kubeReserved" | "evictionHard"
        | "evictionSoft" => Meaning::Quantity,
        "consolidateAfter"
        | "expireAfter"
        | "terminationGracePeriod"
        | "duration"
        | "evictionSoftGracePeriod" => Meaning::Duration,
        "requirements"
        | "values"
        | "taints"
        | "startupTaints"
        | "budgets"
        | "reasons"
        | "subnetSelectorTerms"
        | "securityGroupSelectorTerms"
        | "amiSelectorTerms"
        | "capacityReservationSelectorTerms"
        | "networkInterfaces"
        | "blockDeviceMappings" => Meaning::Unordered,
        _ => Meaning::Literal,
    }
}

/// The normal form of the value of `field`.
///
/// Empty lists and maps, and what is absent or null, are one and the same: the API server keeps no difference between them.
pub(crate) fn normal(field: &str, value: &Value) -> Value {
    match (meaning(field), value) {
        (_, Value::Object(map)) => {
            let inner = |key: &str, value: &Value| match meaning(field) {
                // The keys of a map of quantities are names, not fields.
                Meaning::Quantity | Meaning::Duration => normal_leaf(meaning(field), value),
                _ if holds_names(field) => value.clone(),
                _ => normal(key, value),
            };
            let kept: Map<String, Value> = map
                .iter()
                .map(|(key, value)| (key.clone(), inner(key, value)))
                .filter(|(_, value)| !is_empty(value))
                .collect();
            Value::Object(kept)
        }
        (meaning, Value::Array(items)) => {
            let mut items: Vec<Value> = items.iter().map(|item| normal("", item)).collect();
            if meaning == Meaning::Unordered {
                items.sort_by_key(Value::to_string);
            }
            Value::Array(items)
        }
        (meaning, leaf) => normal_leaf(meaning, leaf),
    }
}

/// Whether two values of `field` mean the same.
pub(crate) fn same(field: &str, left: &Value, right: &Value) -> bool {
    let (left, right) = (normal(field, left), normal(field, right));
    left == right || (is_empty(&left) && is_empty(&right))
}

/// Whether values of `field` mean the same only when they are the same.
pub(crate) fn is_literal(field: &str) -> bool {
    meaning(field) == Meaning::Literal
}

/// Whether the order of the list `field` does not matter.
pub(crate) fn is_unordered(field: &str) -> bool {
    meaning(field) == Meaning::Unordered
}

/// Whether the map `field` has names as keys, so that a key such as `values` in it is no field.
pub(crate) fn holds_names(field: &str) -> bool {
    matches!(field, "labels" | "annotations" | "tags" | "matchLabels") || meaning(field) != Meaning::Literal
}

fn normal_leaf(meaning: Meaning, leaf: &Value) -> Value {
    let text = match leaf {
        Value::String(text) => text.clone(),
        // A quantity may be written as a number.
        Value::Number(number) if meaning == Meaning::Quantity => number.to_string(),
        other => return other.clone(),
    };
    let found = match meaning {
        Meaning::Quantity => text
            .parse::<Quantity>()
            .ok()
            .map(|quantity| format!("{}n", quantity.nanos())),
        Meaning::Duration => text
            .parse::<NillableDuration>()
            .ok()
            .map(|duration| match duration {
                NillableDuration::Never => NEVER.to_owned(),
                NillableDuration::After(duration) => format!("{}ns", duration.nanos()),
            }),
        Meaning::Literal | Meaning::Unordered => None,
    };
    found.map_or_else(|| leaf.clone(), Value::from)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_same_meaning_in_other_words() {
        for (field, left, right, want) in [
            ("limits", json!({ "cpu": "16" }), json!({ "cpu": "16000m" }), true),
            ("limits", json!({ "cpu": 16 }), json!({ "cpu": "16" }), true),
            (
                "limits",
                json!({ "memory": "1Gi" }),
                json!({ "memory": "1G" }),
                false,
            ),
            (
                "limits",
                json!({ "values": "1" }),
                json!({ "values": "1000m" }),
                true,
            ),
            ("volumeSize", json!("1024Gi"), json!("1Ti"), true),
            ("expireAfter", json!("720h"), json!("720h0m0s"), true),
            ("expireAfter", json!("Never"), json!("720h"), false),
            ("values", json!(["a", "b"]), json!(["b", "a"]), true),
            ("clusterDNS", json!(["a", "b"]), json!(["b", "a"]), false),
            (
                "labels",
                json!({ "duration": "60m" }),
                json!({ "duration": "1h" }),
                false,
            ),
            ("tags", json!({ "values": "x" }), json!({ "values": "x" }), true),
            (
                "evictionHard",
                json!({ "memory.available": "5%" }),
                json!({ "memory.available": "5%" }),
                true,
            ),
            (
                "requirements",
                json!([{ "key": "a", "operator": "In", "values": ["x", "y"] }, { "key": "b", "operator": "Exists" }]),
                json!([{ "key": "b", "operator": "Exists", "values": [] }, { "key": "a", "operator": "In", "values": ["y", "x"] }]),
                true,
            ),
            (
                "budgets",
                json!([{ "nodes": "1", "duration": "60m" }]),
                json!([{ "nodes": "1", "duration": "1h0m0s" }]),
                true,
            ),
            ("taints", json!([]), json!(null), true),
            ("userData", json!("a\n"), json!("a"), false),
        ] {
            assert_eq!(same(field, &left, &right), want, "{field}: {left} and {right}");
        }
    }
}
