//! `terraform-provider-joiner`: the Terraform and OpenTofu provider of Joiner.
//!
//! A configuration becomes a cluster that gives its own pods nodes: configuration -> typed resource -> rules -> plan (offline) ->
//! apply (server-side apply, Helm, IAM) -> read (drift, by meaning). Start-up builds no client: one apply starts four processes.

#[cfg(test)]
mod account;
mod cluster;
mod data_sources;
mod ephemeral;
mod feasible;
mod forecast;
mod functions;
mod helm;
mod objects;
#[cfg(test)]
mod pages;
mod plain;
mod provider;
mod report;
mod resources;
mod roles;
mod yaml;

use std::process::ExitCode;
use tfplugin::{ServeOptions, serve};

fn main() -> ExitCode {
    let options = ServeOptions {
        address: "registry.opentofu.org/joiner-dev/joiner",
        version: env!("CARGO_PKG_VERSION"),
    };
    serve(options, provider::JoinerProvider::new())
}
