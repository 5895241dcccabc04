//! The instance types that a pool can have, by the built-in catalogue.

use jiff::Timestamp;
use joiner_api::{AmiFamily, EC2NodeClass, Subnet, labels};
use joiner_aws::catalogue::{Facts, Settings, builtin, instance_types};
use joiner_aws::node_class::{family, for_catalogue};
use joiner_aws::unavailable::Unavailable;
use joiner_core::catalogue::InstanceType;
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
    all: Arc<[InstanceType]>,
    /// The region, when it is known and built in.
    region: Option<String>,
    /// Whether a node class said what they can be.
    has_class: bool,
}

/// A region, and a node class as JSON: all pools of a class are judged by the same types, which take a while to make.
type For = (Option<String>, Option<String>);

static MADE: Mutex<BTreeMap<For, Arc<[InstanceType]>>> = Mutex::new(BTreeMap::new());

impl Types {
    /// Those of a region, or of all when it is not known or not built in; narrowed by a node class when there is one.
    pub(crate) fn of(region: Option<&str>, class: Option<&EC2NodeClass>) -> Self {
        let region = region.filter(|region| builtin::regions().contains(region));
        let wanted = (
            region.map(str::to_owned),
            class.map(|class| json!(class).to_string()),
        );
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let all = made
            .entry(wanted)
            .or_insert_with(|| match class.cloned().or_else(bare) {
                Some(class) => make(&facts(region), class),
                None => Arc::new([]),
            });
        Self {
            all: Arc::clone(all),
            region: region.map(str::to_owned),
            has_class: class.is_some(),
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> Arc<[InstanceType]> {
        Arc::clone(&self.all)
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
    pub(crate) fn values(&self, key: &str) -> BTreeSet<String> {
        let terms = self
            .all
            .iter()
            .filter_map(|kind| kind.requirements.get(key))
            .flat_map(Requirement::terms);
        terms
            .filter(|(operator, _)| *operator == Operator::In)
            .flat_map(|(_, values)| values)
            .map(|value| value.to_string())
            .collect()
    }

    /// The types that meet requirements, as far as the catalogue can judge them.
    pub(crate) fn fitting(&self, requirements: &Requirements) -> Vec<&InstanceType> {
        let judged: Requirements = requirements
            .iter()
            .filter(|requirement| self.judges(requirement.key()))
            .cloned()
            .collect();
        self.all
            .iter()
            .filter(|kind| kind.suits(&judged) && kind.offerings_for(&judged).next().is_some())
            .collect()
    }
}

fn facts(region: Option<&str>) -> Facts {
    region
        .and_then(|region| builtin::facts(region).ok())
        .unwrap_or_else(builtin::everywhere)
}

fn make(facts: &Facts, mut class: EC2NodeClass) -> Arc<[InstanceType]> {
    if family(&class.spec).is_none() {
        class.spec.ami_family = Some(AmiFamily::AL2023);
    }
    let status = class.status.get_or_insert_default();
    // A class that is only planned has its subnets in any zone.
    if status.subnets.is_empty() {
        let subnets = facts.zones.iter().map(|(zone, id)| Subnet {
            id: format!("subnet-{id}"),
            zone: zone.to_string(),
            zone_id: Some(id.to_string()),
        });
        status.subnets = subnets.collect();
    }
    match for_catalogue(&class) {
        Ok(class) => instance_types(
            facts,
            &class,
            &Settings::default(),
            &Unavailable::default(),
            Timestamp::UNIX_EPOCH,
        )
        .into(),
        Err(_) => Arc::new([]),
    }
}

/// A class of which nothing is known.
fn bare() -> Option<EC2NodeClass> {
    serde_json::from_value(json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": { "name": "any" },
        "spec": { "amiSelectorTerms": [{ "alias": "al2023@latest" }], "subnetSelectorTerms": [], "securityGroupSelectorTerms": [] },
    }))
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_the_region_or_of_all() {
        let everywhere = Types::of(None, None);
        assert!(everywhere.all.len() > 900, "{}", everywhere.all.len());
        assert!(!everywhere.judges(well_known::ZONE) && everywhere.judges(labels::INSTANCE_FAMILY));
        let frankfurt = Types::of(Some("eu-central-1"), None);
        assert!(frankfurt.all.len() < everywhere.all.len());
        assert!(frankfurt.values(well_known::ZONE).contains("eu-central-1a"));
        assert_eq!(
            frankfurt.values(well_known::CAPACITY_TYPE),
            ["on-demand", "spot"].map(str::to_owned).into()
        );
        let unknown = Types::of(Some("xx-nowhere-1"), None);
        assert_eq!(unknown.all.len(), everywhere.all.len());
    }
}
