//! What EC2 recently could not deliver, and until when it is not worth asking again.
//!
//! Input: marks with the time they were made. Output: whether an offering may be tried at a given time. Invariant: time
//! is always an argument; an entry that is past its end counts as absent whether or not it was swept.

use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

/// How long an offering stays out after EC2 said that it has none.
pub const TTL: SignedDuration = SignedDuration::from_mins(3);

/// The kinds of things that can be short, each with its own key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shortage {
    /// One instance type in one zone, bought in one way (`spot`, `on-demand`).
    Offering {
        /// `spot`, `on-demand` or `reserved`.
        capacity_type: String,
        /// Such as `m5.large`.
        instance_type: String,
        /// Such as `us-west-2a`.
        zone: String,
    },
    /// A subnet without free addresses.
    Subnet {
        /// Such as `subnet-0123`.
        id: String,
    },
    /// A way of buying, everywhere (spot without its service-linked role).
    CapacityType {
        /// `spot`, `on-demand` or `reserved`.
        capacity_type: String,
    },
}

/// One shortage that still holds, for explanations and metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// What is short.
    pub shortage: Shortage,
    /// EC2's code, such as `InsufficientInstanceCapacity`.
    pub reason: String,
    /// The end of the wait.
    pub until: Timestamp,
}

/// All known shortages. Plain data: the owner decides about locks.
#[derive(Clone, Debug, Default)]
pub struct Unavailable {
    entries: BTreeMap<Shortage, (Timestamp, String)>,
    version: u64,
}

impl Unavailable {
    /// Marks a shortage for [`TTL`] from `now`; a mark made again is prolonged.
    pub fn mark(&mut self, shortage: Shortage, reason: &str, now: Timestamp) {
        self.version += 1;
        self.entries.insert(shortage, (now + TTL, reason.to_owned()));
    }

    /// Takes back a mark, for example after a launch that did succeed.
    pub fn clear(&mut self, shortage: &Shortage) {
        if self.entries.remove(shortage).is_some() {
            self.version += 1;
        }
    }

    /// Drops what has ended. True if anything was dropped, so that a cached catalogue is built anew.
    pub fn sweep(&mut self, now: Timestamp) -> bool {
        let before = self.entries.len();
        self.entries.retain(|_, (until, _)| *until > now);
        let dropped = self.entries.len() != before;
        if dropped {
            self.version += 1;
        }
        dropped
    }

    /// A number that changes with every mark, clearance and sweep that had an effect.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// What still holds at `now`, sorted.
    pub fn known(&self, now: Timestamp) -> Vec<Known> {
        self.entries
            .iter()
            .filter(|(_, (until, _))| *until > now)
            .map(|(shortage, (until, reason))| Known {
                shortage: shortage.clone(),
                reason: reason.clone(),
                until: *until,
            })
            .collect()
    }

    /// Whether an offering should not be tried at `now`: it is short itself, its way of buying is, or all of the zone's
    /// `subnets` are (a zone without subnets is not short; the requirements exclude it).
    pub fn covers(
        &self,
        capacity_type: &str,
        instance_type: &str,
        zone: &str,
        subnets: &[&str],
        now: Timestamp,
    ) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        let offering = Shortage::Offering {
            capacity_type: capacity_type.to_owned(),
            instance_type: instance_type.to_owned(),
            zone: zone.to_owned(),
        };
        self.holds(&offering, now)
            || self.holds(
                &Shortage::CapacityType {
                    capacity_type: capacity_type.to_owned(),
                },
                now,
            )
            || (!subnets.is_empty()
                && subnets
                    .iter()
                    .all(|id| self.holds(&Shortage::Subnet { id: (*id).to_owned() }, now)))
    }

    /// Whether a subnet has no free addresses.
    pub fn covers_subnet(&self, id: &str, now: Timestamp) -> bool {
        self.holds(&Shortage::Subnet { id: id.to_owned() }, now)
    }

    fn holds(&self, shortage: &Shortage, now: Timestamp) -> bool {
        self.entries.get(shortage).is_some_and(|(until, _)| *until > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn offering(capacity_type: &str, instance_type: &str, zone: &str) -> Shortage {
        Shortage::Offering {
            capacity_type: capacity_type.to_owned(),
            instance_type: instance_type.to_owned(),
            zone: zone.to_owned(),
        }
    }

    #[test]
    fn an_offering_is_out_for_three_minutes() {
        let mut out = Unavailable::default();
        out.mark(
            offering("spot", "m5.large", "a"),
            "InsufficientInstanceCapacity",
            at(0),
        );
        for (capacity_type, instance_type, zone, second, want) in [
            ("spot", "m5.large", "a", 0, true),
            ("spot", "m5.large", "a", 179, true),
            ("spot", "m5.large", "a", 180, false),
            ("on-demand", "m5.large", "a", 0, false),
            ("spot", "m5.xlarge", "a", 0, false),
            ("spot", "m5.large", "b", 0, false),
        ] {
            assert_eq!(
                out.covers(capacity_type, instance_type, zone, &[], at(second)),
                want
            );
        }
    }

    #[test]
    fn a_zone_is_out_when_all_its_subnets_are() {
        let mut out = Unavailable::default();
        out.mark(
            Shortage::Subnet { id: "s1".to_owned() },
            "InsufficientFreeAddressesInSubnet",
            at(0),
        );
        assert!(!out.covers("spot", "m5.large", "a", &["s1", "s2"], at(1)));
        assert!(!out.covers("spot", "m5.large", "a", &[], at(1)));
        out.mark(
            Shortage::Subnet { id: "s2".to_owned() },
            "InsufficientFreeAddressesInSubnet",
            at(0),
        );
        assert!(out.covers("spot", "m5.large", "a", &["s1", "s2"], at(1)));
        assert!(out.covers_subnet("s1", at(1)) && !out.covers_subnet("s1", at(200)));
    }

    #[test]
    fn a_mark_made_again_is_prolonged_and_a_sweep_is_noticed() {
        let mut out = Unavailable::default();
        let spot = Shortage::CapacityType {
            capacity_type: "spot".to_owned(),
        };
        out.mark(spot.clone(), "x", at(0));
        out.mark(spot, "x", at(100));
        assert!(out.covers("spot", "m5.large", "a", &[], at(279)));
        let version = out.version();
        assert!(!out.sweep(at(279)));
        assert_eq!(out.version(), version);
        assert!(out.sweep(at(280)));
        assert_ne!(out.version(), version);
        assert!(out.known(at(280)).is_empty());
    }
}
