//! Nodes whose capacity reservation has ended: their instances run on, on demand, and claim and node say so from then on, as in
//! Karpenter. The other way round does not happen: an instance on demand never gets into a reservation.

use joiner_api::labels::CAPACITY_TYPE;
use joiner_aws::instances::Instance;
use joiner_core::catalogue::CapacityType;
use joiner_core::text::{Labels, Text};
use tracing::{error, info};

use crate::act::Act;
use crate::observe::ClaimEntry;

/// Compares the instances, as they were just listed, with what claims and nodes say.
pub(super) async fn look(act: &Act, found: &[Instance], claims: &[ClaimEntry]) {
    for instance in found.iter().filter(|it| runs_on_demand(it)) {
        let provider_id: Text = instance.provider_id().into();
        let of_instance = |entry: &&ClaimEntry| {
            entry.claim.provider_id.as_ref() == Some(&provider_id) && entry.claim.deletion.is_none()
        };
        let Some(entry) = claims.iter().find(of_instance) else {
            continue;
        };
        let name = &entry.claim.name;
        if says_reserved(&entry.claim.labels) {
            info!(NodeClaim = %name, instance = %instance.id, "the capacity reservation of nodeclaim has ended, it runs on demand");
            if let Err(failed) = act.demote_claim(name).await {
                error!(NodeClaim = %name, error = %failed.chain(), "nodeclaim was not told that it runs on demand");
                continue;
            }
        }
        for node in act.index.nodes_of(&provider_id) {
            if says_reserved(&node.node.labels)
                && let Err(failed) = act.demote_node(&node).await
            {
                error!(Node = %node.node.name, error = %failed.chain(), "node was not told that it runs on demand");
            }
        }
    }
}

fn runs_on_demand(instance: &Instance) -> bool {
    instance.capacity_type == CapacityType::OnDemand && !instance.state.is_ending()
}

fn says_reserved(labels: &Labels) -> bool {
    labels
        .get(CAPACITY_TYPE)
        .is_some_and(|way| **way == *CapacityType::Reserved.as_str())
}

#[cfg(test)]
mod tests {
    use joiner_aws::instances::State;
    use joiner_core::text::labels;

    use super::*;

    #[test]
    fn only_an_instance_that_runs_on_demand_is_told_so() {
        let instance = |capacity_type, state| Instance {
            id: "i-1".to_owned(),
            state,
            instance_type: "m5.large".to_owned(),
            zone: "us-west-2a".to_owned(),
            capacity_type,
            image_id: String::new(),
            subnet_id: String::new(),
            security_groups: Vec::new(),
            private_dns_name: String::new(),
            reservation: None,
            launched: None,
            tags: Default::default(),
        };
        for (way, state, want) in [
            (CapacityType::OnDemand, State::Running, true),
            (CapacityType::OnDemand, State::ShuttingDown, false),
            (CapacityType::Reserved, State::Running, false),
            (CapacityType::Spot, State::Running, false),
        ] {
            assert_eq!(runs_on_demand(&instance(way, state)), want, "{way} {state:?}");
        }
        for (way, want) in [("reserved", true), ("on-demand", false)] {
            assert_eq!(says_reserved(&labels([(CAPACITY_TYPE, way)])), want);
        }
        assert!(!says_reserved(&Labels::new()));
    }
}
