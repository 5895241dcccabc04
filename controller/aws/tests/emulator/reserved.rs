//! Capacity reservations, placement groups and quotas: found, explained, launched into.

use crate::catalogue::facts;
use crate::cloud::cloud;
use crate::launches::Scene;
use crate::selectors::tags;
use jiff::Timestamp;
use joiner_api::{CapacityReservationSelectorTerm, CapacityReservationType, PlacementGroupSelector};
use joiner_aws::catalogue::{Settings, instance_types};
use joiner_aws::instances;
use joiner_aws::launch::{ClaimKey, LaunchError, Launcher};
use joiner_aws::node_class::Reservation;
use joiner_aws::quotas;
use joiner_aws::selectors::{FoundReservation, placement_group, reservations};
use joiner_aws::unavailable::{Shortage, Unavailable};
use joiner_core::catalogue::CapacityType;
use joiner_core::requirements::Requirement;
use serde_json::{Value, json};
use std::process::Command;

/// One call to the account by boto3.
fn boto3(service: &str, operation: &str, parameters: &Value) -> Value {
    const CALL: &str = "import boto3, json, sys\n\
        client = boto3.client(sys.argv[2], endpoint_url=sys.argv[1], region_name='us-west-2',\n\
            aws_access_key_id='AKIASANDBOXADMIN00000', aws_secret_access_key='sandbox-admin-secret')\n\
        print(json.dumps(getattr(client, sys.argv[3])(**json.loads(sys.argv[4])), default=str))";
    let output = Command::new(crate::cloud::python())
        .args([
            "-c",
            CALL,
            &cloud().url(),
            service,
            operation,
            &parameters.to_string(),
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Reserves m5.large in zone a; answers the id.
fn reserve(team: &str, count: u32) -> String {
    let asked = json!({
        "InstanceType": "m5.large", "InstancePlatform": "Linux/UNIX", "AvailabilityZone": "us-west-2a", "InstanceCount": count,
        "InstanceMatchCriteria": "targeted",
        "TagSpecifications": [{ "ResourceType": "capacity-reservation", "Tags": [{ "Key": "team", "Value": team }] }],
    });
    let made = boto3("ec2", "create_capacity_reservation", &asked);
    made["CapacityReservation"]["CapacityReservationId"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn cancel(id: &str) {
    boto3(
        "ec2",
        "cancel_capacity_reservation",
        &json!({ "CapacityReservationId": id }),
    );
}

fn by_id(id: &str) -> CapacityReservationSelectorTerm {
    CapacityReservationSelectorTerm {
        id: Some(id.to_owned()),
        ..Default::default()
    }
}

fn by_team(team: &str) -> CapacityReservationSelectorTerm {
    CapacityReservationSelectorTerm {
        tags: tags(&[("team", team)]),
        ..Default::default()
    }
}

#[tokio::test]
async fn reservations_are_found_and_those_that_have_ended_are_named() {
    let aws = cloud().admin();
    let (id, other) = (reserve("finding", 2), reserve("finding", 1));
    let now = Timestamp::now();
    let found = reservations(&aws, &[by_team("finding"), by_id(&id)], now)
        .await
        .unwrap();
    assert_eq!(found.found.len(), 2, "each once");
    assert!(found.unmatched.is_empty());
    let one: &FoundReservation = found.found.iter().find(|it| it.id == id).unwrap();
    assert_eq!(
        (one.instance_type.as_str(), one.zone.as_str(), one.available),
        ("m5.large", "us-west-2a", 2)
    );
    cancel(&other);
    let missing = "cr-0123456789abcdef0";
    let terms = [by_id(&other), by_id(missing), by_team("findings")];
    let found = reservations(&aws, &terms, now).await.unwrap();
    assert!(found.is_empty());
    let told: Vec<String> = found.unmatched.iter().map(ToString::to_string).collect();
    assert!(
        told[0].contains(&format!("{other} (m5.large in us-west-2a) is cancelled")),
        "{told:?}"
    );
    assert!(
        told[1].contains("no such capacity reservations in region us-west-2"),
        "{told:?}"
    );
    assert!(
        told[2].contains("have tag team with") && told[2].contains("none with findings"),
        "{told:?}"
    );
}

/// Runs what needs more stack than a test has in a debug build.
fn with_room<F: Future<Output = ()>>(body: impl FnOnce() -> F + Send + 'static) {
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(body());
    };
    let thread = std::thread::Builder::new()
        .stack_size(16 << 20)
        .spawn(run)
        .unwrap();
    thread.join().unwrap();
}

#[test]
fn instances_are_launched_into_a_reservation_until_it_is_full() {
    with_room(fill_a_reservation);
}

async fn fill_a_reservation() {
    let mut scene = Box::pin(Scene::new("reserved", "al2023@latest")).await;
    let id = reserve("launching", 1);
    scene.class.reservations = vec![Reservation {
        id: id.clone(),
        instance_type: "m5.large".to_owned(),
        zone: "us-west-2a".to_owned(),
        kind: CapacityReservationType::Default,
        interruptible: false,
        expiring: false,
        remaining: 1,
    }];
    scene.types = instance_types(
        facts().await,
        &scene.class,
        &Settings::default(),
        &Unavailable::default(),
        Timestamp::now(),
    );
    let plan = scene.plan(&[Requirement::is("karpenter.sh/capacity-type", "reserved")]);
    assert_eq!(plan.capacity_type, CapacityType::Reserved);
    let launcher = Launcher::new(scene.aws.clone(), "reserved");
    let claim = |name: &str| {
        [ClaimKey {
            name: name.to_owned(),
            uid: format!("uid-of-reserved-{name}"),
        }]
    };
    let first = claim("a");
    let launched = Box::pin(scene.launch(&launcher, &first, &plan)).await;
    let bought = &launched.bought[0];
    assert_eq!(bought.reservation.as_ref(), Some(&id));
    let instance = instances::get(&scene.aws, &bought.instance_id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (instance.capacity_type, instance.reservation.as_ref()),
        (CapacityType::Reserved, Some(&id))
    );
    let claims = claim("b");
    let order = scene.order(&claims, &plan);
    let unavailable = Unavailable::default();
    let full = Box::pin(launcher.launch(&order, &unavailable, Timestamp::now())).await;
    let Err(LaunchError::InsufficientCapacity { shortages, .. }) = full else {
        panic!("{full:?}");
    };
    let short = Shortage::Offering {
        capacity_type: "reserved".to_owned(),
        instance_type: "m5.large".to_owned(),
        zone: "us-west-2a".to_owned(),
    };
    assert_eq!(shortages, [(short, "ReservationCapacityExceeded".to_owned())]);
    // The instance runs on when its reservation ends, on demand.
    cancel(&id);
    let instance = instances::get(&scene.aws, &bought.instance_id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(instance.capacity_type, CapacityType::OnDemand);
    instances::terminate(&scene.aws, std::slice::from_ref(&bought.instance_id))
        .await
        .unwrap();
}

#[tokio::test]
async fn instances_are_launched_into_a_placement_group() {
    let mut scene = Box::pin(Scene::new("grouped", "al2023@latest")).await;
    boto3(
        "ec2",
        "create_placement_group",
        &json!({ "GroupName": "grouped", "Strategy": "spread" }),
    );
    let by_name = PlacementGroupSelector {
        name: Some("grouped".to_owned()),
        ..Default::default()
    };
    let group = placement_group(&scene.aws, &by_name).await.unwrap().unwrap();
    assert_eq!(
        (group.name.as_str(), group.strategy.as_str()),
        ("grouped", "spread")
    );
    let by_id = PlacementGroupSelector {
        id: Some(group.id.clone()),
        ..Default::default()
    };
    assert_eq!(
        placement_group(&scene.aws, &by_id).await.unwrap(),
        Some(group.clone())
    );
    for (id, name) in [(None, Some("nothing")), (Some("pg-0123456789abcdef0"), None)] {
        let nothing = PlacementGroupSelector {
            id: id.map(str::to_owned),
            name: name.map(str::to_owned),
        };
        assert_eq!(placement_group(&scene.aws, &nothing).await.unwrap(), None);
    }
    scene.class.placement_group = Some(group.id);
    let plan = scene.plan(&[Requirement::is("node.kubernetes.io/instance-type", "m5.large")]);
    let launcher = Launcher::new(scene.aws.clone(), "grouped");
    let claims = [ClaimKey {
        name: "a".to_owned(),
        uid: "uid-of-grouped-a".to_owned(),
    }];
    let launched = Box::pin(scene.launch(&launcher, &claims, &plan)).await;
    let id = &launched.bought[0].instance_id;
    let told = boto3("ec2", "describe_instances", &json!({ "InstanceIds": [id] }));
    assert_eq!(
        told["Reservations"][0]["Instances"][0]["Placement"]["GroupName"],
        "grouped"
    );
    instances::terminate(&scene.aws, std::slice::from_ref(id))
        .await
        .unwrap();
}

#[tokio::test]
async fn quotas_are_told() {
    let aws = cloud().admin();
    let quota = quotas::of("trn1.2xlarge", CapacityType::OnDemand).unwrap();
    cloud().admin_route(
        "POST",
        "/_sandbox/quotas",
        &json!({ "code": quota.code, "value": 8 }),
    );
    assert_eq!(quotas::vcpus(&aws, quota).await.unwrap(), Some(8));
    let unknown = quotas::Quota {
        code: "L-00000000",
        name: "none",
    };
    assert_eq!(quotas::vcpus(&aws, unknown).await.unwrap(), None);
}
