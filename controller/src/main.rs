//! joiner-controller: gives pending pods nodes, and gives nodes back.

mod health;
mod lease;
mod logs;
mod metrics;
mod observe;
mod options;

fn main() {}
