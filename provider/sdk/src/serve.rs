//! Serving a provider to a core: from `main` to the process's end.
//!
//! Before the handshake line nothing is done but make a key, a certificate and a socket; one apply starts four processes.

mod connection;
mod environment;
mod handshake;
mod listen;
mod log;
mod reattach;
mod running;
mod services;
mod signals;
#[cfg(test)]
mod tests;
mod tls;

use std::io::{self, Write};
use std::process::ExitCode;

use crate::provider::Provider;
use environment::Environment;
use running::{Mode, ServeError};

/// What a core must be told that the provider itself does not say.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The full source address, for `-debug` and logs: `registry.opentofu.org/example/example`.
    pub address: &'static str,
    /// The provider's version.
    pub version: &'static str,
}

impl ServeOptions {
    /// The last part of the address: `example`.
    fn name(&self) -> &'static str {
        self.address.rsplit('/').next().unwrap_or(self.address)
    }
}

/// Serves the provider until the core ends it; `main` returns the exit code. Started by hand it explains itself and fails.
/// With the argument `-debug` it serves until interrupted, and prints the environment variable that makes a core use it.
///
/// Nothing may be written to standard output before or while serving.
pub fn serve<P: Provider>(options: ServeOptions, provider: P) -> ExitCode {
    let environment = Environment::of_process();
    let debug = std::env::args()
        .skip(1)
        .any(|argument| matches!(argument.as_str(), "-debug" | "--debug"));
    if !debug && !environment.has_cookie() {
        explain(&options);
        return ExitCode::FAILURE;
    }
    log::install(options.name());
    crate::rpc::install_hook();
    let mode = if debug { Mode::Debug } else { Mode::Plugin };
    match run(&options, environment, provider, mode) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&options, &error);
            ExitCode::FAILURE
        }
    }
}

fn run<P: Provider>(
    options: &ServeOptions,
    environment: Environment,
    provider: P,
    mode: Mode,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(ServeError::Runtime)?;
    let result = runtime.block_on(async {
        let running = running::start(environment, provider, mode)?;
        announce(options, &running, mode)?;
        running.until_end().await
    });
    runtime.shutdown_background();
    result
}

/// Writes the one thing that goes to standard output: the handshake line, or how to reach a provider being debugged.
fn announce(options: &ServeOptions, running: &running::Running, mode: Mode) -> Result<(), ServeError> {
    let text = match mode {
        Mode::Plugin => format!("{}\n", running.handshake_line()),
        Mode::Debug => reattach::instructions(options.address, running.endpoint()),
    };
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(ServeError::Announce)?;
    drop(stdout);
    if mode == Mode::Plugin {
        listen::divert_stdout();
    }
    Ok(())
}

fn explain(options: &ServeOptions) {
    let text = format!(
        "This is the {name} provider {version} for OpenTofu and Terraform. It is started by them, not by hand.\n\n\
         To use it, name it in a configuration and run `tofu init`:\n\n  \
         terraform {{\n    required_providers {{\n      {name} = {{ source = \"{source}\" }}\n    }}\n  }}\n\n\
         To debug it, start it with -debug and follow what it prints.\n",
        name = options.name(),
        version = options.version,
        source = options.address,
    );
    tell(&text);
}

fn complain(options: &ServeOptions, error: &ServeError) {
    let mut text = format!("The {} provider cannot serve: {error}", options.name());
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text.push('\n');
    tell(&text);
}

/// Standard error is the last resort: when it is closed, nobody can be told.
fn tell(text: &str) {
    let _unheard = io::stderr().write_all(text.as_bytes());
}
