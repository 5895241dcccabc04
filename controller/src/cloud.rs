//! What the controller knows of AWS: the connection, the cluster's facts that new nodes are told, what EC2 sells, and what it has
//! run out of.
//!
//! Input: calls of `joiner_aws`. Output: a [`Catalogue`] at any time without a call. Instance types are made once for each node
//! class and shared by its pools; they are made anew only when facts, class or shortages have changed. What is equal between
//! classes is there once.

mod cluster;
mod machines;
mod overlaid;
mod refresh;
mod reserved;

pub(crate) use cluster::Cluster;
pub(crate) use refresh::{kind, run as refresh};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use joiner_api::EC2NodeClass;
use joiner_aws::catalogue::{Facts, Settings, add_devices, instance_types_sharing};
use joiner_aws::instances::Instance;
use joiner_aws::launch::Launcher;
use joiner_aws::node_class::{NodeClass, for_catalogue};
use joiner_aws::unavailable::{Shortage, Unavailable};
use joiner_aws::{Aws, Error};
use joiner_core::catalogue::{Catalogue, InstanceType};
use joiner_core::disrupt::drift::Machine;
use joiner_core::requirements::Interner;
use joiner_core::snapshot::Pool;
use joiner_core::text::Text;

use self::machines::Machines;
use self::overlaid::Overlaid;
use self::reserved::Reserved;
use crate::observe::map::Overlay;
use crate::observe::{Index, PoolEntry, Seen};

/// AWS as the controller knows it.
#[derive(Debug)]
pub(crate) struct Cloud {
    pub aws: Aws,
    pub cluster: Cluster,
    pub launcher: Launcher,
    settings: Settings,
    state: Mutex<State>,
    overlaid: Overlaid,
    machines: Machines,
    pub reserved: Reserved,
    /// Ids of placement groups, by the name of the class that names one.
    groups: Mutex<BTreeMap<String, String>>,
}

#[derive(Debug, Default)]
struct State {
    facts: Option<Arc<Facts>>,
    /// Grows with every change of the facts.
    version: u64,
    unavailable: Unavailable,
    made: BTreeMap<Text, Made>,
    /// What the types of all classes share; as old as the facts.
    shared: Interner,
    /// What nodes of each type were seen to publish; none where nobody looks at devices.
    devices: Option<Arc<Seen>>,
}

/// Instance types and what they were made of.
#[derive(Debug)]
struct Made {
    class: NodeClass,
    facts: u64,
    unavailable: u64,
    devices: Option<Arc<Seen>>,
    types: Arc<[InstanceType]>,
}

impl Cloud {
    pub(crate) fn new(aws: Aws, cluster: Cluster, settings: Settings) -> Cloud {
        let launcher = Launcher::new(aws.clone(), &cluster.name);
        Cloud {
            aws,
            cluster,
            launcher,
            settings,
            state: Mutex::default(),
            overlaid: Overlaid::default(),
            machines: Machines::default(),
            reserved: Reserved::default(),
            groups: Mutex::default(),
        }
    }

    /// The instance types of every pool whose class is known, with the NodeOverlays in effect; a pool is left out while nothing is
    /// known for it.
    pub(crate) fn catalogue(&self, index: &Index, now: Timestamp) -> Catalogue {
        self.overlaid(index, now).0
    }

    /// As [`Cloud::catalogue`], and the overlays that are not in effect, each with the reason.
    pub(crate) fn overlaid(&self, index: &Index, now: Timestamp) -> (Catalogue, Vec<(Text, Text)>) {
        self.state().devices = index.seen_devices();
        let pools = index.pool_entries();
        let types = |entry: &PoolEntry| {
            let types = self.types(&*index.class_entry(&entry.pool.class.name)?, now)?;
            Some((entry.pool.name.clone(), types))
        };
        let plain: Catalogue = pools.iter().filter_map(types).collect();
        let entries = index.overlay_entries();
        let overlays: Vec<Overlay> = entries
            .into_iter()
            .filter_map(|entry| entry.overlay.ok())
            .collect();
        let pools: Vec<Arc<Pool>> = pools.into_iter().map(|entry| entry.pool).collect();
        self.overlaid.of(plain, &pools, &overlays)
    }

    /// The instance types that a claim of `pool` may become, with the NodeOverlays in effect; those of its class where there is no
    /// such pool. None while they are not known.
    pub(crate) fn types_for(
        &self,
        index: &Index,
        pool: Option<&Text>,
        class: &EC2NodeClass,
        now: Timestamp,
    ) -> Option<Arc<[InstanceType]>> {
        self.state().devices = index.seen_devices();
        let plain = self.types(class, now)?;
        let overlaid = pool.and_then(|pool| self.catalogue(index, now).pools.remove(pool));
        Some(overlaid.unwrap_or(plain))
    }

    /// The instance types of one class; none while EC2's facts or the class' subnets are not known.
    pub(crate) fn types(&self, class: &EC2NodeClass, now: Timestamp) -> Option<Arc<[InstanceType]>> {
        let class = self.complete(for_catalogue(class).ok()?);
        let name: Text = class.name.as_str().into();
        let mut state = self.state();
        state.unavailable.sweep(now);
        let facts = state.facts.clone()?;
        let (version, shortages) = (state.version, state.unavailable.version());
        let devices = state.devices.clone();
        if let Some(made) = state.made.get(&name)
            && made.facts == version
            && made.unavailable == shortages
            && is_same(made.devices.as_ref(), devices.as_ref())
            && made.class == class
        {
            return Some(made.types.clone());
        }
        let State {
            unavailable, shared, ..
        } = &mut *state;
        let mut types = instance_types_sharing(&facts, &class, &self.settings, unavailable, now, shared);
        if let Some(seen) = &devices {
            add_devices(&mut types, &facts, seen);
        }
        let types: Arc<[InstanceType]> = types.into();
        let made = Made {
            class,
            facts: version,
            unavailable: shortages,
            devices,
            types: types.clone(),
        };
        state.made.insert(name, made);
        Some(types)
    }

    /// Whether capacity reservations are used.
    pub(crate) fn uses_reservations(&self) -> bool {
        self.settings.reserved_capacity
    }

    /// Fills in what a status does not hold: how many instances reservations hold yet, and the placement group.
    pub(crate) fn complete(&self, mut class: NodeClass) -> NodeClass {
        self.reserved.fill(&mut class.reservations);
        class.placement_group = self.groups().get(&class.name).cloned();
        class
    }

    /// Takes note of the placement group that a class has, or that it has none.
    pub(crate) fn note_placement_group(&self, class: &str, group: Option<String>) {
        match group {
            Some(id) => self.groups().insert(class.to_owned(), id),
            None => self.groups().remove(class),
        };
    }

    /// Id of the placement group of a class, as far as it was looked up.
    pub(crate) fn placement_group(&self, class: &EC2NodeClass) -> Option<String> {
        self.groups().get(class.metadata.name.as_deref()?).cloned()
    }

    /// A class is gone.
    pub(crate) fn forget(&self, class: &str) {
        self.state().made.remove(class);
        self.note_placement_group(class, None);
    }

    /// Whether EC2's facts have been read; before that nothing can be decided.
    pub(crate) fn knows_types(&self) -> bool {
        self.state().facts.is_some()
    }

    /// EC2 has run out of something.
    pub(crate) fn mark(&self, shortage: Shortage, reason: &str, now: Timestamp) {
        self.state().unavailable.mark(shortage, reason, now);
    }

    /// A copy of what EC2 has run out of, for a launch.
    pub(crate) fn shortages(&self) -> Unavailable {
        self.state().unavailable.clone()
    }

    /// Takes note of what instances are, and returns the provider ids of those of which that is news.
    pub(crate) fn note_machines(&self, found: &[Instance]) -> BTreeSet<Text> {
        self.machines.note(found)
    }

    /// What the instance behind `provider_id` is, as far as it was described.
    pub(crate) fn machine(&self, provider_id: &str) -> Option<Machine> {
        self.machines.get(provider_id)
    }

    /// Reads types, zones and prices from AWS.
    ///
    /// # Errors
    /// AWS refused or could not be reached; what was known stays.
    pub(crate) async fn load(&self) -> Result<usize, Error> {
        let facts = joiner_aws::catalogue::load_facts(&self.aws).await?;
        let count = facts.types.len();
        let mut state = self.state();
        state.facts = Some(Arc::new(facts));
        state.shared = Interner::default();
        state.version += 1;
        Ok(count)
    }

    fn groups(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether both are the same one; what was seen is kept as it is as long as it does not change.
fn is_same(a: Option<&Arc<Seen>>, b: Option<&Arc<Seen>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}
