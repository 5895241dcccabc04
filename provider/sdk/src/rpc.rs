//! The protocol's calls: decode, do, encode. One file for what belongs together; every answer leaves through [`answer`].

mod answer;
mod apply;
mod data_source;
mod ephemeral;
mod functions;
mod identity;
mod import;
mod panics;
mod plan;
mod provider;
mod read;
mod schemas;
mod service;
mod state;
mod wire;

pub(crate) use answer::Paths;
pub(crate) use panics::install_hook;
pub(crate) use service::Service;
