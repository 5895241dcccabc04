//! The attributes of `joiner_node_overlay`: those of a NodeOverlay's spec, one to one, and what the resource itself needs.

use crate::cluster::Kind;
use crate::objects::{Common, Custom};
use joiner_api::rules;
use std::collections::BTreeMap;
use std::time::Duration;
use tfplugin::{Field, Model};

/// A NodeOverlay (`karpenter.sh/v1alpha1`): corrections of price and capacity for the instance types that match its requirements, such
/// as a discount that the price list does not know, or an extended resource that a device plugin adds.
///
/// The API is alpha: a controller reads overlays when its feature gate `NodeOverlay` is on (`settings.featureGates.nodeOverlay` of the
/// chart). Without `wait` the resource does not wait for that: a controller whose gate is off never calls an overlay ready. The plan
/// needs no cluster: the API's schema is compiled in and every rule of it is checked with the attribute's path.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct NodeOverlay {
    #[tf(flatten)]
    pub common: Common,
    /// What the instance types must be that are corrected, at most 100. All must hold.
    #[tf(required)]
    pub requirements: Field<Vec<OverlayRequirement>>,
    /// The price in US dollars per hour, instead of the price list's, such as `0.25`. Not together with `price_adjustment`.
    pub price: Field<String>,
    /// A change of the price: an amount such as `+0.5` or `-0.25`, or a percentage such as `+10%` or `-15%`. Not together with `price`.
    pub price_adjustment: Field<String>,
    /// Extended resources that the nodes have beyond what the cloud says, by name, for example `{ "smarter-devices/fuse" = "1" }`.
    pub capacity: Field<BTreeMap<String, String>>,
    /// Of several overlays for the same type the one with the higher weight counts, 1 to 10000; without one it is 0.
    pub weight: Field<i64>,
}

/// Something that instance types must be.
#[derive(Clone, Debug, Default, PartialEq, Model)]
pub(crate) struct OverlayRequirement {
    /// The label, such as `karpenter.k8s.aws/instance-family`.
    #[tf(required)]
    pub key: Field<String>,
    /// One of `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`, `Gte`, `Lte`.
    #[tf(required)]
    pub operator: Field<String>,
    /// The label's values: at least one for `In`; one whole number for `Gt`, `Lt`, `Gte` and `Lte`; none for `Exists` and
    /// `DoesNotExist`.
    pub values: Field<Vec<String>>,
}

impl Custom for NodeOverlay {
    type Object = joiner_api::NodeOverlay;

    const RULES: rules::Kind = rules::Kind::NodeOverlay;
    const WAIT: Option<Duration> = None;

    fn kind() -> Kind {
        Kind::new("karpenter.sh", "v1alpha1", "NodeOverlay", "nodeoverlays")
    }

    fn claims(_: &str) -> Option<String> {
        None
    }

    fn common(&self) -> &Common {
        &self.common
    }

    fn common_mut(&mut self) -> &mut Common {
        &mut self.common
    }
}
