//! The provider itself: its settings, and what it hands to its resources.

mod configure;
mod data;
mod eks;
mod settings;

pub(crate) use configure::JoinerProvider;
pub(crate) use data::{Joiner, Part};

#[cfg(test)]
mod tests;
