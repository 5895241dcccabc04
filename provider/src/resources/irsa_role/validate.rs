//! Checks of a configuration.

use super::documents::{CONTROLLER_POLICY, OWNER_TAG, ProviderArn};
use super::schema::IrsaRole;
use crate::provider::check_region;
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
                "{name:?}: a role's name has 1 to 64 letters, digits and characters of +=,.@_- and no others. Choose such a name."
            ),
        );
    }
    if let Some(Err(problem)) = config.region.as_str().map(check_region) {
        found.error_at("region", "Not a region", problem);
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
    let (policies, nodes) = (config.policy_arns.known(), config.node_role_arns.known());
    let arns = policies
        .into_iter()
        .flatten()
        .map(|arn| ("policy_arns", arn.as_str(), POLICY))
        .chain(
            nodes
                .into_iter()
                .flatten()
                .map(|arn| ("node_role_arns", arn.as_str(), ROLE)),
        )
        .chain(
            config
                .permissions_boundary
                .as_str()
                .map(|arn| ("permissions_boundary", arn, POLICY)),
        )
        .chain(
            config
                .interruption_queue_arn
                .as_str()
                .map(|arn| ("interruption_queue_arn", arn, QUEUE)),
        );
    for (attribute, arn, kind) in arns {
        if !kind.fits(arn) {
            let problem = format!(
                "{arn:?} is not the ARN of a {}: expected {}.",
                kind.noun, kind.example
            );
            found.error_at(attribute, "Not an ARN", problem);
        }
    }
    for key in config.tags.known().into_iter().flat_map(|tags| tags.keys()) {
        let problem = if key == OWNER_TAG {
            format!("This resource sets the tag {OWNER_TAG} itself. Remove it.")
        } else if key.starts_with("aws:") {
            format!("{key:?}: tags that begin with aws: are AWS' own, and IAM takes none of them. Remove it.")
        } else {
            continue;
        };
        found.error_at(
            AttributePath::from("tags").key(key.as_str()),
            "Tag taken",
            problem,
        );
    }
    found.into_result(())
}

/// What an ARN may be of.
#[derive(Clone, Copy)]
struct Kind {
    noun: &'static str,
    service: &'static str,
    resource: &'static str,
    example: &'static str,
}

const POLICY: Kind = Kind {
    noun: "policy",
    service: "iam",
    resource: "policy/",
    example: "arn:aws:iam::ACCOUNT:policy/NAME",
};
const ROLE: Kind = Kind {
    noun: "role",
    service: "iam",
    resource: "role/",
    example: "arn:aws:iam::ACCOUNT:role/NAME",
};
const QUEUE: Kind = Kind {
    noun: "queue",
    service: "sqs",
    resource: "",
    example: "arn:aws:sqs:REGION:ACCOUNT:NAME",
};

impl Kind {
    fn fits(self, arn: &str) -> bool {
        match arn.splitn(6, ':').collect::<Vec<_>>().as_slice() {
            ["arn", partition, service, _, _, resource] => {
                partition.starts_with("aws")
                    && *service == self.service
                    && resource.len() > self.resource.len()
                    && resource.starts_with(self.resource)
            }
            _ => false,
        }
    }
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
                    region: "eu central".into(),
                    ..fine()
                },
                "region",
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
                    node_role_arns: Field::Known(["node".to_owned()].into()),
                    ..fine()
                },
                "node_role_arns",
            ),
            (
                IrsaRole {
                    interruption_queue_arn: "https://sqs/q".into(),
                    ..fine()
                },
                "interruption_queue_arn",
            ),
            (
                IrsaRole {
                    permissions_boundary: "arn:aws:iam::1:role/x".into(),
                    ..fine()
                },
                "permissions_boundary",
            ),
            (
                IrsaRole {
                    tags: map("aws:x", "x"),
                    ..fine()
                },
                "tags[\"aws:x\"]",
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
            assert_eq!(found.paths(), [path]);
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
