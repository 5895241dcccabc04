//! Why a pod got no node. A "no" is an answer: it says what was wanted, what there was, and what came nearest.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::requirements::Conflict;
use crate::resources::{ResourceName, Shortfall};
use crate::snapshot::HostPort;
use crate::taints::Taint;
use crate::text::Text;

/// Why a pod cannot be on one pool's nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The pod asks for something that no decision can give.
    Unsupported {
        /// What, in words.
        what: Text,
    },
    /// The pool may not buy nodes now.
    NotReady {
        /// Why not, in words.
        reason: Text,
    },
    /// The pool is being deleted.
    Deleting,
    /// The pool's own labels and requirements leave a label no value.
    Contradiction {
        /// The label.
        key: Text,
        /// What the pool says of it, in words.
        said: Text,
    },
    /// The pool has a fixed number of nodes.
    Static {
        /// That number.
        replicas: u32,
    },
    /// The pod does not bear a taint of the pool.
    Taint {
        /// The first of them.
        taint: Taint,
    },
    /// Pod and pool are at odds over a label.
    Label {
        /// The first label.
        conflict: Box<Conflict>,
    },
    /// The pool has no instance types at all: the class selects none, or they are not known yet.
    NoTypes,
    /// No instance type is left; each was lost at one of three stages.
    Types {
        /// How many there are.
        total: usize,
        /// How many are at odds with a label that the pod or the pool asks for, with the first label they lost by.
        incompatible: usize,
        /// The label over which most of those were lost.
        label: Option<Text>,
        /// Values of that label that types have, the ones most like what is asked first; a few of them.
        offered: Vec<Text>,
        /// How many are compatible and too small.
        too_small: usize,
        /// The type that came nearest and what it lacks.
        nearest: Option<Box<Nearest>>,
        /// How many are compatible, large enough and not on sale.
        unavailable: usize,
    },
    /// Another node would exceed a limit of the pool.
    Limit {
        /// Which resource is limited.
        resource: ResourceName,
        /// The limit.
        limit: i64,
        /// What the pool has and has ordered.
        used: i64,
        /// What the smallest node for this pod would add.
        needed: i64,
    },
    /// The instance types that are left offer too few values of a label.
    MinValues {
        /// The label.
        key: Text,
        /// How many values there are.
        found: u32,
        /// How many the pool wants.
        wanted: u32,
    },
    /// A rule about where other pods are leaves no place.
    Topology {
        /// Which rule, in words.
        rule: Text,
    },
    /// A daemon on every node of the pool takes a port that the pod wants.
    Port {
        /// The port.
        port: HostPort,
    },
}

/// The instance type that comes nearest to what is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Its name.
    pub instance_type: Text,
    /// What it lacks; the amounts available are those left for pods when daemons have theirs.
    pub shortfalls: Vec<Shortfall>,
}

/// Why a pod got no node at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Why no pool could buy one: the pod itself asks for the impossible.
    pub pod: Vec<Misfit>,
    /// Why each pool could not, by its name. Empty where there are no pools, or where the pod is at fault.
    pub pools: BTreeMap<Text, Misfit>,
}

/// A refusal, shared by pods that are alike.
pub type SharedRefusal = Arc<Refusal>;
