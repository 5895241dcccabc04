//! Runs the attributes' own checks over a configuration.

use super::walk::{Next, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::schema::{Mode, Schema};
use crate::value::Value;

/// What the attributes' validators say of known, non-null values, and which required attributes are null: cores see to it that
/// these are written, not that they have a value.
pub(crate) fn run(schema: &Schema, config: &Value) -> Diagnostics {
    let mut found = Diagnostics::new();
    let mut scratch = config.clone();
    walk(schema, config, &Value::Null, &mut scratch, &mut |site, value| {
        if value.is_null() && site.attribute.mode == Mode::Required {
            let name = &site.attribute.name;
            let detail =
                format!("The attribute {name} is required, and null counts as left out. Give it a value.");
            found.push(Diagnostic::error(format!("Missing value for {name}"), detail).at(site.path.clone()));
        }
        if value.is_null() || value.is_unknown() {
            return Next::Skip;
        }
        for validate in &site.attribute.behaviour.validators {
            if let Err(problem) = validate(value) {
                let summary = format!("Invalid value for {}", site.attribute.name);
                let detail = if site.attribute.sensitive {
                    redact(&problem, value)
                } else {
                    problem
                };
                found.push(Diagnostic::error(summary, detail).at(site.path.clone()));
            }
        }
        Next::Descend
    });
    found
}

/// A message about a sensitive value must not show it.
fn redact(problem: &str, value: &Value) -> String {
    match value.as_str().filter(|text| !text.is_empty()) {
        Some(text) => problem.replace(text, "(sensitive)"),
        None => problem.to_owned(),
    }
}
