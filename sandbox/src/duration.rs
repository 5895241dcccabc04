//! Times as people write them in settings.

use std::time::Duration;

/// Reads `5s`, `500ms`, `1m30s`, `0`, or a number of seconds; `None` for anything else.
pub fn parse_duration(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u32 = rest[..digits].parse().ok()?;
        let tail = &rest[digits..];
        let length = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let unit = match &tail[..length] {
            "ms" => Duration::from_millis(1),
            "s" => Duration::from_secs(1),
            "m" => Duration::from_secs(60),
            "h" => Duration::from_secs(3600),
            _ => return None,
        };
        total += unit * number;
        rest = &tail[length..];
    }
    (!text.is_empty()).then_some(total)
}
