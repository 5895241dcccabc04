//! Where pods are meant to go: decisions that have been made and that the scheduler has not carried out yet.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use joiner_core::snapshot::{Nomination, PodKey};
use joiner_core::text::Text;

/// How long a complete node is kept for the pods that were meant for it. Karpenter's value: twice its longest batch.
const HOLD: SignedDuration = SignedDuration::from_secs(20);

/// A pod's place.
#[derive(Clone, Debug)]
struct Meant {
    place: Text,
    /// Set when the place was first seen complete.
    until: Option<Timestamp>,
}

/// All places that are held.
#[derive(Debug, Default)]
pub(super) struct Nominations(BTreeMap<PodKey, Meant>);

impl Nominations {
    /// `pod` is to go to `place`.
    pub(super) fn hold(&mut self, pod: PodKey, place: Text) {
        match self.0.get(&pod) {
            Some(meant) if meant.place == place => {}
            _ => drop(self.0.insert(pod, Meant { place, until: None })),
        }
    }

    /// The pod is bound, gone, or was decided on anew.
    pub(super) fn release(&mut self, pod: &PodKey) {
        self.0.remove(pod);
    }

    /// Whether the pod is meant for some place.
    pub(super) fn holds(&self, pod: &PodKey) -> bool {
        self.0.contains_key(pod)
    }

    /// The place that the pod is meant for.
    pub(super) fn place(&self, pod: &PodKey) -> Option<&Text> {
        self.0.get(pod).map(|meant| &meant.place)
    }

    /// Pods that are not `known` hold no room.
    pub(super) fn keep(&mut self, known: impl Fn(&PodKey) -> bool) {
        self.0.retain(|pod, _| known(pod));
    }

    /// The pods that are meant for one of `places`, sorted.
    pub(super) fn meant_for(&self, places: &[&Text]) -> Vec<PodKey> {
        let here = |meant: &Meant| places.iter().any(|place| **place == meant.place);
        self.0
            .iter()
            .filter(|(_, meant)| here(meant))
            .map(|(pod, _)| pod.clone())
            .collect()
    }

    /// The places that still hold at `now`. A place that is not `complete` is held as long as it is `known`; one that is
    /// complete for [`HOLD`] longer, after which the pod is decided on anew, and for those who `stay` without an end.
    pub(super) fn current(
        &mut self,
        now: Timestamp,
        known: &BTreeSet<Text>,
        complete: &BTreeSet<Text>,
        stays: impl Fn(&PodKey) -> bool,
    ) -> Vec<Nomination> {
        let later = now.saturating_add(HOLD).unwrap_or(Timestamp::MAX);
        self.0.retain(|pod, meant| {
            if stays(pod) {
                meant.until = None;
            } else if complete.contains(&meant.place) {
                return *meant.until.get_or_insert(later) > now;
            }
            known.contains(&meant.place)
        });
        let row = |(pod, meant): (&PodKey, &Meant)| Nomination {
            place: meant.place.clone(),
            pod: pod.clone(),
            until: meant.until.unwrap_or(later),
        };
        self.0.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    #[test]
    fn a_place_is_held_while_it_starts_and_a_while_longer() {
        let place: Text = "default-abcde".into();
        let set = BTreeSet::from([place.clone()]);
        let none = BTreeSet::new();
        let mut held = Nominations::default();
        held.hold(PodKey::new("shop", "web"), place.clone());
        for (now, known, complete, want) in [
            (0, &set, &none, Some(at(20))),
            (300, &set, &none, Some(at(320))),
            (310, &set, &set, Some(at(330))),
            (329, &set, &set, Some(at(330))),
            (330, &set, &set, None),
        ] {
            let got = held.current(at(now), known, complete, |_| false);
            assert_eq!(got.first().map(|row| row.until), want, "second {now}");
        }
    }

    #[test]
    fn whoever_stays_holds_its_place_without_an_end() {
        let place: Text = "default-abcde".into();
        let set = BTreeSet::from([place.clone()]);
        let unit = PodKey::new("shop", "unit");
        let mut held = Nominations::default();
        held.hold(unit.clone(), place.clone());
        for now in [0, 30, 3000] {
            let got = held.current(at(now), &set, &set, |pod| *pod == unit);
            assert_eq!(
                got.first().map(|row| row.until),
                Some(at(now + 20)),
                "second {now}"
            );
        }
        held.keep(|pod| *pod != unit);
        assert!(!held.holds(&unit));
    }

    #[test]
    fn a_place_that_is_gone_is_not_held() {
        let mut held = Nominations::default();
        held.hold(PodKey::new("shop", "web"), "default-abcde".into());
        let none = BTreeSet::new();
        assert!(held.current(at(0), &none, &none, |_| true).is_empty());
    }
}
