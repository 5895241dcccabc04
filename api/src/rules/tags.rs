//! Tags that EC2 and IAM refuse.
//!
//! The limits are those of "Tag your Amazon EC2 resources" in EC2's user guide; lengths are in characters, not in bytes.

use super::{Violation, view::View};

/// The most tags on one thing.
const MOST: usize = 50;
/// The tags that the controller puts on an instance beside the class' own: cluster twice, NodePool, class, NodeClaim, launch, and the name,
/// which a class may set itself.
const OURS: usize = 6;
/// The tag with the node's name.
const NAME: &str = "Name";

/// Rules of the tags of a class' spec.
pub(super) fn check(tags: &View<'_>, found: &mut Vec<Violation>) {
    let entries = tags.entries();
    for (key, value) in &entries {
        let text = value.as_ref().and_then(|value| value.value.as_str());
        if let Some(problem) = tag_problem(key, text.unwrap_or_default()) {
            found.push(value.as_ref().unwrap_or(tags).fail(problem));
        }
    }
    let names = usize::from(!entries.iter().any(|(key, _)| *key == NAME));
    let most = MOST - OURS - names;
    if entries.len() > most {
        found.push(tags.fail(format!(
            "{} tags are too many: EC2 takes {MOST} on an instance, and the controller sets {}; leave at most {most}",
            entries.len(),
            MOST - most
        )));
    }
}

/// Why AWS refuses a tag; nothing where it takes it.
pub fn tag_problem(key: &str, value: &str) -> Option<String> {
    let count = |text: &str| text.chars().count();
    if key.starts_with("aws:") {
        return Some(format!(
            "{key:?}: tags that begin with aws: are AWS' own, and no one else sets them: choose another key, or remove it"
        ));
    }
    if count(key) > 128 {
        return Some(format!(
            "a tag's key has at most 128 characters, and {key:?} has {}: shorten it",
            count(key)
        ));
    }
    (count(value) > 256).then(|| {
        format!(
            "a tag's value has at most 256 characters, and that of {key:?} has {}: shorten it",
            count(value)
        )
    })
}
