//! What of a configuration can never work, told while planning and without a network: by the instance types that EC2 had on the day of the
//! built-in catalogue, and by the controller's own judgement.
//!
//! Input: objects as JSON, of which every part that matters is known. Output: [`Finding`]s. Invariant: pure; a rule of the API is no matter
//! of this module.

mod budgets;
mod buying;
mod finding;
mod images;
mod keys;
mod kubelet;
mod lifetime;
mod limits;
mod node_class;
mod overlay;
mod pool;
mod requirements;
mod types;
mod user_data;

#[cfg(test)]
pub(crate) use buying::tests::pool_with;
pub(crate) use buying::{Buyable, admits, buyable, vcpus};
pub(crate) use finding::{Finding, Weight};
pub(crate) use node_class::node_class;
pub(crate) use overlay::{conflict, overlay};
pub(crate) use pool::pool;
pub(crate) use types::Types;
