//! A real sandbox, from its start to its end. Needs the tools (`joiner sandbox tools`), which are built when missing.

mod cluster;
mod life;
mod support;
