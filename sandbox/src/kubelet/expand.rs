//! `$(NAME)` in commands, arguments and values. Pure.
//!
//! Source: Kubernetes' dependent environment variables: an unknown name stays as written, `$$(NAME)` is `$(NAME)`.

use std::collections::BTreeMap;

/// Replaces references to known names.
pub(super) fn expand(text: &str, known: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        if let Some(escaped) = tail.strip_prefix('$') {
            out.push('$');
            rest = escaped;
        } else if let Some((name, after)) = tail.strip_prefix('(').and_then(|tail| tail.split_once(')')) {
            match known.get(name) {
                Some(value) => out.push_str(value),
                None => out.push_str(&format!("$({name})")),
            }
            rest = after;
        } else {
            out.push('$');
            rest = tail;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_replaced_as_kubernetes_does() {
        let known = BTreeMap::from([
            ("A".to_owned(), "1".to_owned()),
            ("B".to_owned(), "$(A)".to_owned()),
        ]);
        for (text, want) in [
            ("x", "x"),
            ("$(A)-$(A)", "1-1"),
            ("$(B)", "$(A)"),
            ("$(NO)", "$(NO)"),
            ("$$(A)", "$(A)"),
            ("$A $", "$A $"),
            ("$(A", "$(A"),
        ] {
            assert_eq!(expand(text, &known), want, "{text}");
        }
    }
}
