//! Five pools: general on both architectures, one per architecture with taint-free labels of its own, batch and data.

use serde_json::{Value, json};

use super::Buying;
use crate::generate::ec2::ZONES;
use crate::objects::{ARCH, CAPACITY_TYPE, OS, ZONE, pool, requirement};

const CATEGORY: &str = "karpenter.k8s.aws/instance-category";
const GENERATION: &str = "karpenter.k8s.aws/instance-generation";

/// One pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sketch {
    pub(super) name: &'static str,
    pub(super) categories: &'static [&'static str],
    pub(super) architectures: &'static [&'static str],
    /// The value of the taint `dedicated`, which is also the value of its label.
    pub(super) dedicated: Option<&'static str>,
    /// Never spot, whatever the cluster buys.
    steady: bool,
}

pub(super) const POOLS: [Sketch; 5] = [
    Sketch {
        name: "general",
        categories: &["c", "m", "r"],
        architectures: &["amd64", "arm64"],
        dedicated: None,
        steady: false,
    },
    Sketch {
        name: "burst",
        categories: &["t", "m"],
        architectures: &["amd64"],
        dedicated: None,
        steady: false,
    },
    Sketch {
        name: "steady",
        categories: &["c", "m", "r"],
        architectures: &["amd64", "arm64"],
        dedicated: Some("steady"),
        steady: true,
    },
    Sketch {
        name: "batch",
        categories: &["c", "m", "r"],
        architectures: &["amd64", "arm64"],
        dedicated: Some("batch"),
        steady: false,
    },
    Sketch {
        name: "data",
        categories: &["r", "i", "m"],
        architectures: &["amd64", "arm64"],
        dedicated: Some("data"),
        steady: true,
    },
];

pub(super) fn all(buying: Buying) -> Vec<Value> {
    POOLS.iter().map(|sketch| sketch.object(buying)).collect()
}

impl Sketch {
    /// The ways in which its nodes are paid for.
    pub(super) fn capacity_types(&self, buying: Buying) -> &'static [&'static str] {
        if self.steady || buying == Buying::OnDemand {
            &["on-demand"]
        } else {
            &["spot", "on-demand"]
        }
    }

    /// The taint of its nodes.
    pub(super) fn taints(&self) -> Vec<Value> {
        let taint = |value| json!({"key": "dedicated", "value": value, "effect": "NoSchedule"});
        self.dedicated.map(taint).into_iter().collect()
    }

    fn object(&self, buying: Buying) -> Value {
        let mut made = pool(
            self.name,
            vec![
                requirement(OS, "In", &["linux"]),
                requirement(ARCH, "In", self.architectures),
                requirement(CAPACITY_TYPE, "In", self.capacity_types(buying)),
                requirement(CATEGORY, "In", self.categories),
                requirement(GENERATION, "Gt", &["2"]),
                requirement(ZONE, "In", &ZONES),
            ],
        );
        made["spec"]["limits"] = json!({"cpu": "40000", "memory": "200000Gi"});
        if let Some(value) = self.dedicated {
            made["spec"]["template"]["spec"]["taints"] = json!(self.taints());
            made["spec"]["template"]["metadata"] = json!({"labels": {"dedicated": value}});
        }
        made
    }
}
