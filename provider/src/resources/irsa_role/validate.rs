//! Checks of a configuration.

use super::documents::{OWNER_TAG, ProviderArn};
use super::schema::IrsaRole;
use crate::provider::check_region;
use crate::roles::{CONTROLLER_POLICY, check_role};
use tfplugin::Diagnostics;

/// What is wrong, each with its attribute.
pub(super) fn validate(config: &IrsaRole) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new();
    if let Some(arn) = config.oidc_provider_arn.as_str()
        && let Err(problem) = ProviderArn::parse(arn)
    {
        found.error_at("oidc_provider_arn", "Not an OIDC provider", format!("{problem}."));
    }
    if let Some(Err(problem)) = config.region.as_str().map(check_region) {
        found.error_at("region", "Not a region", problem);
    }
    check_role(&config.role, &[CONTROLLER_POLICY], OWNER_TAG, &mut found);
    config.controller.check(&mut found);
    found.into_result(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::{ControllerAttributes, RoleAttributes};
    use tfplugin::Field;

    #[test]
    fn wrong_attributes_are_named() {
        let fine = || IrsaRole {
            role: RoleAttributes {
                name: "r".into(),
                ..RoleAttributes::default()
            },
            oidc_provider_arn: "arn:aws:iam::1:oidc-provider/x".into(),
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
            assert_eq!(found.paths(), [path]);
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
