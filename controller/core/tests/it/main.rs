//! Decisions, seen from outside: whole snapshots in, whole decisions out.

mod algebra;
mod disrupting;
mod laws;
mod launching;
mod lifecycle;
mod refusals;
mod scheduling;
mod terminating;
mod world;
