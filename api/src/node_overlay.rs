//! NodeOverlay (`karpenter.sh/v1alpha1`): corrections to what the cloud says about instance types.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{quantity::Quantity, requirement::SelectorRequirement, schema};

/// Which instance types are corrected, and how.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "karpenter.sh",
    version = "v1alpha1",
    kind = "NodeOverlay",
    plural = "nodeoverlays",
    status = "NodeOverlayStatus",
    derive = "PartialEq",
    shortname = "overlays",
    category = "karpenter",
    doc = "A correction of price or capacity for the instance types that match its requirements.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Weight", type_ = "integer", json_path = ".spec.weight", priority = 1)
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::cel(&[(
    "!(has(self.price) && has(self.priceAdjustment))",
    "'price' replaces the price and 'priceAdjustment' changes it: set one of them",
)])))]
pub struct NodeOverlaySpec {
    /// Extended resources that the nodes have beyond what the cloud says, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::overlay_capacity")]
    pub capacity: Option<BTreeMap<String, Quantity>>,
    /// The price in US dollars per hour, instead of the cloud's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^\d+(\.\d+)?$"))]
    pub price: Option<String>,
    /// A change of the price: an amount such as +0.5 or -0.25, or a percentage such as +10% or -15%.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(
        pattern = r"^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$"
    ))]
    pub price_adjustment: Option<String>,
    /// Conditions on the labels of the instance types that are corrected.
    #[schemars(schema_with = "schema::overlay_requirements")]
    pub requirements: Vec<SelectorRequirement>,
    /// Of several overlays for the same type the one with the higher weight counts; without one it is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10000))]
    pub weight: Option<i32>,
}

/// What is known about a NodeOverlay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeOverlayStatus {
    /// Whether the overlay is valid and in effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
}
