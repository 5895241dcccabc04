//! The label keys that decisions treat specially.

use crate::text::Text;

/// The zone of a node.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// The region of a node.
pub const REGION: &str = "topology.kubernetes.io/region";
/// The instance type of a node.
pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
/// The processor architecture of a node.
pub const ARCH: &str = "kubernetes.io/arch";
/// The operating system of a node.
pub const OS: &str = "kubernetes.io/os";
/// The name a node gives itself.
pub const HOSTNAME: &str = "kubernetes.io/hostname";
/// How a node is paid for: spot, on-demand or reserved.
pub const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
/// The pool a node belongs to.
pub const NODE_POOL: &str = "karpenter.sh/nodepool";
/// Set on a node once its claim has registered it.
pub const REGISTERED: &str = "karpenter.sh/registered";
/// Set on a node once its claim has initialised it.
pub const INITIALIZED: &str = "karpenter.sh/initialized";
/// On a claim: the drivers, separated by commas, of the devices that its pods were promised.
pub const REQUESTED_DRA_DRIVERS: &str = "karpenter.sh/requested-dra-drivers";
/// Set on a node whose taints the boot script already set.
pub const DO_NOT_SYNC_TAINTS: &str = "karpenter.sh/do-not-sync-taints";
/// The zone's id, the same in every account.
pub const ZONE_ID: &str = "topology.k8s.aws/zone-id";

/// Keys that a pool need not define for a pod to ask for them: an instance type may say them later.
const WELL_KNOWN: [&str; 9] = [
    NODE_POOL,
    ZONE,
    REGION,
    INSTANCE_TYPE,
    ARCH,
    OS,
    CAPACITY_TYPE,
    "node.kubernetes.io/windows-build",
    ZONE_ID,
];

/// Labels of which every instance type says something; one that a type does not say is missing on its nodes.
const SAID_BY_TYPES: [&str; 5] = [
    INSTANCE_TYPE,
    ARCH,
    OS,
    REGION,
    "node.kubernetes.io/windows-build",
];

/// Labels under this prefix, too, are said by instance types.
const TYPE_PREFIX: &str = "karpenter.k8s.aws/instance-";

/// Labels under this prefix are the AWS provider's: said by instance types, offerings or classes.
const PROVIDER_PREFIX: &str = "karpenter.k8s.aws/";

/// Older spellings of well-known labels and what they mean today.
const NORMALISED: [(&str, &str); 6] = [
    ("failure-domain.beta.kubernetes.io/zone", ZONE),
    ("failure-domain.beta.kubernetes.io/region", REGION),
    ("beta.kubernetes.io/arch", ARCH),
    ("beta.kubernetes.io/os", OS),
    ("beta.kubernetes.io/instance-type", INSTANCE_TYPE),
    ("topology.ebs.csi.aws.com/zone", ZONE),
];

/// Whether instance types or the pool itself may define `key`, so that its absence from a pool refuses nothing.
pub fn is_well_known(key: &str) -> bool {
    WELL_KNOWN.contains(&key) || key.starts_with(PROVIDER_PREFIX)
}

/// Whether a node has the label `key` just when its instance type says so.
pub fn is_said_by_types(key: &str) -> bool {
    SAID_BY_TYPES.contains(&key) || key.starts_with(TYPE_PREFIX)
}

/// Whether a node has the label `key` because of the offering by which it was bought.
pub fn is_said_by_offerings(key: &str) -> bool {
    matches!(key, ZONE | CAPACITY_TYPE | ZONE_ID)
}

/// The key that today stands for `key`.
pub fn normalise(key: Text) -> Text {
    NORMALISED
        .iter()
        .find(|(old, _)| **old == *key)
        .map_or(key, |(_, new)| Text::from(*new))
}

/// A well-known key that `key` was probably meant to be: one that contains it or ends as it ends.
pub fn nearest(key: &str) -> Option<&'static str> {
    let name = key.rsplit('/').next().unwrap_or(key);
    WELL_KNOWN
        .into_iter()
        .find(|known| *known != key && (known.contains(key) || known.ends_with(name)))
}
