//! Looking for sentences in what a command printed, wherever it broke its lines.

use anyhow::{Result, ensure};

/// Requires that `text` holds each of `parts`; blanks and line breaks count as one blank.
///
/// # Errors
/// The part that is missing, with the text.
pub fn tells(text: &str, parts: &[&str]) -> Result<()> {
    let all = words(text);
    for part in parts {
        ensure!(all.contains(&words(part)), "{part:?} is not in:\n{text}");
    }
    Ok(())
}

/// Whether `text` holds `part`; blanks and line breaks count as one blank.
pub fn is_told(text: &str, part: &str) -> bool {
    words(text).contains(&words(part))
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_found_across_lines() {
        let text = "Error: no\n\n  cannot reach\nthe cluster.";
        assert!(tells(text, &["Error: no", "cannot reach the cluster."]).is_ok());
        assert!(tells(text, &["the cloud"]).is_err());
        assert!(is_told(text, "no cannot"));
    }
}
