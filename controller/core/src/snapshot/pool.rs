//! A NodePool as decisions see it.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use crate::requirements::{Requirement, Requirements};
use crate::resources::Limits;
use crate::taints::Taint;
use crate::text::{Labels, Text};
use crate::well_known;

/// Which node class a pool or a claim uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassRef {
    /// API group: `karpenter.k8s.aws`.
    pub group: Text,
    /// Kind: `EC2NodeClass`.
    pub kind: Text,
    /// Name.
    pub name: Text,
}

impl ClassRef {
    /// The label that names the class on claims and nodes: `karpenter.k8s.aws/ec2nodeclass`.
    pub fn label_key(&self) -> Text {
        format!("{}/{}", self.group, self.kind.to_lowercase()).into()
    }
}

/// Whether a pool may buy nodes now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Its condition Ready is true.
    Ready,
    /// It is not; why, in words for a person.
    NotReady {
        /// The condition's message.
        reason: Text,
    },
}

/// A pool: what its nodes look like, how many there may be, and when they are given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its name.
    pub name: Text,
    /// Its uid, for owner references.
    pub uid: Text,
    /// The class of its nodes.
    pub class: ClassRef,
    /// Preferred over pools with a lower weight; 0 where none is set.
    pub weight: u32,
    /// `template.spec.requirements`, as written; the labels are not in here.
    pub requirements: Requirements,
    /// `template.metadata.labels`.
    pub labels: Labels,
    /// `template.metadata.annotations`.
    pub annotations: Labels,
    /// `template.spec.taints`.
    pub taints: Vec<Taint>,
    /// `template.spec.startupTaints`.
    pub startup_taints: Vec<Taint>,
    /// `limits`, `nodes` included.
    pub limits: Limits,
    /// The fixed number of nodes of a static pool, which provisions nothing for pods.
    pub replicas: Option<u32>,
    /// The age at which its nodes expire; never where absent.
    pub expire_after: Option<SignedDuration>,
    /// How long a node may drain; as long as it takes where absent.
    pub termination_grace_period: Option<SignedDuration>,
    /// When nodes are given back.
    pub disruption: Disruption,
    /// Whether it may buy nodes.
    pub readiness: Readiness,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// The hash of the template, put on claims as `karpenter.sh/nodepool-hash` and `-hash-version`; empty where not known.
    pub hash: PoolHash,
}

/// The hash of a pool's template, or of a class' static fields, and the version of its rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolHash {
    /// The hash.
    pub value: Text,
    /// The rule's version.
    pub version: Text,
}

impl Pool {
    /// All that is known of a node of this pool before an instance is chosen: requirements, labels, the pool's own
    /// label and its class's.
    pub fn template_requirements(&self) -> Requirements {
        let mut all = self.requirements.clone();
        all.add_all(&Requirements::from_labels(&self.labels));
        all.add(Requirement::is(well_known::NODE_POOL, self.name.clone()));
        all.add(Requirement::is(self.class.label_key(), self.class.name.clone()));
        all
    }

    /// The labels of every claim of this pool.
    pub fn template_labels(&self) -> Labels {
        let mut all = self.labels.clone();
        all.insert(well_known::NODE_POOL.into(), self.name.clone());
        all.insert(self.class.label_key(), self.class.name.clone());
        all
    }
}

/// When a pool's nodes may be consolidated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsolidationPolicy {
    /// Only nodes without pods.
    WhenEmpty,
    /// Also nodes whose pods fit elsewhere or on something cheaper.
    WhenEmptyOrUnderutilized,
}

/// `spec.disruption`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disruption {
    /// How long a node must have been left alone; never consolidated where absent.
    pub consolidate_after: Option<SignedDuration>,
    /// What may be consolidated.
    pub policy: ConsolidationPolicy,
    /// How many nodes may go at once; the strictest applies.
    pub budgets: Vec<Budget>,
}

/// Why a node goes, as budgets name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DisruptionReason {
    /// Its pods fit elsewhere or on something cheaper.
    Underutilized,
    /// It has no pods.
    Empty,
    /// It is not what its pool says any more.
    Drifted,
}

impl DisruptionReason {
    /// Reads the API's spelling.
    pub fn parse(text: &str) -> Option<DisruptionReason> {
        [
            DisruptionReason::Underutilized,
            DisruptionReason::Empty,
            DisruptionReason::Drifted,
        ]
        .into_iter()
        .find(|it| it.as_str() == text)
    }

    /// The API's spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            DisruptionReason::Underutilized => "Underutilized",
            DisruptionReason::Empty => "Empty",
            DisruptionReason::Drifted => "Drifted",
        }
    }
}

/// One budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// For which reasons; for all where empty.
    pub reasons: BTreeSet<DisruptionReason>,
    /// How many nodes.
    pub nodes: BudgetNodes,
    /// When; always where absent.
    pub window: Option<BudgetWindow>,
}

/// How many nodes a budget allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetNodes {
    /// So many.
    Count(u32),
    /// So many of a hundred, rounded up.
    Percent(u32),
}

impl BudgetNodes {
    /// Reads `"3"` or `"10%"`.
    pub fn parse(text: &str) -> Option<BudgetNodes> {
        match text.strip_suffix('%') {
            Some(percent) => percent
                .parse()
                .ok()
                .filter(|percent| *percent <= 100)
                .map(BudgetNodes::Percent),
            None => text.parse().ok().map(BudgetNodes::Count),
        }
    }
}

/// When a budget holds: for `duration` from every hit of `schedule`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetWindow {
    /// A cron expression of five fields, or one of `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`,
    /// `@yearly`, `@annually`; in UTC.
    pub schedule: Text,
    /// For how long.
    pub duration: SignedDuration,
}
