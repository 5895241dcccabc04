//! EC2NodeClasses and NodeClaims as drift sees them.

use joiner_api::{EC2NodeClass, NodeClaim, NodePool, SelectorRequirement, hash};
use joiner_core::disrupt::drift::{Class, Image, Machine};
use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::snapshot::PoolHash;
use joiner_core::text::Text;

/// A class: the hash of its spec as it is, and what its status has found.
pub fn class(object: &EC2NodeClass) -> Class {
    let status = object.status.clone().unwrap_or_default();
    // A status does not hold what a name leads to.
    let placement_group = match &object.spec.placement_group_selector {
        None => Some("".into()),
        Some(selector) => selector.id.as_deref().map(Text::from),
    };
    let ids = |ids: Vec<String>| -> Vec<Text> { ids.into_iter().map(Text::from).collect() };
    Class {
        name: crate::text(object.metadata.name.as_ref()),
        hash: PoolHash {
            value: hash::ec2_node_class(object).into(),
            version: hash::VERSION.into(),
        },
        fields: crate::labels(Some(&hash::ec2_node_class_fields(object))),
        images: status
            .amis
            .iter()
            .map(|ami| Image {
                id: ami.id.as_str().into(),
                requirements: requirements(&ami.requirements),
            })
            .collect(),
        subnets: ids(status.subnets.into_iter().map(|it| it.id).collect()),
        security_groups: ids(status.security_groups.into_iter().map(|it| it.id).collect()),
        placement_group,
        reservations: ids(status.capacity_reservations.into_iter().map(|it| it.id).collect()),
    }
}

/// Whether the class' status is that of its spec as it is: until it has been resolved again nothing can be said of an edit.
pub fn is_settled(object: &EC2NodeClass) -> bool {
    let conditions = object
        .status
        .as_ref()
        .map_or(&[][..], |status| &status.conditions[..]);
    let ready = conditions
        .iter()
        .find(|it| it.type_ == joiner_api::labels::conditions::READY);
    ready.is_some_and(|it| it.observed_generation == object.metadata.generation)
}

/// The hash of a pool's template as it is, whatever its annotations say.
pub fn pool_hash(object: &NodePool) -> PoolHash {
    PoolHash {
        value: hash::node_pool(object).into(),
        version: hash::VERSION.into(),
    }
}

/// What a claim itself says of its instance: the image.
pub fn machine(object: &NodeClaim) -> Machine {
    let image = object
        .status
        .as_ref()
        .and_then(|status| status.image_id.as_deref());
    Machine {
        image: image.filter(|id| !id.is_empty()).map(Text::from),
        ..Machine::default()
    }
}

/// What an instance type must be for an image; the controller wrote it itself, so what cannot be read is left out.
fn requirements(written: &[SelectorRequirement]) -> Requirements {
    let one = |it: &SelectorRequirement| {
        let values = it.values.iter().map(String::as_str);
        Requirement::parse(it.key.as_str(), it.operator.as_str(), values).ok()
    };
    written.iter().filter_map(one).collect()
}
