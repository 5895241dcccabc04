//! Names of resources: valid identifiers, each once.

use std::collections::BTreeSet;

/// Gives out identifiers; each name that is asked for gets one of its own.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// An identifier like `name`: what is no letter, digit or underscore becomes an underscore, and a number makes it differ from those
    /// given out before.
    pub(super) fn give(&mut self, name: &str) -> String {
        let plain = identifier(name);
        let mut found = plain.clone();
        let mut number = 1;
        while !self.taken.insert(found.clone()) {
            number += 1;
            found = format!("{plain}_{number}");
        }
        found
    }
}

fn identifier(name: &str) -> String {
    let mut found: String = name
        .chars()
        .map(|char| {
            if char.is_ascii_alphanumeric() {
                char.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect();
    if found.chars().next().is_none_or(|first| first.is_ascii_digit()) {
        found.insert(0, '_');
    }
    found
}

/// A name that Kubernetes takes: small letters, digits, `-` and `.`, at most 63 of them.
pub(super) fn object_name(text: &str) -> String {
    let words: String = text
        .chars()
        .map(|char| match char {
            'a'..='z' | '0'..='9' | '.' => char,
            'A'..='Z' => char.to_ascii_lowercase(),
            _ => '-',
        })
        .take(63)
        .collect();
    let name = words.trim_matches(['-', '.']).to_owned();
    if name.is_empty() {
        "unnamed".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_and_differ() {
        let mut names = Names::default();
        for (name, want) in [
            ("default", "default"),
            ("gpu-a.b", "gpu_a_b"),
            ("gpu.a-b", "gpu_a_b_2"),
            ("gpu-a-b-2", "gpu_a_b_2_2"),
            ("1st", "_1st"),
            ("", "_"),
        ] {
            assert_eq!(names.give(name), want, "{name}");
        }
    }

    #[test]
    fn names_of_groups_become_names_of_objects() {
        for (text, want) in [
            ("eksctl-Prod-nodegroup_ng1", "eksctl-prod-nodegroup-ng1"),
            ("-x-", "x"),
            ("…", "unnamed"),
        ] {
            assert_eq!(object_name(text), want);
        }
    }
}
