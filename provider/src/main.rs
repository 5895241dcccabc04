//! The Terraform and OpenTofu provider of Joiner.

mod cluster;
mod helm;
mod objects;
mod provider;
mod report;
mod resources;
mod yaml;

fn main() {}
