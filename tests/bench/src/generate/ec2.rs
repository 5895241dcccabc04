//! Four hundred EC2 types with prices, three zones, and spot prices that differ by type and zone.

use serde_json::{Value, json};

use super::{catalogue, offering};
use crate::draw::Draw;
use crate::objects::{ARCH, CAPACITY_TYPE, INSTANCE_TYPE, OS, REGION, ZONE, requirement};

const DATA: &str = include_str!("../../data/ec2.tsv");
/// The zones of every set.
pub const ZONES: [&str; 3] = ["us-west-2a", "us-west-2b", "us-west-2c"];
const REGION_NAME: &str = "us-west-2";
const MIB: u64 = 1 << 20;
/// What the hypervisor takes of the memory, in thousandths.
const HYPERVISOR: u64 = 75;
const DISK_GIB: u64 = 20;
/// The labels of AWS's types that are used here.
pub const WELL_KNOWN: [&str; 6] = [
    "karpenter.k8s.aws/instance-category",
    "karpenter.k8s.aws/instance-family",
    "karpenter.k8s.aws/instance-generation",
    "karpenter.k8s.aws/instance-size",
    "karpenter.k8s.aws/instance-cpu",
    "karpenter.k8s.aws/instance-memory",
];

/// One type's facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// `m5.large`.
    pub name: &'static str,
    /// `amd64` or `arm64`.
    pub arch: &'static str,
    /// Virtual processors.
    pub cpus: u64,
    /// Memory of the machine, in MiB.
    pub memory_mib: u64,
    /// Pods by its network interfaces.
    pub pods: u64,
    /// On-demand price, in micro-dollars an hour.
    pub price: u32,
}

/// Every type of the data, in its order.
pub fn facts() -> Vec<Fact> {
    let lines = DATA.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(fact).collect()
}

fn fact(line: &'static str) -> Option<Fact> {
    let mut parts = line.split('\t');
    Some(Fact {
        name: parts.next()?,
        arch: parts.next()?,
        cpus: parts.next()?.parse().ok()?,
        memory_mib: parts.next()?.parse().ok()?,
        pods: parts.next()?.parse().ok()?,
        price: parts.next()?.parse().ok()?,
    })
}

impl Fact {
    /// `m5` of `m5.large`.
    pub fn family(&self) -> &'static str {
        self.name.split('.').next().unwrap_or(self.name)
    }

    fn size(&self) -> &'static str {
        self.name.split('.').nth(1).unwrap_or("")
    }

    /// `m` of `m5.large`.
    pub fn category(&self) -> &'static str {
        let end = self.name.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
        &self.name[..end]
    }

    /// `5` of `m5.large`.
    pub fn generation(&self) -> &'static str {
        let digits = self.name.trim_start_matches(self.category());
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        &digits[..end]
    }

    /// What the type says of itself in labels; zone and capacity type aside.
    pub fn labels(&self) -> Vec<(&'static str, String)> {
        vec![
            (INSTANCE_TYPE, self.name.into()),
            (ARCH, self.arch.into()),
            (OS, "linux".into()),
            (REGION, REGION_NAME.into()),
            (WELL_KNOWN[0], self.category().into()),
            (WELL_KNOWN[1], self.family().into()),
            (WELL_KNOWN[2], self.generation().into()),
            (WELL_KNOWN[3], self.size().into()),
            (WELL_KNOWN[4], self.cpus.to_string()),
            (WELL_KNOWN[5], self.memory_mib.to_string()),
        ]
    }

    /// Memory as the kubelet sees it, in MiB.
    fn seen_mib(&self) -> u64 {
        self.memory_mib - (self.memory_mib * HYPERVISOR).div_ceil(1000)
    }

    /// What a node of this type has.
    pub fn capacity(&self) -> Value {
        json!({
            "cpu": self.cpus.to_string(), "memory": format!("{}Mi", self.seen_mib()), "pods": self.pods.to_string(),
            "ephemeral-storage": format!("{DISK_GIB}Gi"),
        })
    }

    fn overhead(&self) -> Value {
        json!({
            "kubeReserved": {
                "cpu": format!("{}m", reserved_milli(self.cpus)),
                "memory": format!("{}Mi", self.reserved_mib()), "ephemeral-storage": "1Gi",
            },
            "systemReserved": {},
            "evictionThreshold": {"memory": "100Mi", "ephemeral-storage": format!("{}Mi", DISK_GIB * 1024 / 10)},
        })
    }

    fn reserved_mib(&self) -> u64 {
        11 * self.pods + 255
    }

    /// What is left for pods: cores in thousandths, memory in bytes, pods.
    pub fn room(&self) -> (u64, u64, u64) {
        let memory = self.seen_mib().saturating_sub(self.reserved_mib() + 100) * MIB;
        (self.cpus * 1000 - reserved_milli(self.cpus), memory, self.pods)
    }

    /// What a node of this type reports as allocatable.
    pub fn allocatable(&self) -> Value {
        let (milli, memory, pods) = self.room();
        json!({
            "cpu": format!("{milli}m"), "memory": format!("{}Mi", memory / MIB), "pods": pods.to_string(),
            "ephemeral-storage": format!("{}Mi", DISK_GIB * 1024 - 1024 - DISK_GIB * 1024 / 10),
        })
    }
}

/// What the kubelet keeps of the processors: 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of
/// the rest.
fn reserved_milli(cpus: u64) -> u64 {
    let milli = cpus * 1000;
    let part = |from: u64, to: u64, share: u64| milli.min(to).saturating_sub(from) * share / 10_000;
    part(0, 1000, 600) + part(1000, 2000, 100) + part(2000, 4000, 50) + part(4000, u64::MAX, 25)
}

/// The catalogue: every type on demand in every zone, and as spot for 0.28 to 0.75 of that.
pub fn types(seed: u64) -> Value {
    let all = facts().iter().map(|fact| one(fact, seed)).collect();
    catalogue(&WELL_KNOWN, all)
}

fn one(fact: &Fact, seed: u64) -> Value {
    let mut draw = Draw::new(seed, fact.name);
    let dollars = f64::from(fact.price) / 1e6;
    let mut offerings = Vec::new();
    for zone in ZONES {
        offerings.push(offering(zone, "on-demand", dollars));
        let part = (draw.fraction(0.28, 0.75) * f64::from(fact.price)).round();
        offerings.push(offering(zone, "spot", part / 1e6));
    }
    let mut requirements: Vec<Value> = fact
        .labels()
        .iter()
        .map(|(key, value)| requirement(key, "In", &[value]))
        .collect();
    requirements.push(requirement(ZONE, "In", &ZONES));
    requirements.push(requirement(CAPACITY_TYPE, "In", &["on-demand", "spot"]));
    json!({
        "name": fact.name, "requirements": requirements, "capacity": fact.capacity(), "overhead": fact.overhead(),
        "offerings": offerings,
    })
}

#[cfg(test)]
mod tests {
    use super::{facts, reserved_milli, types};

    #[test]
    fn every_line_of_the_data_is_a_type() {
        let facts = facts();
        assert_eq!(facts.len(), 400);
        let flex = facts.iter().find(|it| it.name == "c7i-flex.large").unwrap();
        assert_eq!(
            (flex.category(), flex.generation(), flex.family()),
            ("c", "7", "c7i-flex")
        );
        assert!(
            facts.iter().all(|it| it.room().1 > 0),
            "some type has no memory left"
        );
    }

    #[test]
    fn processors_are_kept_in_falling_shares() {
        for (cpus, want) in [(1, 60), (2, 70), (4, 80), (8, 90), (16, 110), (96, 310)] {
            assert_eq!(reserved_milli(cpus), want, "{cpus}");
        }
    }

    #[test]
    fn spot_costs_less_and_differs_by_zone() {
        let catalogue = types(1);
        for kind in catalogue["instanceTypes"].as_array().unwrap() {
            let price = |index: usize| kind["offerings"][index]["price"].as_f64().unwrap();
            for (full, spot) in [(0, 1), (2, 3), (4, 5)] {
                let part = price(spot) / price(full);
                assert!((0.279..=0.751).contains(&part), "{}: {part}", kind["name"]);
            }
        }
    }
}
