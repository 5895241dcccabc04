//! Checks of a configuration.

use super::documents::{CONTROLLER_POLICY, OWNER_TAG, ProviderArn};
use super::schema::IrsaRole;
use serde_json::Value as Json;
use tfplugin::{AttributePath, Diagnostics};

/// What is wrong, each with its attribute.
pub(super) fn validate(config: &IrsaRole) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new();
    if let Some(arn) = config.oidc_provider_arn.as_str()
        && let Err(problem) = ProviderArn::parse(arn)
    {
        found.error_at("oidc_provider_arn", "Not an OIDC provider", format!("{problem}."));
    }
    if let Some(name) = config.name.as_str()
        && (name.len() > 64
            || !name
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || "+=,.@_-".contains(char)))
    {
        found.error_at(
            "name",
            "Not a role name",
            format!(
                "{name:?}: a role's name has 1 to 64 letters, digits and characters of +=,.@_- and no others."
            ),
        );
    }
    if let Some(path) = config.path.as_str()
        && !(path.starts_with('/') && path.ends_with('/'))
    {
        found.error_at(
            "path",
            "Not a path",
            format!("{path:?}: a path begins and ends with a slash, such as /joiner/."),
        );
    }
    for (name, document) in config.policies.known().into_iter().flatten() {
        let path = AttributePath::from("policies").key(name.as_str());
        if name == CONTROLLER_POLICY {
            found.error_at(
                path.clone(),
                "Name taken",
                format!(
                    "{CONTROLLER_POLICY} is the policy that this resource writes itself. Choose another name."
                ),
            );
        }
        match serde_json::from_str::<Json>(document) {
            Ok(Json::Object(map)) if map.contains_key("Statement") => {}
            Ok(_) => found.error_at(
                path,
                "Not a policy",
                "The JSON is no policy document: expected an object with Version and Statement, such as jsonencode or \
                 aws_iam_policy_document makes it.",
            ),
            Err(error) => found.error_at(path, "Not JSON", format!("The policy is not JSON: {error}.")),
        }
    }
    for arn in config.policy_arns.known().into_iter().flatten() {
        if !arn.starts_with("arn:") {
            found.error_at(
                "policy_arns",
                "Not an ARN",
                format!("{arn:?} is not the ARN of a policy."),
            );
        }
    }
    if config
        .tags
        .known()
        .is_some_and(|tags| tags.contains_key(OWNER_TAG))
    {
        found.error_at(
            AttributePath::from("tags").key(OWNER_TAG),
            "Tag taken",
            format!("This resource sets the tag {OWNER_TAG} itself. Remove it."),
        );
    }
    found.into_result(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use tfplugin::Field;

    fn map(key: &str, value: &str) -> Field<BTreeMap<String, String>> {
        Field::Known(BTreeMap::from([(key.to_owned(), value.to_owned())]))
    }

    #[test]
    fn wrong_attributes_are_named() {
        let arn = "arn:aws:iam::1:oidc-provider/x";
        let fine = || IrsaRole {
            name: "r".into(),
            oidc_provider_arn: arn.into(),
            ..IrsaRole::default()
        };
        for (config, path) in [
            (
                IrsaRole {
                    oidc_provider_arn: "nonsense".into(),
                    ..fine()
                },
                "oidc_provider_arn",
            ),
            (
                IrsaRole {
                    name: "a b".into(),
                    ..fine()
                },
                "name",
            ),
            (
                IrsaRole {
                    path: "x".into(),
                    ..fine()
                },
                "path",
            ),
            (
                IrsaRole {
                    policies: map("p", "{"),
                    ..fine()
                },
                "policies[\"p\"]",
            ),
            (
                IrsaRole {
                    policies: map("p", "[]"),
                    ..fine()
                },
                "policies[\"p\"]",
            ),
            (
                IrsaRole {
                    policies: map(CONTROLLER_POLICY, "{\"Statement\":[]}"),
                    ..fine()
                },
                "policies[\"JoinerController\"]",
            ),
            (
                IrsaRole {
                    tags: map(OWNER_TAG, "x"),
                    ..fine()
                },
                "tags[\"joiner.dev/irsa-role\"]",
            ),
        ] {
            let found = validate(&config).expect_err(path);
            let paths: Vec<String> = found
                .iter()
                .filter_map(|one| one.path.as_ref())
                .map(ToString::to_string)
                .collect();
            assert_eq!(paths, [path]);
        }
        assert!(validate(&fine()).is_ok());
        assert!(
            validate(&IrsaRole {
                oidc_provider_arn: Field::Unknown,
                name: Field::Unknown,
                ..fine()
            })
            .is_ok()
        );
    }
}
