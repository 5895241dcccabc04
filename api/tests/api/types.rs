//! The Rust types read and write what the CRDs allow, field for field.

use joiner_api::{EC2NodeClass, NodeClaim, NodeOverlay, NodePool, rules::Kind};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::cases::{self, Verdict};

#[test]
fn what_is_stored_is_read_and_written_without_loss() {
    for case in cases::all()
        .into_iter()
        .filter(|case| !matches!(case.verdict, Verdict::Refused(_)))
    {
        let written = match case.kind {
            Kind::NodePool => through::<NodePool>(&case.object),
            Kind::NodeClaim => through::<NodeClaim>(&case.object),
            Kind::NodeOverlay => through::<NodeOverlay>(&case.object),
            Kind::EC2NodeClass => through::<EC2NodeClass>(&case.object),
        };
        let mut lost = Vec::new();
        compare("", &case.object, &written, &mut lost);
        assert!(lost.is_empty(), "{} {}: {lost:#?}", case.kind.as_str(), case.what);
    }
}

fn through<T: DeserializeOwned + Serialize>(object: &Value) -> Value {
    let typed: T = serde_json::from_value(object.clone()).unwrap_or_else(|error| panic!("{object}: {error}"));
    serde_json::to_value(typed).expect("plain data")
}

/// All of `read` must be in `written`. Quantities given as numbers are written as texts; what is null or empty
/// may be left out, and a budget's nodes are filled in.
fn compare(path: &str, read: &Value, written: &Value, lost: &mut Vec<String>) {
    let is_nothing = match read {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    match (read, written) {
        (_, Value::Null) if is_nothing => {}
        (Value::Object(fields), Value::Object(_)) => {
            for (name, value) in fields {
                compare(&format!("{path}.{name}"), value, &written[name.as_str()], lost);
            }
        }
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            for (place, (item, other)) in items.iter().zip(others).enumerate() {
                compare(&format!("{path}[{place}]"), item, other, lost);
            }
        }
        (Value::Number(number), Value::String(text)) if *text == number.to_string() => {}
        (read, written) if read == written => {}
        (read, written) => lost.push(format!("{path}: read {read}, written {written}")),
    }
}
