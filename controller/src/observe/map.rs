//! The one place where objects of the Kubernetes API become what decisions speak of.
//!
//! Input: objects as watched. Output: types of `joiner_core`, owned and small. Nothing here fails: what cannot be understood
//! is said in words that travel with the object (`Placement::unsupported`, `Readiness::NotReady`), so that a person sees it.

mod daemon_set;
mod node;
mod placement;
mod pod;
mod pool;
mod quantities;
mod taints;
mod validity;

pub(crate) use daemon_set::{attachment, daemon_set, pdb};
pub(crate) use node::{claim, node, taint};
pub(crate) use pod::pod;
pub(crate) use pool::{pool, pool_conditions};
pub(crate) use quantities::{from_api, limits, to_api};
pub(crate) use validity::{class_conditions, class_violations, violations};

use std::collections::BTreeMap;

use joiner_core::text::{Labels, Text};

/// A map of strings as labels.
fn labels(map: Option<&BTreeMap<String, String>>) -> Labels {
    map.into_iter()
        .flatten()
        .map(|(key, value)| (Text::from(key.as_str()), Text::from(value.as_str())))
        .collect()
}

/// A text that may be missing.
fn text(value: Option<&String>) -> Text {
    value.map(String::as_str).unwrap_or_default().into()
}

#[cfg(test)]
mod tests;
