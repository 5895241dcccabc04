//! The attributes of `joiner_node_pool`: those of a NodePool's spec, one to one, and what the resource itself needs.

use crate::cluster::Kind;
use crate::forecast::{Outlook, Subject};
use crate::objects::{Common, Custom};
use joiner_api::{labels, rules};
use std::collections::BTreeMap;
use tfplugin::{Field, Model};

/// The API group of node classes when none is named.
const CLASS_GROUP: &str = "karpenter.k8s.aws";
/// The kind of node classes when none is named.
const CLASS_KIND: &str = "EC2NodeClass";

/// A NodePool (`karpenter.sh/v1`): what kind of nodes the controller may buy, how many, and when it gives them back.
///
/// `labels` and `annotations` are those of the NodePool itself; for those of nodes see `template.metadata`.
///
/// The plan needs no cluster: the API's schema is compiled in and every rule of it is checked with the attribute's path.
/// Changes are made in place with server-side apply. The resource waits for the pool to get ready; a pool that is not ready in
/// time is a warning, never an error. A destroy drains and removes the pool's nodes first and says what it waits for.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct NodePool {
    #[tf(flatten)]
    pub common: Common,
    #[tf(flatten)]
    pub outlook: Outlook,
    /// What the pool's nodes are made from.
    #[tf(required)]
    pub template: Field<Template>,
    /// When nodes are given back or replaced.
    #[tf(default = super::defaults::disruption())]
    pub disruption: Field<Disruption>,
    /// The most that all nodes of the pool may have together, by resource, for example `{ cpu = "1000", memory = "1000Gi" }`. Pods
    /// beyond it stay pending.
    pub limits: Field<BTreeMap<String, String>>,
    /// Pools with a higher weight are tried first, 1 to 100; a pool without weight comes last.
    pub weight: Field<i64>,
    /// A fixed number of nodes instead of as many as pods need. Setting or unsetting it replaces the pool, since the API does not
    /// allow the change.
    pub replicas: Field<i64>,
}

/// What a NodePool's nodes are made from.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Template {
    /// Labels and annotations that nodes get.
    pub metadata: Field<TemplateMetadata>,
    /// Requirements, taints, node class and lifetime of nodes.
    #[tf(required)]
    pub spec: Field<TemplateSpec>,
}

/// Labels and annotations that nodes get.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct TemplateMetadata {
    /// Labels of the nodes; pods can select them. Labels of restricted domains are not allowed.
    pub labels: Field<BTreeMap<String, String>>,
    /// Annotations of the nodes.
    pub annotations: Field<BTreeMap<String, String>>,
}

/// Requirements, taints, node class and lifetime of nodes.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct TemplateSpec {
    /// The class that says how instances are started.
    #[tf(required)]
    pub node_class_ref: Field<NodeClassRef>,
    /// What nodes must be: instance types, zones, architectures, capacity types and so on, at most 100. All must hold.
    #[tf(required)]
    pub requirements: Field<Vec<Requirement>>,
    /// Taints of the nodes; only pods that tolerate them run there.
    pub taints: Field<Vec<Taint>>,
    /// Taints that nodes start with and that something, such as a network plugin, takes away. Pods need not tolerate them.
    pub startup_taints: Field<Vec<Taint>>,
    /// The age at which a node is replaced, such as `720h`, or `Never`.
    #[tf(default = "720h")]
    pub expire_after: Field<String>,
    /// The most time between the start of a node's deletion and its end, such as `48h`. When it has passed, pods are deleted whatever
    /// protects them. Without it, a node waits for its pods without limit.
    pub termination_grace_period: Field<String>,
}

/// A reference to a node class.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct NodeClassRef {
    /// API group of the class. A change replaces the pool.
    #[tf(default = CLASS_GROUP.into(), requires_replace)]
    pub group: Field<String>,
    /// Kind of the class. A change replaces the pool.
    #[tf(default = CLASS_KIND.into(), requires_replace)]
    pub kind: Field<String>,
    /// Name of the class. Refer to the `name` of a `joiner_ec2_node_class`, so that the class outlives the pool.
    #[tf(required)]
    pub name: Field<String>,
}

/// Something that nodes must be.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Requirement {
    /// The label, such as `karpenter.sh/capacity-type`.
    #[tf(required)]
    pub key: Field<String>,
    /// One of `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`, `Gte`, `Lte`.
    #[tf(required)]
    pub operator: Field<String>,
    /// The label's values: at least one for `In`; one whole number for `Gt`, `Lt`, `Gte` and `Lte`; none for `Exists` and
    /// `DoesNotExist`.
    pub values: Field<Vec<String>>,
    /// How many different values the instance types that are tried must have, 1 to 50: more of them make spot capacity safer.
    pub min_values: Field<i64>,
}

/// A taint of a node.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Taint {
    /// The taint's key.
    #[tf(required)]
    pub key: Field<String>,
    /// Its value.
    pub value: Field<String>,
    /// One of `NoSchedule`, `PreferNoSchedule`, `NoExecute`.
    #[tf(required)]
    pub effect: Field<String>,
    /// When it was added, RFC 3339.
    pub time_added: Field<String>,
}

/// When nodes are given back or replaced.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Disruption {
    /// Which nodes may be given back or replaced by cheaper ones: `WhenEmpty`, `WhenEmptyOrUnderutilized` or `Balanced`.
    #[tf(default = "WhenEmptyOrUnderutilized")]
    pub consolidation_policy: Field<String>,
    /// How long a node must have been without change before it is looked at, such as `30s`, or `Never`.
    #[tf(default = "0s")]
    pub consolidate_after: Field<String>,
    /// How many nodes may be disrupted at once. Of several budgets that are active, the strictest counts.
    #[tf(default = super::defaults::budgets())]
    pub budgets: Field<Vec<Budget>>,
}

/// How many nodes may be disrupted at once.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct Budget {
    /// A number of nodes, or a percentage of the pool such as `10%`.
    #[tf(default = "10%")]
    pub nodes: Field<String>,
    /// What the budget is for: `Underutilized`, `Empty`, `Drifted`; all of them when left out.
    pub reasons: Field<Vec<String>>,
    /// When the budget begins to be active, a cron expression in UTC such as `0 9 * * mon-fri`; goes with `duration`.
    pub schedule: Field<String>,
    /// How long it is active each time, in hours and minutes, such as `8h`; goes with `schedule`.
    pub duration: Field<String>,
}

impl Custom for NodePool {
    type Object = joiner_api::NodePool;

    const RULES: rules::Kind = rules::Kind::NodePool;

    const NODES: Option<Subject> = Some(Subject::Pool);

    fn outlook(&self) -> Option<&Outlook> {
        Some(&self.outlook)
    }

    fn outlook_mut(&mut self) -> Option<&mut Outlook> {
        Some(&mut self.outlook)
    }

    fn is_replaced_by(&self, planned: &Self) -> bool {
        let class = |pool: &Self| {
            let spec = pool.template.known()?.spec.known()?;
            let NodeClassRef { group, kind, .. } = spec.node_class_ref.known()?;
            Some((group.clone(), kind.clone()))
        };
        let of_another_class = class(self)
            .zip(class(planned))
            .is_some_and(|(own, other)| own != other);
        of_another_class
            || self.common.name != planned.common.name
            || self.replicas.is_null() != planned.replicas.is_null()
    }

    fn kind() -> Kind {
        Kind::new("karpenter.sh", "v1", "NodePool", "nodepools")
    }

    fn claims(name: &str) -> Option<String> {
        Some(format!("{}={name}", labels::NODEPOOL))
    }

    fn common(&self) -> &Common {
        &self.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.common
    }

    fn complete(&mut self) {
        if let Some(disruption) = self.disruption.known_mut()
            && disruption.consolidate_after.is_null()
        {
            disruption.consolidate_after = super::defaults::disruption().consolidate_after;
        }
        let spec = self
            .template
            .known_mut()
            .and_then(|template| template.spec.known_mut());
        if let Some(reference) = spec.and_then(|spec| spec.node_class_ref.known_mut()) {
            for (field, default) in [
                (&mut reference.group, CLASS_GROUP),
                (&mut reference.kind, CLASS_KIND),
            ] {
                if field.is_null() {
                    *field = default.into();
                }
            }
        }
    }
}
