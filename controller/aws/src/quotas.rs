//! How many vCPUs an account may run at a time in a region, by the group of instance families that share a quota.
//!
//! The groups and their codes are those of the user guide's pages "Amazon EC2 On-Demand Instance quotas" and "Spot Instance quotas".

use crate::connect::Aws;
use crate::error::{Error, found};
use crate::json_call;
use joiner_core::catalogue::CapacityType;
use serde_json::{Value as Json, json};

pub(crate) const SERVICE: json_call::Service = json_call::Service {
    id: "Service Quotas",
    name: "servicequotas",
    hosts: ["servicequotas", "servicequotas-fips"],
    target: "ServiceQuotasV20190624",
};

const GET: &str = "servicequotas:GetServiceQuota";

/// A quota on running vCPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quota {
    /// Its code, such as `L-1216C47A`.
    pub code: &'static str,
    /// Its name, as the console has it.
    pub name: &'static str,
}

const fn quota(code: &'static str, name: &'static str) -> Quota {
    Quota { code, name }
}

/// Families by the letters before the generation, with the quotas that instances of them count against: on demand, and spot.
const GROUPS: [(&[&str], Option<Quota>, Option<Quota>); 10] = [
    (
        &["a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"],
        Some(quota(
            "L-1216C47A",
            "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
        )),
        Some(quota(
            "L-34B43A08",
            "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests",
        )),
    ),
    (
        &["g", "gr", "vt"],
        Some(quota("L-DB2E81BA", "Running On-Demand G and VT instances")),
        Some(quota("L-3819A6DF", "All G and VT Spot Instance Requests")),
    ),
    (
        &["p"],
        Some(quota("L-417A185B", "Running On-Demand P instances")),
        Some(quota("L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests")),
    ),
    (
        &["inf"],
        Some(quota("L-1945791B", "Running On-Demand Inf instances")),
        Some(quota("L-B5D1601B", "All Inf Spot Instance Requests")),
    ),
    (
        &["trn"],
        Some(quota("L-2C3B7624", "Running On-Demand Trn instances")),
        Some(quota("L-6B0D517C", "All Trn Spot Instance Requests")),
    ),
    (
        &["x"],
        Some(quota("L-7295265B", "Running On-Demand X instances")),
        Some(quota("L-E3A00192", "All X Spot Instance Requests")),
    ),
    (
        &["f"],
        Some(quota("L-74FC7D96", "Running On-Demand F instances")),
        Some(quota("L-88CF9481", "All F Spot Instance Requests")),
    ),
    (
        &["dl"],
        Some(quota("L-6E869C2A", "Running On-Demand DL instances")),
        Some(quota("L-85EED4F7", "All DL Spot Instance Requests")),
    ),
    (
        &["hpc"],
        Some(quota("L-F7808C92", "Running On-Demand HPC instances")),
        None,
    ),
    (
        &["u"],
        Some(quota("L-43DA4232", "Running On-Demand High Memory instances")),
        None,
    ),
];
const P5_SPOT: Quota = quota("L-C4BD4855", "All P5 Spot Instance Requests");

/// The quota that an instance of a type counts against; none where none is known, or where a reservation has counted it already.
pub fn of(instance_type: &str, capacity_type: CapacityType) -> Option<Quota> {
    let letters = instance_type
        .split(|char: char| !char.is_ascii_lowercase())
        .next()?;
    let (_, on_demand, spot) = GROUPS.iter().find(|(families, ..)| families.contains(&letters))?;
    match capacity_type {
        CapacityType::OnDemand => *on_demand,
        CapacityType::Spot if instance_type.starts_with("p5") => Some(P5_SPOT),
        CapacityType::Spot => *spot,
        CapacityType::Reserved => None,
    }
}

/// The vCPUs that a quota allows here; `None` where Service Quotas does not know the quota in this region.
pub async fn vcpus(aws: &Aws, quota: Quota) -> Result<Option<u64>, Error> {
    let asked = json!({ "ServiceCode": "ec2", "QuotaCode": quota.code });
    Ok(found(aws.quotas(GET, &asked).await)?.as_ref().and_then(read))
}

/// Quotas are numbers with a fraction that none of these has.
fn read(answer: &Json) -> Option<u64> {
    let value = answer["Quota"]["Value"].as_f64()?;
    // The bounds make the conversion exact.
    (0.0..=9e15).contains(&value).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_its_quota() {
        use CapacityType::{OnDemand, Reserved, Spot};
        for (name, capacity_type, code) in [
            ("m5.large", OnDemand, Some("L-1216C47A")),
            ("c7g.medium", Spot, Some("L-34B43A08")),
            ("im4gn.large", OnDemand, Some("L-1216C47A")),
            ("g5.xlarge", OnDemand, Some("L-DB2E81BA")),
            ("gr6.4xlarge", Spot, Some("L-3819A6DF")),
            ("p4d.24xlarge", Spot, Some("L-7212CCBC")),
            ("p5.48xlarge", Spot, Some("L-C4BD4855")),
            ("p5.48xlarge", OnDemand, Some("L-417A185B")),
            ("p6-b200.48xlarge", OnDemand, Some("L-417A185B")),
            ("trn1.2xlarge", OnDemand, Some("L-2C3B7624")),
            ("inf2.xlarge", Spot, Some("L-B5D1601B")),
            ("x2gd.medium", OnDemand, Some("L-7295265B")),
            ("u-6tb1.56xlarge", OnDemand, Some("L-43DA4232")),
            ("u7i-12tb.224xlarge", OnDemand, Some("L-43DA4232")),
            ("u-6tb1.56xlarge", Spot, None),
            ("hpc7g.4xlarge", OnDemand, Some("L-F7808C92")),
            ("mac2.metal", OnDemand, None),
            ("m5.large", Reserved, None),
            ("", OnDemand, None),
        ] {
            assert_eq!(
                of(name, capacity_type).map(|it| it.code),
                code,
                "{name} {capacity_type}"
            );
        }
    }

    #[test]
    fn a_quota_is_a_whole_number() {
        for (value, want) in [
            (json!(1152.0), Some(1152)),
            (json!(0), Some(0)),
            (json!(-1), None),
            (json!("5"), None),
        ] {
            assert_eq!(read(&json!({ "Quota": { "Value": value } })), want, "{value}");
        }
    }
}
