//! Amounts of resources, as integers: cpu in thousandths of a core, everything else in units (bytes, pods, devices).
//!
//! An amount that is not there is zero, so a value holds no zeros and equality is by meaning. What a limit leaves
//! open, unlike what it sets to zero, is said by [`Limits`].

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;

use crate::text::Text;

/// The name of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceName {
    /// `cpu`, counted in thousandths of a core.
    Cpu,
    /// `memory`, in bytes.
    Memory,
    /// `ephemeral-storage`, in bytes.
    EphemeralStorage,
    /// `pods`.
    Pods,
    /// Any other: `nvidia.com/gpu`, `hugepages-2Mi`, and in limits `nodes`.
    Other(Text),
}

/// The names with a fixed place, in that order.
const FIXED: [ResourceName; 4] = [
    ResourceName::Cpu,
    ResourceName::Memory,
    ResourceName::EphemeralStorage,
    ResourceName::Pods,
];

impl ResourceName {
    /// The name under which limits count nodes.
    pub fn nodes() -> ResourceName {
        ResourceName::Other("nodes".into())
    }

    /// The name as Kubernetes writes it.
    pub fn as_str(&self) -> &str {
        match self {
            ResourceName::Cpu => "cpu",
            ResourceName::Memory => "memory",
            ResourceName::EphemeralStorage => "ephemeral-storage",
            ResourceName::Pods => "pods",
            ResourceName::Other(name) => name,
        }
    }

    /// An amount of this resource as a person writes it: `1500m`, `16`, `512Mi`.
    pub fn display(&self, amount: i64) -> String {
        match self {
            ResourceName::Cpu if amount % 1000 == 0 => (amount / 1000).to_string(),
            ResourceName::Cpu => format!("{amount}m"),
            ResourceName::Memory | ResourceName::EphemeralStorage => bytes(amount),
            ResourceName::Other(name) if name.starts_with("hugepages-") => bytes(amount),
            _ => amount.to_string(),
        }
    }

    fn place(&self) -> Option<usize> {
        match self {
            ResourceName::Cpu => Some(0),
            ResourceName::Memory => Some(1),
            ResourceName::EphemeralStorage => Some(2),
            ResourceName::Pods => Some(3),
            ResourceName::Other(_) => None,
        }
    }
}

fn bytes(amount: i64) -> String {
    const UNITS: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let (mut amount, mut unit) = (amount, 0);
    while amount != 0 && amount % 1024 == 0 && unit + 1 < UNITS.len() {
        (amount, unit) = (amount / 1024, unit + 1);
    }
    format!("{amount}{}", UNITS[unit])
}

impl From<&str> for ResourceName {
    fn from(name: &str) -> ResourceName {
        FIXED
            .into_iter()
            .find(|fixed| fixed.as_str() == name)
            .unwrap_or_else(|| ResourceName::Other(name.into()))
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Amounts by resource; sums saturate and differences may be negative.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resources {
    fixed: [i64; 4],
    other: Vec<(Text, i64)>,
}

/// One resource of which there is too little.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shortfall {
    /// Which resource.
    pub resource: ResourceName,
    /// What is asked for.
    pub wanted: i64,
    /// What there is.
    pub available: i64,
}

impl Resources {
    /// The bytes of memory that are set aside for huge pages.
    pub fn huge_pages(&self) -> i64 {
        let huge = self
            .other
            .iter()
            .filter(|(name, _)| name.starts_with("hugepages-"));
        huge.map(|(_, amount)| *amount).sum()
    }

    /// Nothing of anything.
    pub const fn new() -> Resources {
        Resources {
            fixed: [0; 4],
            other: Vec::new(),
        }
    }

    /// These amounts and `amount` of `name`, in place of what was there.
    #[must_use]
    pub fn with(mut self, name: impl Into<ResourceName>, amount: i64) -> Resources {
        self.set(&name.into(), amount);
        self
    }

    /// `cpu` thousandths of a core and `memory` bytes.
    pub fn cpu_memory(cpu: i64, memory: i64) -> Resources {
        Resources {
            fixed: [cpu, memory, 0, 0],
            other: Vec::new(),
        }
    }

    /// The amount of `name`; zero where none is there.
    pub fn get(&self, name: &ResourceName) -> i64 {
        match (name.place(), name) {
            (Some(place), _) => self.fixed[place],
            (None, ResourceName::Other(name)) => self
                .other
                .iter()
                .find(|(other, _)| other == name)
                .map_or(0, |(_, amount)| *amount),
            (None, _) => 0,
        }
    }

    /// Replaces the amount of `name`.
    pub fn set(&mut self, name: &ResourceName, amount: i64) {
        match (name.place(), name) {
            (Some(place), _) => self.fixed[place] = amount,
            (None, ResourceName::Other(name)) => {
                match (self.other.binary_search_by(|(other, _)| other.cmp(name)), amount) {
                    (Ok(found), 0) => drop(self.other.remove(found)),
                    (Ok(found), _) => self.other[found].1 = amount,
                    (Err(_), 0) => {}
                    (Err(gap), _) => self.other.insert(gap, (name.clone(), amount)),
                }
            }
            (None, _) => {}
        }
    }

    /// The amounts that are not zero, fixed names first.
    pub fn iter(&self) -> impl Iterator<Item = (ResourceName, i64)> + '_ {
        let fixed = FIXED
            .into_iter()
            .zip(self.fixed)
            .filter(|(_, amount)| *amount != 0);
        fixed.chain(
            self.other
                .iter()
                .map(|(name, amount)| (ResourceName::Other(name.clone()), *amount)),
        )
    }

    /// Whether there is nothing of anything.
    pub fn is_empty(&self) -> bool {
        self.fixed == [0; 4] && self.other.is_empty()
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Resources) -> Resources {
        self.zip(other, i64::saturating_add)
    }

    /// What is left when `other` is taken away; negative where it takes more than there is.
    #[must_use]
    pub fn minus(&self, other: &Resources) -> Resources {
        self.zip(other, i64::saturating_sub)
    }

    /// These amounts `count` times.
    #[must_use]
    pub fn times(&self, count: i64) -> Resources {
        self.zip(self, |amount, _| amount.saturating_mul(count))
    }

    /// The larger of both, resource by resource.
    #[must_use]
    pub fn upper(&self, other: &Resources) -> Resources {
        self.zip(other, i64::max)
    }

    /// The smaller of both, resource by resource.
    #[must_use]
    pub fn lower(&self, other: &Resources) -> Resources {
        self.zip(other, i64::min)
    }

    /// Negative amounts become zero.
    #[must_use]
    pub fn at_least_zero(&self) -> Resources {
        self.zip(self, |amount, _| amount.max(0))
    }

    /// Adds `other` in place.
    pub fn add(&mut self, other: &Resources) {
        if other.other.is_empty() {
            for (mine, theirs) in self.fixed.iter_mut().zip(other.fixed) {
                *mine = mine.saturating_add(theirs);
            }
        } else {
            *self = self.plus(other);
        }
    }

    /// Whether every amount asked for is available. A resource of which nothing is asked never refuses, even where
    /// less than nothing is left of it.
    pub fn fits(&self, available: &Resources) -> bool {
        let fixed = self
            .fixed
            .iter()
            .zip(&available.fixed)
            .all(|(want, have)| *want <= 0 || want <= have);
        fixed
            && self
                .other
                .iter()
                .all(|(name, want)| *want <= 0 || *want <= available.get(&ResourceName::Other(name.clone())))
    }

    /// The resources of which more is asked for than is available, fixed names first; empty where all fits.
    pub fn shortfalls(&self, available: &Resources) -> Vec<Shortfall> {
        self.iter()
            .map(|(resource, wanted)| Shortfall {
                available: available.get(&resource),
                resource,
                wanted,
            })
            .filter(|row| row.wanted > 0 && row.wanted > row.available)
            .collect()
    }

    fn zip(&self, other: &Resources, combine: impl Fn(i64, i64) -> i64) -> Resources {
        let mut fixed = [0; 4];
        for (place, amount) in fixed.iter_mut().enumerate() {
            *amount = combine(self.fixed[place], other.fixed[place]);
        }
        if self.other.is_empty() && other.other.is_empty() {
            return Resources {
                fixed,
                other: Vec::new(),
            };
        }
        let mut merged: BTreeMap<&Text, (i64, i64)> = BTreeMap::new();
        self.other
            .iter()
            .for_each(|(name, amount)| merged.entry(name).or_default().0 = *amount);
        other
            .other
            .iter()
            .for_each(|(name, amount)| merged.entry(name).or_default().1 = *amount);
        let combined = merged
            .into_iter()
            .map(|(name, (mine, theirs))| (name.clone(), combine(mine, theirs)));
        Resources {
            fixed,
            other: combined.filter(|(_, amount)| *amount != 0).collect(),
        }
    }
}

impl<N: Into<ResourceName>> FromIterator<(N, i64)> for Resources {
    fn from_iter<I: IntoIterator<Item = (N, i64)>>(amounts: I) -> Resources {
        amounts
            .into_iter()
            .fold(Resources::new(), |all, (name, amount)| all.with(name, amount))
    }
}

impl<'a> Sum<&'a Resources> for Resources {
    fn sum<I: Iterator<Item = &'a Resources>>(amounts: I) -> Resources {
        let mut total = Resources::new();
        amounts.for_each(|amount| total.add(amount));
        total
    }
}

impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing");
        }
        for (index, (name, amount)) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{name} {}", name.display(amount))?;
        }
        Ok(())
    }
}

/// Upper bounds by resource; a resource without a bound is unlimited, one with bound zero allows nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits(BTreeMap<ResourceName, i64>);

impl Limits {
    /// The bound on `name`, where there is one.
    pub fn get(&self, name: &ResourceName) -> Option<i64> {
        self.0.get(name).copied()
    }

    /// All bounds, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&ResourceName, i64)> {
        self.0.iter().map(|(name, bound)| (name, *bound))
    }

    /// Whether nothing is bounded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<ResourceName>> FromIterator<(N, i64)> for Limits {
    fn from_iter<I: IntoIterator<Item = (N, i64)>>(bounds: I) -> Limits {
        Limits(
            bounds
                .into_iter()
                .map(|(name, bound)| (name.into(), bound))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{ResourceName, Resources};

    fn gpu(cpu: i64, gpu: i64) -> Resources {
        Resources::cpu_memory(cpu, 0).with("nvidia.com/gpu", gpu)
    }

    #[test]
    fn zeros_are_not_kept() {
        assert_eq!(gpu(1, 2).minus(&gpu(0, 2)), Resources::cpu_memory(1, 0));
        assert_eq!(gpu(1, 2).with("nvidia.com/gpu", 0), Resources::cpu_memory(1, 0));
        assert!(gpu(1, 2).minus(&gpu(1, 2)).is_empty());
    }

    #[test]
    fn fitting_asks_only_for_what_is_wanted() {
        for (want, have, fits) in [
            (gpu(100, 1), gpu(100, 1), true),
            (gpu(101, 1), gpu(100, 1), false),
            (gpu(100, 2), gpu(100, 1), false),
            (gpu(100, 1), gpu(100, 0), false),
            (gpu(100, 0), gpu(100, -3), true),
            (gpu(0, 0), gpu(-5, 0), true),
        ] {
            assert_eq!(want.fits(&have), fits, "{want} in {have}");
            assert_eq!(want.shortfalls(&have).is_empty(), fits, "{want} in {have}");
        }
    }

    #[test]
    fn amounts_print_as_written_by_people() {
        let text = Resources::cpu_memory(1500, 512 << 20)
            .with("pods", 3)
            .with("hugepages-2Mi", 4 << 20);
        assert_eq!(
            text.to_string(),
            "cpu 1500m, memory 512Mi, pods 3, hugepages-2Mi 4Mi"
        );
        assert_eq!(ResourceName::Cpu.display(16_000), "16");
        assert_eq!(ResourceName::Memory.display(1_000_000), "1000000");
        assert_eq!(Resources::new().to_string(), "nothing");
    }
}
