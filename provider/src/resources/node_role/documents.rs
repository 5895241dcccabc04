//! What a node's role is, made from the resource's attributes.

use super::OWNER_TAG;
use super::schema::NodeRole;
use crate::roles::{OwnerTag, RoleSpec};

/// The policies of AWS that a node has by default.
pub(super) const MANAGED: [&str; 4] = [
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
];

/// The tag that tells our roles from others; its value is the cluster's name.
pub(super) fn owner_tag(model: &NodeRole) -> OwnerTag {
    (OWNER_TAG, model.cluster_name.clone())
}

/// The role as it shall be in a partition.
pub(super) fn spec(model: &NodeRole, partition: &str) -> RoleSpec {
    let mut spec = RoleSpec::new(&model.role, &model.description, &model.trust_policy_json);
    let managed = model.managed_policies.known().into_iter().flatten();
    spec.attached
        .extend(managed.map(|name| managed_arn(partition, name)));
    spec
}

/// The ARN of a policy of AWS.
pub(super) fn managed_arn(partition: &str, name: &str) -> String {
    format!("arn:{partition}:iam::aws:policy/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfplugin::Field;

    #[test]
    fn policies_of_aws_are_those_of_the_partition() {
        let model = NodeRole {
            managed_policies: Field::Known(["AmazonEKSWorkerNodePolicy".to_owned()].into()),
            cluster_name: "c".into(),
            ..NodeRole::default()
        };
        let spec = spec(&model, "aws-cn");
        assert_eq!(
            spec.attached.first().map(String::as_str),
            Some("arn:aws-cn:iam::aws:policy/AmazonEKSWorkerNodePolicy")
        );
        assert_eq!(owner_tag(&model), (OWNER_TAG, "c".into()));
    }
}
