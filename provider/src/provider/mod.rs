//! The provider itself: its settings, and what it hands to its resources.

mod configure;
mod data;
mod eks;
#[cfg(test)]
mod fakes;
mod registries;
mod settings;

pub(crate) use configure::{JoinerProvider, check_region};
pub(crate) use data::{Joiner, Part};
#[cfg(test)]
pub(crate) use settings::Settings;

#[cfg(test)]
pub(crate) use fakes::Fakes;

#[cfg(test)]
mod tests;
