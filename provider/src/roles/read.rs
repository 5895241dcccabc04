//! Reading a role: what is there, in the words of the state where it means the same.

use super::attributes::RoleAttributes;
use super::tags::still_there;
use crate::provider::Joiner;
use crate::report;
use joiner_aws::iam::{Attachments, Role, attachments, get_role};
use joiner_aws::policy::same_meaning;
use joiner_aws::{Aws, Error};
use tfplugin::{Context, Diagnostic, Diagnostics, Field};

/// The role of a state and what hangs on it; `None` when it is gone, or another one that somebody else made under its name.
pub(crate) async fn present(
    ctx: &Context<Joiner>,
    aws: &Aws,
    state: &RoleAttributes,
    owner_tag: &str,
) -> Result<Option<(Role, Attachments)>, Diagnostics> {
    let name = state.name.as_str().unwrap_or_default();
    let failed = |error: Error| report::aws("The role was not read", &error);
    let Some(role) = get_role(aws, name).await.map_err(failed)? else {
        return Ok(None);
    };
    let known_id = state.unique_id.as_str();
    if known_id.is_some_and(|id| id != role.id) && !role.tags.contains_key(owner_tag) {
        ctx.report(Diagnostic::warning(
            format!("Role {name} is another one"),
            format!(
                "The role in the state is gone, and {} was made by someone else under the same name.",
                role.arn
            ),
        ));
        return Ok(None);
    }
    match attachments(aws, name).await {
        Ok(hanging) => Ok(Some((role, hanging))),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// The role as attributes: in the words of `prior`, and without what others put on it.
pub(crate) fn merge(prior: &RoleAttributes, role: &Role, hanging: &Attachments) -> RoleAttributes {
    let mut model = prior.clone();
    model.id = Field::Known(role.name.clone());
    model.name = Field::Known(role.name.clone());
    model.arn = Field::Known(role.arn.clone());
    model.unique_id = Field::Known(role.id.clone());
    model.path = Field::Known(role.path.clone());
    model.permissions_boundary = Field::from_option(role.boundary.clone());
    still_there(&mut model.tags, &role.tags);
    still_there(&mut model.tags_all, &role.tags);
    if let Some(policies) = model.policies.known_mut() {
        policies.retain(|name, _| hanging.inline.contains_key(name));
        for (name, document) in policies.iter_mut() {
            if !same_meaning(document, &hanging.inline[name]) {
                document.clone_from(&hanging.inline[name]);
            }
        }
    }
    if let Some(arns) = model.policy_arns.known_mut() {
        arns.retain(|arn| hanging.policies.contains(arn));
    }
    model
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn role() -> Role {
        Role {
            name: "r".into(),
            arn: "arn:aws:iam::1:role/r".into(),
            id: "AROA1".into(),
            path: "/".into(),
            description: String::new(),
            trust: r#"{"Statement":[]}"#.into(),
            boundary: None,
            max_session_seconds: 3600,
            tags: BTreeMap::from([("a".into(), "2".into()), ("foreign".into(), "x".into())]),
        }
    }

    #[test]
    fn what_others_put_there_stays_out_and_what_changed_shows() {
        let prior = RoleAttributes {
            tags: Field::Known(BTreeMap::from([
                ("a".into(), "1".into()),
                ("gone".into(), "1".into()),
            ])),
            policies: Field::Known(BTreeMap::from([
                (
                    "same".into(),
                    r#"{"Statement":[{"Effect":"Allow","Action":"x:Y","Resource":"*"}]}"#.into(),
                ),
                ("gone".into(), "{}".into()),
            ])),
            policy_arns: Field::Known(BTreeSet::from(["arn:1".into(), "arn:2".into()])),
            tags_all: Field::Known(BTreeMap::from([
                ("a".into(), "1".into()),
                ("by default".into(), "1".into()),
            ])),
            ..RoleAttributes::default()
        };
        let hanging = Attachments {
            inline: BTreeMap::from([
                (
                    "same".into(),
                    r#"{"Statement":{"Action":["x:Y"],"Effect":"Allow","Resource":["*"]}}"#.into(),
                ),
                ("foreign".into(), "{}".into()),
                ("Ours".into(), r#"{"Statement":[]}"#.into()),
            ]),
            policies: BTreeSet::from(["arn:1".into(), "arn:foreign".into()]),
            profiles: BTreeSet::new(),
        };
        let model = merge(&prior, &role(), &hanging);
        let still_there = Field::Known(BTreeMap::from([("a".into(), "2".into())]));
        assert_eq!((&model.tags, &model.tags_all), (&still_there, &still_there));
        let policies = model.policies.known().expect("known");
        assert_eq!(policies.keys().collect::<Vec<_>>(), ["same"]);
        assert_eq!(
            policies["same"],
            prior.policies.known().expect("known")["same"],
            "the same meaning keeps its words"
        );
        assert_eq!(model.policy_arns, Field::Known(BTreeSet::from(["arn:1".into()])));
        assert_eq!(model.unique_id, "AROA1".into());
    }
}
