//! A plan as groups of offerings that share a launch template.

use super::error::LaunchError;
use super::order::Order;
use super::template::{Shape, TemplateSpec, template};
use joiner_api::labels::RESOURCE_EFA;
use joiner_core::catalogue::InstanceType;
use joiner_core::money::Price;
use joiner_core::requirements::Undefined;
use joiner_core::resources::ResourceName;
use std::collections::BTreeMap;

/// Most overrides of one fleet, EC2's quota.
const MAX_OVERRIDES: usize = 300;

/// A launch template and the offerings that use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The template.
    pub template: TemplateSpec,
    /// The offerings, cheapest first.
    pub overrides: Vec<Override>,
}

/// One offering as CreateFleet takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Such as `m5.large`.
    pub instance_type: String,
    /// Such as `us-west-2a`.
    pub zone: String,
    /// The subnet in that zone.
    pub subnet: String,
    /// The image.
    pub image: String,
    /// Lower is tried first where EC2 goes by priority.
    pub price: Price,
}

/// Groups of an order; `subnets` is the one to use in each zone.
///
/// # Errors
/// [`LaunchError::NodeClassNotReady`] where no image or no subnet suits any of the plan's choices;
/// [`LaunchError::UserData`] where the user data cannot be made.
pub fn groups(order: &Order<'_>, subnets: &BTreeMap<&str, &str>) -> Result<Vec<Group>, LaunchError> {
    groups_of_first(MAX_OVERRIDES, order, subnets)
}

/// As [`groups`], of the first `most` choices of the plan.
pub(super) fn groups_of_first(
    most: usize,
    order: &Order<'_>,
    subnets: &BTreeMap<&str, &str>,
) -> Result<Vec<Group>, LaunchError> {
    let not_ready = |reason: String| LaunchError::NodeClassNotReady {
        name: order.class.name.clone(),
        reason,
    };
    let types: BTreeMap<&str, &InstanceType> = order.types.iter().map(|kind| (&*kind.name, kind)).collect();
    let mut overrides: BTreeMap<Shape, Vec<Override>> = BTreeMap::new();
    let (mut without_image, mut without_subnet) = (Vec::new(), Vec::new());
    for choice in order.plan.choices.iter().take(most) {
        let Some(kind) = types.get(&*choice.instance_type) else {
            continue;
        };
        let Some(subnet) = subnets.get(&*choice.zone) else {
            without_subnet.push(&*choice.zone);
            continue;
        };
        let Some(image) = image_for(order, kind) else {
            without_image.push(&*choice.instance_type);
            continue;
        };
        overrides
            .entry(shape(order, kind, image, choice.reservation.as_deref()))
            .or_default()
            .push(Override {
                instance_type: choice.instance_type.to_string(),
                zone: choice.zone.to_string(),
                subnet: (*subnet).to_owned(),
                image: image.to_owned(),
                price: choice.price,
            });
    }
    if overrides.is_empty() {
        return Err(not_ready(if let Some(kind) = without_image.first() {
            format!(
                "none of its images runs on {kind}; extend amiSelectorTerms, or narrow the pool to the images' types"
            )
        } else if let Some(zone) = without_subnet.first() {
            format!("it has no subnet in zone {zone}; extend subnetSelectorTerms")
        } else {
            "the plan names no instance type that is known".to_owned()
        }));
    }
    overrides
        .into_iter()
        .map(|(shape, overrides)| {
            Ok(Group {
                template: template(order, &shape)?,
                overrides,
            })
        })
        .collect()
}

/// The first image that runs on the type.
fn image_for<'a>(order: &'a Order<'_>, kind: &InstanceType) -> Option<&'a str> {
    order
        .class
        .images
        .iter()
        .find(|image| {
            kind.requirements
                .is_compatible(&image.requirements, Undefined::Missing)
        })
        .map(|image| image.id.as_str())
}

fn shape(order: &Order<'_>, kind: &InstanceType, image: &str, reservation: Option<&str>) -> Shape {
    let adapters = ResourceName::from(RESOURCE_EFA);
    let wants_fabric = order.requests.get(&adapters) > 0;
    Shape {
        image: image.to_owned(),
        max_pods: kind.capacity.get(&ResourceName::Pods),
        efas: if wants_fabric {
            kind.capacity.get(&adapters)
        } else {
            0
        },
        reservation: reservation.map(str::to_owned),
    }
}
