//! What the SDK itself does to plans, configurations and results, attribute by attribute. All of it is pure.
//!
//! The order in a plan: [`write_only`], [`defaults`], [`spelling`], [`unknowns`], [`modifiers`], then the resource's own
//! plan, then [`write_only`] again and [`replacement`].

pub(crate) mod defaults;
pub(crate) mod modifiers;
pub(crate) mod replacement;
pub(crate) mod spelling;
#[cfg(test)]
mod tests;
pub(crate) mod unknowns;
pub(crate) mod validators;
pub(crate) mod walk;
pub(crate) mod write_only;
