//! Every name that Karpenter's users, policies and dashboards rely on, as constants.
//!
//! The strings are the contract (Karpenter 1.14.3); nothing here may be renamed. Sets are sorted slices, so
//! that a lookup and an error message give the same order at every run.

/// API group of NodePool, NodeClaim and NodeOverlay.
pub const GROUP: &str = "karpenter.sh";
/// API group of EC2NodeClass.
pub const AWS_GROUP: &str = "karpenter.k8s.aws";

// --- labels of karpenter.sh -------------------------------------------------------------------------------

/// Label of nodes and claims: the name of the NodePool they belong to.
pub const NODEPOOL: &str = "karpenter.sh/nodepool";
/// Label of nodes: `true` once the node is initialised.
pub const INITIALIZED: &str = "karpenter.sh/initialized";
/// Label of nodes: `true` once the node is registered.
pub const REGISTERED: &str = "karpenter.sh/registered";
/// Label of nodes whose user data already registers the taints of the claim.
pub const DO_NOT_SYNC_TAINTS: &str = "karpenter.sh/do-not-sync-taints";
/// Label: `spot`, `on-demand` or `reserved`.
pub const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
/// Value of [`CAPACITY_TYPE`].
pub const CAPACITY_TYPE_SPOT: &str = "spot";
/// Value of [`CAPACITY_TYPE`].
pub const CAPACITY_TYPE_ON_DEMAND: &str = "on-demand";
/// Value of [`CAPACITY_TYPE`].
pub const CAPACITY_TYPE_RESERVED: &str = "reserved";

// --- labels of Kubernetes ---------------------------------------------------------------------------------

/// Kubernetes' zone label.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// Kubernetes' region label.
pub const REGION: &str = "topology.kubernetes.io/region";
/// Kubernetes' instance type label.
pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
/// Kubernetes' Windows build label.
pub const WINDOWS_BUILD: &str = "node.kubernetes.io/windows-build";
/// Kubernetes' processor architecture label: [`ARCH_AMD64`] or [`ARCH_ARM64`].
pub const ARCH: &str = "kubernetes.io/arch";
/// Value of [`ARCH`].
pub const ARCH_AMD64: &str = "amd64";
/// Value of [`ARCH`].
pub const ARCH_ARM64: &str = "arm64";
/// Kubernetes' operating system label: `linux` or `windows`.
pub const OS: &str = "kubernetes.io/os";
/// Value of [`OS`].
pub const OS_LINUX: &str = "linux";
/// Value of [`OS`].
pub const OS_WINDOWS: &str = "windows";
/// Kubernetes' host name label; never usable in requirements, since a node that does not exist has no name.
pub const HOSTNAME: &str = "kubernetes.io/hostname";
/// Label set on a draining node, value [`EXCLUDE_BALANCERS_VALUE`].
pub const EXCLUDE_BALANCERS: &str = "node.kubernetes.io/exclude-from-external-load-balancers";
/// Value of [`EXCLUDE_BALANCERS`].
pub const EXCLUDE_BALANCERS_VALUE: &str = "karpenter";
/// Zone id label of AWS, e.g. `usw2-az1`.
pub const ZONE_ID: &str = "topology.k8s.aws/zone-id";
/// Topology label of the EBS CSI driver's volumes; means [`ZONE`].
pub const EBS_CSI_ZONE: &str = "topology.ebs.csi.aws.com/zone";

// --- labels of karpenter.k8s.aws ----------------------------------------------------------------------------

/// Label: name of the EC2NodeClass.
pub const EC2_NODE_CLASS: &str = "karpenter.k8s.aws/ec2nodeclass";
/// Label: id of the capacity reservation.
pub const CAPACITY_RESERVATION_ID: &str = "karpenter.k8s.aws/capacity-reservation-id";
/// Label: `default` or `capacity-block`.
pub const CAPACITY_RESERVATION_TYPE: &str = "karpenter.k8s.aws/capacity-reservation-type";
/// Label: whether the reservation can be interrupted.
pub const CAPACITY_RESERVATION_INTERRUPTIBLE: &str = "karpenter.k8s.aws/capacity-reservation-interruptible";
/// Label: `nitro`, `xen` or empty for metal.
pub const INSTANCE_HYPERVISOR: &str = "karpenter.k8s.aws/instance-hypervisor";
/// Label: `true` or `false`.
pub const INSTANCE_ENCRYPTION_IN_TRANSIT: &str = "karpenter.k8s.aws/instance-encryption-in-transit-supported";
/// Label: first letters of the type, e.g. `c`.
pub const INSTANCE_CATEGORY: &str = "karpenter.k8s.aws/instance-category";
/// Label: `true` for flex families.
pub const INSTANCE_CAPABILITY_FLEX: &str = "karpenter.k8s.aws/instance-capability-flex";
/// Label: family, e.g. `c5n`.
pub const INSTANCE_FAMILY: &str = "karpenter.k8s.aws/instance-family";
/// Label: generation number.
pub const INSTANCE_GENERATION: &str = "karpenter.k8s.aws/instance-generation";
/// Label: GiB of local NVMe storage.
pub const INSTANCE_LOCAL_NVME: &str = "karpenter.k8s.aws/instance-local-nvme";
/// Label: size, e.g. `4xlarge`.
pub const INSTANCE_SIZE: &str = "karpenter.k8s.aws/instance-size";
/// Label: number of vCPUs.
pub const INSTANCE_CPU: &str = "karpenter.k8s.aws/instance-cpu";
/// Label: `aws`, `intel` or `amd`.
pub const INSTANCE_CPU_MANUFACTURER: &str = "karpenter.k8s.aws/instance-cpu-manufacturer";
/// Label: sustained clock speed in MHz.
pub const INSTANCE_CPU_CLOCK_MHZ: &str = "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz";
/// Label: memory in MiB.
pub const INSTANCE_MEMORY: &str = "karpenter.k8s.aws/instance-memory";
/// Label: EBS bandwidth in Mbit/s.
pub const INSTANCE_EBS_BANDWIDTH: &str = "karpenter.k8s.aws/instance-ebs-bandwidth";
/// Label: network bandwidth in Mbit/s.
pub const INSTANCE_NETWORK_BANDWIDTH: &str = "karpenter.k8s.aws/instance-network-bandwidth";
/// Label: GPU model.
pub const INSTANCE_GPU_NAME: &str = "karpenter.k8s.aws/instance-gpu-name";
/// Label: GPU maker.
pub const INSTANCE_GPU_MANUFACTURER: &str = "karpenter.k8s.aws/instance-gpu-manufacturer";
/// Label: number of GPUs.
pub const INSTANCE_GPU_COUNT: &str = "karpenter.k8s.aws/instance-gpu-count";
/// Label: memory of one GPU in MiB.
pub const INSTANCE_GPU_MEMORY: &str = "karpenter.k8s.aws/instance-gpu-memory";
/// Label: accelerator model.
pub const INSTANCE_ACCELERATOR_NAME: &str = "karpenter.k8s.aws/instance-accelerator-name";
/// Label: accelerator maker.
pub const INSTANCE_ACCELERATOR_MANUFACTURER: &str = "karpenter.k8s.aws/instance-accelerator-manufacturer";
/// Label: number of accelerators.
pub const INSTANCE_ACCELERATOR_COUNT: &str = "karpenter.k8s.aws/instance-accelerator-count";
/// Label: `default` or `dedicated`.
pub const INSTANCE_TENANCY: &str = "karpenter.k8s.aws/instance-tenancy";
/// Label: id of the placement group.
pub const PLACEMENT_GROUP_ID: &str = "karpenter.k8s.aws/placement-group-id";
/// Label: number of the placement group's partition.
pub const PLACEMENT_GROUP_PARTITION: &str = "karpenter.k8s.aws/placement-group-partition";

// --- annotations --------------------------------------------------------------------------------------------

/// Annotation of pods and nodes: `true`, or (pods) a Go duration counted from the pod's start.
pub const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";
/// Annotation: hash of the NodePool's drift-relevant fields.
pub const NODEPOOL_HASH: &str = "karpenter.sh/nodepool-hash";
/// Annotation: version of the algorithm behind [`NODEPOOL_HASH`].
pub const NODEPOOL_HASH_VERSION: &str = "karpenter.sh/nodepool-hash-version";
/// Annotation of claims: RFC 3339 time after which pods are removed by force.
pub const TERMINATION_TIMESTAMP: &str = "karpenter.sh/nodeclaim-termination-timestamp";
/// Annotation of claims: `true` when minValues could not be kept.
pub const MIN_VALUES_RELAXED: &str = "karpenter.sh/nodeclaim-min-values-relaxed";
/// Annotation of claims: DRA drivers asked for, separated by commas.
pub const REQUESTED_DRA_DRIVERS: &str = "karpenter.sh/requested-dra-drivers";
/// Annotation of claims: a NodeOverlay changed the price.
pub const PRICE_OVERLAY_APPLIED: &str = "karpenter.sh/price-overlay-applied";
/// Annotation of claims: a NodeOverlay changed the capacity.
pub const CAPACITY_OVERLAY_APPLIED: &str = "karpenter.sh/capacity-overlay-applied";
/// Annotation kept for readers of old objects.
pub const COMPATIBILITY_PROVIDER: &str = "compatibility.karpenter.sh/provider";
/// Annotation of claims launched by a version that tagged the cluster name late.
pub const COMPATIBILITY_CLUSTER_NAME_TAGGED: &str = "compatibility.karpenter.k8s.aws/cluster-name-tagged";
/// Annotation: hash of the EC2NodeClass' drift-relevant fields.
pub const EC2_NODE_CLASS_HASH: &str = "karpenter.k8s.aws/ec2nodeclass-hash";
/// Annotation: version of the algorithm behind [`EC2_NODE_CLASS_HASH`].
pub const EC2_NODE_CLASS_HASH_VERSION: &str = "karpenter.k8s.aws/ec2nodeclass-hash-version";
/// Annotation of claims: the instance carries its late tags.
pub const INSTANCE_TAGGED: &str = "karpenter.k8s.aws/tagged";
/// Annotation of claims: the instance profile used.
pub const INSTANCE_PROFILE_NAME: &str = "karpenter.k8s.aws/instance-profile-name";

/// Annotation of claims, ours: dollars an hour of the offering bought, as the controller saw it at the launch.
pub const HOURLY_PRICE: &str = "joiner.dev/hourly-price";
/// Annotation of claims, ours: a short hash of each static field of the EC2NodeClass at the launch, as `tags=0123abcd,userData=…`;
/// it says which fields a node has drifted by, and decides nothing.
pub const EC2_NODE_CLASS_FIELDS: &str = "joiner.dev/ec2nodeclass-fields";

// --- finalizers, taints, lease ------------------------------------------------------------------------------

/// Finalizer of nodes and claims.
pub const TERMINATION_FINALIZER: &str = "karpenter.sh/termination";
/// Finalizer of EC2NodeClasses.
pub const AWS_TERMINATION_FINALIZER: &str = "karpenter.k8s.aws/termination";
/// Taint (effect NoSchedule) of a node that is being disrupted.
pub const DISRUPTED_TAINT: &str = "karpenter.sh/disrupted";
/// Taint (effect NoExecute) that a node carries from its first moment until it is registered.
pub const UNREGISTERED_TAINT: &str = "karpenter.sh/unregistered";
/// Name of the lease by which replicas elect a leader.
pub const LEASE: &str = "karpenter-leader-election";

// --- tags on EC2 objects --------------------------------------------------------------------------------------

/// Tag: name of the NodeClaim.
pub const NODECLAIM_TAG: &str = "karpenter.sh/nodeclaim";
/// Tag: name of the NodePool.
pub const NODEPOOL_TAG: &str = NODEPOOL;
/// Tag: name of the EC2NodeClass.
pub const NODE_CLASS_TAG: &str = EC2_NODE_CLASS;
/// Tag: name of the EKS cluster.
pub const CLUSTER_NAME_TAG: &str = "eks:eks-cluster-name";
/// Prefix of the tag `kubernetes.io/cluster/<name>`, value `owned`.
pub const CLUSTER_TAG_PREFIX: &str = "kubernetes.io/cluster/";

// --- resources ------------------------------------------------------------------------------------------------

/// Resource: cores.
pub const RESOURCE_CPU: &str = "cpu";
/// Resource: bytes of memory.
pub const RESOURCE_MEMORY: &str = "memory";
/// Resource: bytes of local storage.
pub const RESOURCE_EPHEMERAL_STORAGE: &str = "ephemeral-storage";
/// Resource: number of pods.
pub const RESOURCE_PODS: &str = "pods";
/// Pseudo resource of NodePool limits and status: number of nodes.
pub const RESOURCE_NODES: &str = "nodes";
/// Resource: NVIDIA GPUs.
pub const RESOURCE_NVIDIA_GPU: &str = "nvidia.com/gpu";
/// Resource: AMD GPUs.
pub const RESOURCE_AMD_GPU: &str = "amd.com/gpu";
/// Resource: Neuron devices.
pub const RESOURCE_NEURON: &str = "aws.amazon.com/neuron";
/// Resource: Neuron cores.
pub const RESOURCE_NEURON_CORE: &str = "aws.amazon.com/neuroncore";
/// Resource: Gaudi devices.
pub const RESOURCE_GAUDI: &str = "habana.ai/gaudi";
/// Resource: branch network interfaces.
pub const RESOURCE_POD_ENI: &str = "vpc.amazonaws.com/pod-eni";
/// Resource: Elastic Fabric Adapters.
pub const RESOURCE_EFA: &str = "vpc.amazonaws.com/efa";
/// Resource: IPv4 addresses for Windows pods.
pub const RESOURCE_PRIVATE_IPV4: &str = "vpc.amazonaws.com/PrivateIPv4Address";

// --- conditions -------------------------------------------------------------------------------------------------

/// Condition types, grouped by the object that carries them.
pub mod conditions {
    /// The sum of an object's other conditions.
    pub const READY: &str = "Ready";
    /// NodeClaim: the instance exists.
    pub const LAUNCHED: &str = "Launched";
    /// NodeClaim: the Node exists and carries the claim's labels and taints.
    pub const REGISTERED: &str = "Registered";
    /// NodeClaim: the Node is ready for pods.
    pub const INITIALIZED: &str = "Initialized";
    /// NodeClaim: no pod came or went for `consolidateAfter`.
    pub const CONSOLIDATABLE: &str = "Consolidatable";
    /// NodeClaim: pool, class or image have changed since the launch.
    pub const DRIFTED: &str = "Drifted";
    /// NodeClaim: all evictable pods are gone.
    pub const DRAINED: &str = "Drained";
    /// NodeClaim: no volume is attached any more.
    pub const VOLUMES_DETACHED: &str = "VolumesDetached";
    /// NodeClaim: the instance is being terminated.
    pub const INSTANCE_TERMINATING: &str = "InstanceTerminating";
    /// NodeClaim: the Node is what was ordered.
    pub const CONSISTENT_STATE_FOUND: &str = "ConsistentStateFound";
    /// NodeClaim: why it is being disrupted.
    pub const DISRUPTION_REASON: &str = "DisruptionReason";
    /// NodePool, NodeOverlay, EC2NodeClass: the specification is valid.
    pub const VALIDATION_SUCCEEDED: &str = "ValidationSucceeded";
    /// NodePool: its node class exists and is ready.
    pub const NODE_CLASS_READY: &str = "NodeClassReady";
    /// NodePool: recent launches have registered.
    pub const NODE_REGISTRATION_HEALTHY: &str = "NodeRegistrationHealthy";
    /// EC2NodeClass: subnets were found.
    pub const SUBNETS_READY: &str = "SubnetsReady";
    /// EC2NodeClass: security groups were found.
    pub const SECURITY_GROUPS_READY: &str = "SecurityGroupsReady";
    /// EC2NodeClass: images were found.
    pub const AMIS_READY: &str = "AMIsReady";
    /// EC2NodeClass: the instance profile exists.
    pub const INSTANCE_PROFILE_READY: &str = "InstanceProfileReady";
    /// EC2NodeClass: capacity reservations were resolved.
    pub const CAPACITY_RESERVATIONS_READY: &str = "CapacityReservationsReady";
    /// EC2NodeClass: the placement group exists, or none is asked for.
    pub const PLACEMENT_GROUP_READY: &str = "PlacementGroupReady";
    /// The conditions that make a NodeClaim [`READY`].
    pub const NODE_CLAIM: &[&str] = &[LAUNCHED, REGISTERED, INITIALIZED];
    /// The conditions that make a NodePool [`READY`].
    pub const NODE_POOL: &[&str] = &[VALIDATION_SUCCEEDED, NODE_CLASS_READY];
    /// The conditions that make a NodeOverlay [`READY`].
    pub const NODE_OVERLAY: &[&str] = &[VALIDATION_SUCCEEDED];
    /// The conditions that make an EC2NodeClass [`READY`] (with the ReservedCapacity gate also
    /// [`CAPACITY_RESERVATIONS_READY`]).
    pub const EC2_NODE_CLASS: &[&str] = &[
        AMIS_READY,
        SUBNETS_READY,
        SECURITY_GROUPS_READY,
        INSTANCE_PROFILE_READY,
        VALIDATION_SUCCEEDED,
        PLACEMENT_GROUP_READY,
    ];
}

// --- sets ---------------------------------------------------------------------------------------------------------

/// Labels of [`AWS_GROUP`] that the scheduler understands, except [`EC2_NODE_CLASS`].
pub const AWS_WELL_KNOWN: &[&str] = &[
    CAPACITY_RESERVATION_ID,
    CAPACITY_RESERVATION_INTERRUPTIBLE,
    CAPACITY_RESERVATION_TYPE,
    INSTANCE_ACCELERATOR_COUNT,
    INSTANCE_ACCELERATOR_MANUFACTURER,
    INSTANCE_ACCELERATOR_NAME,
    INSTANCE_CAPABILITY_FLEX,
    INSTANCE_CATEGORY,
    INSTANCE_CPU,
    INSTANCE_CPU_MANUFACTURER,
    INSTANCE_CPU_CLOCK_MHZ,
    INSTANCE_EBS_BANDWIDTH,
    INSTANCE_ENCRYPTION_IN_TRANSIT,
    INSTANCE_FAMILY,
    INSTANCE_GENERATION,
    INSTANCE_GPU_COUNT,
    INSTANCE_GPU_MANUFACTURER,
    INSTANCE_GPU_MEMORY,
    INSTANCE_GPU_NAME,
    INSTANCE_HYPERVISOR,
    INSTANCE_LOCAL_NVME,
    INSTANCE_MEMORY,
    INSTANCE_NETWORK_BANDWIDTH,
    INSTANCE_SIZE,
    INSTANCE_TENANCY,
    PLACEMENT_GROUP_ID,
    PLACEMENT_GROUP_PARTITION,
];

/// Labels of Kubernetes and [`GROUP`] that the scheduler understands.
pub const KUBERNETES_WELL_KNOWN: &[&str] = &[
    CAPACITY_TYPE,
    NODEPOOL,
    ARCH,
    OS,
    INSTANCE_TYPE,
    WINDOWS_BUILD,
    ZONE_ID,
    REGION,
    ZONE,
];

/// Domains whose labels are reserved, except the well-known ones.
pub const RESTRICTED_DOMAINS: &[&str] = &[AWS_GROUP, GROUP];

/// Older names of labels: (alias, the name it stands for).
pub const NORMALIZED: &[(&str, &str)] = &[
    ("beta.kubernetes.io/arch", ARCH),
    ("beta.kubernetes.io/instance-type", INSTANCE_TYPE),
    ("beta.kubernetes.io/os", OS),
    ("failure-domain.beta.kubernetes.io/region", REGION),
    ("failure-domain.beta.kubernetes.io/zone", ZONE),
    (EBS_CSI_ZONE, ZONE),
];

/// The known values of labels that have a closed set of them.
pub const KNOWN_VALUES: &[(&str, &[&str])] = &[
    (
        CAPACITY_TYPE,
        &[
            CAPACITY_TYPE_ON_DEMAND,
            CAPACITY_TYPE_RESERVED,
            CAPACITY_TYPE_SPOT,
        ],
    ),
    (INSTANCE_TENANCY, &["dedicated", "default"]),
];

/// Whether the scheduler knows this label, so that a pool need not define it.
pub fn is_well_known(key: &str) -> bool {
    KUBERNETES_WELL_KNOWN.contains(&key) || AWS_WELL_KNOWN.contains(&key)
}

/// The name that a label's alias stands for; any other key is returned as it is.
pub fn normalize(key: &str) -> &str {
    NORMALIZED
        .iter()
        .find(|(alias, _)| *alias == key)
        .map_or(key, |(_, name)| name)
}

/// The part of a label key before the slash; empty when there is none.
pub fn domain(key: &str) -> &str {
    key.split_once('/').map_or("", |(domain, _)| domain)
}

/// The reserved domain that a label lies in, unless the label is well known.
pub fn restricted_domain(key: &str) -> Option<&'static str> {
    if is_well_known(key) {
        return None;
    }
    let domain = domain(key);
    RESTRICTED_DOMAINS
        .iter()
        .find(|restricted| {
            domain == **restricted
                || domain
                    .strip_suffix(**restricted)
                    .is_some_and(|rest| rest.ends_with('.'))
        })
        .copied()
}

/// The label that names a claim's node class: `<group>/<kind in lower case>`.
pub fn node_class_label(group: &str, kind: &str) -> String {
    format!("{group}/{}", kind.to_lowercase())
}
