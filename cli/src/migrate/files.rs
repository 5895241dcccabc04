//! Files and standard input: texts in, what they hold out.

use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, bail};
use joiner_map::read::yaml_trouble;
use serde_json::Value as Json;

use crate::input::text;

/// A document with the name of the file it is in.
pub(super) struct Document {
    /// The file's name.
    pub(super) file: String,
    /// The document.
    pub(super) value: Json,
}

/// The documents of all files; those of a Kubernetes List one by one.
pub(super) fn read(files: &[PathBuf]) -> Result<Vec<Document>> {
    let mut found = Vec::new();
    for file in files {
        let (name, text) = text(file)?;
        let documents = parse(&text).with_context(|| name.clone())?;
        let before = found.len();
        for document in documents {
            flatten(&name, document, &mut found);
        }
        if found.len() == before {
            bail!("{name}: there is nothing in it");
        }
    }
    Ok(found)
}

/// The documents of a text: JSON, or YAML with any number of documents.
pub(super) fn parse(text: &str) -> Result<Vec<Json>> {
    if text.trim_start().starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str(text)
    {
        return Ok(vec![value]);
    }
    let options = serde_saphyr::options! { strict_booleans: true, budget: None };
    let documents: Vec<Json> = serde_saphyr::from_multiple_with_options(text, options)
        .map_err(|error| anyhow!("it is neither JSON nor YAML: {}", yaml_trouble(&error)))?;
    Ok(documents
        .into_iter()
        .filter(|document| !document.is_null())
        .collect())
}

/// A List's items, and those of a plain array, stand for themselves.
fn flatten(file: &str, document: Json, found: &mut Vec<Document>) {
    let items = match document {
        Json::Array(items) => items,
        Json::Object(mut members) if is_list(&members) => match members.remove("items") {
            Some(Json::Array(items)) => items,
            _ => Vec::new(),
        },
        value => {
            found.push(Document {
                file: file.to_owned(),
                value,
            });
            return;
        }
    };
    for item in items {
        flatten(file, item, found);
    }
}

fn is_list(members: &serde_json::Map<String, Json>) -> bool {
    let kind = members.get("kind").and_then(Json::as_str).unwrap_or_default();
    kind.ends_with("List") && members.contains_key("items")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_and_documents_are_taken_apart() {
        let yaml =
            "kind: A\n---\n---\nkind: List\nitems:\n  - kind: B\n  - kind: CList\n    items: [{ kind: D }]\n";
        let mut found = Vec::new();
        for document in parse(yaml).expect("YAML") {
            flatten("f", document, &mut found);
        }
        let kinds: Vec<&str> = found
            .iter()
            .filter_map(|found| found.value["kind"].as_str())
            .collect();
        assert_eq!(kinds, ["A", "B", "D"]);
        assert_eq!(parse("{\"a\": 1}").expect("JSON"), [json!({ "a": 1 })]);
        let error = parse("a: [").expect_err("no end").to_string();
        assert!(
            error.starts_with("it is neither JSON nor YAML: ")
                && error.contains("line 1")
                && !error.contains("error:"),
            "{error}"
        );
    }
}
