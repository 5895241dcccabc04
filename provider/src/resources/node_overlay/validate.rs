//! Checks of a configuration: every rule of the API.

use super::schema::NodeOverlay;
use crate::objects::check;
use tfplugin::Diagnostics;

/// What is wrong, each with its attribute.
pub(super) fn validate(config: &NodeOverlay) -> Result<(), Diagnostics> {
    check(config).into_result(())
}
