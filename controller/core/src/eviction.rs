//! Which pods leave a node that goes, which stay to its end, and who has a say in it.

use jiff::Timestamp;

use crate::snapshot::{Owner, Pdb, Pod, Snapshot};
use crate::taints::{Effect, Taint};

/// The taint of a node that is about to go.
pub fn disrupted_taint() -> Taint {
    Taint::new("karpenter.sh/disrupted", "", Effect::NoSchedule)
}

/// The budgets that guard a pod.
pub fn guards<'a>(pod: &'a Pod, snapshot: &'a Snapshot) -> impl Iterator<Item = &'a Pdb> {
    snapshot
        .pdbs
        .iter()
        .map(|pdb| &**pdb)
        .filter(|pdb| pdb.guards(&pod.key.namespace, &pod.labels))
}

/// Whether a pod runs and is not on its way out.
pub fn is_active(pod: &Pod) -> bool {
    pod.is_running() && pod.deletion.is_none()
}

/// Whether the pod would be asked to leave a node that goes.
pub fn is_evictable(pod: &Pod, now: Timestamp) -> bool {
    is_active(pod) && pod.owner != Owner::Node && !stays(pod) && !pod.refuses_disruption(now)
}

/// Whether the pod bears the taint of a node that goes, and so stays to the end.
pub fn stays(pod: &Pod) -> bool {
    let taint = disrupted_taint();
    pod.placement
        .tolerations
        .iter()
        .any(|toleration| toleration.tolerates(&taint))
}

/// Whether the pod would need another node if its own went. A StatefulSet makes a pod anew under the same name once it is
/// gone, so one that is on its way out counts, too.
pub fn needs_another_node(pod: &Pod) -> bool {
    let active = is_active(pod) || (pod.is_running() && comes_back(pod));
    active && !matches!(pod.owner, Owner::DaemonSet | Owner::Node)
}

/// Whether a pod of the same name takes its place when it is gone.
fn comes_back(pod: &Pod) -> bool {
    let workload = pod.workload.as_ref();
    workload.is_some_and(|workload| workload.name.starts_with("StatefulSet/"))
}
