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

/// Prints a value as JSON on stdout.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> ExitCode {
    match serde_json::to_string_pretty(value) {
        Ok(text) => line(&text),
        Err(error) => fail(&error),
    }
}
