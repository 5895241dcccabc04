//! One entry of AWS' price list.

use joiner_core::money::Price;
use joiner_core::text::Text;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Entry {
    product: Product,
    #[serde(default)]
    terms: Terms,
}

#[derive(Deserialize)]
struct Product {
    #[serde(default)]
    attributes: Attributes,
}

#[derive(Default, Deserialize)]
struct Attributes {
    #[serde(default, rename = "instanceType")]
    instance_type: String,
}

#[derive(Default, Deserialize)]
struct Terms {
    #[serde(default, rename = "OnDemand")]
    on_demand: BTreeMap<String, Term>,
}

#[derive(Deserialize)]
struct Term {
    #[serde(default, rename = "priceDimensions")]
    dimensions: BTreeMap<String, Dimension>,
}

#[derive(Deserialize)]
struct Dimension {
    #[serde(default, rename = "pricePerUnit")]
    per_unit: BTreeMap<String, String>,
}

/// Type and price in an entry's JSON; `None` for an entry that is no instance or has no price above zero in `currency`.
pub(super) fn on_demand_price(json: &str, currency: &str) -> Option<(Text, Price)> {
    let entry: Entry = serde_json::from_str(json).ok()?;
    if entry.product.attributes.instance_type.is_empty() {
        return None;
    }
    let price = entry
        .terms
        .on_demand
        .values()
        .flat_map(|term| term.dimensions.values())
        .filter_map(|dimension| Price::parse_dollars(dimension.per_unit.get(currency)?))
        .find(|price| *price > Price::ZERO)?;
    Some((entry.product.attributes.instance_type.into(), price))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_gives_type_and_price() {
        let entry = |kind: &str, prices: &str| {
            format!(
                r#"{{"product":{{"productFamily":"x","attributes":{{"instanceType":"{kind}","vcpu":"2"}}}},
                   "terms":{{"OnDemand":{{"A":{{"priceDimensions":{{"B":{{"unit":"Hrs","pricePerUnit":{prices}}}}}}}}}}}}}"#
            )
        };
        for (json, want) in [
            (
                entry("m5.large", r#"{"USD":"0.0960000000"}"#),
                Some(("m5.large", 96_000)),
            ),
            (entry("m5.large", r#"{"CNY":"0.0960000000"}"#), None),
            (entry("m5.large", r#"{"USD":"0.0000000000"}"#), None),
            (entry("", r#"{"USD":"0.1"}"#), None),
            ("{}".to_owned(), None),
            ("nonsense".to_owned(), None),
        ] {
            let got = on_demand_price(&json, "USD");
            assert_eq!(
                got.as_ref().map(|(kind, price)| (&**kind, price.micros())),
                want,
                "{json}"
            );
        }
    }
}
