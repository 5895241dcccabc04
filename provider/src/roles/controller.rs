//! What the controller may do, made from a resource's attributes.

use super::accounts::Party;
use super::attributes::{ControllerAttributes, RoleAttributes};
use super::check::{ArnKind, check_arn, check_cluster_name};
use super::places::Anchor;
use super::spec::{RoleSpec, keep_words};
use super::tags::OwnerTag;
use crate::provider::Joiner;
use joiner_api::rules::{is_dns_label, is_dns_name};
use joiner_aws::iam::{Attachments, Role};
use joiner_aws::policy::{Controller, ServiceAccount, controller, granted};
use std::collections::BTreeSet;
use tfplugin::{Configured, Context, Diagnostics, Field};

/// Name of the inline policy with the controller's permissions.
pub(crate) const CONTROLLER_POLICY: &str = "JoinerController";

/// Where the cluster is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// `aws`, `aws-cn`, `aws-us-gov`, ...
    pub partition: String,
    /// Twelve digits.
    pub account: String,
    /// Such as `eu-central-1`.
    pub region: String,
}

/// The controller's policy in `place`; unknown while what it needs is.
pub(crate) fn controller_policy(attributes: &ControllerAttributes, place: Field<Place>) -> Field<String> {
    let (Some(cluster), Some(place)) = (attributes.cluster_name.as_str(), place.into_known()) else {
        return Field::Unknown;
    };
    let (Some(queue), Some(roles), Some(Some(manages_profiles))) = (
        attributes.interruption_queue_arn.decided(),
        attributes.node_role_arns.decided(),
        attributes.manage_instance_profiles.decided(),
    ) else {
        return Field::Unknown;
    };
    let Place {
        partition,
        account,
        region,
    } = place;
    let facts = Controller {
        partition,
        region,
        account,
        cluster: cluster.to_owned(),
        queue_arn: queue.cloned(),
        node_role_arns: roles.into_iter().flatten().cloned().collect(),
        manages_profiles: *manages_profiles,
    };
    Field::Known(controller(&facts).to_json())
}

/// Compares a planned role of `resource` with the controller's releases that were planned before it.
pub(crate) fn planned_for(
    ctx: &Context<Joiner>,
    resource: &str,
    role: &RoleAttributes,
    attributes: &ControllerAttributes,
) {
    let (Configured::Ready(data), Some(role)) = (ctx.provider(), attributes.party(resource, role)) else {
        return;
    };
    if let Some(misfit) = data.accounts.plan_role(role) {
        ctx.report(misfit.at_role());
    }
}

/// The attribute `region` of a role with these policies: null where they are for the `usual` region.
pub(crate) fn granted_region(hanging: &Attachments, usual: &str) -> Field<String> {
    let policy = hanging.inline.get(CONTROLLER_POLICY);
    let region = policy.and_then(|document| granted(document)?.region);
    Field::from_option(region.filter(|region| region != usual))
}

impl ControllerAttributes {
    /// The role as it is compared with releases; `None` while its service account is unknown.
    fn party(&self, resource: &str, role: &RoleAttributes) -> Option<Party> {
        Some(Party {
            called: format!("{resource} {:?}", role.name.as_str()?),
            account: ServiceAccount {
                namespace: self.namespace.as_str()?.to_owned(),
                name: self.service_account.as_str()?.to_owned(),
            },
            cluster: self.cluster_name.as_str().map(str::to_owned),
        })
    }

    /// What is wrong, each with its attribute.
    pub(crate) fn check(&self, found: &mut Diagnostics) {
        check_cluster_name(&self.cluster_name, found);
        for arn in self.node_role_arns.known().into_iter().flatten() {
            check_arn("node_role_arns", arn, ArnKind::ROLE, found);
        }
        if let Some(arn) = self.interruption_queue_arn.as_str() {
            check_arn("interruption_queue_arn", arn, ArnKind::QUEUE, found);
        }
        self.check_account(found);
    }

    /// Checks that the service account can be one.
    fn check_account(&self, found: &mut Diagnostics) {
        if let Some(name) = self.namespace.as_str().filter(|name| !is_dns_label(name, 63)) {
            found.error_at(
                "namespace",
                "Not a namespace's name",
                format!(
                    "{name:?}: expected at most 63 lower-case letters, digits and dashes that begin and end with a letter or digit, such as \
                     kube-system."
                ),
            );
        }
        if let Some(name) = self.service_account.as_str().filter(|name| !is_dns_name(name)) {
            found.error_at(
                "service_account",
                "Not a service account's name",
                format!(
                    "{name:?}: expected lower-case letters, digits, dashes and dots that begin and end with a letter or digit, such as joiner. \
                     Give the name alone, without its namespace."
                ),
            );
        }
    }

    /// Checks that node roles and queue are in the partition of `anchor`, or else in that of the first of them; answers that.
    pub(crate) fn check_partition(&self, anchor: Option<Anchor>, found: &mut Diagnostics) -> Option<Anchor> {
        let roles = self.node_role_arns.known().into_iter().flatten();
        let named = roles.map(|arn| ("node_role_arns", arn.as_str()));
        let queue = self.interruption_queue_arn.as_str();
        let named = named.chain(queue.map(|arn| ("interruption_queue_arn", arn)));
        Anchor::check_all(anchor, named, found)
    }

    /// What the tag that tells our roles from others has as its value: service account and cluster.
    pub(crate) fn owner(&self) -> String {
        let part = |field: &Field<String>| field.as_str().unwrap_or_default().to_owned();
        format!(
            "{}/{}@{}",
            part(&self.namespace),
            part(&self.service_account),
            part(&self.cluster_name)
        )
    }

    /// That tag of the resource whose key it is, as far as it is known.
    pub(crate) fn owner_tag(&self, key: &'static str) -> OwnerTag {
        let parts = [&self.namespace, &self.service_account, &self.cluster_name];
        let is_open = parts.into_iter().any(Field::is_unknown);
        let value = if is_open {
            Field::Unknown
        } else {
            Field::Known(self.owner())
        };
        (key, value)
    }

    /// The controller's role.
    pub(crate) fn spec(&self, role: &RoleAttributes) -> RoleSpec {
        RoleSpec::new(role, &self.description, &self.trust_policy_json)
            .with_inline(CONTROLLER_POLICY, &self.policy_json)
    }

    /// The attributes that the value of that tag tells.
    pub(crate) fn of_owner(owner: Option<&String>) -> Self {
        let parts = owner.and_then(|owner| {
            let (account, cluster) = owner.rsplit_once('@')?;
            let (namespace, name) = account.split_once('/')?;
            Some((namespace.to_owned(), name.to_owned(), cluster.to_owned()))
        });
        let Some((namespace, name, cluster)) = parts else {
            return Self::default();
        };
        Self {
            namespace: Field::Known(namespace),
            service_account: Field::Known(name),
            cluster_name: Field::Known(cluster),
            ..Self::default()
        }
    }

    /// The same with what the controller's policy grants, when the role has one.
    pub(crate) fn granted_by(self, hanging: &Attachments) -> Self {
        let policy = hanging.inline.get(CONTROLLER_POLICY);
        let Some(granted) = policy.and_then(|document| granted(document)) else {
            return Self {
                manage_instance_profiles: Field::Known(true),
                ..self
            };
        };
        let roles: BTreeSet<String> = granted.node_role_arns.into_iter().collect();
        Self {
            node_role_arns: Field::from_option((!roles.is_empty()).then_some(roles)),
            interruption_queue_arn: Field::from_option(granted.queue_arn),
            manage_instance_profiles: Field::Known(granted.manages_profiles),
            ..self
        }
    }

    /// The same with what is found at the role, in its own words where they mean the same.
    pub(crate) fn as_found(&self, role: &Role, hanging: &Attachments) -> Self {
        let policy = hanging.inline.get(CONTROLLER_POLICY).cloned().unwrap_or_default();
        Self {
            description: Field::Known(role.description.clone()),
            trust_policy_json: keep_words(Field::Known(role.trust.clone()), &self.trust_policy_json),
            policy_json: keep_words(Field::Known(policy), &self.policy_json),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_names_account_and_cluster() {
        let attributes = ControllerAttributes {
            cluster_name: "c".into(),
            namespace: "kube-system".into(),
            service_account: "joiner".into(),
            ..ControllerAttributes::default()
        };
        let owner = attributes.owner();
        assert_eq!(owner, "kube-system/joiner@c");
        assert_eq!(attributes.owner_tag("o"), ("o", Field::Known(owner.clone())));
        let open = ControllerAttributes {
            cluster_name: Field::Unknown,
            ..attributes.clone()
        };
        assert_eq!(open.owner_tag("o"), ("o", Field::Unknown));
        assert_eq!(ControllerAttributes::of_owner(Some(&owner)), attributes);
        assert_eq!(
            ControllerAttributes::of_owner(Some(&"x".to_owned())),
            ControllerAttributes::default()
        );
    }

    #[test]
    fn the_policy_is_unknown_until_everything_is_known() {
        let place = || {
            Field::Known(Place {
                partition: "aws-us-gov".into(),
                account: "123456789012".into(),
                region: "us-gov-west-1".into(),
            })
        };
        let fine = ControllerAttributes {
            cluster_name: "c".into(),
            manage_instance_profiles: Field::Known(true),
            ..ControllerAttributes::default()
        };
        let text = controller_policy(&fine, place()).into_known().expect("known");
        assert!(
            text.contains("arn:aws-us-gov:ec2:us-gov-west-1:") && !text.contains("arn:aws:"),
            "{text}"
        );
        for unknown in [
            ControllerAttributes {
                cluster_name: Field::Unknown,
                ..fine.clone()
            },
            ControllerAttributes {
                node_role_arns: Field::Unknown,
                ..fine.clone()
            },
            ControllerAttributes {
                interruption_queue_arn: Field::Unknown,
                ..fine.clone()
            },
        ] {
            assert!(controller_policy(&unknown, place()).is_unknown(), "{unknown:?}");
        }
        assert!(controller_policy(&fine, Field::Unknown).is_unknown());
    }
}
