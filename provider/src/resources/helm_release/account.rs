//! The service account of the controller's pods: as the embedded chart names it, by what is known of the values.

use super::documents::merged;
use super::schema::{HelmRelease, SecretEntry, SetEntry};
use super::validate::source;
use crate::helm::ChartSource;
use crate::roles::Party;
use joiner_aws::policy::ServiceAccount;
use serde_json::Value as Json;
use tfplugin::{Field, Value};

/// Stands for what is unknown; no text of a configuration has such characters.
pub(super) const UNKNOWN: &str = "\u{0}unknown\u{0}";

/// The release as it is compared with the controller's roles; `None` for another chart, or while the account is not known.
pub(super) fn party(release: &HelmRelease) -> Option<Party> {
    let Ok(ChartSource::Embedded) = source(release)? else {
        return None;
    };
    let (name, namespace) = (release.name.as_str()?, release.namespace.as_str()?);
    let values = merged(&with_marks(release))?.ok()?;
    let chart = ChartSource::Embedded.known_name()?;
    let cluster = text(&values, &["settings", "clusterName"]).flatten();
    Some(Party {
        called: format!("joiner_helm_release \"{namespace}/{name}\""),
        account: ServiceAccount {
            namespace: namespace.to_owned(),
            name: account(&values, &chart, name)?,
        },
        cluster: cluster.map(str::to_owned),
    })
}

/// The name by the chart's own rules; `None` while what they look at is unknown.
fn account(values: &Json, chart: &str, release: &str) -> Option<String> {
    if let Some(name) = text(values, &["serviceAccount", "name"])? {
        return Some(name.to_owned());
    }
    match at(values, &["serviceAccount", "create"])? {
        Json::Null | Json::Bool(true) => {}
        _ => return Some("default".to_owned()),
    }
    if let Some(full) = text(values, &["fullnameOverride"])? {
        return Some(cut(full));
    }
    let name = cut(text(values, &["nameOverride"])?.unwrap_or(chart));
    Some(cut(&match release.contains(&name) {
        true => release.to_owned(),
        false => format!("{release}-{name}"),
    }))
}

/// As long as a label may be.
fn cut(name: &str) -> String {
    let end = name.char_indices().nth(63).map_or(name.len(), |(end, _)| end);
    let cut = &name[..end];
    cut.strip_suffix('-').unwrap_or(cut).to_owned()
}

/// The text at a place: `None` while it is unknown or no text, `Some(None)` where there is none.
fn text<'a>(values: &'a Json, path: &[&str]) -> Option<Option<&'a str>> {
    match at(values, path)? {
        Json::Null => Some(None),
        Json::String(text) => Some(Some(text.as_str()).filter(|text| !text.is_empty())),
        _ => None,
    }
}

/// The value at a place; `None` while it, or what it is in, is unknown.
pub(super) fn at<'a>(values: &'a Json, path: &[&str]) -> Option<&'a Json> {
    let mut found = values;
    for step in path {
        found = &found[*step];
        if found.as_str() == Some(UNKNOWN) {
            return None;
        }
    }
    Some(found)
}

/// The release with marks where a value is unknown or secret, so that all others can be merged.
pub(super) fn with_marks(release: &HelmRelease) -> HelmRelease {
    let mut marked = release.clone();
    if let Some(values) = marked.values.known_mut() {
        *values = mark(values);
    }
    for SetEntry { value, r#type, .. } in marked.set.known_mut().into_iter().flatten() {
        if value.is_unknown() {
            (*value, *r#type) = (UNKNOWN.into(), Field::Null);
        }
    }
    // What is secret is not told, so it counts as unknown.
    for SetEntry { value, r#type, .. } in marked.set_sensitive.known_mut().into_iter().flatten() {
        (*value, *r#type) = (UNKNOWN.into(), Field::Null);
    }
    for SecretEntry { value, r#type, .. } in marked.set_wo.known_mut().into_iter().flatten() {
        (*value, *r#type) = (UNKNOWN.into(), Field::Null);
    }
    marked
}

fn mark(value: &Value) -> Value {
    let all = |items: &[Value]| items.iter().map(mark).collect();
    match value {
        Value::Unknown(_) => Value::from(UNKNOWN),
        Value::List(items) | Value::Tuple(items) => Value::Tuple(all(items)),
        Value::Set(items) => Value::Tuple(items.iter().map(mark).collect()),
        Value::Map(items) | Value::Object(items) => Value::Object(
            items
                .iter()
                .map(|(key, value)| (key.clone(), mark(value)))
                .collect(),
        ),
        Value::Dynamic(inner) => mark(&inner.1),
        known => known.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;
    use tfplugin::json::dynamic_from_json;

    fn release(name: &str, values: Value) -> HelmRelease {
        HelmRelease {
            name: name.into(),
            namespace: "kube-system".into(),
            values: Field::Known(values),
            ..HelmRelease::default()
        }
    }

    fn named(release: &HelmRelease) -> Option<String> {
        Some(party(release)?.account.name)
    }

    #[test]
    fn the_name_is_that_of_the_chart() {
        for (name, values, want) in [
            ("joiner", json!({}), "joiner"),
            ("prod-joiner", json!({}), "prod-joiner"),
            ("prod", json!({}), "prod-joiner"),
            ("joiner", json!({ "serviceAccount": { "name": "own" } }), "own"),
            ("joiner", json!({ "serviceAccount": { "name": "" } }), "joiner"),
            (
                "joiner",
                json!({ "serviceAccount": { "create": false } }),
                "default",
            ),
            ("joiner", json!({ "fullnameOverride": "full" }), "full"),
            ("prod", json!({ "nameOverride": "short" }), "prod-short"),
            (
                "joiner",
                json!(["serviceAccount: {name: a}", { "serviceAccount": { "name": "b" } }]),
                "b",
            ),
        ] {
            let found = named(&release(name, dynamic_from_json(&values)));
            assert_eq!(found.as_deref(), Some(want), "{name} {values}");
        }
        let with_cluster = release(
            "joiner",
            dynamic_from_json(&json!({ "settings": { "clusterName": "c" } })),
        );
        assert_eq!(
            party(&with_cluster).and_then(|party| party.cluster).as_deref(),
            Some("c")
        );
    }

    #[test]
    fn what_is_unknown_elsewhere_does_not_matter() {
        let object = |members: &[(&str, Value)]| {
            let members = members
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone()));
            Value::Object(members.collect::<BTreeMap<_, _>>())
        };
        let annotated = object(&[("serviceAccount", object(&[("annotations", Value::unknown())]))]);
        assert_eq!(named(&release("joiner", annotated)).as_deref(), Some("joiner"));
        for unknown in [
            object(&[("serviceAccount", Value::unknown())]),
            object(&[("serviceAccount", object(&[("name", Value::unknown())]))]),
            Value::Tuple(vec![object(&[]), Value::unknown()]),
        ] {
            assert_eq!(named(&release("joiner", unknown.clone())), None, "{unknown:?}");
        }
        let set = |value: Field<String>| HelmRelease {
            set: Field::Known(vec![SetEntry {
                name: "serviceAccount.name".into(),
                value,
                r#type: "auto".into(),
            }]),
            ..release("joiner", object(&[]))
        };
        assert_eq!(named(&set("own".into())).as_deref(), Some("own"));
        assert_eq!(named(&set(Field::Unknown)), None);
        let secret = HelmRelease {
            set_sensitive: set("own".into()).set,
            ..release("joiner", object(&[]))
        };
        assert_eq!(named(&secret), None, "a secret is not told");
        let other = HelmRelease {
            chart: "oci://r/c".into(),
            ..release("joiner", object(&[]))
        };
        assert_eq!(named(&other), None, "another chart has rules of its own");
    }
}
