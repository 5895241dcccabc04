//! The CRDs and rules against what they must agree with: upstream's CRDs, and a real API server.
//!
//! Outside programs are found as support/ says; when one is missing the test fails with the command that gets it.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test program: a panic is how it fails"
)]

mod cases;
mod chart;
mod coverage;
mod manifests;
mod peer;
mod server;
mod support;
mod types;
