//! `joiner sandbox env`.

use std::process::ExitCode;

use joiner_sandbox::terraform::Mirror;
use joiner_sandbox::{Layout, Result, Sandbox};

use crate::arguments::Output;
use crate::output;

/// Prints the settings that point other tools at the sandbox.
pub(crate) fn run(layout: Layout, how: Output) -> Result<ExitCode> {
    let sandbox = Sandbox::open(layout)?;
    let mut environment = sandbox.environment();
    if let Some(mirror) = Mirror::there(&sandbox.layout().core()) {
        let config = mirror.cli_config().display().to_string();
        environment.insert("TF_CLI_CONFIG_FILE".to_owned(), config);
    }
    if how == Output::Json {
        return Ok(output::json(&environment));
    }
    let lines: Vec<String> = environment
        .iter()
        .map(|(name, value)| format!("export {name}={}", quoted(value)))
        .collect();
    Ok(output::line(&lines.join("\n")))
}

/// Quotes a value for a shell, if it must be.
pub(crate) fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:".contains(c);
    if value.chars().all(plain) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_safe_in_a_shell() {
        for (value, want) in [
            ("/a/b-c.d:1", "/a/b-c.d:1"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
        ] {
            assert_eq!(quoted(value), want);
        }
    }
}
