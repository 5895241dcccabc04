//! Conflicts of server-side apply: which field, owned by whom.

use kube::core::Status;
use std::fmt;

/// One field that another manager owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldConflict {
    /// The owner, for example `kubectl-edit`.
    pub manager: String,
    /// The field as the API server writes it, for example `.spec.weight`.
    pub field: String,
}

impl fmt::Display for FieldConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {:?}", self.field, self.manager)
    }
}

/// The conflicts in a 409 of server-side apply; empty for every other answer.
pub(crate) fn conflicts(status: &Status) -> Vec<FieldConflict> {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes
        .filter(|cause| cause.reason == "FieldManagerConflict")
        .map(|cause| FieldConflict {
            manager: manager_in(&cause.message).to_owned(),
            field: cause.field.clone(),
        })
        .collect()
}

/// The manager named in `conflict with "kubectl-edit" using apps/v1 at 2026-01-01T00:00:00Z`.
fn manager_in(message: &str) -> &str {
    message.split('"').nth(1).unwrap_or(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn every_conflict_names_field_and_manager() {
        let cause = |reason: &str, message: &str, field: &str| json!({ "reason": reason, "message": message, "field": field });
        let status: Status = from_value(json!({
            "message": "Apply failed", "reason": "Conflict", "code": 409,
            "details": { "causes": [
                cause("FieldManagerConflict", "conflict with \"kubectl-edit\" using karpenter.sh/v1", ".spec.weight"),
                cause("FieldValueInvalid", "no", ".spec.x"),
                cause("FieldManagerConflict", "conflict with \"argocd\"", ".spec.limits.cpu"),
            ] },
        }))
        .expect("a status");
        let found: Vec<String> = conflicts(&status).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                ".spec.weight by \"kubectl-edit\"",
                ".spec.limits.cpu by \"argocd\""
            ]
        );
        assert!(conflicts(&Status::failure("x", "y")).is_empty());
    }
}
