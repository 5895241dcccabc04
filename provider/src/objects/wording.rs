//! Texts about an object of the API in the words of the configuration: `user_data` for `spec.userData`.
//!
//! Input: a text that names fields and places of the API's object. Output: the same with the attributes' names. Invariant: what stands
//! between double quotes is someone's value, and stays as it is.

use super::check::attribute_path;
use super::custom::Custom;
use joiner_api::rules::{JsonPath, Segment};
use std::collections::BTreeMap;
use tfplugin::json::attribute_names;

/// The text with attributes where it names fields.
pub(super) fn in_attributes<M: Custom>(text: &str) -> String {
    let names = attribute_names::<M>();
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(next) = rest.chars().next() {
        let (length, word) = match next {
            '"' => (quoted(rest), None),
            _ if next.is_ascii_alphanumeric() => {
                let length = word(rest);
                let begins = !matches!(before, '.' | '/' | '-' | '_');
                match begins.then(|| named::<M>(rest, length, &names)).flatten() {
                    Some((length, name)) => (length, Some(name)),
                    None => (length, None),
                }
            }
            _ => (next.len_utf8(), None),
        };
        let (taken, left) = rest.split_at(length);
        told.push_str(word.as_deref().unwrap_or(taken));
        before = taken.chars().last().unwrap_or(before);
        rest = left;
    }
    told
}

/// The attribute that a text begins with the name or the place of, and how much of the text that is. `length` is that of its first word.
fn named<M: Custom>(text: &str, length: usize, names: &BTreeMap<String, String>) -> Option<(usize, String)> {
    let first = &text[..length];
    if matches!(first, "spec" | "metadata") {
        let (path, length) = place(text);
        let attribute = attribute_path::<M>(&path);
        return (!attribute.is_root()).then(|| (length, attribute.to_string()));
    }
    // A name of one lower-case word is the same in both, and may be a word like any other.
    let is_compound = first.chars().any(|char| char.is_ascii_uppercase());
    let name = names.get(first).filter(|_| is_compound)?;
    Some((length, name.clone()))
}

/// The place that a text begins with, as [`JsonPath`] prints it, and its length.
fn place(text: &str) -> (JsonPath, usize) {
    let mut length = word(text);
    let mut path = JsonPath::root().field(&text[..length]);
    while let Some((segment, more)) = step(&text[length..]) {
        path.0.push(segment);
        length += more;
    }
    (path, length)
}

/// `.name`, `["key"]` or `[0]` at the beginning of a text.
fn step(text: &str) -> Option<(Segment, usize)> {
    if let Some(name) = text.strip_prefix('.') {
        let length = word(name);
        return (length > 0).then(|| (Segment::from(&name[..length]), length + 1));
    }
    let inner = text.strip_prefix('[')?;
    if inner.starts_with('"') {
        let length = quoted(inner);
        let key = serde_json::from_str::<String>(&inner[..length]).ok()?;
        return inner[length..]
            .starts_with(']')
            .then(|| (Segment::Field(key), length + 2));
    }
    let (index, _) = inner.split_once(']')?;
    Some((Segment::Index(index.parse().ok()?), index.len() + 2))
}

/// How long the word is that a text begins with.
fn word(text: &str) -> usize {
    text.find(|char: char| !char.is_ascii_alphanumeric())
        .unwrap_or(text.len())
}

/// How long the quoted value is that a text begins with, its quotes included.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (index, char) in text.char_indices().skip(1) {
        match char {
            '"' if !escaped => return index + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::{Ec2NodeClass, NodePool};

    #[test]
    fn fields_and_places_are_attributes() {
        for (text, want) in [
            (
                "set exactly one of 'role' and 'instanceProfile'",
                "set exactly one of 'role' and 'instance_profile'",
            ),
            (
                "add one with networkCardIndex 0, deviceIndex 0 and interfaceType interface",
                "add one with network_card_index 0, device_index 0 and interface_type interface",
            ),
            (
                "set 'snapshotID' or remove 'volumeInitializationRate'",
                "set 'snapshot_id' or remove 'volume_initialization_rate'",
            ),
            (
                "spec.userData cannot be merged: shorten spec.userData, for example",
                "user_data cannot be merged: shorten user_data, for example",
            ),
            (
                "is already mapped at spec.blockDeviceMappings[0]: use another name",
                "is already mapped at block_device_mappings[0]: use another name",
            ),
            (
                "\"userData\" is a value, so is \"a\\\"userData\"",
                "\"userData\" is a value, so is \"a\\\"userData\"",
            ),
            (
                "node.eks.aws/userData and CoreDNS",
                "node.eks.aws/userData and CoreDNS",
            ),
            ("spec. An end", "spec. An end"),
            (
                "an é and \"an open quote userData",
                "an é and \"an open quote userData",
            ),
        ] {
            assert_eq!(in_attributes::<Ec2NodeClass>(text), want);
        }
        for (text, want) in [
            (
                "together with \"In amd64\" (spec.template.spec.requirements[0]): remove one",
                "together with \"In amd64\" (template.spec.requirements[0]): remove one",
            ),
            (
                "(spec.template.metadata.labels[\"a.b/c\"]) and metadata.labels.team",
                "(template.metadata.labels[\"a.b/c\"]) and labels[\"team\"]",
            ),
            (
                "may drain for 48h (terminationGracePeriod)",
                "may drain for 48h (termination_grace_period)",
            ),
        ] {
            assert_eq!(in_attributes::<NodePool>(text), want);
        }
    }
}
