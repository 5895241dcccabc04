//! The known name that a mistyped one most likely stands for.

/// The name in `known` that is nearest to `name`, if it is near enough to be meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = fold(name);
    let allowed = (wanted.len() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(&wanted, &fold(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// `; did you mean "x"?` or nothing.
pub(super) fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known)
        .map(|near| format!("; did you mean {near:?}?"))
        .unwrap_or_default()
}

/// Case, underscores and dashes make no difference to what is meant.
fn fold(name: &str) -> Vec<char> {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Levenshtein's distance.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_meant() {
        let known = [
            "requirements",
            "taints",
            "startupTaints",
            "expireAfter",
            "In",
            "NotIn",
        ];
        for (name, want) in [
            ("requirments", Some("requirements")),
            ("expire_after", Some("expireAfter")),
            ("startup_taint", Some("startupTaints")),
            ("in", Some("In")),
            ("Equals", None),
            ("zzz", None),
        ] {
            assert_eq!(nearest(name, known), want, "{name}");
        }
    }
}
