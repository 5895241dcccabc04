//! Pods on places that are there.

use super::{Pods, Violation, labels_suit, port_clash, taints_suit};
use crate::catalogue::{Catalogue, InstanceType};
use crate::launch;
use crate::resources::Resources;
use crate::schedule::Schedule;
use crate::snapshot::{HostPort, Node, NodeTerm, Owner, Phase, Pod, Snapshot};
use crate::taints::Toleration;
use crate::text::Labels;

pub(super) fn check(
    snapshot: &Snapshot,
    catalogue: &Catalogue,
    schedule: &Schedule,
    pods: &Pods<'_>,
    violations: &mut Vec<Violation>,
) {
    for (name, keys) in &schedule.existing {
        let mut complain = |rule: String| {
            violations.push(Violation {
                place: format!("place {name}"),
                rule,
            })
        };
        let Some(node) = snapshot.node(name) else {
            complain("is not there".into());
            continue;
        };
        if node.is_going() {
            complain("is on its way out".into());
        }
        let new: Vec<&Pod> = keys.iter().filter_map(|key| pods.get(key).copied()).collect();
        let promised: Vec<&Pod> = node
            .nominated
            .iter()
            .filter(|key| !node.pods.iter().any(|pod| pod.key == **key))
            .filter_map(|key| pods.get(key).copied())
            .filter(|pod| pod.deletion.is_none())
            .collect();
        for pod in new
            .iter()
            .filter(|pod| !taints_suit(&pod.placement, &node.taints()))
        {
            complain(format!("has a taint that pod {} does not bear", pod.key));
        }
        let ports: Vec<HostPort> = node
            .pods
            .iter()
            .map(|pod| &**pod)
            .chain(promised.iter().copied())
            .flat_map(|pod| pod.placement.host_ports.clone())
            .collect();
        if let Some(port) = port_clash(&new, &ports) {
            complain(format!("has port {port} taken"));
        }
        for (outcome, labels, allocatable) in outcomes(node, catalogue) {
            let label = |key: &str| labels.get(key).map(|value| &**value);
            for pod in new.iter().filter(|pod| !labels_suit(&pod.placement, &label)) {
                complain(format!(
                    "has labels{outcome} that pod {} does not accept",
                    pod.key
                ));
            }
            let mut wanted: Resources = node.used().plus(&missing_daemons(node, snapshot, &labels));
            new.iter()
                .chain(&promised)
                .for_each(|pod| wanted.add(&pod.requests));
            let asked: Resources = new.iter().map(|pod| &pod.requests).sum();
            let over = wanted.shortfalls(&allocatable);
            if let Some(row) = over.iter().find(|row| asked.get(&row.resource) > 0) {
                complain(format!(
                    "has {} {}{outcome} and would carry {}",
                    row.resource, row.available, row.wanted
                ));
            }
        }
    }
}

/// What the place is or may become: words for it, its labels, its room.
fn outcomes(node: &Node, catalogue: &Catalogue) -> Vec<(String, Labels, Resources)> {
    let labels = node.labels().cloned().unwrap_or_default();
    let (Phase::Planned, Some(claim)) = (node.phase(), &node.claim) else {
        return vec![(String::new(), labels, node.allocatable())];
    };
    let may_become =
        |it: &&InstanceType| it.suits(&claim.requirements) && claim.requests.fits(&it.allocatable());
    let types = catalogue
        .types(node.pool().map_or("", |pool| pool))
        .iter()
        .filter(may_become);
    types
        .flat_map(|it| {
            it.offerings_for(&claim.requirements)
                .map(move |offering| (it, offering))
        })
        .map(|(it, offering)| {
            let mut all = launch::labels(it, offering);
            all.extend(labels.clone());
            (
                format!(" as {} in {}", it.name, offering.zone),
                all,
                it.allocatable(),
            )
        })
        .collect()
}

/// What the daemons that belong on the node and are not there yet will take.
fn missing_daemons(node: &Node, snapshot: &Snapshot, labels: &Labels) -> Resources {
    let taints = node.taints();
    let belongs = |selector: &Labels, tolerations: &[Toleration]| {
        selector.iter().all(|(key, value)| labels.get(key) == Some(value))
            && taints.iter().all(|taint| {
                !taint.is_hard()
                    || taint.key.starts_with("node.kubernetes.io/")
                    || tolerations.iter().any(|toleration| toleration.tolerates(taint))
            })
    };
    let affinity = |terms: &Option<Vec<NodeTerm>>| {
        terms
            .as_ref()
            .is_none_or(|terms| terms.iter().any(|term| term.expressions.allow_labels(labels)))
    };
    let expected: Resources = snapshot
        .daemon_sets
        .iter()
        .filter(|daemon| belongs(&daemon.placement.node_selector, &daemon.placement.tolerations))
        .filter(|daemon| affinity(&daemon.placement.node_affinity))
        .map(|daemon| &daemon.requests)
        .sum();
    let there: Resources = node
        .pods
        .iter()
        .filter(|pod| pod.is_running() && pod.owner == Owner::DaemonSet)
        .map(|pod| &pod.requests)
        .sum();
    expected.minus(&there).at_least_zero()
}
