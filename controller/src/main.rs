//! joiner-controller: gives pending pods nodes, and gives nodes back.

mod logs;
mod health;
mod lease;
mod metrics;
mod observe;
mod options;

fn main() {}
