//! How decisions are set up: what the operator chose.

use super::pod::{InclusionPolicy, Strength};
use crate::resources::Resources;
use crate::text::Text;

/// The settings that change decisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How new nodes are chosen.
    pub strategy: Strategy,
    /// What preferences of pods are worth.
    pub preference_policy: PreferencePolicy,
    /// What happens where `minValues` cannot be met.
    pub min_values_policy: MinValuesPolicy,
    /// Tells otherwise equal answers apart; the same seed gives the same answer.
    pub seed: u64,
    /// How many steps the search for a cheaper answer may take after the first feasible one; 0 for none. A step is
    /// one node filled on trial. The count, unlike a clock, gives the same answer on every machine.
    pub effort: u64,
    /// Whether the lower bound of the price is computed.
    pub bound: bool,
    /// What a careful operator does not want to be bought.
    pub guards: Guards,
    /// Spread constraints of pods that have none of their own and belong to a workload.
    pub default_spread: Vec<DefaultSpread>,
    /// What is switched on.
    pub gates: Gates,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            strategy: Strategy::Price,
            preference_policy: PreferencePolicy::Respect,
            min_values_policy: MinValuesPolicy::Strict,
            seed: 0,
            // With the relaxation about 200 ms for 5,000 pods, built with optimisation.
            effort: 10_000,
            bound: false,
            guards: Guards::default(),
            default_spread: Vec::new(),
            gates: Gates::default(),
        }
    }
}

/// How new nodes are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// As Karpenter does: the largest pods first, each on the first node that takes it.
    FirstFit,
    /// The cheapest set of nodes that can be found.
    Price,
}

impl Strategy {
    /// Reads `first-fit` or `price`.
    pub fn parse(text: &str) -> Option<Strategy> {
        [Strategy::FirstFit, Strategy::Price]
            .into_iter()
            .find(|it| it.as_str() == text)
    }

    /// `first-fit` or `price`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Strategy::FirstFit => "first-fit",
            Strategy::Price => "price",
        }
    }
}

/// `PREFERENCE_POLICY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreferencePolicy {
    /// Kept where possible.
    Respect,
    /// Not looked at.
    Ignore,
}

/// `MIN_VALUES_POLICY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinValuesPolicy {
    /// No node is bought.
    Strict,
    /// The count is lowered to what there is, and the claim says so.
    BestEffort,
}

/// Limits on how much hangs on one node. Both are off by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guards {
    /// The largest share of a workload's replicas, in percent, that a new node may carry; one replica always may.
    pub max_replica_share: Option<u32>,
    /// The largest capacity that a new node may have, for the resources named.
    pub largest_node: Option<Resources>,
}

/// A spread constraint for pods that have none, cluster-wide. Its selector is that of the pod's workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultSpread {
    /// The label whose equal values are one place.
    pub topology_key: Text,
    /// The largest difference allowed between places.
    pub max_skew: u32,
    /// Whether it must hold or is wished for.
    pub strength: Strength,
    /// With fewer places than this the smallest count is taken as zero.
    pub min_domains: Option<u32>,
    /// Whether nodes that the pod's own node affinity refuses are counted.
    pub node_affinity_policy: InclusionPolicy,
    /// Whether nodes whose taints the pod does not bear are counted.
    pub node_taints_policy: InclusionPolicy,
}

/// What is switched on; names and defaults are upstream's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gates {
    /// `ReservedCapacity`: reserved offerings are used.
    pub reserved_capacity: bool,
    /// The reverse of `IGNORE_DRA_REQUESTS`: pods with resource claims are decided on.
    pub dynamic_resources: bool,
}

impl Default for Gates {
    fn default() -> Gates {
        Gates {
            reserved_capacity: true,
            dynamic_resources: false,
        }
    }
}
