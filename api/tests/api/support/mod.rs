//! What the tests need from outside: tools, upstream's module, an API server.

pub mod control_plane;
pub mod edit;
pub mod upstream;
pub mod yaml;
