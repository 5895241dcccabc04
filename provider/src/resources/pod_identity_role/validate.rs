//! Checks of a configuration.

use super::OWNER_TAG;
use super::schema::PodIdentityRole;
use crate::provider::check_region;
use crate::roles::{CONTROLLER_POLICY, check_role};
use tfplugin::Diagnostics;

/// What is wrong, each with its attribute.
pub(super) fn validate(config: &PodIdentityRole) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new();
    if let Some(Err(problem)) = config.region.as_str().map(check_region) {
        found.error_at("region", "Not a region", problem);
    }
    check_role(&config.role, &[CONTROLLER_POLICY], OWNER_TAG, &mut found);
    config.controller.check(&mut found);
    found.into_result(())
}
