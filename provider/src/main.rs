//! The Terraform and OpenTofu provider of Joiner.
#![expect(dead_code, unused_imports, reason = "under construction")]

mod cluster;
mod helm;
mod objects;
mod yaml;

fn main() {}
