//! The answer document of `joiner simulate -o json`, which the peer writes too, and what can be read off it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use crate::objects::{CAPACITY_TYPE, ZONE};

/// The document; fields that are not compared are left out.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Answer {
    /// Nodes to buy.
    pub new_nodes: Vec<NewNode>,
    /// Nodes that are there and get pods.
    pub existing_nodes: Vec<ExistingNode>,
    /// Pods without a place.
    pub unschedulable: Vec<Unschedulable>,
    /// What it costs.
    pub hourly_cost: HourlyCost,
    /// The decision alone.
    pub solve_millis: f64,
    /// Whether time ran out before every pod was looked at.
    pub partial: bool,
    /// Why there is no answer.
    pub error: Option<String>,
}

/// A node to buy.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NewNode {
    /// `POOL-N`.
    pub name: String,
    /// The pool.
    pub node_pool: String,
    /// The types it may become, the cheapest first.
    pub instance_types: Vec<String>,
    /// What is asked of the instance.
    pub requirements: Vec<Asked>,
    /// Its taints.
    pub taints: Vec<Value>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its pods, as `namespace/name`.
    pub pods: Vec<String>,
    /// Its price as the tool itself says it, in dollars an hour.
    pub price: f64,
}

/// One requirement.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Asked {
    /// The label.
    pub key: String,
    /// The operator.
    pub operator: String,
    /// The values.
    pub values: Vec<String>,
    /// How many values must stay open.
    pub min_values: Option<u32>,
}

/// A node that is there and gets pods.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ExistingNode {
    /// Its name.
    pub name: String,
    /// The pods it gets.
    pub pods: Vec<String>,
}

/// A pod without a place.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Unschedulable {
    /// `namespace/name`.
    pub pod: String,
    /// Why.
    pub reasons: Vec<Value>,
}

/// What it costs, in dollars an hour.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HourlyCost {
    /// The new nodes.
    pub new: f64,
    /// What no set of new nodes can be cheaper than.
    pub lower_bound: Option<f64>,
}

impl Answer {
    /// The pods that have a place.
    pub fn placed(&self) -> BTreeSet<&str> {
        let new = self.new_nodes.iter().flat_map(|node| &node.pods);
        let there = self.existing_nodes.iter().flat_map(|node| &node.pods);
        new.chain(there).map(String::as_str).collect()
    }
}

/// One way to buy a type.
#[derive(Clone, Debug)]
pub struct Sale {
    zone: String,
    capacity_type: String,
    other: Vec<(String, String)>,
    /// In dollars an hour.
    pub price: f64,
}

/// What a catalogue sells, by the type's name.
#[derive(Clone, Debug, Default)]
pub struct Shop(BTreeMap<String, Vec<Sale>>);

impl Shop {
    /// Reads a document of kind InstanceTypeCatalog.
    pub fn new(catalogue: &Value) -> Shop {
        let types = catalogue["instanceTypes"].as_array().into_iter().flatten();
        Shop(types.map(|kind| (text(&kind["name"]), sales(kind))).collect())
    }

    /// The ways to buy a node, in no order.
    pub fn sales<'a>(&'a self, node: &'a NewNode) -> impl Iterator<Item = &'a Sale> {
        self.sales_as(node, &node.instance_types)
    }

    /// The ways to buy a node as one of `types`, whichever it lists.
    fn sales_as<'a>(&'a self, node: &'a NewNode, types: &'a [String]) -> impl Iterator<Item = &'a Sale> {
        let offered = types.iter().filter_map(|name| self.0.get(name));
        offered.flatten().filter(|sale| node.allows(sale))
    }

    /// The least that a node can cost; none where it cannot be bought.
    pub fn price(&self, node: &NewNode) -> Option<f64> {
        self.sales(node).map(|sale| sale.price).min_by(f64::total_cmp)
    }

    /// The sum over all nodes; what cannot be bought counts nothing.
    pub fn total(&self, answer: &Answer) -> f64 {
        answer.new_nodes.iter().filter_map(|node| self.price(node)).sum()
    }

    /// How many ways a node has within 1.3 times its price, of its own capacity type.
    pub fn alternatives(&self, node: &NewNode) -> usize {
        self.alternatives_as(node, &node.instance_types)
    }

    /// How many it would have if it listed `types`.
    pub fn alternatives_as(&self, node: &NewNode, types: &[String]) -> usize {
        let Some(best) = self.sales(node).min_by(|a, b| a.price.total_cmp(&b.price)) else {
            return 0;
        };
        let near = |sale: &&Sale| sale.price <= 1.3 * best.price && sale.capacity_type == best.capacity_type;
        self.sales_as(node, types).filter(near).count()
    }

    /// Whether the cheapest way to buy a node is spot.
    pub fn is_spot(&self, node: &NewNode) -> bool {
        let best = self.sales(node).min_by(|a, b| a.price.total_cmp(&b.price));
        best.is_some_and(|sale| sale.capacity_type == "spot")
    }
}

fn sales(kind: &Value) -> Vec<Sale> {
    let offerings = kind["offerings"].as_array().into_iter().flatten();
    let available = offerings.filter(|it| it["available"] != false);
    available
        .map(|it| {
            let mut sale = Sale {
                zone: String::new(),
                capacity_type: String::new(),
                other: Vec::new(),
                price: it["price"].as_f64().unwrap_or(0.0),
            };
            for wanted in it["requirements"].as_array().into_iter().flatten() {
                let (key, value) = (text(&wanted["key"]), text(&wanted["values"][0]));
                match key.as_str() {
                    ZONE => sale.zone = value,
                    CAPACITY_TYPE => sale.capacity_type = value,
                    _ => sale.other.push((key, value)),
                }
            }
            sale
        })
        .collect()
}

impl NewNode {
    fn allows(&self, sale: &Sale) -> bool {
        let value = |key: &str| match key {
            ZONE => Some(sale.zone.as_str()),
            CAPACITY_TYPE => Some(sale.capacity_type.as_str()),
            _ => sale
                .other
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value.as_str()),
        };
        let place = |asked: &&Asked| {
            matches!(asked.key.as_str(), ZONE | CAPACITY_TYPE) || value(&asked.key).is_some()
        };
        self.requirements
            .iter()
            .filter(place)
            .all(|asked| asked.holds(value(&asked.key)))
    }
}

impl Asked {
    fn holds(&self, value: Option<&str>) -> bool {
        let named = |value: &str| self.values.iter().any(|it| it == value);
        match (self.operator.as_str(), value) {
            ("In", value) => value.is_some_and(named),
            ("NotIn", value) => !value.is_some_and(named),
            ("Exists", value) => value.is_some(),
            ("DoesNotExist", value) => value.is_none(),
            // Numbers are not asked of zones and capacity types.
            _ => true,
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("").to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Answer, Shop};
    use crate::generate::{catalogue, offering};

    #[test]
    fn a_node_costs_its_cheapest_allowed_offering() {
        let kind = |name: &str, spot: f64| json!({"name": name, "offerings": [offering("a", "spot", spot), offering("b", "on-demand", 1.0)]});
        let shop = Shop::new(&catalogue(&[], vec![kind("x", 0.3), kind("y", 0.35)]));
        let rows = [
            (json!([]), Some(0.3), 2),
            (
                json!([{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"]}]),
                Some(1.0),
                2,
            ),
            (
                json!([{"key": "karpenter.sh/capacity-type", "operator": "NotIn", "values": ["spot"]}]),
                Some(1.0),
                2,
            ),
            (
                json!([{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["c"]}]),
                None,
                0,
            ),
        ];
        for (requirements, price, alternatives) in rows {
            let answer: Answer = serde_json::from_value(
                json!({"newNodes": [{"instanceTypes": ["x", "y"], "requirements": requirements}]}),
            )
            .unwrap();
            let node = &answer.new_nodes[0];
            assert_eq!(shop.price(node), price, "{requirements}");
            assert_eq!(shop.alternatives(node), alternatives, "{requirements}");
        }
    }
}
