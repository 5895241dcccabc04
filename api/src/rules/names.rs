//! Kubernetes' syntax of label keys, label values and object names.

use super::{Violation, view::View};

/// Why a text is no label key (or taint key); nothing when it is one.
pub(super) fn label_key(key: &str) -> Option<String> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if let Some(prefix) = prefix.filter(|prefix| !is_dns_name(prefix)) {
        return Some(format!(
            "{prefix:?} before the '/' must be a DNS name: lower-case letters, digits, '-' and '.', at most 253 characters"
        ));
    }
    if name.is_empty() || name.len() > 63 || !is_name(name) {
        return Some(format!(
            "{name:?} must be a name of 1 to 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit"
        ));
    }
    None
}

/// Rules of labels and annotations, of an object or of a template.
pub(super) fn check_metadata(metadata: &View<'_>, found: &mut Vec<Violation>) {
    for (name, kind) in [("labels", Keys::Labels), ("annotations", Keys::Annotations)] {
        if let Some(map) = metadata.field(name) {
            check_keys(&map, kind, found);
        }
    }
}

/// Checks the keys of labels or annotations, and of labels the values. An annotation's key may be in any case.
fn check_keys(map: &View<'_>, kind: Keys, found: &mut Vec<Violation>) {
    for (key, value) in map.entries() {
        let (problem, what) = match kind {
            Keys::Labels => (label_key(key), "label"),
            Keys::Annotations => (label_key(&key.to_lowercase()), "annotation"),
        };
        let place = value.unwrap_or_else(|| map.clone());
        if let Some(problem) = problem {
            found.push(place.fail(format!("{key:?} is no {what} key: {problem}")));
        } else if kind == Keys::Labels
            && place.path != map.path
            && let Some(problem) = place.value.as_str().and_then(label_value)
        {
            found.push(place.fail(problem));
        }
    }
}

/// Whose keys they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    Labels,
    Annotations,
}

/// Why a text is no label value; nothing when it is one.
pub(super) fn label_value(value: &str) -> Option<String> {
    (!value.is_empty() && (value.len() > 63 || !is_name(value))).then(|| {
        format!(
            "{value:?} is no label value: use at most 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit"
        )
    })
}

/// Whether a text is an object's name: a DNS name of at most 253 characters, which is labels with dots between (RFC 1123).
pub fn is_dns_name(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(|label| is_dns_label(label, 253))
}

/// Whether a text is a DNS label of at most `most` characters, as the names of namespaces and releases are (RFC 1123).
pub fn is_dns_label(name: &str, most: usize) -> bool {
    let inner = |char: u8| char.is_ascii_lowercase() || char.is_ascii_digit() || char == b'-';
    !name.is_empty()
        && name.len() <= most
        && name.bytes().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// Whether a text is the id of a thing in EC2: the kind's prefix and hexadecimal digits.
pub(super) fn is_id(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix)
        .and_then(|rest| rest.strip_prefix('-'))
        .is_some_and(|digits| {
            !digits.is_empty() && digits.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
        })
}

fn is_name(name: &str) -> bool {
    name.bytes()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.'))
        && name.bytes().next().is_some_and(|c| c.is_ascii_alphanumeric())
        && name.bytes().last().is_some_and(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_kubernetes() {
        for (name, label, subdomain) in [
            ("kube-system", true, true),
            ("a.b", false, true),
            ("a..b", false, false),
            ("Kube_System", false, false),
            ("-a", false, false),
            ("", false, false),
        ] {
            assert_eq!(
                (is_dns_label(name, 63), is_dns_name(name)),
                (label, subdomain),
                "{name}"
            );
        }
        assert!(!is_dns_label(&"a".repeat(64), 63));
    }
}
