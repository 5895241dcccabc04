//! Capacity that is paid for already: a class' terms find a reservation, the first node goes into it and the next one does not, and a
//! reservation that the class finds no more is a drift. A placement group that a class names is where its nodes are.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use joiner_api::{NodeClaim, labels};
use joiner_tests::{Quickstart, cluster, eventually};
use kube::ResourceExt;
use serde_json::json;

const PATIENCE: Duration = Duration::from_secs(180);
const WAYS: &str = "        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}\n        \
     - {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a]}\n        \
     - {key: karpenter.sh/capacity-type, operator: In, values: [reserved, on-demand]}";

#[tokio::test]
async fn a_reservation_is_filled_first_and_one_that_is_lost_is_a_drift() -> Result<()> {
    let quickstart = Quickstart::apply().await?;
    let cloud = &quickstart.cloud;
    let reserved = cloud.aws(
        "ec2",
        "create_capacity_reservation",
        &json!({
            "InstanceType": "m5.large", "InstancePlatform": "Linux/UNIX", "AvailabilityZone": "us-west-2a", "InstanceCount": 1,
            "InstanceMatchCriteria": "targeted",
        }),
    )?;
    let id = reserved["CapacityReservation"]["CapacityReservationId"].as_str();
    let id = id.context("a reservation")?.to_owned();
    let group = json!({ "GroupName": "apart", "Strategy": "spread" });
    let group = cloud.aws("ec2", "create_placement_group", &group)?;
    let group = group["PlacementGroup"]["GroupId"]
        .as_str()
        .context("a group")?
        .to_owned();
    let patch = |spec: serde_json::Value| {
        let patch = json!({ "spec": spec }).to_string();
        cloud.kubectl(&["patch", "ec2nodeclass", "default", "--type=merge", "-p", &patch])
    };
    patch(json!({
        "capacityReservationSelectorTerms": [{ "id": id }], "placementGroupSelector": { "name": "apart" },
    }))?;
    let found = "jsonpath={.status.capacityReservations[*].id}";
    eventually("the class has its reservation", PATIENCE, || async {
        let there = cloud.kubectl(&["get", "ec2nodeclass", "default", "-o", found])?;
        ensure!(there == id, "{there:?}");
        Ok(())
    })
    .await?;
    quickstart.pool("reserved", WAYS, "", "")?;
    let pods = cluster::deployment("reserved", "karpenter.sh/nodepool: reserved", 2, "1500m", "");
    cloud.kubectl_apply(&pods)?;
    cluster::pods_of(&quickstart.client, "reserved", 2, PATIENCE).await?;
    let claims = cluster::claims(&quickstart.client).await?;
    let mut ways: Vec<(String, Option<String>)> = claims.iter().map(way).collect();
    ways.sort();
    ensure!(
        ways == [
            ("on-demand".to_owned(), None),
            ("reserved".to_owned(), Some(id.clone()))
        ],
        "{ways:?}"
    );
    for claim in &claims {
        ensure!(
            claim.labels().get(labels::PLACEMENT_GROUP_ID) == Some(&group),
            "{claim:?}"
        );
    }
    let held = json!({ "CapacityReservationIds": [id] });
    let held = cloud.aws("ec2", "describe_capacity_reservations", &held)?;
    ensure!(
        held["CapacityReservations"][0]["AvailableInstanceCount"] == 0,
        "{held}"
    );

    patch(json!({ "capacityReservationSelectorTerms": [] }))?;
    let told = Mutex::new(String::new());
    eventually("the node has left the reservation", PATIENCE, || async {
        let claims = cluster::claims(&quickstart.client).await?;
        if let Some(drift) = claims.iter().find_map(drift) {
            *told.lock().unwrap_or_else(PoisonError::into_inner) = drift;
        }
        let ways: Vec<(String, Option<String>)> = claims.iter().map(way).collect();
        ensure!(
            ways.iter().all(|(_, reservation)| reservation.is_none()),
            "{ways:?}, {told:?}"
        );
        Ok(())
    })
    .await?;
    let told = told.into_inner().unwrap_or_else(PoisonError::into_inner);
    ensure!(
        told.starts_with("CapacityReservationDrift: ") && told.contains(&id),
        "{told:?}"
    );
    cluster::pods_of(&quickstart.client, "reserved", 2, PATIENCE).await?;

    cloud.kubectl(&["delete", "deployment", "reserved"])?;
    cloud.kubectl(&["delete", "nodepool", "reserved"])?;
    quickstart.workspace.destroy()?;
    let left = cloud.sandbox.leftovers().await?;
    ensure!(left.is_empty(), "{left:?}");
    Ok(())
}

/// How the claim's node is paid for, and the reservation behind it.
fn way(claim: &NodeClaim) -> (String, Option<String>) {
    let label = |key: &str| claim.labels().get(key).cloned();
    (
        label(labels::CAPACITY_TYPE).unwrap_or_default(),
        label(labels::CAPACITY_RESERVATION_ID),
    )
}

fn drift(claim: &NodeClaim) -> Option<String> {
    let conditions = &claim.status.as_ref()?.conditions;
    let it = conditions
        .iter()
        .find(|it| it.type_ == "Drifted" && it.status == "True")?;
    Some(format!("{}: {}", it.reason, it.message))
}
