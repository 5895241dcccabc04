//! Volumes that several pods use: a driver attaches each of them to a node once, however many of its pods are there.

use std::collections::BTreeMap;

use super::nodes::Found;
use crate::snapshot::{Attachment, Placement, Pod};
use crate::text::Text;

/// The volumes that more than one pod uses, by number.
pub(super) struct SharedVolumes<'a>(BTreeMap<(&'a Text, &'a Text), usize>);

impl<'a> SharedVolumes<'a> {
    /// The volumes that several of the pods to decide on use, or one of them and a pod of a node.
    pub(super) fn new(to_decide: &[&'a Pod], found: &[Found<'a>]) -> SharedVolumes<'a> {
        let mut users: BTreeMap<(&'a Text, &'a Text), usize> = BTreeMap::new();
        for pod in to_decide {
            for volume in attached(&pod.placement) {
                *users.entry(volume).or_default() += 1;
            }
        }
        if !users.is_empty() {
            for volume in found
                .iter()
                .flat_map(|it| &it.pods)
                .flat_map(|pod| attached(&pod.placement))
            {
                users.entry(volume).and_modify(|count| *count += 1);
            }
        }
        users.retain(|_, count| *count > 1);
        let numbered = users.into_keys().enumerate();
        SharedVolumes(numbered.map(|(number, volume)| (volume, number)).collect())
    }

    /// The number of a volume that is shared.
    pub(super) fn number(&self, attach: &Attachment) -> Option<usize> {
        self.0.get(&(&attach.driver, &attach.volume)).copied()
    }

    /// The shared volumes of a pod: the driver and the number of each.
    pub(super) fn of(&self, placement: &'a Placement) -> Vec<(&'a Text, usize)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let numbered = attached(placement).filter_map(|volume| Some((volume.0, *self.0.get(&volume)?)));
        numbered.collect()
    }

    /// How many volumes of a driver a pod has for itself.
    pub(super) fn own(&self, placement: &Placement, driver: &Text) -> i64 {
        let own = attached(placement)
            .filter(|volume| volume.0 == driver && !self.0.contains_key(volume))
            .count();
        i64::try_from(own).unwrap_or(i64::MAX)
    }
}

/// What drivers attach for a pod, each volume once: driver and volume.
fn attached(placement: &Placement) -> impl Iterator<Item = (&Text, &Text)> {
    let volumes = &placement.volumes;
    let attach = |at: usize| volumes[at].attach.as_ref();
    (0..volumes.len())
        .filter(move |at| (0..*at).all(|earlier| attach(earlier) != attach(*at)))
        .filter_map(attach)
        .map(|attach| (&attach.driver, &attach.volume))
}
