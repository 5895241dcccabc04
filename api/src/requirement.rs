//! Requirements, taints and references that several kinds share.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;

/// How a requirement compares a label with its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Operator {
    /// The label has one of the values.
    In,
    /// The label has none of the values, or is absent.
    NotIn,
    /// The label is present.
    Exists,
    /// The label is absent.
    DoesNotExist,
    /// The label's number is greater than the value.
    Gt,
    /// The label's number is less than the value.
    Lt,
    /// The label's number is the value or greater.
    Gte,
    /// The label's number is the value or less.
    Lte,
}

impl Operator {
    /// All operators, in the order of the documentation.
    pub const ALL: [Self; 8] = [
        Self::In,
        Self::NotIn,
        Self::Exists,
        Self::DoesNotExist,
        Self::Gt,
        Self::Lt,
        Self::Gte,
        Self::Lte,
    ];

    /// The text in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::In => "In",
            Self::NotIn => "NotIn",
            Self::Exists => "Exists",
            Self::DoesNotExist => "DoesNotExist",
            Self::Gt => "Gt",
            Self::Lt => "Lt",
            Self::Gte => "Gte",
            Self::Lte => "Lte",
        }
    }

    /// Whether the operator compares numbers and so takes exactly one value, a number of at least 0.
    pub fn is_numeric(self) -> bool {
        matches!(self, Self::Gt | Self::Lt | Self::Gte | Self::Lte)
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A condition on a node's label.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    /// The label's key.
    #[schemars(length(max = 316), regex(pattern = schema::LABEL_KEY))]
    pub key: String,
    /// How the label is compared with the values.
    pub operator: Operator,
    /// The values: at least one for In, exactly one number for Gt, Lt, Gte and Lte, none for Exists and
    /// DoesNotExist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Vec<String>,
    /// How many different values of this label the instance types of one launch must offer. More values mean
    /// more choice for the cloud, thus fewer interruptions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::min_values")]
    pub min_values: Option<u32>,
}

/// A condition on a node's label, without `minValues`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SelectorRequirement {
    /// The label's key.
    #[schemars(length(max = 316), regex(pattern = schema::LABEL_KEY))]
    pub key: String,
    /// How the label is compared with the values.
    pub operator: Operator,
    /// The values: at least one for In and NotIn, exactly one number for Gt, Lt, Gte and Lte, none for Exists
    /// and DoesNotExist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Vec<String>,
}

/// What a taint does to pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum TaintEffect {
    /// New pods are kept away.
    NoSchedule,
    /// New pods are kept away while there is another node for them.
    PreferNoSchedule,
    /// New pods are kept away and running ones are evicted.
    NoExecute,
}

impl TaintEffect {
    /// The text in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
        }
    }
}

impl fmt::Display for TaintEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A mark on a node that keeps pods away unless they tolerate it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    /// What the taint does to pods that do not tolerate it.
    pub effect: TaintEffect,
    /// The taint's key.
    #[schemars(length(min = 1), regex(pattern = schema::LABEL_KEY))]
    pub key: String,
    /// When the taint was added; set by Kubernetes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::time")]
    pub time_added: Option<Time>,
    /// The taint's value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = schema::LABEL_KEY))]
    pub value: Option<String>,
}

/// Names the object that says what kind of machine is launched.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct NodeClassRef {
    /// API group of the class, e.g. karpenter.k8s.aws.
    #[schemars(
        regex(pattern = r"^[^/]*$"),
        extend("x-kubernetes-validations" = schema::cel(&[schema::NOT_EMPTY]))
    )]
    pub group: String,
    /// Kind of the class, e.g. EC2NodeClass.
    #[schemars(extend("x-kubernetes-validations" = schema::cel(&[schema::NOT_EMPTY])))]
    pub kind: String,
    /// Name of the class.
    #[schemars(extend("x-kubernetes-validations" = schema::cel(&[schema::NOT_EMPTY])))]
    pub name: String,
}
