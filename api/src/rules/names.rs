//! Kubernetes' syntax of label keys, label values and object names.

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

/// Why a text is no label value; nothing when it is one.
pub(super) fn label_value(value: &str) -> Option<String> {
    (!value.is_empty() && (value.len() > 63 || !is_name(value))).then(|| {
        format!(
            "{value:?} is no label value: use at most 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit"
        )
    })
}

/// Whether a text is an object's name: a DNS name of at most 253 characters.
pub(super) fn is_dns_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
        !part.is_empty()
            && part.bytes().all(|c| inner(c) || c == b'-')
            && part.bytes().next().is_some_and(inner)
            && part.bytes().last().is_some_and(inner)
    };
    !name.is_empty() && name.len() <= 253 && name.split('.').all(is_part)
}

fn is_name(name: &str) -> bool {
    name.bytes()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.'))
        && name.bytes().next().is_some_and(|c| c.is_ascii_alphanumeric())
        && name.bytes().last().is_some_and(|c| c.is_ascii_alphanumeric())
}
