//! Values in and out of messages, with errors for the user.

use tfplugin_proto::tfplugin6 as proto;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::rules::Violation;
use crate::schema::Schema;
use crate::value::{Type, Value, wire};

/// Reads a value that a core sent; absent is null.
pub(super) fn decode(value: Option<&proto::DynamicValue>, ty: &Type) -> Result<Value, Diagnostics> {
    wire::from_proto(value, ty).map_err(|error| {
        let path = error.path.clone();
        Diagnostic::error(
            "Value not understood",
            format!("The core sent a value that does not fit the schema: {error}."),
        )
        .at(path)
        .into()
    })
}

/// Writes a value that the provider made.
pub(super) fn encode(value: &Value, ty: &Type) -> Result<proto::DynamicValue, Diagnostics> {
    wire::to_proto(value, ty).map_err(|error| {
        let path = error.path.clone();
        let detail = format!(
            "The provider made a value that does not fit its own schema: {error}. Please report this bug."
        );
        Diagnostic::error("Provider value does not fit", detail)
            .at(path)
            .into()
    })
}

/// Reads a stored JSON object of the schema's own version.
pub(super) fn decode_stored(raw: Option<&proto::RawState>, schema: &Schema) -> Result<Value, Diagnostics> {
    wire::from_json_bytes(stored_json(raw)?, &schema.ty()).map_err(|error| {
        let path = error.path.clone();
        let detail = format!(
            "The stored state does not fit the schema of version {}: {error}. Was it written by a newer provider, or edited?",
            schema.version
        );
        Diagnostic::error("Stored state not understood", detail).at(path).into()
    })
}

/// A stored object as JSON, whatever its version.
pub(super) fn parse_stored(raw: Option<&proto::RawState>) -> Result<serde_json::Value, Diagnostics> {
    serde_json::from_slice(stored_json(raw)?).map_err(|error| {
        Diagnostics::error("Stored state not understood", format!("It is no JSON: {error}."))
    })
}

fn stored_json(raw: Option<&proto::RawState>) -> Result<&[u8], Diagnostics> {
    match raw {
        Some(raw) if !raw.json.is_empty() => Ok(&raw.json),
        Some(raw) if !raw.flatmap.is_empty() => Err(Diagnostics::error(
            "State too old",
            "The state has the form of Terraform 0.11 and before, which this provider never wrote.",
        )),
        _ => Err(Diagnostics::error(
            "No state",
            "The core sent no stored state where one was expected.",
        )),
    }
}

/// In debug builds, tells the provider's author which of the cores' rules an answer would break.
pub(super) fn self_check(what: &str, violations: impl FnOnce() -> Vec<Violation>) -> Diagnostics {
    if !cfg!(debug_assertions) {
        return Diagnostics::new();
    }
    let bugs = violations().into_iter().map(|violation| {
        let detail = format!("{violation}. This is a bug in the provider: a core would refuse the answer.");
        Diagnostic::error(format!("Provider produced an invalid {what}"), detail).at(violation.path)
    });
    bugs.collect()
}
