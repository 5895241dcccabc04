//! How many more instances capacity reservations hold: as EC2 said last, less what was launched since.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use joiner_aws::node_class::Reservation;
use joiner_aws::selectors::FoundReservation;

/// Free instances by the reservation's id.
#[derive(Debug, Default)]
pub(crate) struct Reserved(Mutex<BTreeMap<String, u32>>);

impl Reserved {
    /// Takes over what EC2 says; true where that is news. What was launched before it answered is part of it, or will be.
    pub(crate) fn count(&self, found: &[FoundReservation]) -> bool {
        let mut all = self.all();
        let mut news = false;
        for it in found {
            news |= all.insert(it.id.clone(), it.available) != Some(it.available);
        }
        news
    }

    /// An instance was launched into it.
    pub(crate) fn took(&self, id: &str) {
        if let Some(left) = self.all().get_mut(id) {
            *left = left.saturating_sub(1);
        }
    }

    /// Fills in what is left; of one that was not counted yet, nothing is.
    pub(super) fn fill(&self, reservations: &mut [Reservation]) {
        let all = self.all();
        for it in reservations {
            it.remaining = all.get(&it.id).copied().unwrap_or(0);
        }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use joiner_api::{CapacityReservationType, InstanceMatchCriteria};

    use super::*;

    fn found(id: &str, available: u32) -> FoundReservation {
        FoundReservation {
            id: id.to_owned(),
            instance_type: "m5.large".to_owned(),
            zone: "us-west-2a".to_owned(),
            owner: String::new(),
            criteria: InstanceMatchCriteria::Targeted,
            kind: CapacityReservationType::Default,
            interruptible: false,
            state: "active".to_owned(),
            end: None,
            available,
            tags: BTreeMap::new(),
        }
    }

    #[test]
    fn a_launch_takes_one_until_the_next_count() {
        let reserved = Reserved::default();
        let left = |id: &str| {
            let mut all = [Reservation {
                id: id.to_owned(),
                instance_type: String::new(),
                zone: String::new(),
                kind: CapacityReservationType::Default,
                interruptible: false,
                expiring: false,
                remaining: 9,
            }];
            reserved.fill(&mut all);
            all[0].remaining
        };
        assert_eq!(left("cr-1"), 0, "it was not counted");
        assert!(reserved.count(&[found("cr-1", 2)]));
        assert!(!reserved.count(&[found("cr-1", 2)]), "no news");
        assert_eq!(left("cr-1"), 2);
        reserved.took("cr-1");
        reserved.took("cr-2");
        assert_eq!((left("cr-1"), left("cr-2")), (1, 0));
        assert!(reserved.count(&[found("cr-1", 2)]), "one was given back");
    }
}
