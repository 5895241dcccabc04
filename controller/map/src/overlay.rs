//! NodeOverlays: corrections of prices and capacities, applied to a catalogue.
//!
//! The overlay with the highest weight wins, of equal ones the later name; two of equal weight that correct the same thing are
//! in conflict, and the second is left out whole. Unlike upstream, an overlay may ask for labels that a pool's template adds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use joiner_api::NodeOverlay;
use joiner_core::catalogue::{Catalogue, InstanceType, Offering};
use joiner_core::money::Price;
use joiner_core::requirements::{Requirement, Requirements, Undefined};
use joiner_core::resources::{ResourceName, Resources};
use joiner_core::snapshot::Pool;
use joiner_core::text::Text;

use crate::quantities::from_api;

/// A NodeOverlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// Its name.
    pub name: Text,
    /// Of several the one with the higher weight counts.
    pub weight: i32,
    /// Which instance types and offerings it corrects.
    pub requirements: Requirements,
    /// What becomes of the price.
    pub change: Option<Change>,
    /// What nodes have beyond what the cloud says: extended resources.
    pub capacity: Resources,
}

/// What becomes of a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is this.
    Price(Price),
    /// It changes by so many millionths of a dollar an hour.
    Add(i64),
    /// It changes by so many millionths of a percent.
    Percent(i64),
}

/// A NodeOverlay, or why it cannot be applied, in words.
///
/// # Errors
/// Where its price or a requirement cannot be read, or it corrects what only the cloud can say.
pub fn overlay(object: &NodeOverlay) -> Result<Overlay, Text> {
    let spec = &object.spec;
    let mut requirements = Requirements::new();
    for row in &spec.requirements {
        let values = row.values.iter().map(String::as_str);
        let requirement = Requirement::parse(row.key.as_str(), row.operator.as_str(), values)
            .map_err(|error| Text::from(format!("spec.requirements: {error}")))?;
        requirements.add(requirement);
    }
    let change = match (&spec.price, &spec.price_adjustment) {
        (Some(_), Some(_)) => return Err("both price and priceAdjustment are set; set one of them".into()),
        (Some(price), None) => Some(Price::parse_dollars(price).map(Change::Price).ok_or_else(|| {
            Text::from(format!(
                "spec.price: {price:?} is no price; write dollars an hour, such as 0.25"
            ))
        })?),
        (None, Some(text)) => Some(adjustment(text).ok_or_else(|| {
            Text::from(format!(
                "spec.priceAdjustment: {text:?} is no change; write +0.5, -0.25, +10% or -15%"
            ))
        })?),
        (None, None) => None,
    };
    let capacity = spec.capacity.as_ref().map(from_api).unwrap_or_default();
    if let Some((name, _)) = capacity
        .iter()
        .find(|(name, _)| !matches!(name, ResourceName::Other(_)))
    {
        return Err(format!(
            "spec.capacity: {name} is said by the cloud; only extended resources can be added"
        )
        .into());
    }
    Ok(Overlay {
        name: crate::text(object.metadata.name.as_ref()),
        weight: spec.weight.unwrap_or(0),
        requirements,
        change,
        capacity,
    })
}

/// A NodeOverlay's conditions.
pub fn overlay_conditions(object: &NodeOverlay) -> joiner_core::conditions::Conditions {
    crate::node::conditions(object.status.as_ref().map_or(&[], |status| &status.conditions))
}

fn adjustment(text: &str) -> Option<Change> {
    let (negative, rest) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
        (Some(rest), _) => (false, rest),
        (None, Some(rest)) => (true, rest),
        (None, None) => return None,
    };
    let number = |text: &str| {
        let micros = i64::try_from(Price::parse_dollars(text)?.micros()).ok()?;
        Some(if negative { -micros } else { micros })
    };
    match rest.strip_suffix('%') {
        Some(percent) => number(percent).map(Change::Percent),
        None => number(rest).map(Change::Add),
    }
}

impl Change {
    /// The price after the change; never below zero.
    pub fn apply(self, price: Price) -> Price {
        let micros = i128::from(price.micros());
        let changed = match self {
            Change::Price(price) => return price,
            Change::Add(add) => micros + i128::from(add),
            Change::Percent(percent) => {
                let hundred = 100_000_000;
                (micros * (hundred + i128::from(percent)) + hundred / 2) / hundred
            }
        };
        Price::from_micros(u64::try_from(changed.max(0)).unwrap_or(u64::MAX))
    }
}

/// Applies overlays to the types of every pool. Returns the overlays that were left out, each with the reason.
pub fn apply(overlays: &[Overlay], pools: &[Arc<Pool>], catalogue: &mut Catalogue) -> Vec<(Text, Text)> {
    let mut order: Vec<&Overlay> = overlays.iter().collect();
    order.sort_by(|a, b| (b.weight, &b.name).cmp(&(a.weight, &a.name)));
    let mut found = Found::default();
    let mut left_out = Vec::new();
    for (index, overlay) in order.iter().enumerate() {
        match found.take(index, &order, pools, catalogue) {
            None => {}
            Some(other) => left_out.push((
                overlay.name.clone(),
                format!(
                    "it has the weight {} like the overlay {other}, and both correct the same instance types",
                    overlay.weight
                )
                .into(),
            )),
        }
    }
    for pool in pools {
        let Some(types) = catalogue.pools.get(&pool.name) else {
            continue;
        };
        let changed: Vec<InstanceType> = types.iter().map(|it| found.changed(pool, it, &order)).collect();
        catalogue.pools.insert(pool.name.clone(), changed.into());
    }
    left_out
}

/// A pool's type.
type TypeKey = (Text, Text);

/// Which overlays decide on what.
#[derive(Default)]
struct Found {
    /// For each offering, by its place in the type: the overlay that decides, and the one looked at last.
    prices: BTreeMap<(TypeKey, usize), (usize, usize)>,
    /// For each resource: the overlay that decides, and the one looked at last.
    capacities: BTreeMap<(TypeKey, Text), (usize, usize)>,
}

impl Found {
    /// Takes an overlay in, unless it is in conflict with another, whose name is returned.
    fn take(
        &mut self,
        index: usize,
        order: &[&Overlay],
        pools: &[Arc<Pool>],
        catalogue: &Catalogue,
    ) -> Option<Text> {
        let overlay = order[index];
        let clash = |last: &usize| (order[*last].weight == overlay.weight).then(|| order[*last].name.clone());
        let mut offerings = BTreeSet::new();
        let mut resources = BTreeSet::new();
        for pool in pools {
            for it in catalogue.types(&pool.name) {
                let key = (pool.name.clone(), it.name.clone());
                let chosen = chosen(overlay, pool, it);
                if chosen.is_empty() {
                    continue;
                }
                if overlay.change.is_some() {
                    offerings.extend(chosen.into_iter().map(|place| (key.clone(), place)));
                }
                resources.extend(
                    overlay
                        .capacity
                        .iter()
                        .map(|(name, _)| (key.clone(), Text::from(name.as_str()))),
                );
            }
        }
        let prices = offerings.iter().filter_map(|key| self.prices.get(key));
        let capacities = resources.iter().filter_map(|key| self.capacities.get(key));
        if let Some(other) = prices.chain(capacities).find_map(|(_, last)| clash(last)) {
            return Some(other);
        }
        for key in offerings {
            self.prices.entry(key).or_insert((index, index)).1 = index;
        }
        for key in resources {
            self.capacities.entry(key).or_insert((index, index)).1 = index;
        }
        None
    }

    fn changed(&self, pool: &Pool, it: &InstanceType, order: &[&Overlay]) -> InstanceType {
        let key = (pool.name.clone(), it.name.clone());
        let mut it = it.clone();
        for (place, offering) in it.offerings.iter_mut().enumerate() {
            let decides = self.prices.get(&(key.clone(), place));
            if let Some(change) = decides.and_then(|(first, _)| order[*first].change) {
                offering.price = change.apply(offering.price);
            }
        }
        let extended = self
            .capacities
            .range((key.clone(), Text::from(""))..)
            .take_while(|((of, _), _)| *of == key);
        for ((_, name), (first, _)) in extended {
            let name = ResourceName::Other(name.clone());
            it.capacity.set(&name, order[*first].capacity.get(&name));
        }
        it
    }
}

/// The places of the offerings that an overlay corrects.
fn chosen(overlay: &Overlay, pool: &Pool, it: &InstanceType) -> Vec<usize> {
    let mut said = Requirements::from_labels(&pool.labels);
    said.add(Requirement::is(
        joiner_core::well_known::NODE_POOL,
        pool.name.clone(),
    ));
    said.add_all(&it.requirements);
    if !said.is_compatible(&overlay.requirements, Undefined::Missing) {
        return Vec::new();
    }
    let suits = |offering: &Offering| offering.suits(&overlay.requirements);
    let offerings = it.offerings.iter().enumerate();
    offerings
        .filter(|(_, offering)| suits(offering))
        .map(|(place, _)| place)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_change_as_written() {
        let dollar = Price::from_micros(1_000_000);
        for (text, micros) in [
            ("+0.5", Some(1_500_000)),
            ("-0.25", Some(750_000)),
            ("-2", Some(0)),
            ("+10%", Some(1_100_000)),
            ("-15.5%", Some(845_000)),
            ("-100%", Some(0)),
            ("10%", None),
            ("+much", None),
        ] {
            let got = adjustment(text).map(|change| change.apply(dollar).micros());
            assert_eq!(got, micros, "{text}");
        }
    }
}
