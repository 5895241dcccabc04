//! The last lines of a log, for messages.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::ExitStatus;

use std::os::unix::process::ExitStatusExt;

/// At most this much of a log's end is read for a message, in bytes.
const WINDOW: u64 = 16 * 1024;

/// The last `count` lines of a file; empty when there is none.
pub(crate) fn last_lines(path: &Path, count: usize) -> String {
    let text = read_end(path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

fn read_end(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(WINDOW)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// How a process ended, as a clause: "ended with exit code 1", "was killed by signal 9".
pub(crate) fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_lines_of_short_long_and_missing_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        assert_eq!(last_lines(&path, 3), "");
        std::fs::write(&path, "a\nb\nc\nd\n").unwrap();
        assert_eq!(last_lines(&path, 3), "b\nc\nd");
        assert_eq!(last_lines(&path, 9), "a\nb\nc\nd");
        std::fs::write(&path, "x".repeat(40_000) + "\nend\n").unwrap();
        assert_eq!(last_lines(&path, 1), "end");
    }
}
