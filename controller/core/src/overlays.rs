//! Conditions of node overlays.

use jiff::Timestamp;

use crate::conditions::{Conditions, VALIDATION_SUCCEEDED, Wanted, ready};
use crate::text::Text;

/// Why an overlay is not in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It says something that cannot be; what, in words.
    Invalid(Text),
    /// Another of the same weight says something else about the same instance types; which, in words.
    Conflict(Text),
}

/// The conditions of an overlay that change: whether it is in effect, and Ready.
pub fn conditions(there: &Conditions, refused: Option<&Refused>, now: Timestamp) -> Vec<Wanted> {
    let valid = match refused {
        None => Wanted::yes(VALIDATION_SUCCEEDED),
        Some(Refused::Invalid(why)) => Wanted::no(VALIDATION_SUCCEEDED, "RuntimeValidation", why.clone()),
        Some(Refused::Conflict(why)) => Wanted::no(VALIDATION_SUCCEEDED, "Conflict", why.clone()),
    };
    let mut after = there.clone();
    after.apply(&valid, now);
    let mut wanted = vec![valid, ready(&after, &[VALIDATION_SUCCEEDED])];
    wanted.retain(|wanted| there.differs(wanted));
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlay_is_ready_when_it_is_in_effect() {
        let now = Timestamp::UNIX_EPOCH;
        let mut there = Conditions::default();
        for (refused, want) in [
            (
                None,
                "ValidationSucceeded=True/ValidationSucceeded Ready=True/Ready",
            ),
            (None, ""),
            (
                Some(Refused::Conflict("with b".into())),
                "ValidationSucceeded=False/Conflict Ready=False/UnhealthyDependents",
            ),
            (
                Some(Refused::Invalid("price".into())),
                "ValidationSucceeded=False/RuntimeValidation",
            ),
        ] {
            let wanted = conditions(&there, refused.as_ref(), now);
            let told: Vec<String> = wanted
                .iter()
                .map(|it| format!("{}={}/{}", it.kind, it.status.as_str(), it.reason))
                .collect();
            assert_eq!(told.join(" "), want, "{refused:?}");
            wanted.iter().for_each(|it| there.apply(it, now));
        }
    }
}
