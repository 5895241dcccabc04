//! What the changed selectors of a class find in the account, and what its nodes have of that, where the account may be asked.

use super::subject::{Change, Subject, typed};
use super::world::World;
use crate::cluster::Cluster;
use jiff::Timestamp;
use joiner_api::{Ami, CapacityReservation, EC2NodeClassSpec, SecurityGroup, Subnet};
use joiner_aws::instances::{instance_id, of_ids};
use joiner_aws::selectors::{images, reservations, security_groups, subnets};
use joiner_aws::{Aws, Error};
use joiner_core::disrupt::drift::Machine;
use joiner_core::text::Text;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// A list of a class' status that changed terms are resolved to.
struct Listed {
    terms: &'static str,
    status: &'static str,
    what: &'static str,
    /// Whether a claim does not say what its instance has of it.
    is_of_instance: bool,
}

const LISTED: [Listed; 4] = [
    Listed {
        terms: "amiSelectorTerms",
        status: "amis",
        what: "images",
        is_of_instance: false,
    },
    Listed {
        terms: "subnetSelectorTerms",
        status: "subnets",
        what: "subnets",
        is_of_instance: true,
    },
    Listed {
        terms: "securityGroupSelectorTerms",
        status: "securityGroups",
        what: "security groups",
        is_of_instance: true,
    },
    Listed {
        terms: "capacityReservationSelectorTerms",
        status: "capacityReservations",
        what: "capacity reservations",
        is_of_instance: true,
    },
];

/// What was found in the account.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    /// What instances have, by the name of their claim, where that matters.
    pub(super) machines: BTreeMap<Text, Machine>,
    /// What was not found out, in words.
    pub(super) notes: Vec<String>,
}

/// Puts what the changed selectors find into the status of `class`, or nothing where that is not known; nodes are then not compared
/// with it.
pub(super) async fn selectors(
    aws: Option<&Aws>,
    cluster: &Cluster,
    world: &World,
    change: &Change,
    class: &mut Json,
) -> Resolved {
    let mut resolved = Resolved::default();
    let Some(spec) = typed::<EC2NodeClassSpec>(&class["spec"]) else {
        return resolved;
    };
    let mut compared = Vec::new();
    for listed in LISTED.iter().filter(|listed| change.changes(&[listed.terms])) {
        let found = match aws {
            None => Err("there are no AWS credentials at hand".to_owned()),
            Some(aws) => of(listed, aws, cluster, &spec)
                .await
                .map_err(|error| error.to_string()),
        };
        if found.is_ok() && listed.is_of_instance {
            compared.push(listed.what);
        }
        class["status"][listed.status] = found.unwrap_or_else(|why| {
            let what = listed.what;
            let note = format!("which {what} the changed terms find is not known: {why}");
            resolved.notes.push(note);
            json!([])
        });
    }
    if let (Some(aws), false) = (aws, compared.is_empty()) {
        match machines(aws, world, &change.name).await {
            Ok(machines) => resolved.machines = machines,
            Err(error) => resolved.notes.push(format!(
                "which nodes have other {} than the changed terms find is not known: {error}",
                compared.join(" or ")
            )),
        }
    }
    resolved
}

async fn of(listed: &Listed, aws: &Aws, cluster: &Cluster, spec: &EC2NodeClassSpec) -> Result<Json, Error> {
    let now = Timestamp::now();
    Ok(match listed.status {
        "amis" => {
            let version = cluster.version().await.unwrap_or_default();
            let found = images(aws, spec, &version, now).await?.found;
            json!(found.into_iter().map(Ami::from).collect::<Vec<_>>())
        }
        "subnets" => {
            let found = subnets(aws, &spec.subnet_selector_terms).await?.found;
            json!(found.into_iter().map(Subnet::from).collect::<Vec<_>>())
        }
        "securityGroups" => {
            let terms = &spec.security_group_selector_terms;
            let found = security_groups(aws, terms).await?.found;
            json!(found.into_iter().map(SecurityGroup::from).collect::<Vec<_>>())
        }
        _ => {
            let terms = &spec.capacity_reservation_selector_terms;
            let found = reservations(aws, terms, now).await?.found;
            let status: Vec<CapacityReservation> = found.iter().map(|it| it.status(now)).collect();
            json!(status)
        }
    })
}

/// What the instances of a class' nodes have.
async fn machines(aws: &Aws, world: &World, class: &str) -> Result<BTreeMap<Text, Machine>, Error> {
    let claims = world.claims_of(Subject::Class, class);
    let by_id: BTreeMap<&str, &Text> = claims
        .filter_map(|claim| Some((instance_id(claim.provider_id.as_deref()?)?, &claim.name)))
        .collect();
    let ids: Vec<&str> = by_id.keys().copied().collect();
    let found = of_ids(aws, &ids).await?;
    let named = found
        .iter()
        .filter_map(|instance| Some(((*by_id.get(&*instance.id)?).clone(), instance.machine())));
    Ok(named.collect())
}
