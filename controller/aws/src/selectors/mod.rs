//! What the selector terms of an EC2NodeClass find: subnets, security groups, images, capacity reservations, a placement group.
//!
//! Terms are alternatives, the fields of one term must all match. Nothing found is an answer, not an error: each term that
//! matched nothing is told with what there would have been.

mod explain;
mod find;
mod images;
mod placement_group;
mod query;
mod reservations;
mod security_groups;
pub(crate) mod ssm;
mod subnets;

pub use explain::Unmatched;
pub use images::{FoundImage, Variant, images, parameter_paths};
pub use placement_group::{FoundPlacementGroup, Strategy, placement_group};
pub use query::{Query, TagMatch};
pub use reservations::{FoundReservation, reservations};
pub use security_groups::{FoundGroup, security_groups};
pub use subnets::{FoundSubnet, subnets};

/// What terms found, and which of them found nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matches<T> {
    /// Everything found, each once, in a fixed order.
    pub found: Vec<T>,
    /// The terms that found nothing.
    pub unmatched: Vec<Unmatched>,
}

impl<T> Default for Matches<T> {
    fn default() -> Self {
        Self {
            found: Vec::new(),
            unmatched: Vec::new(),
        }
    }
}

impl<T> Matches<T> {
    /// True if no term found anything.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// One sentence for a condition or a diagnostic; empty if every term found something.
    pub fn explanation(&self) -> String {
        self.unmatched
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ")
    }
}
