//! Objects of the Kubernetes API as `joiner_core`'s values: one by one, from files, and all together as a snapshot.
//!
//! This is the one place where the two meet, for the controller, for the command line and for whoever else wants a forecast.
//! Input: objects as they are watched ([`pod_object`], [`node`], [`claim`], [`pool`], ...), or texts that hold them ([`read`]).
//! Output: types of `joiner_core`, owned and small. Mapping one object never fails: what cannot be understood is said in words
//! that travel with it (`Placement::unsupported`, `Readiness::NotReady`), so that a person sees it. Reading a text does fail,
//! with the place of what is wrong.
//!
//! What only other objects can tell about a pod (volumes, namespaces, its workload, devices) is left open by [`pod_object`] and
//! closed by [`Surroundings::complete`]. [`Objects`] does both for a whole set and makes the snapshot; [`Answer`] is what
//! comes out in the end, as it is printed.
//!
//! No clock, no network, no file is read here, and nothing knows AWS.
#![warn(missing_docs)]

pub mod answer;
mod buffers;
pub mod catalog;
mod coming;
mod daemon_set;
mod device_test;
mod devices;
pub mod drift;
mod node;
mod objects;
mod open;
mod overlay;
mod placement;
mod pod;
mod pool;
mod quantities;
pub mod read;
mod requests;
mod seen;
mod surroundings;
mod taints;
mod validity;
mod volumes;
mod workload;

pub use answer::Answer;
pub use buffers::{Buffer, Scalable, buffer, virtual_pods};
pub use coming::{wanted_by_job, wanted_by_replica_set};
pub use daemon_set::{attachment, daemon_set, pdb};
pub use devices::DeviceObjects;
pub use node::{claim, conditions_of, node, taint};
pub use objects::{Objects, Parts};
pub use open::Open;
pub use overlay::{Change, Overlay, apply as apply_overlays, overlay, overlay_conditions};
pub use pod::{PodObject, pod, pod_object, refuse_devices};
pub use pool::{pool, pool_conditions};
pub use quantities::{from_api, limits, to_api};
pub use surroundings::Surroundings;
pub use validity::{class_conditions, class_violations, violations};
pub use volumes::attach_limits;
pub use workload::{ServiceObject, WorkloadObject, job, replica_set, service, stateful_set};

use std::collections::BTreeMap;

use joiner_core::text::{Labels, Text};

/// A map of strings as labels.
fn labels(map: Option<&BTreeMap<String, String>>) -> Labels {
    map.into_iter()
        .flatten()
        .map(|(key, value)| (Text::from(key.as_str()), Text::from(value.as_str())))
        .collect()
}

/// A text that may be missing.
fn text(value: Option<&String>) -> Text {
    value.map(String::as_str).unwrap_or_default().into()
}

#[cfg(test)]
mod tests;
