//! One row a pod, with where it runs.

use std::collections::BTreeMap;

use joiner_core::snapshot::{Node, Snapshot};
use joiner_core::text::Text;
use joiner_core::well_known;

use super::rows::Rows;
use crate::observe::Index;

pub(super) fn rows(index: &Index, snapshot: &Snapshot, rows: &mut Rows) {
    let by_name: BTreeMap<&Text, &Node> = snapshot
        .nodes
        .iter()
        .filter_map(|node| Some((&node.object.as_ref()?.name, node)))
        .collect();
    for entry in index.pod_entries() {
        let node = entry.node.as_ref().and_then(|name| by_name.get(name));
        let label = |key: &str| {
            node.and_then(|node| node.labels()?.get(key).map(ToString::to_string))
                .unwrap_or_default()
        };
        let labels = vec![
            ("name", entry.pod.key.name.to_string()),
            ("namespace", entry.pod.key.namespace.to_string()),
            ("owner", entry.owner.to_string()),
            ("node", entry.node.as_deref().unwrap_or_default().to_owned()),
            ("scheduled", entry.node.is_some().to_string()),
            ("nodepool", label(well_known::NODE_POOL)),
            ("zone", label(well_known::ZONE)),
            ("arch", label(well_known::ARCH)),
            ("capacity_type", label(well_known::CAPACITY_TYPE)),
            ("instance_type", label(well_known::INSTANCE_TYPE)),
            ("phase", entry.phase.as_str().to_owned()),
            ("ready", entry.ready.to_string()),
            (
                "managed",
                node.is_some_and(|node| node.claim.is_some()).to_string(),
            ),
        ];
        rows.add("pods_state", "The current state of pods", labels, 1.0);
    }
}
