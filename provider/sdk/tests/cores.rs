//! The example provider under real cores. Each test runs with every core that is found: the executables that `JOINER_TOFU` and
//! `JOINER_TERRAFORM` name, else `tofu` and `terraform` in `PATH`. Without any, the tests say so and check nothing.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what a test needs and does not find fails the test"
)]

#[path = "cores/apply.rs"]
mod apply;
#[path = "cores/debug.rs"]
mod debug;
#[path = "cores/offers.rs"]
mod offers;
#[path = "cores/trouble.rs"]
mod trouble;
#[path = "cores/workspace.rs"]
mod workspace;
