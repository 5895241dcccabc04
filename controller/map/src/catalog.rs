//! `InstanceTypeCatalog` (`joiner.dev/v1alpha1`): instance types in a file, for clusters that are only thought of.
//!
//! A label of the five that every real type says something about (architecture, operating system, region, Windows build, zone
//! id) and that a type here does not mention is open: its nodes may have it or not, with any value.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use joiner_api::Quantity;
use joiner_core::catalogue::{CapacityType, Catalogue, InstanceType, Offering, Overhead, Reservation};
use joiner_core::money::Price;
use joiner_core::requirements::{Operator, Requirement, Requirements, Values};
use joiner_core::resources::{ResourceName, Resources};
use joiner_core::text::Text;
use joiner_core::well_known;
use k8s_openapi::api::resource::v1 as dra;
use serde::{Deserialize, Deserializer, de};

use crate::quantities::from_api;

/// How the label ends that names a reserved offering's reservation: `karpenter.k8s.aws/capacity-reservation-id` on AWS.
const RESERVATION: &str = "reservation-id";

/// What a type that is silent about a label leaves open.
const OPEN: [&str; 5] = [
    well_known::ARCH,
    well_known::OS,
    well_known::REGION,
    "node.kubernetes.io/windows-build",
    well_known::ZONE_ID,
];

/// How many pods a node takes whose type does not say so; Kubernetes' own default.
const PODS: i64 = 110;

/// The document.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogDocument {
    /// Further labels that count as well-known.
    #[serde(default)]
    pub well_known_labels: Vec<String>,
    /// The types that a pool may use; a pool that is not named may use all.
    #[serde(default)]
    pub node_pools: BTreeMap<String, Vec<String>>,
    /// The types.
    #[serde(default)]
    pub instance_types: Vec<TypeDocument>,
}

/// An instance type.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TypeDocument {
    /// Its name.
    pub name: String,
    /// What its nodes' labels can be.
    #[serde(default)]
    pub requirements: Vec<RequirementDocument>,
    /// What its nodes have.
    #[serde(default)]
    pub capacity: BTreeMap<String, Quantity>,
    /// What they keep back from pods.
    #[serde(default)]
    pub overhead: OverheadDocument,
    /// How it can be bought.
    #[serde(default)]
    pub offerings: Vec<OfferingDocument>,
    /// How many volumes each CSI driver can attach to its nodes; without bound where not named.
    #[serde(default)]
    pub volume_attachment_limits: BTreeMap<String, u32>,
    /// The devices that drivers will publish on its nodes.
    #[serde(default)]
    pub devices: Vec<DeviceDocument>,
}

/// A device, written as in a ResourceSlice (`resource.k8s.io/v1`), and who publishes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct DeviceDocument {
    /// The driver.
    pub driver: String,
    /// The device.
    #[serde(flatten)]
    pub device: dra::Device,
}

/// What a node keeps back.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OverheadDocument {
    /// For the kubelet.
    pub kube_reserved: BTreeMap<String, Quantity>,
    /// For the system.
    pub system_reserved: BTreeMap<String, Quantity>,
    /// What is kept free before pods are evicted.
    pub eviction_threshold: BTreeMap<String, Quantity>,
}

/// One way to buy a type.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfferingDocument {
    /// Whether it can be bought now.
    #[serde(default = "yes")]
    pub available: bool,
    /// US dollars an hour.
    #[serde(deserialize_with = "dollars")]
    pub price: Price,
    /// How many instances a reservation still holds.
    #[serde(default)]
    pub reservation_capacity: u32,
    /// Zone, capacity type and whatever else it decides.
    #[serde(default)]
    pub requirements: Vec<RequirementDocument>,
}

/// A condition on a label.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RequirementDocument {
    /// The label.
    pub key: String,
    /// In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte.
    pub operator: String,
    /// The values; numbers may be written without quotes.
    #[serde(default, deserialize_with = "words")]
    pub values: Vec<String>,
}

const fn yes() -> bool {
    true
}

fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Price, D::Error> {
    struct Visitor;
    impl de::Visitor<'_> for Visitor {
        type Value = Price;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("dollars an hour, such as 0.192")
        }

        fn visit_f64<E: de::Error>(self, dollars: f64) -> Result<Price, E> {
            if !(0.0..1e9).contains(&dollars) {
                return Err(E::invalid_value(de::Unexpected::Float(dollars), &self));
            }
            Price::parse_dollars(&format!("{dollars:.7}")).ok_or_else(|| E::custom("not a price"))
        }

        fn visit_u64<E: de::Error>(self, dollars: u64) -> Result<Price, E> {
            self.visit_str(&dollars.to_string())
        }

        fn visit_i64<E: de::Error>(self, dollars: i64) -> Result<Price, E> {
            self.visit_str(&dollars.to_string())
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Price, E> {
            Price::parse_dollars(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
        }
    }
    deserializer.deserialize_any(Visitor)
}

fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Word {
        Text(String),
        Int(i64),
        Bool(bool),
    }
    let words = Option::<Vec<Word>>::deserialize(deserializer)?.unwrap_or_default();
    let text = |word| match word {
        Word::Text(text) => text,
        Word::Int(number) => number.to_string(),
        Word::Bool(truth) => truth.to_string(),
    };
    Ok(words.into_iter().map(text).collect())
}

/// A field's path and what is wrong with it.
type Wrong = (String, String);

impl CatalogDocument {
    /// What the types' shapes alone do not rule out.
    ///
    /// # Errors
    /// The first field that makes no sense.
    pub fn check(&self) -> Result<(), Wrong> {
        let mut names = BTreeSet::new();
        for (index, it) in self.instance_types.iter().enumerate() {
            let path = format!("instanceTypes[{index}]");
            if it.name.is_empty() {
                return Err((
                    format!("{path}.name"),
                    "it is empty; a type needs a name".to_owned(),
                ));
            }
            if !names.insert(it.name.as_str()) {
                return Err((
                    format!("{path}.name"),
                    format!("{:?} is there twice; a type is listed once", it.name),
                ));
            }
            requirements(&it.requirements, &path)?;
            let mut devices = BTreeSet::new();
            for (number, one) in it.devices.iter().enumerate() {
                if !devices.insert((one.driver.as_str(), one.device.name.as_str())) {
                    return Err((
                        format!("{path}.devices[{number}].name"),
                        format!(
                            "{:?} is there twice; a device of a driver is listed once",
                            one.device.name
                        ),
                    ));
                }
            }
            for (number, offering) in it.offerings.iter().enumerate() {
                let path = format!("{path}.offerings[{number}]");
                let said = requirements(&offering.requirements, &path)?;
                for key in [well_known::ZONE, well_known::CAPACITY_TYPE] {
                    if !matches!(said.get(key).map(Requirement::values), Some(Values::Only(values)) if !values.is_empty())
                    {
                        return Err((
                            format!("{path}.requirements"),
                            format!("{key} is missing; every offering names its value by operator In"),
                        ));
                    }
                }
                if let Some(Values::Only(values)) =
                    said.get(well_known::CAPACITY_TYPE).map(Requirement::values)
                    && let Some(other) = values.iter().find(|value| CapacityType::parse(value).is_none())
                {
                    return Err((
                        format!("{path}.requirements"),
                        format!(
                            "{}: {other:?} found, one of reserved, spot, on-demand wanted",
                            well_known::CAPACITY_TYPE
                        ),
                    ));
                }
            }
        }
        for (pool, types) in &self.node_pools {
            if let Some(index) = types.iter().position(|name| !names.contains(name.as_str())) {
                return Err((
                    format!("nodePools.{pool}[{index}]"),
                    format!("{:?} is none of the instanceTypes", types[index]),
                ));
            }
        }
        Ok(())
    }

    /// Adds another document; a type or a pool that both know is that of the other.
    pub fn add(&mut self, other: CatalogDocument) {
        self.well_known_labels.extend(other.well_known_labels);
        self.node_pools.extend(other.node_pools);
        self.instance_types
            .retain(|it| other.instance_types.iter().all(|newer| newer.name != it.name));
        self.instance_types.extend(other.instance_types);
    }

    /// The catalogue for `pools`.
    pub fn catalogue<'a>(&self, pools: impl Iterator<Item = &'a Text>) -> Catalogue {
        let all: Arc<[InstanceType]> = self.instance_types.iter().map(instance_type).collect();
        let of_pool = |pool: &Text| {
            let types = match self.node_pools.get(&**pool) {
                None => Arc::clone(&all),
                Some(named) => {
                    let chosen = all
                        .iter()
                        .filter(|it| named.iter().any(|name| **name == *it.name));
                    chosen.cloned().collect()
                }
            };
            (pool.clone(), types)
        };
        let mut catalogue: Catalogue = pools.map(of_pool).collect();
        catalogue.well_known = self
            .well_known_labels
            .iter()
            .map(|it| it.as_str().into())
            .collect();
        catalogue
    }
}

fn requirements(rows: &[RequirementDocument], path: &str) -> Result<Requirements, Wrong> {
    let mut all = Requirements::new();
    for (index, row) in rows.iter().enumerate() {
        let path = format!("{path}.requirements[{index}]");
        let Some(operator) = Operator::parse(&row.operator) else {
            return Err((
                format!("{path}.operator"),
                format!(
                    "{:?} found, one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte wanted",
                    row.operator
                ),
            ));
        };
        match Requirement::new(row.key.as_str(), operator, row.values.iter().map(String::as_str)) {
            Ok(requirement) => all.add(requirement),
            Err(error) => return Err((format!("{path}.values"), error.to_string())),
        }
    }
    Ok(all)
}

fn read(rows: &[RequirementDocument]) -> Requirements {
    let rows = rows.iter().filter_map(|row| {
        Requirement::parse(
            row.key.as_str(),
            &row.operator,
            row.values.iter().map(String::as_str),
        )
        .ok()
    });
    rows.collect()
}

fn instance_type(document: &TypeDocument) -> InstanceType {
    let name = Text::from(document.name.as_str());
    let offerings: Vec<Offering> = document
        .offerings
        .iter()
        .flat_map(|offering| offerings(offering, &name))
        .collect();
    let mut requirements = read(&document.requirements);
    let mut fill = |requirement: Requirement| {
        if requirements.get(requirement.key()).is_none() {
            requirements.add(requirement);
        }
    };
    fill(Requirement::is(well_known::INSTANCE_TYPE, name.clone()));
    fill(Requirement::is_in(
        well_known::ZONE,
        offerings.iter().map(|offering| offering.zone.clone()),
    ));
    fill(Requirement::is_in(
        well_known::CAPACITY_TYPE,
        offerings.iter().map(|offering| offering.capacity_type.as_str()),
    ));
    if offerings.iter().any(|offering| !offering.zone_id.is_empty()) {
        fill(Requirement::is_in(
            well_known::ZONE_ID,
            offerings.iter().map(|offering| offering.zone_id.clone()),
        ));
    }
    OPEN.into_iter()
        .for_each(|key| fill(Requirement::is_not_in(key, std::iter::empty::<Text>())));
    let mut capacity = from_api(&document.capacity);
    if !document.capacity.contains_key("pods") {
        capacity.set(&ResourceName::Pods, PODS);
    }
    let overhead = &document.overhead;
    InstanceType {
        name,
        requirements,
        capacity,
        overhead: Overhead {
            kube_reserved: from_api(&overhead.kube_reserved),
            system_reserved: from_api(&overhead.system_reserved),
            eviction_threshold: from_api(&overhead.eviction_threshold),
        },
        offerings,
        attach_limits: document
            .volume_attachment_limits
            .iter()
            .map(|(driver, limit)| (driver.as_str().into(), *limit))
            .collect(),
        devices: document
            .devices
            .iter()
            .map(|it| crate::devices::device(&it.driver, "", &it.device))
            .collect(),
    }
}

/// The reservation that an offering's labels name.
fn reservation(extra: &Requirements) -> Option<Text> {
    let named = extra.iter().filter(|one| one.key().ends_with(RESERVATION));
    named.filter_map(Requirement::single).next().cloned()
}

/// One offering for each zone, zone id and capacity type that a row names.
fn offerings(document: &OfferingDocument, name: &Text) -> Vec<Offering> {
    let mut extra = read(&document.requirements);
    let mut values = |key: &str| match extra.remove(key).as_ref().map(Requirement::values) {
        Some(Values::Only(values)) => values.iter().cloned().collect(),
        _ => Vec::new(),
    };
    let zones: Vec<Text> = values(well_known::ZONE);
    let ids: Vec<Text> = values(well_known::ZONE_ID);
    let ways: Vec<Text> = values(well_known::CAPACITY_TYPE);
    let mut all = Vec::new();
    for (place, zone) in zones.iter().enumerate() {
        for way in ways.iter().filter_map(|way| CapacityType::parse(way)) {
            let reservation = (way == CapacityType::Reserved).then(|| {
                let named = reservation(&extra);
                Reservation {
                    id: named.unwrap_or_else(|| format!("{name}/{zone}").into()),
                    remaining: document.reservation_capacity,
                }
            });
            let empty = reservation.as_ref().is_some_and(|it| it.remaining == 0);
            all.push(Offering {
                zone: zone.clone(),
                zone_id: ids
                    .get(place)
                    .or(ids.first())
                    .cloned()
                    .unwrap_or_else(|| "".into()),
                capacity_type: way,
                price: document.price,
                available: document.available && !empty,
                reservation,
                extra: extra.clone(),
            });
        }
    }
    all
}

/// The resources of a document's type, for nodes that only name their type.
pub(crate) fn find<'a>(catalogue: &'a Catalogue, name: &str) -> Option<(&'a Resources, Resources)> {
    let mut types = catalogue.pools.values().flat_map(|types| types.iter());
    let it = types.find(|it| &*it.name == name)?;
    Some((&it.capacity, it.allocatable()))
}
