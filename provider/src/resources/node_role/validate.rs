//! Checks of a configuration.

use super::OWNER_TAG;
use super::managed;
use super::schema::NodeRole;
use crate::roles::{check_cluster_name, check_partition, check_role};
use tfplugin::Diagnostics;

/// What is wrong, each with its attribute.
pub(super) fn validate(config: &NodeRole) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new();
    check_role(&config.role, &[], OWNER_TAG, &mut found);
    check_cluster_name(&config.cluster_name, &mut found);
    check_partition(&config.role, None, &mut found);
    managed::check(config, &mut found);
    if config.create_access_entry.known() == Some(&false) && config.access_entry_type.is_known() {
        found.warn_at(
            "access_entry_type",
            "No access entry",
            "create_access_entry is false, so the type says nothing. Remove one of them.",
        );
    }
    found.told()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfplugin::Field;

    #[test]
    fn an_arn_is_no_name() {
        let config = NodeRole {
            managed_policies: Field::Known(["arn:aws:iam::aws:policy/X".to_owned()].into()),
            ..NodeRole::default()
        };
        assert_eq!(
            validate(&config).expect_err("an ARN").paths(),
            ["managed_policies"]
        );
        let config = NodeRole {
            cluster_name: "https://x".into(),
            ..NodeRole::default()
        };
        assert_eq!(validate(&config).expect_err("an URL").paths(), ["cluster_name"]);
        assert!(validate(&NodeRole::default()).is_ok());
    }
}
