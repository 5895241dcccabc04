//! Container logs on disk, in the form that the container runtime interface gives them: `<time> <stream> F <text>`.
//!
//! Writing: one file a run of a container. Reading: the last lines, since a time, with times, and following.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// The log of one run of a container: `<pod folder>/logs/<container>/<run>.log`.
pub(super) fn path(pod: &Path, container: &str, run: u32) -> PathBuf {
    pod.join("logs").join(container).join(format!("{run}.log"))
}

/// A log that is being written; clones share the file.
#[derive(Debug, Clone)]
pub(super) struct LogWriter {
    file: Arc<Mutex<File>>,
}

impl LogWriter {
    /// Opens a log.
    pub(super) async fn open(path: &Path) -> std::io::Result<Self> {
        if let Some(folder) = path.parent() {
            tokio::fs::create_dir_all(folder).await?;
        }
        let file = File::options().create(true).append(true).open(path).await?;
        Ok(Self {
            file: Arc::new(Mutex::new(file)),
        })
    }

    /// Copies a process's output, line by line, until it ends.
    pub(super) async fn copy(self, stream: &'static str, output: impl AsyncRead + Unpin) {
        let mut lines = BufReader::new(output);
        let mut line = Vec::new();
        loop {
            line.clear();
            match lines.read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            if line.last() != Some(&b'\n') {
                line.push(b'\n');
            }
            let mut entry = format!("{:.9} {stream} F ", Timestamp::now()).into_bytes();
            entry.extend_from_slice(&line);
            let mut file = self.file.lock().await;
            // A full disk must not stop the process: its output is lost, as on a real node.
            let _ = file.write_all(&entry).await;
            let _ = file.flush().await;
        }
    }
}

/// What of a log is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) tail: Option<usize>,
    pub(super) since: Option<Timestamp>,
    pub(super) timestamps: bool,
    pub(super) limit: Option<usize>,
}

/// The wanted part of a log's text.
pub(super) fn select(log: &str, wanted: Wanted) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| is_since(line, wanted.since)).collect();
    let from = wanted.tail.map_or(0, |tail| lines.len().saturating_sub(tail));
    let mut text: String = lines[from..]
        .iter()
        .map(|line| plain(line, wanted.timestamps))
        .collect();
    if let Some(limit) = wanted.limit {
        let end = (0..=limit.min(text.len()))
            .rev()
            .find(|end| text.is_char_boundary(*end))
            .unwrap_or(0);
        text.truncate(end);
    }
    text
}

fn is_since(line: &str, since: Option<Timestamp>) -> bool {
    let Some(since) = since else { return true };
    let time = line
        .split(' ')
        .next()
        .and_then(|time| time.parse::<Timestamp>().ok());
    time.is_none_or(|time| time >= since)
}

/// A line as `kubectl logs` prints it.
fn plain(line: &str, timestamps: bool) -> String {
    let mut parts = line.splitn(4, ' ');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(time), Some(_), Some(_), Some(text)) if timestamps => format!("{time} {text}\n"),
        (Some(_), Some(_), Some(_), Some(text)) => format!("{text}\n"),
        _ => format!("{line}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "2026-01-01T00:00:00.000000000Z stdout F one\n2026-01-01T00:00:01.000000000Z stderr F two words\n2026-01-01T00:00:02.000000000Z stdout F \n";

    #[test]
    fn wanted_lines_are_selected() {
        let since = "2026-01-01T00:00:01Z".parse().ok();
        for (wanted, want) in [
            (Wanted::default(), "one\ntwo words\n\n"),
            (
                Wanted {
                    tail: Some(2),
                    ..Wanted::default()
                },
                "two words\n\n",
            ),
            (
                Wanted {
                    tail: Some(0),
                    ..Wanted::default()
                },
                "",
            ),
            (
                Wanted {
                    since,
                    ..Wanted::default()
                },
                "two words\n\n",
            ),
            (
                Wanted {
                    tail: Some(1),
                    timestamps: true,
                    ..Wanted::default()
                },
                "2026-01-01T00:00:02.000000000Z \n",
            ),
            (
                Wanted {
                    limit: Some(5),
                    ..Wanted::default()
                },
                "one\nt",
            ),
        ] {
            assert_eq!(select(LOG, wanted), want, "{wanted:?}");
        }
    }

    #[tokio::test]
    async fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "c", 0);
        let writer = LogWriter::open(&path).await.unwrap();
        writer.copy("stdout", &b"hello\nworld"[..]).await;
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(select(&text, Wanted::default()), "hello\nworld\n");
    }
}
