//! Requirements, matched as the controller does.

use crate::plain::json_of;
use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::text::{Labels, Text};
use serde_json::Value as Json;
use tfplugin::{Arguments, Function, FunctionError, Parameter, Signature, Type, Value};

/// The parameter of requirements.
pub(super) fn parameter() -> Parameter {
    Parameter::new(
        "requirements",
        Type::Dynamic,
        "A list of objects with `key`, `operator` and, but for Exists and DoesNotExist, `values`, as a node pool has.",
    )
}

/// The argument at `position`, as requirements.
pub(super) fn requirements(arguments: &Arguments, position: usize) -> Result<Requirements, FunctionError> {
    let wrong = |text: String| FunctionError::argument(position, text);
    let json = arguments
        .values()
        .get(position)
        .and_then(|value| json_of(value, str::to_owned))
        .unwrap_or_default();
    let items = json
        .as_array()
        .ok_or_else(|| wrong("expected a list of requirements".to_owned()))?;
    items
        .iter()
        .enumerate()
        .map(|(index, item)| {
            let text = |key: &str| item[key].as_str().map(str::to_owned);
            let (Some(key), Some(operator)) = (text("key"), text("operator")) else {
                return Err(wrong(format!("requirement {index} has no key or no operator")));
            };
            let values = item["values"].as_array().cloned().unwrap_or_default();
            let values = values.iter().map(|value| match value {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            });
            Requirement::parse(key, &operator, values)
                .map_err(|error| wrong(format!("requirement {index}: {error}")))
        })
        .collect()
}

/// `requirements_match`: whether a node with these labels meets requirements.
pub(super) struct RequirementsMatch;

impl Function for RequirementsMatch {
    fn name(&self) -> &'static str {
        "requirements_match"
    }

    fn signature(&self) -> Signature {
        Signature {
            parameters: vec![
                parameter(),
                Parameter::new("labels", Type::Dynamic, "The labels of a node."),
            ],
            variadic: None,
            returns: Type::Bool,
            summary: "Whether labels meet requirements".to_owned(),
            description: "Judged as the controller does: a label that a node does not have meets NotIn and DoesNotExist alone.".to_owned(),
            deprecated: None,
        }
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, FunctionError> {
        let requirements = requirements(arguments, 0)?;
        let json = arguments
            .values()
            .get(1)
            .and_then(|value| json_of(value, str::to_owned))
            .unwrap_or_default();
        let map = json
            .as_object()
            .ok_or_else(|| FunctionError::argument(1, "expected a map of labels"))?;
        let labels: Labels = map
            .iter()
            .filter_map(|(key, value)| Some((Text::from(key.as_str()), Text::from(value.as_str()?))))
            .collect();
        Ok(Value::Bool(requirements.allow_labels(&labels)))
    }
}
