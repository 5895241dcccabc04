//! A real sandbox, from its start to its end. Needs the tools (`joiner sandbox tools`), which are built when missing.

#[cfg(test)]
mod cluster;
#[cfg(test)]
mod life;
#[cfg(test)]
mod support;
