//! Checks of a configuration.

use super::documents::{OWNER_TAG, ProviderArn};
use super::schema::IrsaRole;
use crate::roles::{
    Anchor, CONTROLLER_POLICY, check_account, check_partition, check_queue_region, check_region_at,
    check_role,
};
use joiner_aws::sts::partition_of;
use tfplugin::{Diagnostics, Field};

/// What is wrong, each with its attribute.
pub(super) fn validate(config: &IrsaRole) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new();
    check_region_at("region", &config.region, &mut found);
    if let Some(arn) = config.oidc_provider_arn.as_str() {
        match ProviderArn::parse(arn) {
            Ok(parsed) => check_provider(&parsed, &config.region, &mut found),
            Err(problem) => {
                found.error_at("oidc_provider_arn", "Not an OIDC provider", format!("{problem}."));
            }
        }
    }
    if let Some((by, region)) = region_of(config) {
        check_queue_region(&config.controller.interruption_queue_arn, by, &region, &mut found);
    }
    let anchor = config
        .oidc_provider_arn
        .as_str()
        .and_then(|arn| Anchor::of_arn("oidc_provider_arn", arn))
        .or_else(|| Some(Anchor::of_region("region", config.region.as_str()?)));
    let anchor = config.controller.check_partition(anchor, &mut found);
    check_partition(&config.role, anchor, &mut found);
    check_role(&config.role, &[CONTROLLER_POLICY], OWNER_TAG, &mut found);
    config.controller.check(&mut found);
    found.told()
}

/// Checks the parts of the provider's ARN against each other, and against the region.
fn check_provider(arn: &ProviderArn<'_>, region: &Field<String>, found: &mut Diagnostics) {
    const AT: &str = "oidc_provider_arn";
    check_account(AT, arn.account, found);
    let Some(of_issuer) = arn.region() else { return };
    let partition = partition_of(of_issuer);
    if partition != arn.partition {
        found.error_at(
            AT,
            "Another partition",
            format!(
                "The ARN is in the partition {}, and its issuer {} in {of_issuer}, which lies in {partition}. Write arn:{partition}:iam::..., \
                 or name the provider of a cluster in {}.",
                arn.partition, arn.issuer, arn.partition
            ),
        );
    }
    if let Some(region) = region.as_str().filter(|region| *region != of_issuer) {
        found.warn_at(
            "region",
            "Two regions",
            format!(
                "region is {region:?}, and the cluster's issuer in oidc_provider_arn is in {of_issuer}: the policy would let the controller \
                 work where its cluster is not. Leave region out, or name the provider of the cluster in {region}."
            ),
        );
    }
}

/// The cluster's region, and what tells it.
fn region_of(config: &IrsaRole) -> Option<(&'static str, String)> {
    if let Some(region) = config.region.as_str() {
        return Some(("region", region.to_owned()));
    }
    let arn = ProviderArn::parse(config.oidc_provider_arn.as_str()?).ok()?;
    Some(("oidc_provider_arn", arn.region()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::{ControllerAttributes, RoleAttributes};
    use std::collections::BTreeSet;

    #[test]
    fn wrong_attributes_are_named() {
        let fine = || IrsaRole {
            role: RoleAttributes {
                name: "r".into(),
                ..RoleAttributes::default()
            },
            oidc_provider_arn: "arn:aws:iam::123456789012:oidc-provider/x".into(),
            ..IrsaRole::default()
        };
        let of = |arn: &str| IrsaRole {
            oidc_provider_arn: arn.into(),
            ..fine()
        };
        let set = |arn: &str| Field::Known(BTreeSet::from([arn.to_owned()]));
        const CHINA: &str =
            "arn:aws-cn:iam::123456789012:oidc-provider/oidc.eks.cn-north-1.amazonaws.com.cn/id/A";
        const OREGON: &str = "arn:aws:iam::123456789012:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/A";
        for (config, path) in [
            (of(&CHINA.replace("cn-north-1", "us-west-2")), "oidc_provider_arn"),
            (of(&OREGON.replace("123456789012", "1")), "oidc_provider_arn"),
            (
                IrsaRole {
                    controller: ControllerAttributes {
                        node_role_arns: set("arn:aws:iam::123456789012:role/n"),
                        ..ControllerAttributes::default()
                    },
                    ..of(CHINA)
                },
                "node_role_arns",
            ),
            (
                IrsaRole {
                    role: RoleAttributes {
                        policy_arns: set("arn:aws-us-gov:iam::aws:policy/X"),
                        ..fine().role
                    },
                    ..of(OREGON)
                },
                "policy_arns",
            ),
            // Warnings.
            (
                IrsaRole {
                    controller: ControllerAttributes {
                        interruption_queue_arn: "arn:aws:sqs:eu-central-1:123456789012:x".into(),
                        ..ControllerAttributes::default()
                    },
                    ..of(OREGON)
                },
                "interruption_queue_arn",
            ),
            (
                IrsaRole {
                    region: "eu-central-1".into(),
                    ..of(OREGON)
                },
                "region",
            ),
            (
                IrsaRole {
                    region: "eu-central1".into(),
                    ..fine()
                },
                "region",
            ),
            (
                IrsaRole {
                    controller: ControllerAttributes {
                        namespace: "Kube_System".into(),
                        ..ControllerAttributes::default()
                    },
                    ..fine()
                },
                "namespace",
            ),
            (
                IrsaRole {
                    controller: ControllerAttributes {
                        service_account: "kube-system/joiner".into(),
                        ..ControllerAttributes::default()
                    },
                    ..fine()
                },
                "service_account",
            ),
            (
                IrsaRole {
                    oidc_provider_arn: "nonsense".into(),
                    ..fine()
                },
                "oidc_provider_arn",
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
                    role: RoleAttributes {
                        name: "a b".into(),
                        ..RoleAttributes::default()
                    },
                    ..fine()
                },
                "name",
            ),
            (
                IrsaRole {
                    controller: ControllerAttributes {
                        interruption_queue_arn: "https://sqs/q".into(),
                        ..ControllerAttributes::default()
                    },
                    ..fine()
                },
                "interruption_queue_arn",
            ),
        ] {
            let found = validate(&config).expect_err(path);
            assert_eq!(found.paths(), [path], "{found}");
        }
        assert!(validate(&fine()).is_ok());
        assert!(
            validate(&IrsaRole {
                oidc_provider_arn: Field::Unknown,
                ..fine()
            })
            .is_ok()
        );
    }
}
