//! Using a sandbox from outside: start it, ask it, end it. What the command line, the tests and the provider call.

mod down;
mod sandbox;
mod status;
mod up;

pub use sandbox::Sandbox;
pub use status::status;
pub use up::{UpOptions, up};
