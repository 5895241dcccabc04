//! The tags by which instances, templates and profiles are recognised. The controller's IAM policy names the same keys,
//! so a change here is a change of permissions there.

use std::collections::BTreeMap;

/// Value: the cluster's name.
pub const CLUSTER: &str = "eks:eks-cluster-name";
/// Prefix of the ownership tag; the cluster's name follows, the value is `owned`.
pub const OWNED_PREFIX: &str = "kubernetes.io/cluster/";
/// Value: the NodePool's name.
pub const NODE_POOL: &str = "karpenter.sh/nodepool";
/// Value: the NodeClaim's name.
pub const NODE_CLAIM: &str = "karpenter.sh/nodeclaim";
/// Value: the EC2NodeClass' name.
pub const NODE_CLASS: &str = "karpenter.k8s.aws/ec2nodeclass";
/// Value: the region of an instance profile.
pub const REGION: &str = "topology.kubernetes.io/region";
/// Shown by the console; the Node's name once it is known.
pub const NAME: &str = "Name";
/// Value: short hashes of the NodeClaims that one CreateFleet call was made for, so that a controller which was killed
/// before it could write the answer down finds its instances again.
pub const LAUNCH: &str = "joiner.dev/launch";

/// Tags as they are compared and written: sorted.
pub type Tags = BTreeMap<String, String>;

/// The key of the ownership tag of `cluster`.
pub fn owned_key(cluster: &str) -> String {
    format!("{OWNED_PREFIX}{cluster}")
}

/// The tags of everything that is launched for a pool: those of the node class, overridden by ours.
pub fn for_launch(cluster: &str, node_pool: &str, node_class: &str, own: &Tags) -> Tags {
    let mut tags = own.clone();
    tags.insert(owned_key(cluster), "owned".to_owned());
    tags.insert(CLUSTER.to_owned(), cluster.to_owned());
    tags.insert(NODE_POOL.to_owned(), node_pool.to_owned());
    tags.insert(NODE_CLASS.to_owned(), node_class.to_owned());
    tags
}

/// The tags of an instance profile.
pub fn for_profile(cluster: &str, region: &str, node_class: &str, own: &Tags) -> Tags {
    let mut tags = own.clone();
    tags.insert(owned_key(cluster), "owned".to_owned());
    tags.insert(CLUSTER.to_owned(), cluster.to_owned());
    tags.insert(NODE_CLASS.to_owned(), node_class.to_owned());
    tags.insert(REGION.to_owned(), region.to_owned());
    tags
}

/// The keys in `own` that are ours to set; a node class that has one is not valid.
pub fn restricted(own: &Tags) -> Vec<&str> {
    own.keys()
        .map(String::as_str)
        .filter(|key| {
            key.starts_with(OWNED_PREFIX)
                || [CLUSTER, NODE_POOL, NODE_CLAIM, NODE_CLASS, LAUNCH].contains(key)
        })
        .collect()
}

/// What makes `current` into `wanted`: tags to set, and keys to take away.
pub(crate) fn changes(current: &Tags, wanted: &Tags) -> (Tags, Vec<String>) {
    let add = wanted
        .iter()
        .filter(|(key, value)| current.get(*key) != Some(value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    // Tags under aws: are Amazon's and cannot be removed.
    let remove = current
        .keys()
        .filter(|key| !wanted.contains_key(*key) && !key.starts_with("aws:"))
        .cloned()
        .collect();
    (add, remove)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(pairs: &[(&str, &str)]) -> Tags {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn ours_win_over_the_node_class() {
        let all = for_launch(
            "dev",
            "spot",
            "default",
            &tags(&[("team", "a"), (CLUSTER, "other")]),
        );
        assert_eq!(
            all,
            tags(&[
                ("eks:eks-cluster-name", "dev"),
                ("karpenter.k8s.aws/ec2nodeclass", "default"),
                ("karpenter.sh/nodepool", "spot"),
                ("kubernetes.io/cluster/dev", "owned"),
                ("team", "a"),
            ])
        );
    }

    #[test]
    fn our_keys_are_not_the_users() {
        let own = tags(&[
            ("team", "a"),
            (NODE_CLAIM, "x"),
            ("kubernetes.io/cluster/dev", "owned"),
            (NAME, "n"),
        ]);
        assert_eq!(
            restricted(&own),
            vec!["karpenter.sh/nodeclaim", "kubernetes.io/cluster/dev"]
        );
    }

    #[test]
    fn only_what_differs_is_changed() {
        let current = tags(&[("a", "1"), ("b", "2"), ("c", "3"), ("aws:cf", "x")]);
        let wanted = tags(&[("a", "1"), ("b", "9"), ("d", "4")]);
        assert_eq!(
            changes(&current, &wanted),
            (tags(&[("b", "9"), ("d", "4")]), vec!["c".to_owned()])
        );
        assert_eq!(changes(&wanted, &wanted), (Tags::new(), Vec::new()));
    }
}
