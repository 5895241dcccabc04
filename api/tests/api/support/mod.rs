//! What the tests need from outside: tools, upstream's module, an API server.

pub(crate) mod control_plane;
pub(crate) mod crds;
pub(crate) mod edit;
pub(crate) mod upstream;
pub(crate) mod yaml;
