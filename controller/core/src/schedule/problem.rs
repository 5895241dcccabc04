//! The question in numbers: labels, resources, pods that are alike, what pools sell, what is there, and the rules that
//! bind pods to each other. It is made once and does not change while an answer is looked for.

mod build;
mod classes;
mod devices;
mod groups;
mod identity;
mod levels;
mod nodes;
mod pods;
mod pools;
mod vocabulary;
mod volumes;

use std::sync::Arc;

use super::atoms::{Bits, Keys};
use super::misfit::Misfit;
use super::sets::{SetId, Sets};
use crate::catalogue::InstanceType;
use crate::resources::{ResourceName, Resources};
use crate::snapshot::{Device, DeviceClaim, HostPort, Pod, Pool, Settings};
use crate::text::Text;

pub(super) use build::build;
pub(super) use pools::{bears, closed_pool, terms};

/// The question.
pub(super) struct Problem<'a> {
    pub(super) settings: &'a Settings,
    pub(super) keys: Keys,
    /// What amounts stand for, in order: resources, then volumes by driver.
    pub(super) dims: Dims,
    /// The pods to place, the largest first.
    pub(super) classes: Vec<Class<'a>>,
    /// The pools, heaviest first.
    pub(super) pools: Vec<PoolModel<'a>>,
    /// What is there, in the order in which it is asked.
    pub(super) nodes: Vec<Standing<'a>>,
    pub(super) groups: Vec<Group>,
    /// How many more nodes each capacity reservation has.
    pub(super) reservations: Vec<(Text, u32)>,
    /// How many groups have a rule over hosts.
    pub(super) hosts: usize,
    /// The least that any class asks of each resource.
    pub(super) least: Vec<i64>,
}

/// What amounts stand for.
#[derive(Debug, Default)]
pub(super) struct Dims {
    pub(super) resources: Vec<ResourceName>,
    /// CSI drivers, whose volumes are counted after the resources.
    pub(super) drivers: Vec<Text>,
}

/// More than any node has.
pub(super) const PLENTY: i64 = i64::MAX / 4;

impl Dims {
    pub(super) fn len(&self) -> usize {
        self.resources.len() + self.drivers.len()
    }

    /// Resources as amounts; of volumes `volumes` says how many.
    pub(super) fn amounts(&self, resources: &Resources, volumes: impl Fn(&Text) -> i64) -> Vec<i64> {
        let named = self.resources.iter().map(|name| resources.get(name));
        named.chain(self.drivers.iter().map(volumes)).collect()
    }

    /// Amounts as resources, volumes left out.
    pub(super) fn resources(&self, amounts: &[i64]) -> Resources {
        self.resources
            .iter()
            .cloned()
            .zip(amounts.iter().copied())
            .collect()
    }
}

/// Whether all that is wanted is there; where nothing is wanted nothing can lack.
pub(super) fn fits(total: &[i64], more: &[i64], have: &[i64]) -> bool {
    total
        .iter()
        .zip(more)
        .zip(have)
        .all(|((total, more), have)| *more <= 0 && *total <= 0 || total + more <= *have)
}

/// How often `more` goes into `have` on top of `total`.
pub(super) fn times(total: &[i64], more: &[i64], have: &[i64]) -> usize {
    let one = |((total, more), have): ((&i64, &i64), &i64)| {
        if *more > 0 {
            Some(
                usize::try_from((have - total) / more)
                    .unwrap_or(0)
                    .min(if have < total { 0 } else { usize::MAX }),
            )
        } else {
            (*total > 0 && total > have).then_some(0)
        }
    };
    total
        .iter()
        .zip(more)
        .zip(have)
        .filter_map(one)
        .min()
        .unwrap_or(usize::MAX)
}

/// Pods that are alike.
pub(super) struct Class<'a> {
    /// Oldest first.
    pub(super) pods: Vec<&'a Pod>,
    pub(super) requests: Vec<i64>,
    pub(super) priority: i32,
    /// What is asked, in the order in which wishes are given up; at least one.
    pub(super) levels: Vec<Level>,
    pub(super) ports: Vec<HostPort>,
    /// The groups whose counts rise where a pod of the class is.
    pub(super) feeds: Vec<usize>,
    /// Why no node can be found whatever there is; nothing where one may.
    pub(super) refusal: Vec<Misfit>,
    /// Labels whose value must be known because other pods look for company by it.
    pub(super) leads: Vec<usize>,
    /// Whether pods of the class claim devices.
    pub(super) devices: bool,
    /// Volumes that its pods share with each other or with others, by number, each with the amount that it counts in;
    /// they are not part of `requests`, for a node attaches them once.
    pub(super) shared: Vec<(usize, usize)>,
}

/// What a class asks for once some wishes are given up.
pub(super) struct Level {
    /// What a node's labels must be: one of these must hold.
    pub(super) wanted: Vec<SetId>,
    /// The lists of taints that it bears.
    pub(super) bears: Bits,
    /// The groups whose rules it obeys.
    pub(super) rules: Vec<usize>,
    /// The wishes given up so far.
    pub(super) dropped: Arc<[Text]>,
}

/// A pool and what it sells.
pub(super) struct PoolModel<'a> {
    pub(super) pool: &'a Pool,
    /// What is known of its nodes before pods ask for anything.
    pub(super) template: SetId,
    /// Which list of taints its nodes carry.
    pub(super) taints: usize,
    pub(super) kinds: Vec<Kind<'a>>,
    /// Bounded resources: name, bound, and what is in use or on its way.
    pub(super) limits: Vec<(ResourceName, i64, i64)>,
    /// `minValues`: label and count.
    pub(super) min_values: Vec<(usize, u32)>,
    /// Why it sells nothing.
    pub(super) closed: Option<Misfit>,
    /// Whether some of its offers are reserved.
    pub(super) reserved: bool,
}

/// An instance type as one pool sells it.
pub(super) struct Kind<'a> {
    pub(super) it: &'a InstanceType,
    /// What its labels can be, by label; nothing is said of the labels that are not its own.
    pub(super) bits: Vec<Option<Bits>>,
    /// What daemons take.
    pub(super) daemons: Resources,
    /// The ports that daemons take.
    pub(super) ports: Vec<HostPort>,
    /// What is left for pods.
    pub(super) usable: Vec<i64>,
    /// What a node of it adds to each bounded resource of the pool.
    pub(super) weight: Vec<i64>,
    /// The offers on sale.
    pub(super) offers: Vec<Offer>,
}

impl Kind<'_> {
    /// Whether its daemons leave these ports to pods.
    pub(super) fn spares(&self, ports: &[HostPort]) -> bool {
        let taken = |port: &HostPort| self.ports.iter().any(|there| there.conflicts(port));
        !ports.iter().any(taken)
    }
}

/// A way to buy a kind.
pub(super) struct Offer {
    pub(super) bits: Vec<(usize, Bits)>,
    /// Millionths of a dollar an hour.
    pub(super) price: u64,
    pub(super) reservation: Option<usize>,
}

/// A node, or a claim on its way.
pub(super) struct Standing<'a> {
    pub(super) name: &'a Text,
    /// What its labels are or may become.
    pub(super) set: SetId,
    pub(super) taints: usize,
    pub(super) free: Vec<i64>,
    pub(super) ports: Vec<HostPort>,
    /// How many pods each group with a rule over hosts counts here.
    pub(super) hosts: Vec<u32>,
    /// Whether it takes pods; one that goes only counts.
    pub(super) open: bool,
    /// The devices that claims may have, a list for each instance type that it may still become: each has to do.
    pub(super) devices: Vec<Vec<&'a Device>>,
    /// The claims, without devices as yet, of pods that are on their way here.
    pub(super) held: Vec<&'a DeviceClaim>,
    /// The shared volumes that are attached already.
    pub(super) attached: Vec<usize>,
}

/// Pods that a rule counts, and the rule.
pub(super) struct Group {
    pub(super) rule: Rule,
    pub(super) at: Where,
    /// Its place among the groups with a rule over hosts.
    pub(super) host: usize,
    /// Of a spread over a label: the places among which pods are spread.
    pub(super) domains: Bits,
    /// Of a spread: the nodes on which pods are counted.
    pub(super) filter: Option<Filter>,
    /// How many pods are counted by place before anything is decided.
    pub(super) counts: Vec<u32>,
    /// How many pods are counted anywhere.
    pub(super) anywhere: u32,
    /// Whether pods that need a place count; what is counted stays the same otherwise.
    pub(super) fed: bool,
    /// The label, for words.
    pub(super) key: Text,
}

/// Which nodes a spread looks at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Filter {
    /// What its labels must be: one of these; anything where absent.
    pub(super) wanted: Option<Vec<SetId>>,
    /// The lists of taints that count; all where absent.
    pub(super) bears: Option<Bits>,
}

/// A rule over a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    /// Pods are spread; the smallest count is zero where there are fewer places than `domains`.
    Spread { skew: u32, domains: u32 },
    /// Only where a counted pod is.
    Together,
    /// Only where no counted pod is.
    Apart,
    /// As [`Rule::Apart`], asked by the counted pods.
    Repelled,
    /// At most so many counted pods on a new node.
    Share { most: u32 },
}

/// Over what a rule speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Where {
    /// Single nodes.
    Host,
    /// Nodes with equal values of a label.
    Label(usize),
}

impl Group {
    /// Whether it counts pods on a node with these labels and taints.
    pub(super) fn looks_at(&self, sets: &Sets, set: SetId, taints: usize) -> bool {
        let Some(filter) = &self.filter else { return true };
        filter.bears.as_ref().is_none_or(|bears| bears.has(taints))
            && filter
                .wanted
                .as_ref()
                .is_none_or(|all| all.iter().any(|wanted| sets.clash(set, *wanted).is_none()))
    }
}

impl Class<'_> {
    /// The claims for which devices have to be found.
    pub(super) fn claims(&self) -> impl Iterator<Item = &DeviceClaim> {
        let all = &self.pods[0].placement.devices;
        all.iter().filter(|claim| claim.allocated.is_none())
    }

    pub(super) fn level(&self, level: usize) -> &Level {
        &self.levels[level.min(self.levels.len() - 1)]
    }
}
