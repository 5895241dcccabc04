//! Quantities to whole numbers and back: cpu in thousandths, all else in units, rounded up as Kubernetes does.

use std::collections::BTreeMap;

use joiner_api::Quantity;
use joiner_core::resources::{Limits, ResourceName, Resources};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Written;

/// A list of resources as Kubernetes' own objects carry it. One that cannot be read counts as absent: the API server, or the
/// reading of a file, has checked it.
pub(crate) fn resources(list: Option<&BTreeMap<String, Written>>) -> Resources {
    amounts(list).collect()
}

/// As [`resources`], amounts of zero included.
pub(crate) fn amounts(
    list: Option<&BTreeMap<String, Written>>,
) -> impl Iterator<Item = (ResourceName, i64)> + '_ {
    list.into_iter().flatten().filter_map(|(name, written)| {
        let name = ResourceName::from(name.as_str());
        let amount = amount(&name, &written.0.parse::<Quantity>().ok()?);
        Some((name, amount))
    })
}

/// A list of resources as our own objects carry it.
pub fn from_api(list: &BTreeMap<String, Quantity>) -> Resources {
    list.iter()
        .map(|(name, quantity)| named(name, quantity))
        .collect()
}

/// Upper bounds; one of zero is a bound, too.
pub fn limits(list: &BTreeMap<String, Quantity>) -> Limits {
    list.iter()
        .map(|(name, quantity)| named(name, quantity))
        .collect()
}

/// Amounts as an object's field.
pub fn to_api(amounts: &Resources) -> BTreeMap<String, Quantity> {
    amounts
        .iter()
        .filter_map(|(name, amount)| {
            let quantity = name.display(amount).parse().ok()?;
            Some((name.as_str().to_owned(), quantity))
        })
        .collect()
}

fn named(name: &str, quantity: &Quantity) -> (ResourceName, i64) {
    let name = ResourceName::from(name);
    let amount = amount(&name, quantity);
    (name, amount)
}

fn amount(name: &ResourceName, quantity: &Quantity) -> i64 {
    match name {
        ResourceName::Cpu => quantity.milli(),
        _ => quantity.value(),
    }
}
