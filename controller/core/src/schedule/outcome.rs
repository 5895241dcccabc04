//! What a round of scheduling decides.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::SignedDuration;

use super::misfit::Refusal;
use crate::money::Price;
use crate::requirements::Requirements;
use crate::resources::Resources;
use crate::snapshot::{ClassRef, PodKey};
use crate::taints::Taint;
use crate::text::{Labels, Text};

/// Which pods go where, and why the others go nowhere. Every pod that was to be decided on is in exactly one place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// Claims to make, in the order in which they were opened.
    pub new_claims: Vec<NewClaim>,
    /// Pods for nodes and claims that are there, by the name decisions know the place by.
    pub existing: BTreeMap<Text, Vec<PodKey>>,
    /// Pods without a place.
    pub unschedulable: BTreeMap<PodKey, Arc<Refusal>>,
    /// Wishes that were not looked at or not granted, in words.
    pub relaxed: BTreeMap<PodKey, Arc<[Text]>>,
    /// What the new claims cost together, each at its lowest price.
    pub price: Price,
    /// What the nodes that are there cost, as far as the catalogue knows their price.
    pub existing_price: Price,
    /// No set of new nodes that gives the same pods a place, or more, and gives up no more wishes can cost less, whatever the
    /// strategy and whatever is put on nodes that are there; none where it was not asked for
    /// ([`crate::snapshot::Settings::bound`]).
    pub lower_bound: Option<Price>,
}

/// A claim to make.
#[derive(Clone, Debug, PartialEq)]
pub struct NewClaim {
    /// The pool that pays for it.
    pub pool: Text,
    /// The pool's uid.
    pub pool_uid: Text,
    /// The class of its node.
    pub class: ClassRef,
    /// The pods it is for.
    pub pods: Vec<PodKey>,
    /// `spec.requirements`: the pool's, narrowed by the pods', with `minValues`. The instance types are in here too.
    pub requirements: Requirements,
    /// The instance types it may become, cheapest first; at most [`super::MAX_TYPES`].
    pub instance_types: Arc<[Text]>,
    /// `spec.resources.requests`: the pods and the daemons that will be on it.
    pub requests: Resources,
    /// The lowest price at which it can be bought now.
    pub price: Price,
    /// Its labels.
    pub labels: Labels,
    /// Its annotations.
    pub annotations: Labels,
    /// `spec.taints`.
    pub taints: Vec<Taint>,
    /// `spec.startupTaints`.
    pub startup_taints: Vec<Taint>,
    /// `spec.expireAfter`.
    pub expire_after: Option<SignedDuration>,
    /// `spec.terminationGracePeriod`.
    pub termination_grace_period: Option<SignedDuration>,
    /// Whether `minValues` had to be lowered.
    pub min_values_relaxed: bool,
}

impl Schedule {
    /// The pods that got a place, with its name where it is there already.
    pub fn placed(&self) -> impl Iterator<Item = &PodKey> {
        self.existing
            .values()
            .flatten()
            .chain(self.new_claims.iter().flat_map(|claim| &claim.pods))
    }
}
