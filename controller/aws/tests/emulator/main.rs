//! The parts that call AWS, against the sandbox's cloud: one process for all tests of this binary, a cluster for each.

mod access;
mod catalogue;
mod cloud;
mod identity;
mod launches;
mod selectors;
