//! What Helm says of values that a chart's own schema (`values.schema.json`) refuses, in words of the configuration.

use joiner_api::rules::nearest;
use serde_json::Value as Json;

/// A value that the schema refuses.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Where it is in the values, such as `settings.clusterName`; empty for the values themselves.
    pub path: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Refusal {
    /// The sentence for it.
    pub(super) fn sentence(&self) -> String {
        match self.path.as_str() {
            "" => self.problem.clone(),
            path => format!("{path}: {}", self.problem),
        }
    }
}

/// The refusals in Helm's message: lines such as `- at '/settings': additional properties 'x' not allowed`. Empty for another message.
/// `schema` tells which names there are.
pub(super) fn refusals(message: &str, schema: Option<&Json>) -> Vec<Refusal> {
    message.lines().flat_map(|line| of_line(line, schema)).collect()
}

fn of_line(line: &str, schema: Option<&Json>) -> Vec<Refusal> {
    let told = line
        .strip_prefix("- at '")
        .and_then(|rest| rest.split_once("': "));
    let Some((pointer, problem)) = told else {
        return Vec::new();
    };
    let steps: Vec<String> = pointer
        .split('/')
        .skip(1)
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
        .collect();
    let strange = problem
        .strip_prefix("additional properties ")
        .and_then(|rest| rest.strip_suffix(" not allowed"));
    let Some(names) = strange else {
        return vec![Refusal {
            path: steps.join("."),
            problem: problem.to_owned(),
        }];
    };
    let known = names_at(schema, &steps);
    let told = names.split(", ").map(|name| {
        let name = name.trim_matches('\'');
        let meant = nearest(name, known.iter().map(String::as_str));
        let meant = meant
            .map(|near| format!(" (did you mean {near:?}?)"))
            .unwrap_or_default();
        let path = steps.iter().map(String::as_str).chain([name]);
        Refusal {
            path: path.collect::<Vec<_>>().join("."),
            problem: format!("the chart has no such value{meant}"),
        }
    });
    told.collect()
}

/// The names that a schema has at a place.
fn names_at(schema: Option<&Json>, steps: &[String]) -> Vec<String> {
    let place = steps
        .iter()
        .try_fold(schema.unwrap_or(&Json::Null), |schema, step| {
            schema["properties"].get(step)
        });
    let names = place.and_then(|place| place["properties"].as_object());
    names
        .into_iter()
        .flat_map(|names| names.keys().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::helm::ChartSource;

    const MESSAGE: &str = "values don't meet the specifications of the schema(s) in the following chart(s):\njoiner:\n\
        - at '': additional properties 'replica', 'zzzzzz' not allowed\n\
        - at '/settings/featureGates': additional properties 'nodeOverlayy' not allowed\n\
        - at '/replicas': got string, want integer\n";

    #[test]
    fn values_are_told_by_their_path_with_the_nearest_name() {
        let schema = ChartSource::Embedded.schema().expect("the chart has a schema");
        let told: Vec<String> = refusals(MESSAGE, Some(&schema))
            .iter()
            .map(Refusal::sentence)
            .collect();
        assert_eq!(
            told,
            [
                "replica: the chart has no such value (did you mean \"replicas\"?)",
                "zzzzzz: the chart has no such value",
                "settings.featureGates.nodeOverlayy: the chart has no such value (did you mean \"nodeOverlay\"?)",
                "replicas: got string, want integer",
            ]
        );
        assert!(refusals("execution error at (x): no", Some(&schema)).is_empty());
        assert_eq!(
            refusals(MESSAGE, None)[0].sentence(),
            "replica: the chart has no such value"
        );
    }

    /// A value that the chart has and its schema lacks would be refused.
    #[test]
    fn the_schema_has_every_value_of_the_chart() {
        fn missing(values: &Json, schema: &Json, path: &str, found: &mut Vec<String>) {
            // Below an object that takes any key, the schema knows none.
            let (Some(values), Some(known)) = (values.as_object(), schema["properties"].as_object()) else {
                return;
            };
            for (key, value) in values {
                match known.get(key) {
                    Some(schema) => missing(value, schema, &format!("{path}{key}."), found),
                    None => found.push(format!("{path}{key}")),
                }
            }
        }
        let values =
            crate::yaml::parse(include_str!("../../../../controller/chart/values.yaml")).expect("YAML");
        let schema = ChartSource::Embedded.schema().expect("the chart has a schema");
        let mut found = Vec::new();
        missing(&values, &schema, "", &mut found);
        assert!(found.is_empty(), "{found:?}");
    }
}
