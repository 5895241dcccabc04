//! End to end: the binaries of this repository, both Terraform cores and the sandbox's real parts. One program, so that the waits
//! of its tests overlap; each takes a place among those that stand on a sandbox at once.

mod articles;
mod bad_input;
mod controller_killed;
mod credentials;
mod devices;
mod drift;
mod forecast;
mod gates;
mod interrupted;
mod killed;
mod killed_calls;
mod leadership;
mod life;
mod migrate;
mod never_ready;
mod one_apply;
mod other_cluster;
mod outage;
mod pains;
mod plugin_testing;
mod published_examples;
mod quickstart;
mod release;
mod reserved;
mod sandbox_trouble;
mod scale_up;
