//! The provider itself: its settings, and what it hands to its resources.

mod checks;
mod configure;
mod data;
mod eks;
#[cfg(test)]
mod fakes;
mod found;
mod region;
mod registries;
mod settings;

pub(crate) use checks::{Checks, Level};
pub(crate) use configure::{JoinerProvider, check_region};
pub(crate) use data::{Joiner, Part};
pub(crate) use region::known_region;
#[cfg(test)]
pub(crate) use settings::Settings;

#[cfg(test)]
pub(crate) use fakes::Fakes;

#[cfg(test)]
mod tests;
