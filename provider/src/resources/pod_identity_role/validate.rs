//! Checks of a configuration.

use super::OWNER_TAG;
use super::schema::PodIdentityRole;
use crate::roles::{
    Anchor, CONTROLLER_POLICY, check_partition, check_queue_region, check_region_at, check_role,
};
use tfplugin::Diagnostics;

/// What is wrong, each with its attribute.
pub(super) fn validate(config: &PodIdentityRole) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new();
    check_region_at("region", &config.region, &mut found);
    let region = config.region.as_str();
    if let Some(region) = region {
        check_queue_region(
            &config.controller.interruption_queue_arn,
            "region",
            region,
            &mut found,
        );
    }
    let anchor = region.map(|region| Anchor::of_region("region", region));
    let anchor = config.controller.check_partition(anchor, &mut found);
    check_partition(&config.role, anchor, &mut found);
    check_role(&config.role, &[CONTROLLER_POLICY], OWNER_TAG, &mut found);
    config.controller.check(&mut found);
    found.told()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::ControllerAttributes;
    use tfplugin::Field;

    #[test]
    fn what_is_elsewhere_is_named() {
        let role = |region: &str, roles: &[&str], queue: &str| PodIdentityRole {
            region: region.into(),
            controller: ControllerAttributes {
                node_role_arns: Field::Known(roles.iter().map(|arn| (*arn).to_owned()).collect()),
                interruption_queue_arn: queue.into(),
                ..ControllerAttributes::default()
            },
            ..PodIdentityRole::default()
        };
        const ROLE: &str = "arn:aws:iam::123456789012:role/n";
        const QUEUE: &str = "arn:aws:sqs:us-west-2:123456789012:x";
        assert!(validate(&role("us-west-2", &[ROLE], QUEUE)).is_ok());
        for (config, paths) in [
            (
                role("nowhere", &[ROLE], "arn:aws:sqs:nowhere:123456789012:x"),
                ["region"].as_slice(),
            ),
            (role("eu-central-1", &[ROLE], QUEUE), &["interruption_queue_arn"]),
            (
                role("cn-north-1", &[ROLE], "arn:aws-cn:sqs:cn-north-1:123456789012:x"),
                &["node_role_arns"],
            ),
        ] {
            let found = validate(&config).expect_err("elsewhere");
            assert_eq!(found.paths(), paths, "{found}");
        }
    }
}
