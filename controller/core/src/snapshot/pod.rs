//! A pod as decisions see it.

use std::fmt;

use jiff::{SignedDuration, Timestamp};

use super::device::DeviceClaim;
use crate::requirements::Requirements;
use crate::resources::{ResourceName, Resources};
use crate::taints::Toleration;
use crate::text::{Labels, Text};

/// A pod's namespace and name; sorts and prints as `namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodKey {
    /// The namespace.
    pub namespace: Text,
    /// The name.
    pub name: Text,
}

impl PodKey {
    /// A key from its parts.
    pub fn new(namespace: impl Into<Text>, name: impl Into<Text>) -> PodKey {
        PodKey {
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for PodKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    /// Namespace and name.
    pub key: PodKey,
    /// Its uid.
    pub uid: Text,
    /// Its labels.
    pub labels: Labels,
    /// What it asks for while it runs, from [`pod_requests`].
    pub requests: Resources,
    /// Where it may run.
    pub placement: Placement,
    /// Who made it.
    pub owner: Owner,
    /// Its priority; system-cluster-critical and system-node-critical lie above two billion.
    pub priority: i32,
    /// When it was made.
    pub created: Timestamp,
    /// Where it stands.
    pub state: PodState,
    /// Whether it asks not to be moved.
    pub do_not_disrupt: DoNotDisrupt,
    /// When its deletion ends its grace, where it is being deleted.
    pub deletion: Option<Timestamp>,
    /// Its `terminationGracePeriodSeconds`.
    pub grace_period: SignedDuration,
    /// `controller.kubernetes.io/pod-deletion-cost`; 0 where absent.
    pub deletion_cost: i32,
    /// The workload it is a replica of, where it is one.
    pub workload: Option<Workload>,
    /// The capacity buffer it stands for, as `namespace/name`; such a pod is never bound.
    pub buffer: Option<Text>,
}

/// The workload a pod is a replica of: its ReplicaSet, StatefulSet, Job or other controller.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Workload {
    /// `kind/namespace/name`.
    pub name: Text,
    /// The pods that cluster-wide default spread constraints count for it: those of the services, ReplicaSets and
    /// StatefulSets that select the pod. Absent where none does, and default constraints do not apply.
    pub selector: Option<PodSelector>,
    /// How many replicas it wants; 0 where not known.
    pub replicas: u32,
}

/// Everything of a pod that says where it may run. Pods that are equal here and in requests are of one shape and
/// are decided on together.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Placement {
    /// `nodeSelector`.
    pub node_selector: Labels,
    /// Required node affinity: one term must hold. None means anywhere; a list without terms means nowhere.
    pub node_affinity: Option<Vec<NodeTerm>>,
    /// Preferred node affinity.
    pub preferred_node_affinity: Vec<Preferred<NodeTerm>>,
    /// Pods it must run beside.
    pub affinity: Vec<PodTerm>,
    /// Pods it would like to run beside.
    pub preferred_affinity: Vec<Preferred<PodTerm>>,
    /// Pods it must not run beside.
    pub anti_affinity: Vec<PodTerm>,
    /// Pods it would like not to run beside.
    pub preferred_anti_affinity: Vec<Preferred<PodTerm>>,
    /// How it is spread.
    pub spread: Vec<Spread>,
    /// Taints it bears.
    pub tolerations: Vec<Toleration>,
    /// Ports of the node that it takes.
    pub host_ports: Vec<HostPort>,
    /// What its volumes ask of the node: each volume's alternatives, one of which must hold.
    pub volumes: Vec<VolumeNeed>,
    /// The devices it claims.
    pub devices: Vec<DeviceClaim>,
    /// What keeps the pod from being decided on at all, in words for a person: a volume claim that is lost, devices
    /// that are claimed dynamically.
    pub unsupported: Vec<Text>,
}

/// One term of a node affinity: all of it must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeTerm {
    /// `matchExpressions`.
    pub expressions: Requirements,
    /// The fields named by `matchFields`, which no new node can promise.
    pub fields: Vec<Text>,
}

/// Something wished for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Preferred<T> {
    /// How much, from 1 to 100.
    pub weight: i32,
    /// What.
    pub term: T,
}

/// Which pods a term speaks of.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodSelector {
    /// Requirements on the labels of pods; none matches every pod.
    pub labels: Requirements,
    /// Whether there is a selector at all; without one no pod matches.
    pub matches_nothing: bool,
}

impl PodSelector {
    /// Whether a pod with these labels is meant.
    pub fn selects(&self, labels: &Labels) -> bool {
        !self.matches_nothing && self.labels.allow_labels(labels)
    }
}

/// One term of a pod affinity or anti-affinity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodTerm {
    /// The label whose equal values are one place.
    pub topology_key: Text,
    /// Whose pods; `matchLabelKeys` are already part of it.
    pub selector: PodSelector,
    /// In which namespaces; every one where absent.
    pub namespaces: Option<Vec<Text>>,
}

/// One topology spread constraint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spread {
    /// The label whose equal values are one place.
    pub topology_key: Text,
    /// The largest difference allowed between places.
    pub max_skew: u32,
    /// Whether it must hold or is wished for.
    pub strength: Strength,
    /// Whose pods are counted; `matchLabelKeys` are already part of it.
    pub selector: PodSelector,
    /// With fewer places than this the smallest count is taken as zero.
    pub min_domains: Option<u32>,
    /// Whether nodes that the pod's own node affinity refuses are counted.
    pub node_affinity_policy: InclusionPolicy,
    /// Whether nodes whose taints the pod does not bear are counted.
    pub node_taints_policy: InclusionPolicy,
}

/// Whether something must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// `DoNotSchedule`.
    Required,
    /// `ScheduleAnyway`.
    Preferred,
}

/// Whether a spread constraint leaves out nodes the pod could not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InclusionPolicy {
    /// They are left out.
    Honor,
    /// They are counted.
    Ignore,
}

/// A port of the node. An empty ip stands for every address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPort {
    /// `hostIP`; empty, `0.0.0.0` and `::` mean every address.
    pub ip: Text,
    /// `hostPort`.
    pub port: u16,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: Text,
}

impl HostPort {
    /// Whether both cannot be on one node.
    pub fn conflicts(&self, other: &HostPort) -> bool {
        let any = |ip: &str| matches!(ip, "" | "0.0.0.0" | "::");
        self.port == other.port
            && self.protocol == other.protocol
            && (any(&self.ip) || any(&other.ip) || self.ip == other.ip)
    }
}

/// What one volume asks of the node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VolumeNeed {
    /// The claim's name, for people.
    pub claim: Text,
    /// Requirements one of which must hold; none means that the volume asks nothing.
    pub alternatives: Vec<Requirements>,
    /// Its attachment, where a driver attaches it to the node.
    pub attach: Option<Attachment>,
}

/// A volume as a driver attaches it to a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attachment {
    /// The CSI driver: `ebs.csi.aws.com`.
    pub driver: Text,
    /// The volume, the same for all pods that use it: the handle of a bound volume, else `namespace/claim`.
    pub volume: Text,
}

/// Who made a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Nobody.
    None,
    /// A DaemonSet: the pod goes with its node.
    DaemonSet,
    /// The node itself: a static pod's mirror.
    Node,
    /// Something else: a ReplicaSet, a Job.
    Controller,
}

/// Where a pod stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodState {
    /// Not bound, and not (yet) called unschedulable, or waiting for a gate or a preemption.
    Waiting,
    /// Not bound, and the scheduler says that no node fits.
    Unschedulable,
    /// Bound to a node.
    Bound {
        /// When it was started by the kubelet, where it was.
        started: Option<Timestamp>,
    },
    /// Succeeded or failed: it takes nothing any more.
    Done,
}

/// Whether a pod asks not to be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoNotDisrupt {
    /// It does not.
    No,
    /// For good.
    Always,
    /// For so long from its start.
    For(SignedDuration),
}

impl DoNotDisrupt {
    /// Whether a pod that started at `started` asks not to be moved at `now`. One that has not started yet does.
    pub fn holds(self, started: Option<Timestamp>, now: Timestamp) -> bool {
        match (self, started) {
            (DoNotDisrupt::No, _) => false,
            (DoNotDisrupt::Always, _) | (DoNotDisrupt::For(_), None) => true,
            (DoNotDisrupt::For(length), Some(started)) => now.duration_since(started) < length,
        }
    }
}

impl Pod {
    /// A pod that asks for `requests` (a place among the pods is added) and says nothing else: waiting, unowned.
    pub fn new(key: PodKey, requests: Resources, created: Timestamp) -> Pod {
        Pod {
            uid: key.to_string().into(),
            key,
            labels: Labels::new(),
            requests: requests.with(ResourceName::Pods, 1),
            placement: Placement::default(),
            owner: Owner::None,
            priority: 0,
            created,
            state: PodState::Unschedulable,
            do_not_disrupt: DoNotDisrupt::No,
            deletion: None,
            grace_period: SignedDuration::from_secs(30),
            deletion_cost: 0,
            workload: None,
            buffer: None,
        }
    }

    /// Whether a node should be found or bought for it.
    pub fn is_provisionable(&self) -> bool {
        self.state == PodState::Unschedulable
            && self.deletion.is_none()
            && !matches!(self.owner, Owner::DaemonSet | Owner::Node)
    }

    /// Whether it stands for room: there is no such pod, or not yet, and nobody can be told about it.
    pub fn is_virtual(&self) -> bool {
        self.buffer.is_some() || crate::foresee::is_announced(&self.key)
    }

    /// Whether it takes resources of the node it is bound to.
    pub fn is_running(&self) -> bool {
        matches!(self.state, PodState::Bound { .. })
    }

    /// When the kubelet started it.
    pub fn started(&self) -> Option<Timestamp> {
        match self.state {
            PodState::Bound { started } => started,
            _ => None,
        }
    }

    /// Whether it must not be moved at `now`.
    pub fn refuses_disruption(&self, now: Timestamp) -> bool {
        self.is_running() && self.do_not_disrupt.holds(self.started(), now)
    }

    /// Whether the cluster itself depends on it: system-cluster-critical, system-node-critical.
    pub fn is_critical(&self) -> bool {
        self.priority >= 2_000_000_000
    }
}

/// What one container asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerRequests {
    /// How it runs.
    pub kind: ContainerKind,
    /// Its requests; a resource that only has a limit counts with that.
    pub requests: Resources,
}

/// When a container runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerKind {
    /// Beside the others, all the time.
    Main,
    /// To its end, before the next init container and the main ones start.
    Init,
    /// An init container with `restartPolicy: Always`: from its turn on, all the time.
    Sidecar,
}

/// What a container that may be being resized in place asks for: the most of what its spec says and of what the
/// kubelet has given it (`status.containerStatuses[].resources` and `allocatedResources`). Where the kubelet has found
/// the resize infeasible, what it has given counts alone.
pub fn resized_requests(spec: &Resources, given: Option<&Resources>, infeasible: bool) -> Resources {
    match given {
        Some(given) if infeasible => given.clone(),
        Some(given) => spec.upper(given),
        None => spec.clone(),
    }
}

/// What a pod asks for: the most that is needed at one time, in the order in which `containers` start (init and
/// sidecar containers as written), replaced by `pod_level` for the resources it names, plus `overhead` of the
/// runtime, plus the pod's own place among the pods of the node.
pub fn pod_requests(
    containers: &[ContainerRequests],
    pod_level: Option<&Resources>,
    overhead: &Resources,
) -> Resources {
    let (mut main, mut sidecars, mut start) = (Resources::new(), Resources::new(), Resources::new());
    for container in containers {
        match container.kind {
            ContainerKind::Main => main.add(&container.requests),
            ContainerKind::Sidecar => {
                sidecars.add(&container.requests);
                start = start.upper(&sidecars);
            }
            ContainerKind::Init => start = start.upper(&sidecars.plus(&container.requests)),
        }
    }
    let mut peak = main.plus(&sidecars).upper(&start);
    for (name, amount) in pod_level.into_iter().flat_map(Resources::iter) {
        peak.set(&name, amount);
    }
    peak.plus(overhead).with(ResourceName::Pods, 1)
}

#[cfg(test)]
mod tests {
    use super::{ContainerKind, ContainerRequests, HostPort, pod_requests};
    use crate::resources::{ResourceName, Resources};

    #[test]
    fn requests_are_the_most_needed_at_one_time() {
        use ContainerKind::{Init, Main, Sidecar};
        let table: &[(&[(ContainerKind, i64)], i64)] = &[
            (&[], 0),
            (&[(Main, 100), (Main, 200)], 300),
            (&[(Init, 500), (Main, 100)], 500),
            (&[(Init, 500), (Init, 700), (Main, 800)], 800),
            (&[(Sidecar, 50), (Init, 500), (Main, 100)], 550),
            (&[(Init, 500), (Sidecar, 50), (Main, 100)], 500),
            (&[(Sidecar, 50), (Sidecar, 60), (Main, 100)], 210),
            (&[(Sidecar, 50), (Init, 10), (Sidecar, 60), (Main, 1)], 111),
        ];
        for (containers, want) in table {
            let containers: Vec<_> = containers
                .iter()
                .map(|(kind, cpu)| ContainerRequests {
                    kind: *kind,
                    requests: Resources::cpu_memory(*cpu, 0),
                })
                .collect();
            let got = pod_requests(&containers, None, &Resources::new());
            assert_eq!(
                got,
                Resources::cpu_memory(*want, 0).with("pods", 1),
                "{containers:?}"
            );
        }
    }

    #[test]
    fn pod_level_requests_win_and_overhead_comes_on_top() {
        let main = [ContainerRequests {
            kind: ContainerKind::Main,
            requests: Resources::cpu_memory(100, 64),
        }];
        let level = Resources::cpu_memory(900, 0);
        let got = pod_requests(&main, Some(&level), &Resources::cpu_memory(10, 1));
        assert_eq!(
            (got.get(&ResourceName::Cpu), got.get(&ResourceName::Memory)),
            (910, 65)
        );
    }

    #[test]
    fn ports_conflict_where_addresses_overlap() {
        let port = |ip: &str, port, protocol: &str| HostPort {
            ip: ip.into(),
            port,
            protocol: protocol.into(),
        };
        for (a, b, want) in [
            (port("", 80, "TCP"), port("10.0.0.1", 80, "TCP"), true),
            (port("10.0.0.2", 80, "TCP"), port("10.0.0.1", 80, "TCP"), false),
            (port("10.0.0.1", 80, "TCP"), port("10.0.0.1", 80, "UDP"), false),
            (port("::", 80, "TCP"), port("0.0.0.0", 80, "TCP"), true),
            (port("", 80, "TCP"), port("", 81, "TCP"), false),
        ] {
            assert_eq!(a.conflicts(&b), want, "{a:?} and {b:?}");
        }
    }
}
