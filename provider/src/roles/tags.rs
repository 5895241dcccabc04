//! The tags of what a resource makes: the provider's, its own over them, and the one by which it knows again what it made.
//!
//! Invariant: a tag that none of these set is someone else's. It is not shown and not taken away, but by an import, which takes over all.

use crate::provider::Joiner;
use joiner_aws::tags::Tags;
use tfplugin::{Configured, Context, Field};

/// The tag by which a resource knows again what it made, with its value as far as that is known.
pub(crate) type OwnerTag = (&'static str, Field<String>);

/// All tags that a resource sets; unknown while one of its parts is.
pub(crate) fn tags_all(defaults: &Field<Tags>, own: &Field<Tags>, owner: OwnerTag) -> Field<Tags> {
    let (Some(defaults), Some(own), (key, Field::Known(value))) = (defaults.decided(), own.decided(), owner)
    else {
        return Field::Unknown;
    };
    let mut all = defaults.cloned().unwrap_or_default();
    all.extend(own.cloned().unwrap_or_default());
    all.insert(key.to_owned(), value);
    Field::Known(all)
}

/// The same with the provider's default tags, as far as a plan knows them.
pub(crate) fn planned_tags(ctx: &Context<Joiner>, own: &Field<Tags>, owner: OwnerTag) -> Field<Tags> {
    match ctx.provider() {
        Configured::Ready(data) => tags_all(&data.default_tags, own, owner),
        Configured::Unconfigured | Configured::UnknownUntilApply => Field::Unknown,
    }
}

/// The attribute `tags_all` of a state that may be of a release that did not store it: what it would have stored.
pub(crate) fn stored_tags(
    ctx: &Context<Joiner>,
    stored: Field<Tags>,
    own: &Field<Tags>,
    owner: OwnerTag,
) -> Field<Tags> {
    match stored {
        Field::Null => Field::from_option(planned_tags(ctx, own, owner).into_known()),
        stored => stored,
    }
}

/// Those of `set` that are there, as they are now.
pub(crate) fn still_there(set: &mut Field<Tags>, found: &Tags) {
    if let Some(set) = set.known_mut() {
        set.retain(|key, _| found.contains_key(key));
        set.iter_mut()
            .for_each(|(key, value)| value.clone_from(&found[key]));
    }
}

/// The attributes `tags` and `tags_all` of what has the tags `found`. Neither has those that are AWS' own; `tags` has not `owner_tag`, which
/// the resource itself sets, nor what the provider's `defaults` set. One that repeats a default counts as the default's.
pub(crate) fn imported_tags(defaults: &Tags, found: &Tags, owner_tag: &str) -> (Field<Tags>, Field<Tags>) {
    let mut all = found.clone();
    all.retain(|key, _| !key.starts_with("aws:"));
    let mut own = all.clone();
    own.retain(|key, value| key != owner_tag && defaults.get(key) != Some(value));
    (
        Field::from_option((!own.is_empty()).then_some(own)),
        Field::Known(all),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tags(json: serde_json::Value) -> Tags {
        serde_json::from_value(json).expect("texts")
    }

    #[test]
    fn the_resources_own_win_and_what_is_unknown_makes_all_unknown() {
        let known = |json| Field::Known(tags(json));
        let owner = || ("o", "c".into());
        let defaults = known(json!({ "team": "a", "stage": "dev" }));
        let own = known(json!({ "team": "b", "o": "mine" }));
        assert_eq!(
            tags_all(&defaults, &own, owner()),
            known(json!({ "team": "b", "stage": "dev", "o": "c" }))
        );
        assert_eq!(
            tags_all(&Field::Null, &Field::Null, owner()),
            known(json!({ "o": "c" }))
        );
        for unknown in [
            tags_all(&Field::Unknown, &own, owner()),
            tags_all(&defaults, &Field::Unknown, owner()),
            tags_all(&defaults, &own, ("o", Field::Unknown)),
        ] {
            assert_eq!(unknown, Field::Unknown);
        }
    }

    #[test]
    fn tags_are_those_that_nothing_else_sets() {
        let defaults = tags(json!({ "team": "a", "stage": "dev" }));
        for (found, own) in [
            (json!({ "team": "a", "o": "c" }), Field::Null),
            (
                json!({ "team": "b", "stage": "dev", "cost": "1", "o": "c" }),
                Field::Known(tags(json!({ "cost": "1", "team": "b" }))),
            ),
        ] {
            let mut found = tags(found);
            let all = Field::Known(found.clone());
            found.insert("aws:cf".into(), "x".into());
            assert_eq!(imported_tags(&defaults, &found, "o"), (own, all));
        }
    }
}
