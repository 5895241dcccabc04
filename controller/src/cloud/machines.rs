//! What instances are, as the last list of them said: image, subnet, security groups.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use joiner_aws::instances::Instance;
use joiner_core::disrupt::drift::Machine;
use joiner_core::text::Text;

/// Instances by provider id.
#[derive(Debug, Default)]
pub(super) struct Machines(Mutex<BTreeMap<Text, Machine>>);

impl Machines {
    /// Takes a full list; returns the provider ids of those that are new or other than before. Instances on their way out are forgotten:
    /// EC2 takes their subnet and groups away.
    pub(super) fn note(&self, found: &[Instance]) -> BTreeSet<Text> {
        let listed: BTreeMap<Text, Machine> = found
            .iter()
            .filter(|it| !it.state.is_ending())
            .map(|it| (Text::from(it.provider_id()), it.machine()))
            .collect();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let news = listed
            .iter()
            .filter(|(id, machine)| known.get(*id) != Some(machine))
            .map(|(id, _)| id.clone())
            .collect();
        *known = listed;
        news
    }

    pub(super) fn get(&self, provider_id: &str) -> Option<Machine> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(provider_id).cloned()
    }
}

#[cfg(test)]
mod tests {
    use joiner_aws::instances::State;
    use joiner_core::catalogue::CapacityType;

    use super::*;

    fn instance(id: &str, subnet: &str, state: State) -> Instance {
        Instance {
            id: id.to_owned(),
            state,
            instance_type: "m5.large".to_owned(),
            zone: "us-west-2a".to_owned(),
            capacity_type: CapacityType::Spot,
            image_id: "ami-1".to_owned(),
            subnet_id: subnet.to_owned(),
            security_groups: vec!["sg-1".to_owned()],
            private_dns_name: String::new(),
            reservation: None,
            launched: None,
            tags: Default::default(),
        }
    }

    #[test]
    fn only_news_is_news() {
        let machines = Machines::default();
        let id = "aws:///us-west-2a/i-1";
        for (subnet, state, news, known) in [
            ("subnet-1", State::Running, true, Some("subnet-1")),
            ("subnet-1", State::Running, false, Some("subnet-1")),
            ("subnet-2", State::Running, true, Some("subnet-2")),
            ("", State::ShuttingDown, false, None),
        ] {
            let got = machines.note(&[instance("i-1", subnet, state)]);
            assert_eq!(!got.is_empty(), news, "{subnet}");
            let there = machines.get(id).and_then(|machine| machine.subnet);
            assert_eq!(there.as_deref(), known, "{subnet}");
        }
    }
}
