//! What a server-side apply makes of a live object, as far as a plan can know.

use serde_json::{Map, Value as Json};

/// `live` with the change from `prior` to `planned` made: what the change does not speak of stays as others have set it. Lists are
/// changed as wholes, as the API does with those of these kinds.
pub(super) fn merged(live: &Json, prior: &Json, planned: &Json) -> Json {
    let (Json::Object(live), Json::Object(planned)) = (live, planned) else {
        return planned.clone();
    };
    let nothing = Map::new();
    let prior = prior.as_object().unwrap_or(&nothing);
    let mut all = Map::new();
    for (key, value) in live {
        match planned.get(key) {
            Some(planned) => {
                let prior = prior.get(key).unwrap_or(&Json::Null);
                all.insert(key.clone(), merged(value, prior, planned));
            }
            None if prior.contains_key(key) => {}
            None => drop(all.insert(key.clone(), value.clone())),
        }
    }
    for (key, value) in planned {
        if !live.contains_key(key) {
            all.insert(key.clone(), value.clone());
        }
    }
    Json::Object(all)
}

#[cfg(test)]
mod tests {
    use super::merged;
    use serde_json::json;

    #[test]
    fn what_others_set_stays() {
        for (live, prior, planned, want) in [
            (
                json!({ "a": 1 }),
                json!({ "a": 1 }),
                json!({ "a": 2 }),
                json!({ "a": 2 }),
            ),
            (
                json!({ "a": 1, "theirs": 5 }),
                json!({ "a": 1 }),
                json!({ "a": 2 }),
                json!({ "a": 2, "theirs": 5 }),
            ),
            (
                json!({ "a": 1, "b": 2 }),
                json!({ "a": 1, "b": 2 }),
                json!({ "a": 1 }),
                json!({ "a": 1 }),
            ),
            (
                json!({ "m": { "a": "1", "theirs": "x" } }),
                json!({ "m": { "a": "1" } }),
                json!({ "m": { "b": "2" } }),
                json!({ "m": { "b": "2", "theirs": "x" } }),
            ),
            (
                json!({ "l": [1, 2] }),
                json!({ "l": [1, 2] }),
                json!({ "l": [3] }),
                json!({ "l": [3] }),
            ),
            (
                json!({}),
                json!({}),
                json!({ "new": { "x": 1 } }),
                json!({ "new": { "x": 1 } }),
            ),
        ] {
            assert_eq!(merged(&live, &prior, &planned), want, "{live} {prior} {planned}");
        }
    }
}
