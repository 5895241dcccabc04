//! Small pieces of text that several answers share.

use crate::resources::ResourceName;
use crate::taints::Taint;

/// The toleration that bears a taint: `key=value:Effect`.
pub fn toleration(taint: &Taint) -> String {
    taint.to_string()
}

/// The limit that would let one more node in: `cpu 24`.
pub fn limit_needed(resource: &ResourceName, used: i64, needed: i64) -> String {
    format!("{resource} {}", resource.display(used.saturating_add(needed)))
}
