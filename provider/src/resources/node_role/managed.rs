//! The policies of AWS that a node's role may have: that each is one, and that nodes can join with them.

use super::schema::NodeRole;
use joiner_api::rules::nearest;
use tfplugin::{Diagnostics, Field};

/// The policies of AWS that nodes of EKS get. Others may be attached, too; a name that is nearly one of these is most likely meant to be it.
const KNOWN: [&str; 15] = [
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKSWorkerNodeMinimalPolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEKSClusterPolicy",
    "AmazonEKSServicePolicy",
    "AmazonEKSComputePolicy",
    "AmazonEKSNetworkingPolicy",
    "AmazonEKSVPCResourceController",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonEC2ContainerRegistryReadOnly",
    "AmazonEC2ContainerRegistryPowerUser",
    "AmazonSSMManagedInstanceCore",
    "AmazonSSMPatchAssociation",
    "CloudWatchAgentServerPolicy",
    "CloudWatchAgentAdminPolicy",
];
/// With either of these a node may look itself up in EC2, without which it does not join.
const WORKER: [&str; 2] = ["AmazonEKSWorkerNodePolicy", "AmazonEKSWorkerNodeMinimalPolicy"];

/// Checks `managed_policies`.
pub(super) fn check(config: &NodeRole, found: &mut Diagnostics) {
    const AT: &str = "managed_policies";
    let Some(names) = config.managed_policies.known() else {
        return;
    };
    let before = found.len();
    for name in names {
        if name.contains(':') || name.is_empty() {
            found.error_at(
                AT,
                "Not a name",
                format!(
                    "{name:?} is not the name of a policy of AWS, such as AmazonEKSWorkerNodePolicy. ARNs belong into policy_arns."
                ),
            );
        } else if !KNOWN.contains(&name.as_str())
            && let Some(near) = nearest(name, KNOWN)
        {
            found.warn_at(
                AT,
                "No policy that nodes usually get",
                format!("{name:?} is nearly {near:?}, a policy that AWS has. If that is meant, write it so; IAM refuses a name that it lacks."),
            );
        }
    }
    let has_worker = |name: &String| WORKER.iter().any(|worker| name.contains(worker));
    let Some(others) = config.role.policy_arns.decided() else {
        return;
    };
    // One that is mistyped is told already, and what policies of one's own allow is not looked at.
    let is_told = found.len() > before;
    let brings_own = !matches!(&config.role.policies, Field::Null)
        && config
            .role
            .policies
            .known()
            .is_none_or(|policies| !policies.is_empty());
    let can_join = names.iter().any(has_worker) || others.into_iter().flatten().any(has_worker);
    if !(is_told || brings_own || can_join) {
        found.warn_at(
            AT,
            "Nodes never join",
            format!(
                "Neither managed_policies nor policy_arns has {}: instances with this role start and never become nodes. Add it, or leave \
                 managed_policies out for its default.",
                WORKER.join(" or ")
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::documents::MANAGED;
    use super::*;
    use crate::roles::RoleAttributes;

    #[test]
    fn a_role_without_which_nodes_do_not_join_is_told() {
        let told = |names: &[&str], arns: &[&str]| {
            let texts = |texts: &[&str]| Field::Known(texts.iter().map(|text| (*text).to_owned()).collect());
            let config = NodeRole {
                managed_policies: texts(names),
                role: RoleAttributes {
                    policy_arns: texts(arns),
                    ..RoleAttributes::default()
                },
                ..NodeRole::default()
            };
            let mut found = Diagnostics::new();
            check(&config, &mut found);
            assert!(found.paths().iter().all(|path| path == "managed_policies"));
            found.iter().map(|it| it.detail.clone()).collect::<Vec<_>>()
        };
        assert!(told(&MANAGED, &[]).is_empty());
        for near in ["AmazonEKSWorkerNodePolicyy", "AmazonEksWorkerNodePolicy"] {
            let found = told(&[near], &[]);
            assert!(
                found.len() == 1 && found[0].contains("nearly \"AmazonEKSWorkerNodePolicy\""),
                "{found:?}"
            );
        }
        for names in [&[][..], &["AmazonSSMManagedInstanceCore"]] {
            let found = told(names, &[]);
            assert!(
                found.len() == 1 && found[0].contains("never become nodes"),
                "{found:?}"
            );
        }
        assert!(told(&[], &["arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"]).is_empty());
        assert!(told(&["AmazonEKSWorkerNodePolicy", "AmazonSNSFullAccess"], &[]).is_empty());
    }
}
