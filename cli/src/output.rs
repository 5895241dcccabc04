//! Printing: results on stdout, everything else on stderr. A closed pipe (`| head`) is no error.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

/// Prints a text and a line end on stdout.
pub(crate) fn line(text: &str) -> ExitCode {
    bytes(format!("{text}\n").as_bytes())
}

/// Prints bytes on stdout.
pub(crate) fn bytes(bytes: &[u8]) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(&error),
        _ => ExitCode::SUCCESS,
    }
}

/// Prints an error with its causes on stderr.
pub(crate) fn fail(error: &dyn Error) -> ExitCode {
    eprintln!("error: {}", joiner_sandbox::chain(error));
    ExitCode::FAILURE
}

/// Says on stderr how to go on after Ctrl-C, where there is something to go on with.
pub(crate) fn interrupted(hint: Option<&str>) -> ExitCode {
    if let Some(hint) = hint {
        eprintln!("interrupted; {hint}");
    }
    ExitCode::from(130)
}

/// Prints a value as JSON in one line on stdout, without holding the whole text: it may be long.
pub(crate) fn json_line<T: serde::Serialize>(value: &T) -> ExitCode {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = serde_json::to_writer(&mut out, value).map_err(io::Error::from);
    match written
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(&error),
        _ => ExitCode::SUCCESS,
    }
}

/// Prints a value as JSON on stdout.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> ExitCode {
    match serde_json::to_string_pretty(value) {
        Ok(text) => line(&text),
        Err(error) => fail(&error),
    }
}
