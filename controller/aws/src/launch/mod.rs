//! From a plan (which offerings to try) to instances.
//!
//! An [`Order`] becomes launch templates and overrides (pure), these become calls, and the answer becomes [`Launched`] or
//! a [`LaunchError`] that says what to do. Every name, tag and token is a function of the order, so an order that is
//! given again after a crash finds what the first one did.

mod addresses;
mod error;
mod group;
mod launcher;
mod lost;
mod order;
mod outcome;
mod request;
mod template;
mod templates;
mod validate;

pub use addresses::FreeAddresses;
pub use error::LaunchError;
pub use group::{Group, Override, groups};
pub use launcher::Launcher;
pub use lost::{MAX_BATCH, find_lost, launch_tag};
pub use order::{ClaimKey, Order, Tenancy};
pub use outcome::{Bought, Launched};
pub use template::{TemplateSpec, template};
pub use validate::Validity;

#[cfg(test)]
mod tests;
