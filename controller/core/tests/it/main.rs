//! Decisions, seen from outside: whole snapshots in, whole decisions out.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

mod algebra;
mod bounds;
mod constraints;
mod devices;
mod disrupting;
mod drifting;
mod fixed;
mod forecasting;
mod launching;
mod laws;
mod lifecycle;
mod refusals;
mod scheduling;
mod shared_volumes;
mod static_pools;
mod streams;
mod terminating;
mod topology;
mod world;
