//! Checks of a configuration.

use super::schema::Teardown;
use crate::roles::check_cluster_name;
use tfplugin::Diagnostics;

/// What is wrong, each with its attribute.
pub(super) fn validate(config: &Teardown) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new();
    check_cluster_name(&config.cluster_name, &mut found);
    found.into_result(())
}
