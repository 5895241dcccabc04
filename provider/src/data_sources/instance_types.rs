//! `joiner_instance_types`.

use crate::feasible::Types;
use crate::provider::{Joiner, known_region};
use joiner_aws::catalogue::builtin;
use joiner_core::catalogue::{CapacityType, InstanceType};
use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::resources::ResourceName;
use std::collections::BTreeSet;
use tfplugin::{AttributePath, Context, DataSource, Diagnostics, Field, Model, async_trait};

/// The instance types that meet requirements, by the catalogue that the provider carries: no network and no credentials are needed.
///
/// Prices are those of the catalogue's day: list prices on demand, estimates for spot.
#[derive(Clone, Debug, Default, Model)]
pub(super) struct InstanceTypesLookup {
    /// Region whose types are meant. Left out: the provider's.
    region: Field<String>,
    /// Requirements that the types must meet, as a node pool has them.
    requirements: Field<Vec<Wanted>>,
    /// The day of the catalogue.
    #[tf(computed)]
    date: Field<String>,
    /// The types, by name.
    #[tf(computed)]
    instance_types: Field<Vec<FoundType>>,
}

/// A requirement.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(super) struct Wanted {
    /// The label.
    #[tf(required)]
    key: Field<String>,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`, `Gte` or `Lte`.
    #[tf(required)]
    operator: Field<String>,
    /// The values.
    values: Field<Vec<String>>,
}

/// An instance type.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(super) struct FoundType {
    /// Its name.
    #[tf(computed)]
    name: Field<String>,
    /// `amd64` or `arm64`.
    #[tf(computed)]
    architecture: Field<String>,
    /// Its cores.
    #[tf(computed)]
    cpu: Field<String>,
    /// Its memory.
    #[tf(computed)]
    memory: Field<String>,
    /// How many pods it takes.
    #[tf(computed)]
    pods: Field<i64>,
    /// The zones that have it.
    #[tf(computed)]
    zones: Field<Vec<String>>,
    /// Price on demand in US dollars an hour; null where it is not sold so.
    #[tf(computed)]
    on_demand_price: Field<f64>,
    /// Price of a spot instance in US dollars an hour, as an estimate; null where it is not sold so.
    #[tf(computed)]
    spot_price: Field<f64>,
}

/// The data source `joiner_instance_types`.
pub(super) struct InstanceTypesData;

#[async_trait]
impl DataSource for InstanceTypesData {
    type Data = Joiner;
    type Model = InstanceTypesLookup;

    fn name(&self) -> &'static str {
        "joiner_instance_types"
    }

    async fn read(
        &self,
        ctx: &Context<Joiner>,
        mut config: InstanceTypesLookup,
    ) -> Result<InstanceTypesLookup, Diagnostics> {
        let region = match config.region.as_str() {
            Some(region) => Some(region.to_owned()),
            None => known_region(ctx).into_known(),
        };
        let known = builtin::regions();
        let region = region
            .filter(|region| known.contains(&region.as_str()))
            .ok_or_else(|| {
                let mut found = Diagnostics::new();
                found.error_at(
                    "region",
                    "No region of the catalogue",
                    format!(
                        "Set region to one that the catalogue of {} has: {}.",
                        builtin::date(),
                        known.join(", ")
                    ),
                );
                found
            })?;
        let requirements = requirements(config.requirements.known().map_or(&[], Vec::as_slice))?;
        let types = Types::of(Some(&region), None);
        let found = types.fitting(&requirements);
        config.instance_types = Field::Known(found.into_iter().map(found_type).collect());
        config.date = builtin::date().into();
        Ok(config)
    }
}

fn requirements(wanted: &[Wanted]) -> Result<Requirements, Diagnostics> {
    let parse = |(index, wanted): (usize, &Wanted)| {
        let values = wanted.values.known().cloned().unwrap_or_default();
        let key = wanted.key.as_str().unwrap_or_default().to_owned();
        Requirement::parse(key, wanted.operator.as_str().unwrap_or_default(), values).map_err(|error| {
            let mut found = Diagnostics::new();
            let path = AttributePath::from("requirements").index(index);
            found.error_at(path, "Not a requirement", format!("{error}."));
            found
        })
    };
    wanted.iter().enumerate().map(parse).collect()
}

fn found_type(kind: &InstanceType) -> FoundType {
    let shown = |name: ResourceName| Field::Known(name.display(kind.capacity.get(&name)));
    let price = |wanted: CapacityType| {
        let offers = kind
            .offerings
            .iter()
            .filter(|offering| offering.available && offering.capacity_type == wanted);
        let micros = offers.map(|offering| offering.price.micros()).min();
        Field::from_option(
            micros
                .and_then(|micros| u32::try_from(micros).ok())
                .map(|micros| f64::from(micros) / 1e6),
        )
    };
    let zones: BTreeSet<String> = kind
        .offerings
        .iter()
        .map(|offering| offering.zone.to_string())
        .collect();
    let architecture = kind
        .requirements
        .get(joiner_api::labels::ARCH)
        .and_then(Requirement::single)
        .map(ToString::to_string);
    FoundType {
        name: Field::Known(kind.name.to_string()),
        architecture: Field::from_option(architecture),
        cpu: shown(ResourceName::Cpu),
        memory: shown(ResourceName::Memory),
        pods: Field::Known(kind.capacity.get(&ResourceName::Pods)),
        zones: Field::Known(zones.into_iter().collect()),
        on_demand_price: price(CapacityType::OnDemand),
        spot_price: price(CapacityType::Spot),
    }
}
