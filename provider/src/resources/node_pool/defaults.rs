//! What the API server fills in where a configuration leaves something out; planned as known values.

use super::schema::{Budget, Disruption};
use tfplugin::Field;

/// `spec.disruption` when it is left out.
pub(super) fn disruption() -> Disruption {
    Disruption {
        consolidation_policy: "WhenEmptyOrUnderutilized".into(),
        consolidate_after: "0s".into(),
        budgets: Field::Known(budgets()),
    }
}

/// `spec.disruption.budgets` when it is left out.
pub(super) fn budgets() -> Vec<Budget> {
    vec![Budget {
        nodes: "10%".into(),
        ..Budget::default()
    }]
}
