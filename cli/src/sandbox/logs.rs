//! `joiner sandbox logs`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use joiner_sandbox::{Error, Layout, Result, status};
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use crate::arguments::Logs;
use crate::output;

/// Prints a part's log.
pub(crate) async fn run(layout: &Layout, arguments: &Logs) -> Result<ExitCode> {
    let path = match arguments.part.split_once('/') {
        Some((cluster, part)) => layout.cluster(cluster).log(part),
        None => layout.log(&arguments.part),
    };
    if !path.is_file() {
        return Err(unknown(layout, &arguments.part).await);
    }
    let failed = |cause| Error::File {
        verb: "read",
        path: path.clone(),
        cause,
    };
    print(&path, arguments).await.map_err(failed)
}

async fn print(path: &Path, arguments: &Logs) -> std::io::Result<ExitCode> {
    let mut file = tokio::fs::File::open(path).await?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).await?;
    let from = arguments.tail.map_or(0, |lines| start_of_last(&bytes, lines));
    let mut code = output::bytes(&bytes[from..]);
    let mut at = bytes.len() as u64;
    while arguments.follow && code == ExitCode::SUCCESS {
        tokio::time::sleep(Duration::from_millis(200)).await;
        file.seek(std::io::SeekFrom::Start(at)).await?;
        bytes.clear();
        at += file.read_to_end(&mut bytes).await? as u64;
        code = output::bytes(&bytes);
    }
    Ok(code)
}

/// Where the last `lines` lines begin.
fn start_of_last(bytes: &[u8], lines: usize) -> usize {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut ends = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    match lines {
        0 => bytes.len(),
        _ => ends.nth(lines - 1).map_or(0, |(at, _)| at + 1),
    }
}

async fn unknown(layout: &Layout, part: &str) -> Error {
    let parts = status(layout)
        .await
        .map(|status| status.parts)
        .unwrap_or_default();
    let names: Vec<String> = parts.into_iter().map(|part| part.name).collect();
    let names = if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    };
    Error::Refused(format!("there is no log of {part:?}; the parts are: {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_found() {
        for (lines, want) in [(0, ""), (1, "c\n"), (2, "b\nc\n"), (9, "a\nb\nc\n")] {
            let bytes = b"a\nb\nc\n";
            assert_eq!(&bytes[start_of_last(bytes, lines)..], want.as_bytes(), "{lines}");
        }
        assert_eq!(start_of_last(b"", 3), 0);
    }
}
