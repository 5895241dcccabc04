//! Names as Kubernetes takes them.

/// Whether it is a label of RFC 1123 of at most `most` characters, as the names of namespaces and releases are.
pub(crate) fn is_label(name: &str, most: usize) -> bool {
    let inner = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-';
    !name.is_empty()
        && name.len() <= most
        && name.chars().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// Whether it is a subdomain of RFC 1123, as the names of most objects are: labels with dots between.
pub(crate) fn is_subdomain(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(|label| is_label(label, 253))
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
                (is_label(name, 63), is_subdomain(name)),
                (label, subdomain),
                "{name}"
            );
        }
        assert!(!is_label(&"a".repeat(64), 63));
    }
}
