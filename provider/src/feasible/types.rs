//! The instance types that a pool can have, by the built-in catalogue.

use jiff::Timestamp;
use joiner_api::{EC2NodeClass, labels};
use joiner_aws::catalogue::{Facts, Settings, builtin, unresolved_types};
use joiner_core::catalogue::{CapacityType, InstanceType};
use joiner_core::requirements::{Operator, Requirement, Requirements};
use joiner_core::well_known;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Labels of which the catalogue knows nothing that could be checked: they come with the account's reservations, or every type has all
/// values.
const OPEN: [&str; 5] = [
    labels::CAPACITY_RESERVATION_ID,
    labels::CAPACITY_RESERVATION_TYPE,
    labels::CAPACITY_RESERVATION_INTERRUPTIBLE,
    labels::INSTANCE_TENANCY,
    labels::WINDOWS_BUILD,
];

/// The types, and for what they were made.
pub(crate) struct Types {
    made: Arc<Made>,
    /// The region, when it is known and built in.
    region: Option<String>,
    /// Whether a node class said what they can be.
    has_class: bool,
}

/// A region, a node class as JSON, and of the controller's settings the memory that is kept and the network interfaces: all pools of a class
/// are judged by the same types, which take a while to make.
type For = (Option<String>, Option<String>, u32, u32);

static MADE: Mutex<BTreeMap<For, Arc<Made>>> = Mutex::new(BTreeMap::new());

/// Types, and what was asked about them: the pools of a configuration ask much the same.
struct Made {
    all: Arc<[InstanceType]>,
    values: Mutex<BTreeMap<String, Arc<BTreeSet<String>>>>,
    fitting: Mutex<BTreeMap<Requirements, Arc<[usize]>>>,
}

impl Made {
    fn new(all: Arc<[InstanceType]>) -> Arc<Self> {
        Arc::new(Self {
            all,
            values: Mutex::default(),
            fitting: Mutex::default(),
        })
    }
}

/// What `known` has under `key`, made where it has nothing.
fn remembered<K: Ord, V: ?Sized>(
    known: &Mutex<BTreeMap<K, Arc<V>>>,
    key: K,
    make: impl FnOnce(&K) -> Arc<V>,
) -> Arc<V> {
    // A panic while it was held left every entry whole.
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(there) = known.get(&key) {
        return Arc::clone(there);
    }
    let made = make(&key);
    known.insert(key, Arc::clone(&made));
    made
}

impl Types {
    /// Those of a region, or of all when it is not known or not built in; narrowed by a node class when there is one.
    pub(crate) fn of(region: Option<&str>, class: Option<&EC2NodeClass>) -> Self {
        Self::under(&Settings::default(), region, class)
    }

    /// The same, as a controller with these settings sees them.
    pub(crate) fn under(settings: &Settings, region: Option<&str>, class: Option<&EC2NodeClass>) -> Self {
        let region = region.filter(|region| builtin::regions().contains(region));
        let wanted = (
            region.map(str::to_owned),
            class.map(|class| json!(class).to_string()),
            settings.vm_memory_overhead,
            settings.reserved_interfaces,
        );
        let make = |_: &For| {
            let types = unresolved_types(&facts(region), class, settings, Timestamp::UNIX_EPOCH);
            Made::new(types)
        };
        Self {
            made: remembered(&MADE, wanted, make),
            region: region.map(str::to_owned),
            has_class: class.is_some(),
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> Arc<[InstanceType]> {
        Arc::clone(&self.made.all)
    }

    /// Where they are from, for messages.
    pub(crate) fn source(&self) -> String {
        match &self.region {
            Some(region) => format!("the catalogue of {} for {region}", builtin::date()),
            None => format!("the catalogue of {}", builtin::date()),
        }
    }

    /// Whether the catalogue can judge a label.
    pub(crate) fn judges(&self, key: &str) -> bool {
        let of_place = matches!(key, well_known::REGION | well_known::ZONE | well_known::ZONE_ID);
        let of_class = key == well_known::OS;
        !OPEN.contains(&key)
            && (well_known::is_said_by_types(key) || of_place || key == well_known::CAPACITY_TYPE)
            && (!of_place || self.region.is_some())
            && (!of_class || self.has_class)
    }

    /// The values of a label that types have.
    pub(crate) fn values(&self, key: &str) -> Arc<BTreeSet<String>> {
        remembered(&self.made.values, key.to_owned(), |key| {
            let all = self.made.all.iter();
            let terms = all
                .filter_map(|kind| kind.requirements.get(key))
                .flat_map(Requirement::terms);
            let named = terms.filter(|(operator, _)| *operator == Operator::In);
            let values = named.flat_map(|(_, values)| values);
            Arc::new(values.map(|value| value.to_string()).collect())
        })
    }

    /// Those of the requirements that the catalogue can judge. Of what reservations hold it knows nothing, so a pool of reserved capacity
    /// alone may have every type.
    pub(super) fn judged(&self, requirements: &Requirements) -> Requirements {
        let only_reserved = |it: &Requirement| {
            let bought = [CapacityType::OnDemand, CapacityType::Spot];
            **it.key() == *well_known::CAPACITY_TYPE
                && it.allows(Some(CapacityType::Reserved.as_str()))
                && !bought.iter().any(|way| it.allows(Some(way.as_str())))
        };
        requirements
            .iter()
            .filter(|requirement| self.judges(requirement.key()) && !only_reserved(requirement))
            .cloned()
            .collect()
    }

    /// The types that meet requirements, as far as the catalogue can judge them.
    pub(crate) fn fitting(&self, requirements: &Requirements) -> Vec<&InstanceType> {
        let all = &self.made.all;
        let fits = |kind: &InstanceType, judged: &Requirements| {
            kind.suits(judged) && kind.offerings_for(judged).next().is_some()
        };
        let fitting = remembered(&self.made.fitting, self.judged(requirements), |judged| {
            (0..all.len())
                .filter(|index| fits(&all[*index], judged))
                .collect()
        });
        fitting.iter().map(|index| &all[*index]).collect()
    }
}

fn facts(region: Option<&str>) -> Facts {
    region
        .and_then(|region| builtin::facts(region).ok())
        .unwrap_or_else(builtin::everywhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_the_region_or_of_all() {
        let everywhere = Types::of(None, None);
        assert!(everywhere.all().len() > 900, "{}", everywhere.all().len());
        assert!(!everywhere.judges(well_known::ZONE) && everywhere.judges(labels::INSTANCE_FAMILY));
        let frankfurt = Types::of(Some("eu-central-1"), None);
        assert!(frankfurt.all().len() < everywhere.all().len());
        assert!(frankfurt.values(well_known::ZONE).contains("eu-central-1a"));
        assert_eq!(
            *frankfurt.values(well_known::CAPACITY_TYPE),
            ["on-demand", "spot"].map(str::to_owned).into()
        );
        let unknown = Types::of(Some("xx-nowhere-1"), None);
        assert_eq!(unknown.all().len(), everywhere.all().len());
    }
}
