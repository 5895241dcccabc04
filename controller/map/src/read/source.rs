//! One object in whatever form it is given, and its apiVersion and kind before the rest is read.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::Fault;
use super::{mend, scan, yaml};

/// An object's text or value.
pub(super) enum Source<'a> {
    Json(&'a str),
    Yaml(&'a str),
    Value(Value),
}

/// Which kind of object it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The API group; empty for the core group.
    pub(super) group: String,
    /// The API version within the group.
    pub(super) version: String,
    pub(super) kind: String,
}

impl Head {
    fn new(api_version: &str, kind: &str) -> Head {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Head {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
        }
    }

    /// What the items of a list such as `PodList` are, where they do not say so themselves.
    pub(super) fn of_items(&self) -> Option<Head> {
        let kind = self.kind.strip_suffix("List").filter(|kind| !kind.is_empty())?;
        Some(Head {
            kind: kind.to_owned(),
            ..self.clone()
        })
    }
}

impl Source<'_> {
    /// The object as `T`; amounts may be written as numbers.
    pub(super) fn typed<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        self.strictly().or_else(|fault| {
            let mut value = self.value()?;
            if mend::amounts(&mut value) {
                from_value(&value)
            } else {
                Err(fault)
            }
        })
    }

    /// By two ways only, as each of them is compiled anew for each kind: what is fast, and what knows the path of a fault.
    fn strictly<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        match self {
            Source::Json(text) => serde_json::from_str(text).or_else(|_| from_value(&self.value()?)),
            Source::Yaml(text) => from_value(&yaml_value(text)?),
            Source::Value(value) => from_value(value),
        }
    }

    /// The object as a value, to be mended before it is typed.
    pub(super) fn value(&self) -> Result<Value, Fault> {
        match self {
            Source::Json(text) => serde_json::from_str(text).map_err(|error| no_json(&error.to_string())),
            Source::Yaml(text) => yaml_value(text),
            Source::Value(value) => Ok(value.clone()),
        }
    }
}

/// A value as `T`, with the path of what does not fit.
pub(super) fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, Fault> {
    serde_path_to_error::deserialize(value).map_err(|error| fault(&error))
}

fn fault(error: &serde_path_to_error::Error<serde_json::Error>) -> Fault {
    let path = error.path().to_string();
    let field = if path == "." { "" } else { &path };
    Fault::new(field, error.inner().to_string())
}

/// A place within the object's own text is of no use to a person who has the whole file.
fn no_json(message: &str) -> Fault {
    let message = message.split(" at line ").next().unwrap_or(message);
    Fault::syntax(format!("this is no JSON: {message}"))
}

fn options() -> serde_saphyr::Options {
    // The input is the user's own; its size is no attack.
    serde_saphyr::options! { strict_booleans: true, budget: None }
}

/// A YAML document as a value.
pub(super) fn yaml_value(text: &str) -> Result<Value, Fault> {
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| {
        let problem = yaml::trouble(&error);
        Fault::syntax(format!("this is no YAML: {problem} of the document"))
    })
}

/// apiVersion and kind of a YAML document in block style, from its lines; none where they are not found so.
pub(super) fn head_of_yaml(text: &str) -> Option<Head> {
    let kind = yaml::plain_member(text, "kind")?;
    let api_version = yaml::plain_member(text, "apiVersion")?;
    Some(Head::new(api_version, kind))
}

pub(super) fn head_of_value(value: &Value) -> Result<Head, Fault> {
    head_of_item(value, None)
}

/// The head of a list's item, which may be left to the list.
pub(super) fn head_of_item(value: &Value, list: Option<&Head>) -> Result<Head, Fault> {
    if !value.is_object() {
        return Err(Fault::new(
            "",
            format!("{} is no object", short(&value.to_string())),
        ));
    }
    let member = |key: &str| value.get(key).and_then(Value::as_str);
    head(member("apiVersion"), member("kind"), list)
}

/// A JSON object's head, and its `items` where it has such.
pub(super) struct Found<'a> {
    pub(super) head: Head,
    pub(super) items: Option<&'a str>,
}

pub(super) fn head_of_json(text: &str) -> Result<Found<'_>, Fault> {
    let (mut api_version, mut kind, mut items) = (None, None, None);
    for member in scan::members(text) {
        let (key, value) = member.map_err(|_| Fault::syntax("this is no JSON object"))?;
        match key {
            "apiVersion" => api_version = Some(value),
            "kind" => kind = Some(value),
            "items" => items = Some(value).filter(|list| list.starts_with('[')),
            _ => {}
        }
    }
    let head = head(api_version.map(unquoted), kind.map(unquoted), None)?;
    Ok(Found { head, items })
}

/// The head of an item of a JSON list; looks no further than it must.
pub(super) fn head_of_json_item(text: &str, list: Option<&Head>) -> Result<Head, Fault> {
    if !text.starts_with('{') {
        return Err(Fault::new("", format!("{} is no object", short(text))));
    }
    let (mut api_version, mut kind) = (None, None);
    for member in scan::members(text) {
        let (key, value) = member.map_err(|_| Fault::syntax("this is no JSON object"))?;
        match key {
            "apiVersion" => api_version = Some(unquoted(value)),
            "kind" => kind = Some(unquoted(value)),
            _ => {}
        }
        if api_version.is_some() && kind.is_some() {
            break;
        }
    }
    head(api_version, kind, list)
}

fn head(api_version: Option<&str>, kind: Option<&str>, list: Option<&Head>) -> Result<Head, Fault> {
    match (api_version, kind, list) {
        (Some(api_version), Some(kind), _) => Ok(Head::new(api_version, kind)),
        (_, _, Some(list)) => Ok(list.clone()),
        (_, None, None) => Err(Fault::new(
            "kind",
            "it is missing; every object names its apiVersion and kind",
        )),
        (None, Some(kind), None) => {
            let message = format!("it is missing; a {kind} names the version of its API");
            Err(Fault::new("apiVersion", message))
        }
    }
}

fn unquoted(text: &str) -> &str {
    text.trim_matches('"')
}

fn short(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
