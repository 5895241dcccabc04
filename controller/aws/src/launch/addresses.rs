//! Which subnet of a zone is used: the one with the most free addresses, less what launches since the last count took.

use crate::node_class::NodeClass;
use crate::selectors::FoundSubnet;
use crate::unavailable::Unavailable;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// Free addresses by subnet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FreeAddresses(BTreeMap<String, i64>);

impl FreeAddresses {
    /// Takes over a count; what was taken before it is part of it.
    pub fn count(&mut self, subnets: &[FoundSubnet]) {
        for subnet in subnets {
            self.0.insert(subnet.id.clone(), i64::from(subnet.free_addresses));
        }
    }

    /// An instance went into the subnet and will take `pods` addresses.
    pub fn take(&mut self, subnet: &str, pods: i64) {
        if let Some(free) = self.0.get_mut(subnet) {
            *free -= pods;
        }
    }

    /// EC2 says that none is free.
    pub fn exhausted(&mut self, subnet: &str) {
        self.0.insert(subnet.to_owned(), 0);
    }

    /// The subnet for each zone of the class. One that is short is used only where the zone has no other; of equals the
    /// first by id.
    pub fn choose<'a>(
        &self,
        class: &'a NodeClass,
        unavailable: &Unavailable,
        now: Timestamp,
    ) -> BTreeMap<&'a str, &'a str> {
        let mut best: BTreeMap<&str, ((bool, i64), &str)> = BTreeMap::new();
        for subnet in &class.subnets {
            let free = self.0.get(&subnet.id).copied().unwrap_or(0);
            let rank = (!unavailable.covers_subnet(&subnet.id, now), free);
            let better = best
                .get(subnet.zone.as_str())
                .is_none_or(|(known, _)| *known < rank);
            if better {
                best.insert(&subnet.zone, (rank, &subnet.id));
            }
        }
        best.into_iter().map(|(zone, (_, id))| (zone, id)).collect()
    }
}
