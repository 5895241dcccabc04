//! Versions of charts, as Helm reads them: one version, or a range of versions.

/// What is wrong with the version of a chart in a registry.
pub(super) fn check(version: &str) -> Result<(), String> {
    let parts = version
        .split("||")
        .flat_map(|range| range.split([',', ' ']))
        .map(|part| part.trim_start_matches(['=', '!', '<', '>', '~', '^']))
        .filter(|part| !part.is_empty() && *part != "-");
    let parts: Vec<&str> = parts.collect();
    if !parts.is_empty() && parts.iter().all(|part| is_version(part)) {
        return Ok(());
    }
    let hint = match version {
        "latest" => " Leave version out for the newest one",
        _ => " Write it as the registry has it",
    };
    Err(format!(
        "version {version:?} is neither a version, such as 1.2.3, nor a range of them, such as ~1.2 or >=1.2, <2.{hint}"
    ))
}

/// Up to three numbers, or `x` and `*` for any, then perhaps a pre-release and a build.
fn is_version(part: &str) -> bool {
    let part = part.strip_prefix('v').unwrap_or(part);
    let (part, build) = part.split_once('+').unwrap_or((part, "0"));
    let (numbers, pre) = part.split_once('-').unwrap_or((part, "0"));
    let is_number = |text: &str| {
        matches!(text, "x" | "X" | "*")
            || (!text.is_empty() && text.chars().all(|char| char.is_ascii_digit()))
    };
    let is_suffix = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || ".-".contains(char))
    };
    let numbers: Vec<&str> = numbers.split('.').collect();
    numbers.len() <= 3 && numbers.into_iter().all(is_number) && is_suffix(build) && is_suffix(pre)
}

/// The tag in a reference, such as `1.2.3` in `oci://host:5000/chart:1.2.3`.
pub(super) fn tag(reference: &str) -> Option<&str> {
    let (_, name) = reference.rsplit_once('/')?;
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    name.split_once(':').map(|(_, tag)| tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_one_or_a_range() {
        for fine in [
            "1.2.3",
            "v1.2.3",
            "1.2",
            "1",
            "1.2.3-rc.1",
            "1.2.3+build.5",
            "~1.2",
            "^1.2.3",
            ">=1.2, <2",
            ">= 1.2 < 2",
            "1.x",
            "*",
            "1.2 - 1.4.5",
            "1.2.3 || 2.x",
            "!=1.2.3",
        ] {
            assert_eq!(check(fine), Ok(()), "{fine}");
        }
        for wrong in ["latest", "one.two", "", "1.2.3.4", "1..2", ">=", "main"] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
        assert!(check("latest").expect_err("no version").contains("newest"));
    }

    #[test]
    fn a_tag_is_no_port() {
        for (reference, want) in [
            ("oci://r/c:1.2.3", Some("1.2.3")),
            ("oci://r:5000/c", None),
            ("oci://r:5000/a/c:1", Some("1")),
            ("oci://r/c@sha256:0a", None),
            ("oci://r/c:1@sha256:0a", Some("1")),
        ] {
            assert_eq!(tag(reference), want, "{reference}");
        }
    }
}
