//! Reading by meaning: the live value, in the words of the prior one where both mean the same.

use super::meaning::{holds_names, is_unordered, same};
use serde_json::{Map, Value};

/// How much of the live object is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Only fields and keys that the prior state has: others belong to someone else.
    Configured,
    /// Everything: an import has no prior state.
    Everything,
}

/// The live value of `field` for the state.
///
/// Where prior and live mean the same, the prior spelling stays: a quantity as it was written, a list in its order.
/// Where they differ, the live value shows.
pub(crate) fn respell(field: &str, prior: &Value, live: &Value, extent: Extent) -> Value {
    if prior.is_null() && extent == Extent::Everything {
        return live.clone();
    }
    if same(field, prior, live) {
        return prior.clone();
    }
    match (prior, live) {
        (Value::Object(prior), Value::Object(live)) => respell_map(field, prior, live, extent),
        (Value::Array(prior), Value::Array(live)) => Value::Array(respell_list(field, prior, live)),
        (Value::Null, _) if extent == Extent::Configured => Value::Null,
        _ => live.clone(),
    }
}

fn respell_map(field: &str, prior: &Map<String, Value>, live: &Map<String, Value>, extent: Extent) -> Value {
    let mut result = Map::new();
    for (key, prior) in prior {
        let live = live.get(key).unwrap_or(&Value::Null);
        // The values of a map of names have the map's meaning, not one of their key's.
        let value = if holds_names(field) {
            respell_name(field, key, prior, live)
        } else {
            respell(key, prior, live, extent)
        };
        result.insert(key.clone(), value);
    }
    if extent == Extent::Everything {
        for (key, live) in live {
            result.entry(key.clone()).or_insert_with(|| live.clone());
        }
    }
    // A name that is gone is gone; a field that is gone is null.
    if holds_names(field) {
        result.retain(|_, value| !value.is_null());
    }
    Value::Object(result)
}

fn respell_name(field: &str, key: &str, prior: &Value, live: &Value) -> Value {
    let only = |value: &Value| Value::Object(Map::from_iter([(key.to_owned(), value.clone())]));
    if same(field, &only(prior), &only(live)) {
        prior.clone()
    } else {
        live.clone()
    }
}

/// The live items; an item that means the same as a prior one keeps its place and words, others fill the places left.
fn respell_list(field: &str, prior: &[Value], live: &[Value]) -> Vec<Value> {
    if !is_unordered(field) {
        let at = |index: usize| prior.get(index).unwrap_or(&Value::Null);
        return live
            .iter()
            .enumerate()
            .map(|(index, live)| respell("", at(index), live, Extent::Everything))
            .collect();
    }
    let mut rest: Vec<Option<&Value>> = live.iter().map(Some).collect();
    let mut places: Vec<Option<Value>> = prior
        .iter()
        .map(|prior| {
            let found = rest
                .iter_mut()
                .find(|item| item.is_some_and(|live| same("", prior, live)))?;
            found.take();
            Some(prior.clone())
        })
        .collect();
    let mut rest = rest.into_iter().flatten();
    for (place, prior) in places.iter_mut().zip(prior) {
        if place.is_none() {
            *place = rest
                .next()
                .map(|live| respell("", prior, live, Extent::Everything));
        }
    }
    places.into_iter().flatten().chain(rest.cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn prior_words_stay_where_the_meaning_does() {
        for (field, prior, live, want) in [
            (
                "",
                json!({ "limits": { "cpu": "16000m" } }),
                json!({ "limits": { "cpu": "16" } }),
                json!({ "limits": { "cpu": "16000m" } }),
            ),
            (
                "",
                json!({ "limits": { "cpu": "16" } }),
                json!({ "limits": { "cpu": "32", "memory": "1Gi" } }),
                json!({ "limits": { "cpu": "32" } }),
            ),
            (
                "",
                json!({ "weight": 10 }),
                json!({ "weight": 20 }),
                json!({ "weight": 20 }),
            ),
            ("", json!({ "weight": 10 }), json!({}), json!({ "weight": null })),
            (
                "",
                json!({ "weight": null }),
                json!({ "weight": 20 }),
                json!({ "weight": null }),
            ),
            (
                "",
                json!({ "labels": { "a": "1" } }),
                json!({ "labels": { "b": "2" } }),
                json!({ "labels": {} }),
            ),
            (
                "values",
                json!(["b", "a", "c"]),
                json!(["a", "c", "d"]),
                json!(["d", "a", "c"]),
            ),
            ("values", json!(["b", "a"]), json!(["a", "b"]), json!(["b", "a"])),
            (
                "budgets",
                json!([{ "nodes": "10%", "duration": "60m" }, { "nodes": "0" }]),
                json!([{ "nodes": "5" }, { "nodes": "10%", "duration": "1h0m0s" }]),
                json!([{ "nodes": "10%", "duration": "60m" }, { "nodes": "5" }]),
            ),
        ] {
            assert_eq!(
                respell(field, &prior, &live, Extent::Configured),
                want,
                "{field}: {prior} and {live}"
            );
        }
    }

    #[test]
    fn an_import_takes_everything() {
        let live = json!({ "weight": 1, "limits": { "cpu": "1" } });
        assert_eq!(respell("", &Value::Null, &live, Extent::Everything), live);
        assert_eq!(
            respell("", &json!({ "weight": null }), &live, Extent::Everything),
            live
        );
    }
}
