//! The parts that call AWS, against the sandbox's cloud: one process for all tests of this binary, a cluster for each.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod access;
mod catalogue;
mod cloud;
mod identity;
mod launches;
mod reserved;
mod selectors;
