//! The index: everything that is known of the cluster, behind one lock that nobody holds across an await.

mod apply;
mod around;
mod buffers;
mod devices;
mod list;
mod read;
mod workloads;

pub(crate) use list::Kind;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use joiner_api::EC2NodeClass;
use joiner_core::snapshot::{DaemonSet, Pdb, PodKey, Settings};
use joiner_core::text::Text;

pub(crate) use buffers::BufferEntry;
pub(crate) use devices::Seen;

use self::around::Around;
use self::buffers::Buffers;
use self::workloads::Wanting;
use super::changes::Changes;
use super::entry::{ClaimEntry, NodeEntry, OverlayEntry, PodEntry, PoolEntry};
use super::nominations::Nominations;
use super::store::Store;
use super::wanted::Wanted;

/// What is known of the cluster.
#[derive(Debug, Default)]
pub(crate) struct Index {
    state: Mutex<State>,
    /// Whom changes wake.
    pub changes: Changes,
    settings: Settings,
    wanted: Wanted,
}

#[derive(Debug, Default)]
struct State {
    pods: Store<PodKey, PodEntry>,
    /// Keys of the pods bound to each node.
    on_node: BTreeMap<Text, BTreeSet<PodKey>>,
    nodes: Store<Text, NodeEntry>,
    claims: Store<Text, ClaimEntry>,
    /// Name of the claim behind an instance.
    by_provider: BTreeMap<Text, Text>,
    pools: Store<Text, PoolEntry>,
    classes: Store<Text, Arc<EC2NodeClass>>,
    overlays: Store<Text, OverlayEntry>,
    daemon_sets: Store<Text, Arc<DaemonSet>>,
    pdbs: Store<Text, Arc<Pdb>>,
    attachments: Store<Text, (Text, Text)>,
    around: Around,
    wanting: Wanting,
    buffers: Buffers,
    nominations: Nominations,
    /// Nodes and claims that a disruption has chosen and that are not yet being deleted.
    marked: BTreeSet<Text>,
    /// When a pod last came to or left a node, by the node's name, where the claim's status does not say so yet.
    pod_events: BTreeMap<Text, jiff::Timestamp>,
}

impl Index {
    pub(crate) fn new(settings: Settings, wanted: Wanted) -> Index {
        Index {
            settings,
            wanted,
            ..Index::default()
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held leaves at worst one object half applied; the watch repeats it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
