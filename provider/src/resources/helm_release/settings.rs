//! The controller's settings by the embedded chart, as far as the values of its release are known: the container that the chart would make
//! of them, with what a forecast looks at.

use super::account::{UNKNOWN, at, with_marks};
use super::documents::merged;
use super::schema::HelmRelease;
use super::validate::source;
use crate::forecast::Environment;
use crate::helm::ChartSource;
use serde_json::{Value as Json, json};

/// Values under `settings` that become a variable as they are.
const PLAIN: [(&str, &str); 4] = [
    ("preferencePolicy", "PREFERENCE_POLICY"),
    ("minValuesPolicy", "MIN_VALUES_POLICY"),
    ("vmMemoryOverheadPercent", "VM_MEMORY_OVERHEAD_PERCENT"),
    ("reservedENIs", "RESERVED_ENIS"),
];
/// Gates that change a forecast.
const GATES: [(&str, &str); 3] = [
    ("reservedCapacity", "ReservedCapacity"),
    ("nodeOverlay", "NodeOverlay"),
    ("staticCapacity", "StaticCapacity"),
];

/// The environment that a planned release gives the controller; `None` for another chart, and while nothing is known of its values.
pub(super) fn environment(release: &HelmRelease) -> Option<Environment> {
    let Ok(ChartSource::Embedded) = source(release)? else {
        return None;
    };
    let values = merged(&with_marks(release))?.ok()?;
    Some(Environment::of_container(&container(&values)))
}

/// The container with these values.
fn container(values: &Json) -> Json {
    let own = at(values, &["controller", "env"]);
    if own.is_none_or(|own| own.to_string().contains(&json!(UNKNOWN).to_string())) {
        // A variable of any name may be in it.
        return json!({ "env": [], "envFrom": [UNKNOWN] });
    }
    let mut env: Vec<Json> = PLAIN
        .iter()
        .filter_map(|(value, variable)| variable_of(variable, at(values, &["settings", value])))
        .collect();
    let spread = at(values, &["settings", "defaultSpreadConstraints"]);
    let spread = spread.map(|spread| match spread.as_array() {
        Some(list) if !list.is_empty() => json!(spread.to_string()),
        _ => Json::Null,
    });
    env.extend(variable_of("DEFAULT_SPREAD_CONSTRAINTS", spread.as_ref()));
    let gates: Option<Vec<String>> = GATES
        .iter()
        .filter_map(
            |(value, gate)| match at(values, &["settings", "featureGates", value]) {
                None => Some(None),
                Some(Json::Null) => None,
                Some(Json::String(on)) => Some(Some(format!("{gate}={on}"))),
                Some(on) => Some(Some(format!("{gate}={on}"))),
            },
        )
        .collect();
    env.extend(variable_of(
        "FEATURE_GATES",
        gates.map(|gates| json!(gates.join(","))).as_ref(),
    ));
    // The later of two variables of a name counts, and these come last.
    env.extend(own.and_then(Json::as_array).into_iter().flatten().cloned());
    let from = at(values, &["controller", "envFrom"])
        .cloned()
        .unwrap_or_else(|| json!([UNKNOWN]));
    json!({ "env": env, "envFrom": from })
}

/// A variable of the chart: nothing where the value is left out, and one that comes from elsewhere where it is unknown, or a template.
fn variable_of(name: &str, value: Option<&Json>) -> Option<Json> {
    let text = match value {
        Some(Json::Null) => return None,
        Some(Json::String(text)) => Some(text.clone()),
        Some(Json::Number(number)) => Some(number.to_string()),
        Some(_) | None => None,
    };
    let known = text.filter(|text| !text.contains("{{") && !text.contains(UNKNOWN));
    Some(match known {
        Some(text) if text.is_empty() => return None,
        Some(text) => json!({ "name": name, "value": text }),
        None => json!({ "name": name, "valueFrom": {} }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfplugin::json::dynamic_from_json;
    use tfplugin::{Field, Value};

    fn release(values: Value) -> HelmRelease {
        HelmRelease {
            name: "joiner".into(),
            namespace: "kube-system".into(),
            values: Field::Known(values),
            ..HelmRelease::default()
        }
    }

    fn of(values: &Json) -> Option<Environment> {
        environment(&release(dynamic_from_json(values)))
    }

    fn set(env: &Json) -> Option<Environment> {
        Some(Environment::of_container(&json!({ "env": env })))
    }

    #[test]
    fn values_become_what_the_chart_makes_of_them() {
        assert_eq!(of(&json!({})), set(&json!([])), "nothing is set");
        let values = json!({
            "settings": {
                "preferencePolicy": "Ignore", "minValuesPolicy": "", "vmMemoryOverheadPercent": 0.1, "reservedENIs": "1",
                "defaultSpreadConstraints": [{ "maxSkew": 1 }],
                "featureGates": { "nodeOverlay": true, "staticCapacity": "true", "nodeRepair": true },
            },
            "controller": { "env": [{ "name": "RESERVED_ENIS", "value": "2" }] },
        });
        let want = json!([
            { "name": "PREFERENCE_POLICY", "value": "Ignore" },
            { "name": "VM_MEMORY_OVERHEAD_PERCENT", "value": "0.1" },
            { "name": "RESERVED_ENIS", "value": "2" },
            { "name": "DEFAULT_SPREAD_CONSTRAINTS", "value": "[{\"maxSkew\":1}]" },
            { "name": "FEATURE_GATES", "value": "NodeOverlay=true,StaticCapacity=true" },
        ]);
        assert_eq!(of(&values), set(&want));
        let other = HelmRelease {
            chart: "oci://r/c".into(),
            ..release(dynamic_from_json(&values))
        };
        assert_eq!(environment(&other), None, "another chart has settings of its own");
    }

    #[test]
    fn what_is_unknown_is_told_apart_from_what_is_not_set() {
        let object = |members: &[(&str, Value)]| {
            Value::object(members.iter().map(|(name, value)| (*name, value.clone())))
        };
        let settings = |members: &[(&str, Value)]| object(&[("settings", object(members))]);
        let open = |name: &str| json!({ "name": name, "valueFrom": {} });
        for (values, want) in [
            (
                settings(&[("preferencePolicy", Value::unknown())]),
                json!([open("PREFERENCE_POLICY")]),
            ),
            (
                settings(&[("preferencePolicy", "{{ .Values.x }}".into())]),
                json!([open("PREFERENCE_POLICY")]),
            ),
            (
                settings(&[("featureGates", Value::unknown())]),
                json!([open("FEATURE_GATES")]),
            ),
            (settings(&[("clusterName", Value::unknown())]), json!([])),
        ] {
            assert_eq!(environment(&release(values.clone())), set(&want), "{values:?}");
        }
        let anything = Some(Environment::of_container(&json!({ "envFrom": [{}] })));
        for env in [
            Value::unknown(),
            Value::Tuple(vec![object(&[("name", Value::unknown())])]),
        ] {
            let values = object(&[("controller", object(&[("env", env)]))]);
            assert_eq!(environment(&release(values)), anything);
        }
    }
}
