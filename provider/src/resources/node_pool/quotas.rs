//! Pools that may grow beyond what the account may run, by its quotas on vCPUs.
//!
//! Quotas are asked for one by one, and no more of them than it takes to know that all is well: for most pools that is one.

use crate::feasible::{Buyable, Finding, Weight};
use crate::objects::Foreseen;
use crate::provider::{Joiner, Part};
use joiner_api::rules::{JsonPath, Segment};
use joiner_aws::quotas::{self, Quota};
use joiner_core::resources::ResourceName;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long the account gets to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks the account.
pub(super) async fn check(data: &Joiner, object: &Foreseen, buyable: &[Buyable]) -> Vec<Finding> {
    let (Part::Known(_), Part::Known(aws)) = (&data.cluster, &data.aws) else {
        return Vec::new();
    };
    let known = !object.is_unknown(&["spec", "template", "spec", "requirements"])
        && !object.is_unknown(&["spec", "limits"]);
    if !known || !aws.has_credentials_at_hand() {
        return Vec::new();
    }
    let Some(mut account) = Account::of(limit(object), buyable) else {
        return Vec::new();
    };
    let asking = async {
        while let Some(quota) = account.next() {
            let vcpus = data.found.quota(aws, quota).await;
            account.told(vcpus);
        }
    };
    if tokio::time::timeout(PATIENCE, asking).await.is_err() {
        tracing::info!("the account's quotas were not told in time");
        return Vec::new();
    }
    account.findings()
}

/// The pool's limit on cpu, in whole vCPUs; zero switches a pool off and is none.
fn limit(object: &Foreseen) -> Option<u64> {
    let limits = serde_json::from_value(object.json["spec"]["limits"].clone()).ok()?;
    let limits = joiner_map::limits(&limits);
    let (_, cpu) = limits.iter().find(|(name, _)| **name == ResourceName::Cpu)?;
    u64::try_from(cpu)
        .ok()
        .filter(|cpu| *cpu > 0)
        .map(|cpu| cpu.div_ceil(1000))
}

/// What instances of the pool count against one quota.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    quota: Quota,
    /// Types that do.
    count: usize,
    /// The smallest of them, by vCPUs.
    smallest: (u64, String),
}

/// What is asked of the account for one pool.
struct Account {
    limit: Option<u64>,
    /// The groups of which nothing is known yet, the one with the most types last.
    open: Vec<Group>,
    asked: Option<Group>,
    /// Those of which the quota is known.
    known: Vec<(Group, u64)>,
    /// All is well, or cannot be known.
    settled: bool,
}

impl Account {
    /// None where nothing counts against a quota that is known.
    fn of(limit: Option<u64>, buyable: &[Buyable]) -> Option<Self> {
        let mut groups: BTreeMap<Quota, Group> = BTreeMap::new();
        for kind in buyable {
            for way in &kind.ways {
                let Some(quota) = quotas::of(&kind.name, *way) else {
                    continue;
                };
                let size = (kind.vcpus, kind.name.clone());
                let group = groups.entry(quota).or_insert_with(|| Group {
                    quota,
                    count: 0,
                    smallest: size.clone(),
                });
                group.count += 1;
                group.smallest = group.smallest.clone().min(size);
            }
        }
        let mut open: Vec<Group> = groups.into_values().collect();
        open.sort_by_key(|group| (group.count, std::cmp::Reverse(group.quota)));
        (!open.is_empty()).then_some(Self {
            limit,
            open,
            asked: None,
            known: Vec::new(),
            settled: false,
        })
    }

    /// The quota to ask for next; none when enough is known.
    fn next(&mut self) -> Option<Quota> {
        if self.settled {
            return None;
        }
        self.asked = self.open.pop();
        self.asked.as_ref().map(|group| group.quota)
    }

    /// Takes the answer; one that is not known leaves nothing to say.
    fn told(&mut self, vcpus: Option<u64>) {
        let (Some(group), Some(vcpus)) = (self.asked.take(), vcpus) else {
            self.settled = true;
            self.known.clear();
            return;
        };
        self.known.push((group, vcpus));
        let room = self.limit.is_none_or(|limit| self.sum() >= limit);
        self.settled = room && self.fits_one();
    }

    fn sum(&self) -> u64 {
        self.known.iter().map(|(_, vcpus)| *vcpus).sum()
    }

    fn fits_one(&self) -> bool {
        self.known.iter().any(|(group, vcpus)| group.smallest.0 <= *vcpus)
    }

    fn findings(self) -> Vec<Finding> {
        if self.known.is_empty() {
            return Vec::new();
        }
        let told: Vec<String> = self
            .known
            .iter()
            .map(|(Group { quota, .. }, vcpus)| format!("{} ({}): {vcpus}", quota.name, quota.code))
            .collect();
        let told = told.join("; ");
        if !self.fits_one() {
            let smallest: Vec<String> = self
                .known
                .iter()
                .map(
                    |(
                        Group {
                            smallest: (vcpus, name),
                            ..
                        },
                        _,
                    )| format!("{name} with {vcpus}"),
                )
                .collect();
            return vec![Finding {
                path: spec(&["template", "spec", "requirements"]),
                weight: Weight::Wrong,
                summary: "The account's quota is below the smallest node",
                detail: format!(
                    "The smallest type that the pool can buy under each quota is {}, and the account may run fewer vCPUs: {told}. Ask for a \
                     higher quota in Service Quotas, or allow types of other families.",
                    smallest.join(", ")
                ),
            }];
        }
        match self.limit {
            Some(limit) if limit > self.sum() => vec![Finding {
                path: spec(&["limits", "cpu"]),
                weight: Weight::Doubtful,
                summary: "The limit is above the account's quota",
                detail: format!(
                    "The pool may grow to {limit} vCPUs, and the account may run {} of the types that it can buy: {told}. Beyond that EC2 \
                     refuses launches (VcpuLimitExceeded, MaxSpotInstanceCountExceeded). Ask for a higher quota in Service Quotas, or write \
                     at most {}.",
                    self.sum(),
                    self.sum()
                ),
            }],
            _ => Vec::new(),
        }
    }
}

fn spec(fields: &[&str]) -> JsonPath {
    let names = ["spec"].iter().chain(fields);
    JsonPath(names.map(|name| Segment::Field((*name).to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use joiner_core::catalogue::CapacityType::{self, OnDemand, Spot};

    fn kind(name: &str, vcpus: u64, ways: &[CapacityType]) -> Buyable {
        Buyable {
            name: name.to_owned(),
            vcpus,
            ways: ways.iter().copied().collect(),
        }
    }

    /// What is asked, and what is found, when the account answers so.
    fn judge(
        limit: Option<u64>,
        kinds: &[Buyable],
        answers: &[(&str, Option<u64>)],
    ) -> (Vec<&'static str>, Vec<Finding>) {
        let mut asked = Vec::new();
        let Some(mut account) = Account::of(limit, kinds) else {
            return (asked, Vec::new());
        };
        while let Some(quota) = account.next() {
            asked.push(quota.code);
            let answer = answers.iter().find(|(code, _)| *code == quota.code);
            account.told(answer.and_then(|(_, vcpus)| *vcpus));
        }
        (asked, account.findings())
    }

    const STANDARD: &str = "L-1216C47A";
    const STANDARD_SPOT: &str = "L-34B43A08";
    const G: &str = "L-DB2E81BA";

    #[test]
    fn one_answer_is_enough_where_all_is_well() {
        let kinds = [
            kind("m5.large", 2, &[OnDemand]),
            kind("c5.large", 2, &[OnDemand]),
            kind("g5.xlarge", 4, &[OnDemand]),
        ];
        for limit in [None, Some(100)] {
            let (asked, found) = judge(limit, &kinds, &[(STANDARD, Some(100))]);
            assert_eq!((asked, found), (vec![STANDARD], Vec::new()));
        }
    }

    #[test]
    fn a_limit_above_all_quotas_together_is_told() {
        let kinds = [
            kind("m5.large", 2, &[OnDemand, Spot]),
            kind("c5.large", 2, &[OnDemand]),
            kind("g5.xlarge", 4, &[OnDemand]),
        ];
        let answers = [(STANDARD, Some(64)), (STANDARD_SPOT, Some(32)), (G, Some(0))];
        let (asked, found) = judge(Some(97), &kinds, &answers);
        assert_eq!(asked.len(), 3);
        assert_eq!(
            (found[0].weight, found[0].path.to_string().as_str()),
            (Weight::Doubtful, "spec.limits.cpu")
        );
        assert!(
            found[0].detail.contains("may grow to 97") && found[0].detail.contains("write at most 96"),
            "{}",
            found[0].detail
        );
        assert_eq!(judge(Some(96), &kinds, &answers).1, []);
    }

    #[test]
    fn a_quota_below_the_smallest_node_is_told() {
        let kinds = [
            kind("g5.xlarge", 4, &[OnDemand]),
            kind("g5.2xlarge", 8, &[OnDemand]),
        ];
        let (_, found) = judge(None, &kinds, &[(G, Some(0))]);
        assert_eq!(found[0].weight, Weight::Wrong);
        assert!(
            found[0].detail.contains("g5.xlarge with 4"),
            "{}",
            found[0].detail
        );
        assert!(found[0].detail.contains("(L-DB2E81BA): 0"), "{}", found[0].detail);
        assert_eq!(judge(None, &kinds, &[(G, Some(4))]).1, []);
    }

    #[test]
    fn what_is_not_known_is_no_finding() {
        let kinds = [
            kind("m5.large", 2, &[OnDemand]),
            kind("g5.xlarge", 4, &[OnDemand]),
        ];
        assert_eq!(judge(Some(1000), &kinds, &[(STANDARD, Some(5))]).1, []);
        // A type that counts against nothing we know.
        let odd = [kind("mac2.metal", 8, &[OnDemand])];
        assert_eq!(
            judge(Some(1000), &odd, &[(STANDARD, Some(5))]),
            (Vec::new(), Vec::new())
        );
    }
}
