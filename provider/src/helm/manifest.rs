//! The rendered objects of a release.

use super::{HelmError, Record};
use crate::yaml;
use serde_json::Value;

/// The objects in YAML documents, empty documents left out, and lists taken apart.
pub(crate) fn objects(manifest: &str) -> Result<Vec<Value>, HelmError> {
    let mut objects = Vec::new();
    for document in documents(manifest) {
        let value: Value = yaml::parse(document)
            .map_err(|error| HelmError::Chart(format!("a rendered document is not YAML: {error}")))?;
        collect(value, &mut objects);
    }
    Ok(objects)
}

/// The objects of a revision.
pub(crate) fn rendered(record: &Record) -> Result<Vec<Value>, HelmError> {
    objects(record.manifest())
}

fn collect(value: Value, objects: &mut Vec<Value>) {
    match value {
        Value::Object(mut map)
            if map
                .get("kind")
                .and_then(Value::as_str)
                .is_some_and(|kind| kind.ends_with("List")) =>
        {
            if let Some(Value::Array(items)) = map.remove("items") {
                items.into_iter().for_each(|item| collect(item, objects));
            }
        }
        Value::Object(map) if !map.is_empty() => objects.push(Value::Object(map)),
        _ => {}
    }
}

/// Documents between lines `---`, without those that hold only comments.
fn documents(manifest: &str) -> Vec<&str> {
    let mut documents = Vec::new();
    let mut start = 0;
    let mut position = 0;
    for line in manifest.split_inclusive('\n') {
        if line.trim_end() == "---" || line.starts_with("--- ") {
            documents.push(&manifest[start..position]);
            start = position + line.len();
        }
        position += line.len();
    }
    documents.push(&manifest[start..]);
    let holds_content = |document: &&str| {
        document
            .lines()
            .any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
    };
    documents.into_iter().filter(holds_content).collect()
}

/// An object as messages and maps call it: `Kind/namespace/name`, or `Kind/name` without a namespace.
pub(crate) fn title(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or("?");
    let name = object["metadata"]["name"].as_str().unwrap_or("?");
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{kind}/{namespace}/{name}"),
        None => format!("{kind}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_and_lists_become_objects() {
        let manifest = "---\n# Source: a.yaml\nkind: A\nmetadata:\n  name: a\n  namespace: n\n---\n# only a comment\n---\nkind: List\nitems:\n- kind: B\n  metadata: {name: b}\n";
        let titles: Vec<String> = objects(manifest).expect("YAML").iter().map(title).collect();
        assert_eq!(titles, ["A/n/a", "B/b"]);
        assert!(objects("").expect("nothing").is_empty());
        assert!(objects("a: [").is_err());
    }

    #[test]
    fn a_line_of_text_does_not_split_a_document() {
        let manifest = "kind: A\nmetadata:\n  name: a\ndata:\n  x: |\n    ---x\n    y\n";
        assert_eq!(objects(manifest).expect("YAML").len(), 1);
    }
}
