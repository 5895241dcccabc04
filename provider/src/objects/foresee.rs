//! Tells what of a planned object can never work, at its attributes.

use super::check::attribute_path;
use super::custom::{Custom, object_of};
use super::wording::in_attributes;
use crate::feasible::{Finding, Weight};
use crate::provider::Level;
use serde_json::Value as Json;
use tfplugin::json::JsonStep;
use tfplugin::{Diagnostic, Diagnostics};

/// The object of a model, and what of it is not known yet.
pub(crate) struct Foreseen {
    /// Without its unknown parts.
    pub json: Json,
    unknown: Vec<Vec<JsonStep>>,
}

impl Foreseen {
    /// The object that a model stands for.
    pub(crate) fn of<M: Custom>(model: &M) -> Result<Self, Diagnostics> {
        let object = object_of(model)?;
        Ok(Self {
            json: object.json,
            unknown: object.unknown,
        })
    }

    /// Whether something at, above or below a path of fields is not known yet.
    pub(crate) fn is_unknown(&self, path: &[&str]) -> bool {
        self.unknown.iter().any(|steps| {
            steps.iter().zip(path).all(|(step, field)| match step {
                JsonStep::Key(key) => key == field,
                JsonStep::Index(_) => false,
            })
        })
    }

    /// Whether all of it is known.
    pub(crate) fn is_known(&self) -> bool {
        self.unknown.is_empty()
    }
}

/// Findings as messages: what cannot work as the setting says, what is doubtful as a warning.
pub(crate) fn told<M: Custom>(findings: Vec<Finding>, level: Level) -> Diagnostics {
    let diagnostics = findings.into_iter().map(|finding| {
        let path = attribute_path::<M>(&finding.path);
        let detail = in_attributes::<M>(&finding.detail);
        let text = if path.is_root() {
            detail
        } else {
            format!("{path}: {detail}")
        };
        let told = match (finding.weight, level) {
            (Weight::Wrong, Level::Error) => Diagnostic::error(finding.summary, text),
            _ if path.is_root() => Diagnostic::warning(finding.summary, text),
            // Cores fold warnings with the same title into one: the place keeps them apart.
            _ => Diagnostic::warning(format!("{}: {path}", finding.summary), text),
        };
        told.at(path)
    });
    match level {
        Level::Off => Diagnostics::new(),
        Level::Error | Level::Warning => diagnostics.collect(),
    }
}
