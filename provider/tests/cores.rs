//! The provider driven by real cores, against a real API server and the emulated account.

#[path = "cores/access.rs"]
mod access;
#[path = "cores/examples.rs"]
mod examples;
#[path = "cores/forecasts.rs"]
mod forecasts;
#[path = "cores/imports.rs"]
mod imports;
#[path = "cores/logins.rs"]
mod logins;
#[path = "cores/moves.rs"]
mod moves;
#[path = "cores/overlays.rs"]
mod overlays;
#[path = "cores/pains.rs"]
mod pains;
#[path = "cores/plans.rs"]
mod plans;
#[path = "cores/registry.rs"]
mod registry;
#[path = "cores/releases.rs"]
mod releases;
#[path = "cores/stored.rs"]
mod stored;
#[path = "cores/support.rs"]
mod support;
#[path = "cores/surroundings.rs"]
mod surroundings;
#[path = "cores/tags.rs"]
mod tags;
#[path = "cores/whole.rs"]
mod whole;
