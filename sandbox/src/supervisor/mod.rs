//! The supervisor: one process that owns all parts of a sandbox.
//!
//! The path: `run` (start, serve, end) -> `parts` (what there is and how it is) -> `emulator`, `cluster` (bring up and take
//! down) -> `api` (what clients ask over the Unix socket). Nothing it starts outlives it.

pub(crate) mod api;
mod cluster;
mod emulator;
mod parts;
mod record;
mod run;
mod settings;
mod webhook;

pub(crate) use emulator::Emulator;
pub(crate) use parts::Parts;
pub(crate) use record::{read as read_record, write_whole};
pub(crate) use run::{Supervisor, WORD, run};
pub(crate) use settings::Settings;
