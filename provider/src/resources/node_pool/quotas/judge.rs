//! Whether what pools may buy is more than what the account may run.
//!
//! Input: pools with limits and quotas, what the account says of its quotas, what runs already. Output: findings. Pure.

use super::demand::{Demand, Group, Groups};
use crate::feasible::{Finding, Types, Weight, vcpus};
use joiner_api::rules::{JsonPath, Segment};
use joiner_aws::instances::Instance;
use joiner_aws::quotas::{self, Quota};
use std::collections::{BTreeMap, BTreeSet};

/// What pools may want of the account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Their names.
    pub pools: Vec<String>,
    /// The sum of their limits on cpu, in vCPUs.
    pub limit: Option<u64>,
    /// The quotas that their instances can count against.
    pub groups: Groups,
}

impl Wanted {
    pub(super) fn alone(pool: &str, Demand { limit, groups }: Demand) -> Self {
        Self {
            pools: vec![pool.to_owned()],
            limit,
            groups,
        }
    }

    pub(super) fn quotas(&self) -> BTreeSet<Quota> {
        self.groups.keys().copied().collect()
    }
}

/// The vCPUs that instances of others take of each quota.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Taken(BTreeMap<Quota, u64>);

impl Taken {
    /// What `running` takes but for the instances of `pools`, which their limits count. An instance of another cluster's pool of the same name
    /// is not told from ours, and one of a type that the catalogue does not know has no size: neither makes a limit look too high.
    pub(super) fn by_others(running: Option<&[Instance]>, pools: &BTreeSet<String>) -> Self {
        let mut taken = BTreeMap::new();
        let Some(running) = running.filter(|running| !running.is_empty()) else {
            return Self::default();
        };
        let types = Types::of(None, None);
        let all = types.all();
        let sizes: BTreeMap<&str, u64> = all.iter().map(|kind| (&*kind.name, vcpus(kind))).collect();
        for instance in running {
            if instance.node_pool().is_some_and(|pool| pools.contains(pool)) {
                continue;
            }
            let quota = quotas::of(&instance.instance_type, instance.capacity_type);
            if let (Some(quota), Some(size)) = (quota, sizes.get(instance.instance_type.as_str())) {
                *taken.entry(quota).or_default() += size;
            }
        }
        Self(taken)
    }

    fn of(&self, quota: Quota) -> u64 {
        self.0.get(&quota).copied().unwrap_or(0)
    }
}

/// What is asked of the account for pools.
pub(super) struct Account {
    pools: Vec<String>,
    limit: Option<u64>,
    /// The groups of which nothing is known yet, the one with the most types last.
    open: Vec<Group>,
    asked: Option<Group>,
    /// Those of which the quota is known.
    known: Vec<(Group, u64)>,
    taken: Taken,
    /// All is well, or cannot be known.
    settled: bool,
}

impl Account {
    /// None where nothing counts against a quota that is known.
    pub(super) fn of(Wanted { pools, limit, groups }: Wanted) -> Option<Self> {
        let mut open: Vec<Group> = groups.into_values().collect();
        open.sort_by_key(|group| (group.count, std::cmp::Reverse(group.quota)));
        (!open.is_empty()).then_some(Self {
            pools,
            limit,
            open,
            asked: None,
            known: Vec::new(),
            taken: Taken::default(),
            settled: false,
        })
    }

    /// Whether it matters what runs already: without a limit it does not.
    pub(super) fn needs_to_know_what_runs(&self) -> bool {
        self.limit.is_some()
    }

    /// Takes what others run.
    pub(super) fn runs(&mut self, taken: Taken) {
        self.taken = taken;
    }

    /// The quota to ask for next; none when enough is known.
    pub(super) fn next(&mut self) -> Option<Quota> {
        if self.settled {
            return None;
        }
        self.asked = self.open.pop();
        self.asked.as_ref().map(|group| group.quota)
    }

    /// Takes the answer; one that is not known leaves nothing to say.
    pub(super) fn told(&mut self, vcpus: Option<u64>) {
        let (Some(group), Some(vcpus)) = (self.asked.take(), vcpus) else {
            self.settled = true;
            self.known.clear();
            return;
        };
        self.known.push((group, vcpus));
        let room = self.limit.is_none_or(|limit| self.sum() >= limit);
        self.settled = room && self.fits_one();
    }

    /// What the pools may run beside what others do.
    fn sum(&self) -> u64 {
        let rooms = self
            .known
            .iter()
            .map(|(group, vcpus)| vcpus.saturating_sub(self.taken.of(group.quota)));
        rooms.sum()
    }

    /// Whether there is room for a node; told of a pool by itself alone.
    fn fits_one(&self) -> bool {
        self.pools.len() > 1 || self.known.iter().any(|(group, vcpus)| group.smallest.0 <= *vcpus)
    }

    pub(super) fn findings(self) -> Vec<Finding> {
        if self.known.is_empty() {
            return Vec::new();
        }
        let told: Vec<String> = self
            .known
            .iter()
            .map(|(Group { quota, .. }, vcpus)| {
                let taken = match self.taken.of(*quota) {
                    0 => String::new(),
                    taken => format!(", of which others run {taken}"),
                };
                format!("{} ({}): {vcpus}{taken}", quota.name, quota.code)
            })
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
        let sum = self.sum();
        let Some(limit) = self.limit.filter(|limit| *limit > sum) else {
            return Vec::new();
        };
        let beyond = format!(
            "{told}. Beyond that EC2 refuses launches (VcpuLimitExceeded, MaxSpotInstanceCountExceeded). Ask for a higher quota in Service \
             Quotas, or write"
        );
        let (summary, detail) = match self.pools.len() {
            0 | 1 => (
                "The limit is above the account's quota",
                format!(
                    "The pool may grow to {limit} vCPUs, and the account may run {sum} of the types that it can buy: {beyond} at most {sum}."
                ),
            ),
            _ => (
                "The limits together are above the account's quota",
                format!(
                    "The pools {} may grow to {limit} vCPUs together, and the account may run {sum} of the types that they can buy: {beyond} \
                     limits that are at most {sum} together.",
                    listed(&self.pools)
                ),
            ),
        };
        vec![Finding {
            path: spec(&["limits", "cpu"]),
            weight: Weight::Doubtful,
            summary,
            detail,
        }]
    }
}

/// How many pools a message names.
const NAMED: usize = 5;

fn listed(pools: &[String]) -> String {
    match pools.len().checked_sub(NAMED).filter(|more| *more > 0) {
        Some(more) => format!("{} and {more} more", pools[..NAMED].join(", ")),
        None => pools.join(", "),
    }
}

fn spec(fields: &[&str]) -> JsonPath {
    let names = ["spec"].iter().chain(fields);
    JsonPath(names.map(|name| Segment::Field((*name).to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feasible::Buyable;
    use joiner_aws::instances::State;
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
        let Some(mut account) = Account::of(Wanted::alone("p", Demand::new(limit, kinds))) else {
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
    fn what_others_run_takes_room() {
        let instance = |name: &str, way: CapacityType, pool: Option<&str>| {
            let tags = pool.map(|pool| ("karpenter.sh/nodepool".to_owned(), pool.to_owned()));
            Instance {
                id: "i-1".to_owned(),
                state: State::Running,
                instance_type: name.to_owned(),
                zone: "us-west-2a".to_owned(),
                capacity_type: way,
                image_id: String::new(),
                subnet_id: String::new(),
                security_groups: Vec::new(),
                private_dns_name: String::new(),
                reservation: None,
                launched: None,
                tags: tags.into_iter().collect(),
            }
        };
        let running = [
            instance("m5.xlarge", OnDemand, None),
            instance("m5.xlarge", OnDemand, Some("elsewhere")),
            instance("m5.xlarge", OnDemand, Some("p")),
            instance("m5.xlarge", Spot, None),
            instance("x9.unheard", OnDemand, None),
        ];
        let pools = BTreeSet::from(["p".to_owned()]);
        let taken = || Taken::by_others(Some(&running), &pools);
        let found = |limit: u64| {
            let kinds = [kind("m5.large", 2, &[OnDemand])];
            let wanted = Wanted::alone("p", Demand::new(Some(limit), &kinds));
            let mut account = Account::of(wanted).expect("a quota");
            account.runs(taken());
            while account.next().is_some() {
                account.told(Some(64));
            }
            account.findings()
        };
        assert_eq!(found(56), []);
        let told = &found(57)[0].detail;
        for part in [
            "may run 56",
            "(L-1216C47A): 64, of which others run 8",
            "at most 56.",
        ] {
            assert!(told.contains(part), "{part:?} is not in {told}");
        }
        assert_eq!(Taken::by_others(None, &pools), Taken::default());
    }

    #[test]
    fn pools_are_named_together() {
        let kinds = [kind("m5.large", 2, &[OnDemand])];
        let wanted = |names: &[&str]| Wanted {
            pools: names.iter().map(|name| (*name).to_owned()).collect(),
            ..Wanted::alone("", Demand::new(Some(100), &kinds))
        };
        let told = |names: &[&str], quota: u64| {
            let mut account = Account::of(wanted(names)).expect("a quota");
            while account.next().is_some() {
                account.told(Some(quota));
            }
            account.findings().pop().map(|finding| finding.detail)
        };
        assert_eq!(told(&["a", "b"], 100), None);
        let text = told(&["a", "b"], 64).expect("too much");
        assert!(
            text.contains("pools a, b may grow to 100 vCPUs together")
                && text.contains("at most 64 together"),
            "{text}"
        );
        let text = told(&["a", "b", "c", "d", "e", "f", "g"], 64).expect("too much");
        assert!(text.contains("pools a, b, c, d, e and 2 more may"), "{text}");
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
