//! The types of a class that no controller has looked at: one that is planned or thought of, or of which only a pool's reference is known.
//!
//! Input: facts, and the class as it was written, if it was. Output: what pools of it can buy, as far as facts tell. Invariant: what
//! is not known of the class keeps no type out.

use super::{Facts, Settings, instance_types};
use crate::node_class::{family, for_catalogue};
use crate::unavailable::Unavailable;
use jiff::Timestamp;
use joiner_api::{AmiFamily, EC2NodeClass, Subnet};
use joiner_core::catalogue::InstanceType;
use serde_json::json;
use std::sync::Arc;

/// The types of `class`, sorted by name; those of a class that says nothing where there is none. One that names no family runs Amazon
/// Linux 2023, and one without subnets has them in every zone. None where the class cannot be used.
pub fn unresolved_types(
    facts: &Facts,
    class: Option<&EC2NodeClass>,
    settings: &Settings,
    now: Timestamp,
) -> Arc<[InstanceType]> {
    let class = class.cloned().or_else(bare);
    match class.map(|class| for_catalogue(&completed(class, facts))) {
        Some(Ok(class)) => instance_types(facts, &class, settings, &Unavailable::default(), now).into(),
        Some(Err(_)) | None => Arc::new([]),
    }
}

fn completed(mut class: EC2NodeClass, facts: &Facts) -> EC2NodeClass {
    if family(&class.spec).is_none() {
        class.spec.ami_family = Some(AmiFamily::AL2023);
    }
    let status = class.status.get_or_insert_default();
    if status.subnets.is_empty() {
        let subnets = facts.zones.iter().map(|(zone, id)| Subnet {
            id: format!("subnet-{id}"),
            zone: zone.to_string(),
            zone_id: Some(id.to_string()),
        });
        status.subnets = subnets.collect();
    }
    class
}

/// A class of which nothing is known.
fn bare() -> Option<EC2NodeClass> {
    let class = json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": { "name": "any" },
        "spec": { "amiSelectorTerms": [{ "alias": "al2023@latest" }], "subnetSelectorTerms": [], "securityGroupSelectorTerms": [] },
    });
    serde_json::from_value(class).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::builtin;
    use joiner_core::well_known;

    #[test]
    fn what_is_not_known_keeps_nothing_out() {
        let facts = builtin::facts("us-west-2").expect("a region");
        let count = |class: Option<&EC2NodeClass>| {
            unresolved_types(&facts, class, &Settings::default(), Timestamp::UNIX_EPOCH).len()
        };
        let all = count(None);
        assert!(all > 500, "{all}");
        let mut class = bare().expect("a class");
        assert_eq!(count(Some(&class)), all);
        // Nor does a family that is only in the image.
        class.spec.ami_selector_terms.clear();
        assert_eq!(count(Some(&class)), all);
        // What is known counts.
        let completed = completed(class.clone(), &facts);
        let subnets = completed.status.expect("a status").subnets;
        assert_eq!(subnets.len(), facts.zones.len());
        class.status.get_or_insert_default().subnets = vec![subnets[0].clone()];
        let types = unresolved_types(&facts, Some(&class), &Settings::default(), Timestamp::UNIX_EPOCH);
        let zones = types
            .iter()
            .flat_map(|it| it.offerings.iter().map(|offering| &*offering.zone));
        assert!(zones.clone().count() > 0 && zones.clone().all(|zone| zone == subnets[0].zone));
        assert!(
            types
                .iter()
                .all(|it| it.requirements.get(well_known::OS).is_some())
        );
    }
}
