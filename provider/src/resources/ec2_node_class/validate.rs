//! Checks of a configuration: every rule of the API, and what only the attributes can have.

use super::kubelet;
use super::schema::Ec2NodeClass;
use crate::objects::check;
use tfplugin::Diagnostics;

/// What is wrong, each with its attribute.
pub(super) fn validate(config: &Ec2NodeClass) -> Result<(), Diagnostics> {
    let mut found = check(config);
    if let Some(settings) = config.kubelet.known() {
        found.append(kubelet::said_twice(settings)?);
    }
    found.into_result(())
}
