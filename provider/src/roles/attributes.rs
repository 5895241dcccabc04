//! Attributes that several resources have, written once.

use super::spec::same_documents;
use std::collections::{BTreeMap, BTreeSet};
use tfplugin::validate::not_empty;
use tfplugin::{Field, Model};

/// The attributes of every resource that makes a role.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct RoleAttributes {
    /// Name of the role, unique in the account; also the import ID. A change replaces the role.
    #[tf(required, requires_replace, validate = not_empty)]
    pub name: Field<String>,
    /// Path of the role. A change replaces the role.
    #[tf(default = "/", requires_replace)]
    pub path: Field<String>,
    /// ARN of the policy that bounds what the role may do.
    pub permissions_boundary: Field<String>,
    /// Tags of the role, on top of the provider's `default_tags`. An import takes over all that the role has besides those.
    pub tags: Field<BTreeMap<String, String>>,
    /// All tags that this resource sets: the provider's `default_tags`, `tags` over them, and the one by which it knows its role again. One
    /// that somebody changes or takes away is set right by the next apply. Tags that others add stay, and are not shown.
    #[tf(computed)]
    pub tags_all: Field<BTreeMap<String, String>>,
    /// Further inline policies, by name, as JSON.
    #[tf(equivalent = same_documents)]
    pub policies: Field<BTreeMap<String, String>>,
    /// ARNs of further policies to attach.
    pub policy_arns: Field<BTreeSet<String>>,
    /// The same as `name`.
    #[tf(computed, use_state_for_unknown)]
    pub id: Field<String>,
    /// ARN of the role.
    #[tf(computed, use_state_for_unknown)]
    pub arn: Field<String>,
    /// IAM's ID of this very role.
    #[tf(computed, use_state_for_unknown)]
    pub unique_id: Field<String>,
}

/// The attributes of every resource that makes the controller's role.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct ControllerAttributes {
    /// Description of the role.
    #[tf(default = "Joiner's controller")]
    pub description: Field<String>,
    /// Name of the cluster that the controller works for.
    #[tf(required, validate = not_empty)]
    pub cluster_name: Field<String>,
    /// Namespace of the controller's service account.
    #[tf(default = "kube-system", validate = not_empty)]
    pub namespace: Field<String>,
    /// Name of the controller's service account.
    #[tf(default = "joiner", validate = not_empty)]
    pub service_account: Field<String>,
    /// ARNs of the roles that nodes may have; the controller may hand no others to EC2.
    pub node_role_arns: Field<BTreeSet<String>>,
    /// ARN of the queue of interruption events, when there is one.
    pub interruption_queue_arn: Field<String>,
    /// Whether the controller makes instance profiles; set it to `false` when every node class names an existing one.
    #[tf(default = true)]
    pub manage_instance_profiles: Field<bool>,
    /// What the controller may do, as JSON.
    #[tf(computed)]
    pub policy_json: Field<String>,
    /// Who may take the role on, as JSON.
    #[tf(computed)]
    pub trust_policy_json: Field<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfplugin::Value;

    #[test]
    fn the_defaults_are_the_charts() {
        let chart = include_str!("../../../controller/chart/Chart.yaml");
        let name = chart
            .lines()
            .find_map(|line| line.strip_prefix("name: "))
            .expect("a chart has a name");
        let schema = ControllerAttributes::schema(0);
        let default = |name: &str| {
            let attribute = schema.attributes.iter().find(|attribute| attribute.name == name);
            attribute.and_then(|attribute| attribute.behaviour.default.clone())
        };
        // A release of that name has a service account of that name.
        assert_eq!(default("service_account"), Some(Value::from(name)));
        assert_eq!(default("namespace"), Some(Value::from("kube-system")));
    }
}
