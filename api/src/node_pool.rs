//! NodePool (`karpenter.sh/v1`): which nodes may be launched, in which limits, and when they may be disrupted.

use std::{collections::BTreeMap, fmt};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    duration::{GoDuration, NillableDuration},
    quantity::Quantity,
    requirement::{NodeClassRef, Requirement, Taint},
    schema,
};

/// What a NodePool wants: which nodes it may launch, how many, and when they may be disrupted.
#[expect(
    clippy::duplicated_attributes,
    reason = "each column of `kubectl get` is an attribute of its own"
)]
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "karpenter.sh",
    version = "v1",
    kind = "NodePool",
    plural = "nodepools",
    status = "NodePoolStatus",
    derive = "PartialEq",
    category = "karpenter",
    doc = "A set of nodes that are launched for pending pods from one template.",
    scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.nodes"),
    printcolumn(
        name = "NodeClass",
        type_ = "string",
        json_path = ".spec.template.spec.nodeClassRef.name"
    ),
    printcolumn(name = "Nodes", type_ = "string", json_path = ".status.nodes"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Weight", type_ = "integer", json_path = ".spec.weight", priority = 1),
    printcolumn(
        name = "CPU",
        type_ = "string",
        json_path = ".status.resources.cpu",
        priority = 1
    ),
    printcolumn(
        name = "Memory",
        type_ = "string",
        json_path = ".status.resources.memory",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = schema::cel(&[
    (
        "has(self.replicas) == has(oldSelf.replicas)",
        "a pool stays static ('replicas' set) or dynamic ('replicas' absent): create a new NodePool instead",
    ),
    (
        "!has(self.replicas) || !has(self.limits) || self.limits.all(name, name == 'nodes')",
        "a pool with 'replicas' is limited by 'limits.nodes' alone: remove the other limits",
    ),
    (
        "!(has(self.replicas) && has(self.weight))",
        "a pool with 'replicas' does not compete for pods: remove 'weight'",
    ),
])))]
pub struct NodePoolSpec {
    /// When and how nodes of this pool may be disrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = {"consolidateAfter": "0s"}))]
    pub disruption: Option<Disruption>,
    /// The most this pool may hold, by resource name: cpu, memory, an extended resource, or nodes for the
    /// number of nodes. With replicas only nodes is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::quantities")]
    pub limits: Option<BTreeMap<String, Quantity>>,
    /// Keeps this number of nodes whatever pods there are, instead of following the pods' demand. Alpha.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub replicas: Option<i64>,
    /// The template of the NodeClaims that this pool launches.
    pub template: NodeClaimTemplate,
    /// Pools with a higher weight are tried first; without one a pool counts as 0. Not allowed with replicas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub weight: Option<i32>,
}

/// When and how nodes may be disrupted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Disruption {
    /// How many nodes may be disrupted at a time; of several active budgets the strictest counts. Without
    /// any given, one of 10%.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50), extend(
        "default" = [{"nodes": "10%"}],
        "x-kubernetes-list-type" = "atomic",
        "x-kubernetes-validations" = schema::cel(&[(
            "self.all(budget, has(budget.schedule) == has(budget.duration))",
            "'schedule' says when a budget starts and 'duration' how long it lasts: set both or neither",
        )])
    ))]
    pub budgets: Option<Vec<Budget>>,
    /// How long a node must have been without pods coming or going before it is consolidated, or Never.
    #[schemars(schema_with = "schema::nillable_duration")]
    pub consolidate_after: NillableDuration,
    /// Which nodes are consolidated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "WhenEmptyOrUnderutilized"))]
    pub consolidation_policy: Option<ConsolidationPolicy>,
}

/// Which nodes are consolidated.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum ConsolidationPolicy {
    /// Nodes without pods of their own.
    WhenEmpty,
    /// Also nodes whose pods fit elsewhere or on cheaper nodes.
    #[default]
    WhenEmptyOrUnderutilized,
    /// As before, but only moves whose saving is worth the disruption.
    Balanced,
}

/// A limit on the nodes that are disrupted at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("required" = ["nodes"]))]
pub struct Budget {
    /// How long the budget is active after each hit of the schedule, in hours and minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::budget_duration")]
    pub duration: Option<GoDuration>,
    /// The most nodes at a time: a number, or a percentage of the pool's nodes, rounded up.
    #[serde(default = "Budget::default_nodes")]
    #[schemars(regex(pattern = r"^((100|[0-9]{1,2})%|[0-9]+)$"))]
    pub nodes: String,
    /// The kinds of disruption that the budget is about; without any, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50), extend("x-kubernetes-list-type" = "set"))]
    pub reasons: Option<Vec<DisruptionReason>>,
    /// When the budget becomes active: a cron expression of five fields or a macro such as @daily, in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(
        pattern = r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$"
    ))]
    pub schedule: Option<String>,
}

impl Budget {
    fn default_nodes() -> String {
        "10%".to_owned()
    }
}

/// Why a node is disrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum DisruptionReason {
    /// Its pods fit elsewhere or on a cheaper node.
    Underutilized,
    /// It has no pods of its own.
    Empty,
    /// Its pool, class or image has changed.
    Drifted,
}

impl fmt::Display for DisruptionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Underutilized => "Underutilized",
            Self::Empty => "Empty",
            Self::Drifted => "Drifted",
        })
    }
}

/// The template of the NodeClaims that a pool launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeClaimTemplate {
    /// Labels and annotations of the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// What the nodes are like.
    pub spec: NodeClaimTemplateSpec,
}

/// Labels and annotations of a pool's nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TemplateMetadata {
    /// Annotations of the nodes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "schema::annotations")]
    pub annotations: BTreeMap<String, String>,
    /// Labels of the nodes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "schema::template_labels")]
    pub labels: BTreeMap<String, String>,
}

/// What a pool's nodes are like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeClaimTemplateSpec {
    /// How long a node may live before it is replaced, or Never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::expire_after")]
    pub expire_after: Option<NillableDuration>,
    /// The object that says what kind of machine is launched.
    #[schemars(extend("x-kubernetes-validations" = schema::cel(&[
        ("self.group == oldSelf.group", "'group' cannot change: create a new NodePool for another kind of class"),
        ("self.kind == oldSelf.kind", "'kind' cannot change: create a new NodePool for another kind of class"),
    ])))]
    pub node_class_ref: NodeClassRef,
    /// Conditions on the labels of the nodes that may be launched.
    #[schemars(schema_with = "schema::pool_requirements")]
    pub requirements: Vec<Requirement>,
    /// Taints that something else, usually a DaemonSet, removes soon after the start; pods need not tolerate
    /// them for a node to be launched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub startup_taints: Vec<Taint>,
    /// Taints of the nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub taints: Vec<Taint>,
    /// The most a draining node waits for its pods. When it is over, pods are removed whatever their
    /// disruption budgets, annotations and own grace periods say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::duration")]
    pub termination_grace_period: Option<GoDuration>,
}

/// What is known about a NodePool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolStatus {
    /// Whether the pool is valid and usable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// The generation of the node class that the pool's health is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_class_observed_generation: Option<i64>,
    /// The number of nodes of this pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = 0))]
    pub nodes: Option<i64>,
    /// What the pool's nodes hold together, by resource name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "schema::quantities")]
    pub resources: BTreeMap<String, Quantity>,
}
