//! What the cloud sells: instance types and their offerings, for each pool.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::money::Price;
use crate::requirements::{Absence, Requirement, Requirements};
use crate::resources::Resources;
use crate::snapshot::Device;
use crate::text::Text;
use crate::well_known;

/// How capacity is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CapacityType {
    /// Already paid for by a capacity reservation.
    Reserved,
    /// Cheaper, and taken back at two minutes' notice.
    Spot,
    /// At the list price.
    OnDemand,
}

impl CapacityType {
    /// Reads the label's value.
    pub fn parse(text: &str) -> Option<CapacityType> {
        [CapacityType::Reserved, CapacityType::Spot, CapacityType::OnDemand]
            .into_iter()
            .find(|it| it.as_str() == text)
    }

    /// The label's value.
    pub const fn as_str(self) -> &'static str {
        match self {
            CapacityType::Reserved => "reserved",
            CapacityType::Spot => "spot",
            CapacityType::OnDemand => "on-demand",
        }
    }
}

impl fmt::Display for CapacityType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One way to buy an instance type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offering {
    /// The zone's name in this account: `us-west-2a`.
    pub zone: Text,
    /// The zone's id, the same in every account: `usw2-az1`; empty where not known.
    pub zone_id: Text,
    /// How it is paid for.
    pub capacity_type: CapacityType,
    /// What it costs.
    pub price: Price,
    /// Whether it can be bought now; false while the cloud has none, or no price is known.
    pub available: bool,
    /// The capacity reservation behind a reserved offering.
    pub reservation: Option<Reservation>,
    /// Further labels that a node bought by it carries: the reservation's id and type, or custom ones.
    pub extra: Requirements,
}

/// A capacity reservation's part in an offering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Its id: `cr-...`.
    pub id: Text,
    /// How many more instances it holds.
    pub remaining: u32,
}

impl Offering {
    /// Whether a claim with these requirements may use the offering: zone, zone id and capacity type go together.
    /// What the requirements do not speak of is open.
    pub fn suits(&self, requirements: &Requirements) -> bool {
        let allows = |key: &str, value: &str| {
            requirements
                .get(key)
                .is_none_or(|requirement| requirement.allows(Some(value)))
        };
        allows(well_known::ZONE, &self.zone)
            && allows(well_known::CAPACITY_TYPE, self.capacity_type.as_str())
            && requirements
                .get(well_known::ZONE_ID)
                .is_none_or(|wanted| wanted.allows(Some(&*self.zone_id).filter(|id| !id.is_empty())))
            && self.extra.intersects(requirements)
    }

    /// The labels that a node bought by this offering carries.
    pub fn requirements(&self) -> Requirements {
        let mut all: Requirements = [
            Requirement::is(well_known::ZONE, self.zone.clone()),
            Requirement::is(well_known::CAPACITY_TYPE, self.capacity_type.as_str()),
        ]
        .into_iter()
        .collect();
        if !self.zone_id.is_empty() {
            all.add(Requirement::is(well_known::ZONE_ID, self.zone_id.clone()));
        }
        all.add_all(&self.extra);
        all
    }
}

/// What a node keeps back from pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// For the kubelet and the container runtime.
    pub kube_reserved: Resources,
    /// For the operating system.
    pub system_reserved: Resources,
    /// What the kubelet keeps free before it evicts.
    pub eviction_threshold: Resources,
}

impl Overhead {
    /// All of it.
    pub fn total(&self) -> Resources {
        self.kube_reserved
            .plus(&self.system_reserved)
            .plus(&self.eviction_threshold)
    }
}

/// One instance type as a pool sees it: a class's kubelet settings and disks change capacity and overhead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceType {
    /// Its name: `m5.large`.
    pub name: Text,
    /// What its nodes' labels can be, over all its offerings; zones and capacity types included.
    pub requirements: Requirements,
    /// What a node of this type has.
    pub capacity: Resources,
    /// What it keeps back.
    pub overhead: Overhead,
    /// How it can be bought.
    pub offerings: Vec<Offering>,
    /// How many volumes each CSI driver can attach to a node of this type; where a driver is not named, what nodes of
    /// this type that are there report, else no bound.
    pub attach_limits: BTreeMap<Text, u32>,
    /// The devices that its nodes' drivers will publish.
    pub devices: Vec<Device>,
}

impl InstanceType {
    /// What is left for pods. Memory that is set aside for huge pages is no memory for them.
    pub fn allocatable(&self) -> Resources {
        let left = self.capacity.minus(&self.overhead.total());
        let all = match self.capacity.huge_pages() {
            0 => left,
            pages => left.minus(&Resources::cpu_memory(0, pages)),
        };
        all.at_least_zero()
    }

    /// The available offerings that suit `requirements`.
    pub fn offerings_for<'a>(&'a self, requirements: &'a Requirements) -> impl Iterator<Item = &'a Offering> {
        self.offerings
            .iter()
            .filter(move |offering| offering.available && offering.suits(requirements))
    }

    /// The lowest price among the available offerings that suit `requirements`.
    pub fn cheapest(&self, requirements: &Requirements) -> Option<Price> {
        self.offerings_for(requirements)
            .map(|offering| offering.price)
            .min()
    }

    /// Whether a claim with `requirements` could be an instance of this type, offerings aside. A label that types
    /// speak of and this one does not is missing on its nodes; any other is the pool's own and refuses nothing.
    pub fn suits(&self, requirements: &Requirements) -> bool {
        self.clash(requirements).is_none()
    }

    /// The first requirement, by key, that an instance of this type cannot satisfy.
    pub fn clash<'a>(&self, requirements: &'a Requirements) -> Option<&'a Requirement> {
        requirements
            .iter()
            .find(|wanted| match self.requirements.get(wanted.key()) {
                Some(offered) => !offered.intersects(wanted),
                None => wanted.absence() == Absence::Refused && well_known::is_said_by_types(wanted.key()),
            })
    }
}

/// The instance types of each pool, by the pool's name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// Name of a pool to its types, in any order; a pool that is not here has none.
    pub pools: BTreeMap<Text, Arc<[InstanceType]>>,
    /// Labels that count as well-known beside the usual ones: a pool need not define them, since types may.
    pub well_known: BTreeSet<Text>,
}

impl Catalogue {
    /// The types of `pool`; none where the pool is not known.
    pub fn types(&self, pool: &str) -> &[InstanceType] {
        self.pools.get(pool).map_or(&[], |types| &types[..])
    }

    /// The type called `name` of `pool`.
    pub fn find(&self, pool: &str, name: &str) -> Option<&InstanceType> {
        self.types(pool).iter().find(|it| &*it.name == name)
    }
}

impl FromIterator<(Text, Arc<[InstanceType]>)> for Catalogue {
    fn from_iter<I: IntoIterator<Item = (Text, Arc<[InstanceType]>)>>(pools: I) -> Catalogue {
        Catalogue {
            pools: pools.into_iter().collect(),
            well_known: BTreeSet::new(),
        }
    }
}
