//! Conditions of capacity buffers.

use crate::conditions::{Conditions, Wanted};
use crate::text::Text;

/// What one unit of the buffer looks like is known.
pub const READY_FOR_PROVISIONING: &str = "ReadyForProvisioning";
/// There is room for all its units.
pub const PROVISIONING: &str = "Provisioning";

/// What a buffer asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// So many units.
    Units(u32),
    /// The template or workload that it names is not there; in words.
    NotFound {
        /// One word for machines.
        reason: &'static str,
        /// What is missing.
        what: Text,
    },
    /// It cannot be read; why.
    Invalid(Text),
}

/// Where its units are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// On nodes that are complete.
    pub there: u32,
    /// On nodes that are on their way.
    pub coming: u32,
    /// Nowhere.
    pub nowhere: u32,
}

/// The conditions of a buffer that change.
pub fn conditions(there: &Conditions, asked: &Asked, placed: Placed) -> Vec<Wanted> {
    let resolved = match asked {
        Asked::Units(_) => Wanted {
            message: "Pod template resolved successfully".into(),
            reason: "Resolved".into(),
            ..Wanted::yes(READY_FOR_PROVISIONING)
        },
        Asked::NotFound { reason, what } => Wanted::no(READY_FOR_PROVISIONING, *reason, what.clone()),
        Asked::Invalid(why) => Wanted::no(READY_FOR_PROVISIONING, "ResolutionFailed", why.clone()),
    };
    let provisioning = match asked {
        Asked::Units(0) => Wanted::no(PROVISIONING, "BufferEmpty", "Buffer has zero desired replicas"),
        Asked::Units(units) if placed.there >= *units => Wanted {
            message: format!("All {units} virtual pods fit on existing capacity").into(),
            reason: "FitsExistingCapacity".into(),
            ..Wanted::yes(PROVISIONING)
        },
        Asked::Units(units) => {
            let Placed { coming, nowhere, .. } = placed;
            let message = format!("{coming}/{units} virtual pods required new capacity, {nowhere} failed");
            Wanted::no(PROVISIONING, "RequiresNewCapacity", message)
        }
        Asked::NotFound { .. } | Asked::Invalid(_) => Wanted::no(
            PROVISIONING,
            "NotReadyForProvisioning",
            "Buffer is not ReadyForProvisioning",
        ),
    };
    let mut wanted = vec![resolved, provisioning];
    wanted.retain(|wanted| there.differs(wanted));
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_says_whether_its_room_is_there() {
        let placed = |there, coming, nowhere| Placed {
            there,
            coming,
            nowhere,
        };
        let missing = Asked::NotFound {
            reason: "PodTemplateNotFound",
            what: "PodTemplate shop/unit".into(),
        };
        for (asked, placed, want) in [
            (
                Asked::Units(3),
                placed(3, 0, 0),
                "True/Resolved True/FitsExistingCapacity",
            ),
            (
                Asked::Units(3),
                placed(1, 2, 0),
                "True/Resolved False/RequiresNewCapacity",
            ),
            (
                Asked::Units(0),
                placed(0, 0, 0),
                "True/Resolved False/BufferEmpty",
            ),
            (
                missing,
                placed(0, 0, 0),
                "False/PodTemplateNotFound False/NotReadyForProvisioning",
            ),
            (
                Asked::Invalid("spec".into()),
                placed(0, 0, 0),
                "False/ResolutionFailed False/NotReadyForProvisioning",
            ),
        ] {
            let wanted = conditions(&Conditions::default(), &asked, placed);
            let told: Vec<String> = wanted
                .iter()
                .map(|it| format!("{}/{}", it.status.as_str(), it.reason))
                .collect();
            assert_eq!(told.join(" "), want, "{asked:?} {placed:?}");
            let mut there = Conditions::default();
            wanted
                .iter()
                .for_each(|it| there.apply(it, jiff::Timestamp::UNIX_EPOCH));
            assert!(conditions(&there, &asked, placed).is_empty(), "said once");
        }
    }
}
