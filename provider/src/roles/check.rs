//! Checks of what the resources of a role share.

use super::attributes::RoleAttributes;
use super::document;
use super::places::Anchor;
use std::collections::BTreeMap;
use tfplugin::{AttributePath, Diagnostics, Field};

/// Checks the attributes of a role. `taken` are the names of the inline policies that the resource writes itself, and `owner_tag` is the tag
/// that it sets itself.
pub(crate) fn check_role(role: &RoleAttributes, taken: &[&str], owner_tag: &str, found: &mut Diagnostics) {
    if let Some(name) = role.name.as_str()
        && !is_name(name)
    {
        found.error_at(
            "name",
            "Not a role name",
            format!(
                "{name:?}: a role's name has 1 to 64 letters, digits and characters of +=,.@_- and no others. Choose such a name."
            ),
        );
    }
    if let Some(path) = role.path.as_str()
        && !(path.starts_with('/') && path.ends_with('/'))
    {
        found.error_at(
            "path",
            "Not a path",
            format!("{path:?}: a path begins and ends with a slash, such as /joiner/."),
        );
    }
    for (name, document) in role.policies.known().into_iter().flatten() {
        let path = AttributePath::from("policies").key(name.as_str());
        if taken.contains(&name.as_str()) {
            found.error_at(
                path.clone(),
                "Name taken",
                format!("{name} is the policy that this resource writes itself. Choose another name."),
            );
        }
        if !is_inline_name(name) {
            found.error_at(
                path.clone(),
                "Not a policy's name",
                format!("{name:?}: the name of an inline policy has 1 to 128 letters, digits and characters of +=,.@_- and no others."),
            );
        }
        document::check(&path, document, found);
    }
    for arn in role.policy_arns.known().into_iter().flatten() {
        check_arn("policy_arns", arn, ArnKind::POLICY, found);
    }
    if let Some(arn) = role.permissions_boundary.as_str() {
        check_arn("permissions_boundary", arn, ArnKind::POLICY, found);
    }
    check_tags(&role.tags, owner_tag, found);
}

/// Checks that the policies of a role are in one partition: that of `anchor`, or else that of the first of them.
pub(crate) fn check_partition(role: &RoleAttributes, anchor: Option<Anchor>, found: &mut Diagnostics) {
    let policies = role.policy_arns.known().into_iter().flatten();
    let named = policies.map(|arn| ("policy_arns", arn.as_str()));
    let boundary = role.permissions_boundary.as_str();
    let named = named.chain(boundary.map(|arn| ("permissions_boundary", arn)));
    Anchor::check_all(anchor, named, found);
}

fn is_name(name: &str) -> bool {
    name.len() <= 64 && name.chars().all(is_of_name)
}

fn is_inline_name(name: &str) -> bool {
    (1..=128).contains(&name.len()) && name.chars().all(is_of_name)
}

fn is_of_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || "+=,.@_-".contains(char)
}

/// Checks tags: none may be one that AWS or the resource sets itself.
pub(crate) fn check_tags(tags: &Field<BTreeMap<String, String>>, owner_tag: &str, found: &mut Diagnostics) {
    for key in tags.known().into_iter().flat_map(|tags| tags.keys()) {
        let problem = if key == owner_tag {
            format!("This resource sets the tag {owner_tag} itself. Remove it.")
        } else if key.starts_with("aws:") {
            format!("{key:?}: tags that begin with aws: are AWS' own, and no one else sets them. Remove it.")
        } else {
            continue;
        };
        found.error_at(
            AttributePath::from("tags").key(key.as_str()),
            "Tag taken",
            problem,
        );
    }
}

/// Checks the name of a cluster.
pub(crate) fn check_cluster_name(name: &Field<String>, found: &mut Diagnostics) {
    let is_inner = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    if let Some(name) = name.as_str()
        && !name.is_empty()
        && !(name.len() <= 100
            && name.starts_with(|char: char| char.is_ascii_alphanumeric())
            && name.chars().all(is_inner))
    {
        found.error_at(
            "cluster_name",
            "Not a cluster's name",
            format!(
                "{name:?}: a cluster's name has 1 to 100 letters, digits, dashes and underscores, and begins with a letter or a digit. Give \
                 the name, not the ARN or the endpoint."
            ),
        );
    }
}

/// What an ARN may be of.
#[derive(Clone, Copy)]
pub(crate) struct ArnKind {
    noun: &'static str,
    service: &'static str,
    resource: &'static str,
    example: &'static str,
}

impl ArnKind {
    /// A policy of IAM.
    pub(crate) const POLICY: Self = Self {
        noun: "policy",
        service: "iam",
        resource: "policy/",
        example: "arn:aws:iam::ACCOUNT:policy/NAME",
    };
    /// A role of IAM.
    pub(crate) const ROLE: Self = Self {
        noun: "role",
        service: "iam",
        resource: "role/",
        example: "arn:aws:iam::ACCOUNT:role/NAME",
    };
    /// A queue of SQS.
    pub(crate) const QUEUE: Self = Self {
        noun: "queue",
        service: "sqs",
        resource: "",
        example: "arn:aws:sqs:REGION:ACCOUNT:NAME",
    };

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

/// Checks that an attribute's ARN is one of a kind.
pub(crate) fn check_arn(attribute: &str, arn: &str, kind: ArnKind, found: &mut Diagnostics) {
    if !kind.fits(arn) {
        let problem = format!(
            "{arn:?} is not the ARN of a {}: expected {}.",
            kind.noun, kind.example
        );
        found.error_at(attribute, "Not an ARN", problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(key: &str, value: &str) -> Field<BTreeMap<String, String>> {
        Field::Known(BTreeMap::from([(key.to_owned(), value.to_owned())]))
    }

    #[test]
    fn wrong_attributes_are_named() {
        let paths = |role: RoleAttributes| {
            let mut found = Diagnostics::new();
            check_role(&role, &["Ours"], "joiner.dev/x", &mut found);
            found.paths()
        };
        let fine = || RoleAttributes {
            name: "r".into(),
            path: "/a/".into(),
            ..RoleAttributes::default()
        };
        for (role, path) in [
            (
                RoleAttributes {
                    name: "a b".into(),
                    ..fine()
                },
                "name",
            ),
            (
                RoleAttributes {
                    path: "x".into(),
                    ..fine()
                },
                "path",
            ),
            (
                RoleAttributes {
                    policies: map("p", "{"),
                    ..fine()
                },
                "policies[\"p\"]",
            ),
            (
                RoleAttributes {
                    policies: map("p", "[]"),
                    ..fine()
                },
                "policies[\"p\"]",
            ),
            (
                RoleAttributes {
                    policies: map("x y", "{\"Statement\":[]}"),
                    ..fine()
                },
                "policies[\"x y\"]",
            ),
            (
                RoleAttributes {
                    policies: map("Ours", "{\"Statement\":[]}"),
                    ..fine()
                },
                "policies[\"Ours\"]",
            ),
            (
                RoleAttributes {
                    policy_arns: Field::Known(["x".to_owned()].into()),
                    ..fine()
                },
                "policy_arns",
            ),
            (
                RoleAttributes {
                    permissions_boundary: "arn:aws:iam::1:role/x".into(),
                    ..fine()
                },
                "permissions_boundary",
            ),
            (
                RoleAttributes {
                    tags: map("aws:x", "x"),
                    ..fine()
                },
                "tags[\"aws:x\"]",
            ),
            (
                RoleAttributes {
                    tags: map("joiner.dev/x", "x"),
                    ..fine()
                },
                "tags[\"joiner.dev/x\"]",
            ),
        ] {
            assert_eq!(paths(role), [path]);
        }
        assert!(paths(fine()).is_empty());
        assert!(
            paths(RoleAttributes {
                name: Field::Unknown,
                policies: Field::Unknown,
                ..fine()
            })
            .is_empty()
        );
    }

    #[test]
    fn a_cluster_is_named_not_addressed() {
        for (name, fine) in [
            ("my-cluster_1", true),
            ("1a", true),
            ("-a", false),
            ("arn:aws:eks:r:1:cluster/c", false),
            ("https://x", false),
        ] {
            let mut found = Diagnostics::new();
            check_cluster_name(&name.into(), &mut found);
            assert_eq!(found.is_empty(), fine, "{name}");
        }
    }
}
