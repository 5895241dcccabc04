//! `joiner version`.

use std::process::ExitCode;

use crate::arguments::Output;
use crate::output;

#[derive(serde::Serialize)]
struct Version {
    joiner: &'static str,
    kubernetes: &'static str,
}

/// Prints the versions of this program and of the sandbox's Kubernetes.
pub(crate) fn print(how: Output) -> ExitCode {
    let version = Version {
        joiner: env!("CARGO_PKG_VERSION"),
        kubernetes: joiner_sandbox::tools::KUBERNETES_VERSION,
    };
    match how {
        Output::Json => output::json(&version),
        Output::Table => output::line(&format!(
            "joiner {}\nsandbox's Kubernetes {}",
            version.joiner, version.kubernetes
        )),
    }
}
