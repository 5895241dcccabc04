//! Serving a provider to a core: from `main` to the process's end.

use std::process::ExitCode;

use crate::provider::Provider;

/// What a core must be told that the provider itself does not say.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The full source address, for `-debug` and logs: `registry.opentofu.org/example/example`.
    pub address: &'static str,
    /// The provider's version.
    pub version: &'static str,
}

/// Serves the provider until the core ends it; `main` returns the exit code. Started by hand it explains itself and fails.
///
/// Nothing may be written to standard output before or while serving.
pub fn serve<P: Provider>(options: ServeOptions, provider: P) -> ExitCode {
    let _ = (options, provider);
    ExitCode::FAILURE
}
