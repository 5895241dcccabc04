//! Versions of Go and Python: reading and comparing them.

use std::fmt;

/// Major, minor, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32, pub(super) u32);

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// Reads `1.26.8`, `1.26`, `1.27rc1` (as 1.27.0).
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().splitn(3, '.').map(leading_number);
        let major = parts.next()??;
        let minor = parts.next()??;
        let patch = parts.next().flatten().unwrap_or(0);
        Some(Self(major, minor, patch))
    }
}

fn leading_number(text: &str) -> Option<u32> {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    text[..digits].parse().ok()
}

/// The version in `go version go1.26.8 linux/amd64`.
pub(super) fn of_go(output: &str) -> Option<Version> {
    output
        .split_ascii_whitespace()
        .find_map(|word| Version::parse(word.strip_prefix("go")?))
}

/// The version that a go.mod asks for (its `go` line).
pub(super) fn wanted_by(go_mod: &str) -> Option<Version> {
    go_mod
        .lines()
        .find_map(|line| Version::parse(line.strip_prefix("go ")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered() {
        for (text, want) in [
            ("1.26.8", Some(Version(1, 26, 8))),
            ("1.26", Some(Version(1, 26, 0))),
            ("1.27rc1", Some(Version(1, 27, 0))),
            ("3.13.0+", Some(Version(3, 13, 0))),
            ("devel", None),
            ("", None),
        ] {
            assert_eq!(Version::parse(text), want, "{text:?}");
        }
        assert!(Version(1, 9, 9) < Version(1, 26, 0));
    }

    #[test]
    fn go_and_go_mod_lines_are_read() {
        assert_eq!(of_go("go version go1.26.8 linux/amd64"), Some(Version(1, 26, 8)));
        assert_eq!(of_go("go version devel +abc"), None);
        assert_eq!(wanted_by("module x\n\ngo 1.26.8\n"), Some(Version(1, 26, 8)));
    }
}
