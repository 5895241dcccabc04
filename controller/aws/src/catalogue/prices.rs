//! What things cost: on-demand from the price list, spot from EC2's history.

use super::price_list::on_demand_price;
use crate::connect::Aws;
use crate::error::{Error, Named};
use aws_sdk_pricing::types as pricing;
use aws_smithy_types::DateTime;
use joiner_core::money::Price;
use joiner_core::text::Text;
use std::collections::BTreeMap;

const SPOT_HISTORY: &str = "ec2:DescribeSpotPriceHistory";
const PRODUCTS: &str = "pricing:GetProducts";

/// Prices by type, spot also by zone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceBook {
    on_demand: BTreeMap<Text, Price>,
    spot: BTreeMap<Text, BTreeMap<Text, Price>>,
}

impl PriceBook {
    /// A book of the two lists.
    pub fn new(on_demand: BTreeMap<Text, Price>, spot: BTreeMap<Text, BTreeMap<Text, Price>>) -> Self {
        Self { on_demand, spot }
    }

    /// The list price of a type.
    pub fn on_demand(&self, instance_type: &str) -> Option<Price> {
        self.on_demand.get(instance_type).copied()
    }

    /// True if there is no price list, so that prices have to be estimated.
    pub fn lacks_on_demand(&self) -> bool {
        self.on_demand.is_empty()
    }

    /// The last known spot price of a type in a zone.
    pub fn spot(&self, instance_type: &str, zone: &str) -> Option<Price> {
        self.spot.get(instance_type)?.get(zone).copied()
    }

    /// Takes over the prices in `newer`; what it does not know stays.
    pub fn update(&mut self, newer: Self) {
        self.on_demand.extend(newer.on_demand);
        for (kind, zones) in newer.spot {
            self.spot.entry(kind).or_default().extend(zones);
        }
    }

    /// True if nothing has a price.
    pub fn is_empty(&self) -> bool {
        self.on_demand.is_empty() && self.spot.is_empty()
    }
}

/// Both lists, read side by side. A list that cannot be had here (no permission, or no way to it from an isolated network)
/// stays empty, with a warning: on-demand prices are then estimated and spot is not offered.
pub async fn load_prices(aws: &Aws) -> Result<PriceBook, Error> {
    let (on_demand, spot) = futures::join!(load_on_demand(aws), load_spot(aws));
    let (on_demand, spot) = (or_none(on_demand, "on-demand")?, or_none(spot, "spot")?);
    Ok(PriceBook { on_demand, spot })
}

fn or_none<T: Default>(list: Result<T, Error>, kind: &'static str) -> Result<T, Error> {
    match list {
        Err(error @ (Error::Unauthorized(_) | Error::Unreachable { .. })) => {
            tracing::warn!(%error, kind, "prices could not be read");
            Ok(T::default())
        }
        list => list,
    }
}

/// On-demand prices of the region: shared machines, and metal, which is listed as dedicated.
pub async fn load_on_demand(aws: &Aws) -> Result<BTreeMap<Text, Price>, Error> {
    let (mut shared, metal) = futures::try_join!(
        products(aws, "Shared", "Compute Instance"),
        products(aws, "Dedicated", "Compute Instance (bare metal)"),
    )?;
    shared.extend(metal);
    Ok(shared)
}

async fn products(aws: &Aws, tenancy: &str, family: &str) -> Result<BTreeMap<Text, Price>, Error> {
    let region = aws.region().await?;
    let mut request = aws.pricing().await?.get_products().service_code("AmazonEC2");
    for (field, value) in [
        ("regionCode", region.as_str()),
        ("preInstalledSw", "NA"),
        ("operatingSystem", "Linux"),
        ("capacitystatus", "Used"),
        ("marketoption", "OnDemand"),
        ("tenancy", tenancy),
        ("productFamily", family),
    ] {
        let filter = pricing::Filter::builder()
            .field(field)
            .r#type(pricing::FilterType::TermMatch)
            .value(value)
            .build();
        match filter {
            Ok(filter) => request = request.filters(filter),
            Err(_) => {
                return Err(Error::Incomplete {
                    operation: PRODUCTS,
                    part: "filter",
                });
            }
        }
    }
    let currency = if region.starts_with("cn-") { "CNY" } else { "USD" };
    let mut prices = BTreeMap::new();
    let mut pages = request.into_paginator().page_size(100).send();
    while let Some(page) = pages.next().await {
        prices.extend(
            page.named(PRODUCTS)?
                .price_list()
                .iter()
                .filter_map(|product| on_demand_price(product, currency)),
        );
    }
    Ok(prices)
}

/// Spot prices of the region: for each type and zone the newest.
pub async fn load_spot(aws: &Aws) -> Result<BTreeMap<Text, BTreeMap<Text, Price>>, Error> {
    let mut pages = aws
        .ec2()
        .await?
        .describe_spot_price_history()
        .product_descriptions("Linux/UNIX")
        .product_descriptions("Linux/UNIX (Amazon VPC)")
        // From now on: the price that holds, and no history.
        .start_time(DateTime::from(std::time::SystemTime::now()))
        .into_paginator()
        .page_size(1000)
        .send();
    let mut newest: BTreeMap<Text, BTreeMap<Text, (i64, Price)>> = BTreeMap::new();
    while let Some(page) = pages.next().await {
        for entry in page.named(SPOT_HISTORY)?.spot_price_history() {
            let (Some(kind), Some(zone), Some(price)) = (
                entry.instance_type(),
                entry.availability_zone(),
                entry.spot_price().and_then(Price::parse_dollars),
            ) else {
                continue;
            };
            let at = entry.timestamp().map_or(0, DateTime::secs);
            let zones = newest.entry(kind.as_str().into()).or_default();
            if zones.get(zone).is_none_or(|(known, _)| *known <= at) {
                zones.insert(zone.into(), (at, price));
            }
        }
    }
    Ok(newest
        .into_iter()
        .map(|(kind, zones)| {
            (
                kind,
                zones
                    .into_iter()
                    .map(|(zone, (_, price))| (zone, price))
                    .collect(),
            )
        })
        .collect())
}
