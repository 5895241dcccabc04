//! Checks of a configuration: those of the attributes are all there are.

use super::schema::Crds;
use tfplugin::Diagnostics;

/// Nothing beyond the attributes' own checks.
pub(super) fn validate(_: &Crds) -> Result<(), Diagnostics> {
    Ok(())
}
