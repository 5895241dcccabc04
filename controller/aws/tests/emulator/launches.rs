//! Launches: bought, short of capacity, given again after a lost answer, and what is left afterwards.

use crate::catalogue::facts;
use crate::cloud::{Cloud, cloud, start};
use crate::selectors::tags;
use jiff::Timestamp;
use joiner_api::{EC2NodeClass, SecurityGroupSelectorTerm, SubnetSelectorTerm};
use joiner_aws::catalogue::{Settings, instance_types};
use joiner_aws::launch::{ClaimKey, LaunchError, Launched, Launcher, Order, Tenancy, Validity, find_lost};
use joiner_aws::node_class::NodeClass;
use joiner_aws::selectors::{images, security_groups, subnets};
use joiner_aws::unavailable::{Shortage, Unavailable};
use joiner_aws::userdata::Cluster;
use joiner_aws::{AssumeRole, Aws, Error, iam, instances, policy, tags as tag};
use joiner_core::catalogue::{CapacityType, InstanceType};
use joiner_core::launch::{Plan, plan};
use joiner_core::requirements::{Requirement, Requirements};
use joiner_core::resources::Resources;
use joiner_core::text::{Labels, labels};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A node class of the cluster with all its selectors resolved.
pub(crate) async fn resolved_class(cloud: &Cloud, cluster: &Value, alias: &str) -> NodeClass {
    let aws = cloud.admin();
    let name = cluster["name"].as_str().unwrap();
    let discovery = tags(&[("karpenter.sh/discovery", name)]);
    let mut class: EC2NodeClass = serde_json::from_value(json!({
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default", "uid": format!("uid-of-{name}")},
        "spec": {
            "amiSelectorTerms": [{"alias": alias}],
            "role": cluster["nodeRoleName"],
            "subnetSelectorTerms": [{"tags": discovery}],
            "securityGroupSelectorTerms": [{"tags": discovery}],
            "tags": {"team": "a"},
        },
    }))
    .unwrap();
    let subnet_term = SubnetSelectorTerm {
        tags: discovery.clone(),
        ..Default::default()
    };
    let group_term = SecurityGroupSelectorTerm {
        tags: discovery,
        ..Default::default()
    };
    let subnets = subnets(&aws, &[subnet_term]).await.unwrap().found;
    let groups = security_groups(&aws, &[group_term]).await.unwrap().found;
    let images = images(&aws, &class.spec, "1.34", Timestamp::now())
        .await
        .unwrap()
        .found;
    let profile = joiner_aws::profiles::Wanted {
        name: joiner_aws::profiles::name(name, "us-west-2", &format!("uid-of-{name}"), "role"),
        path: joiner_aws::profiles::path("us-west-2", name, &format!("uid-of-{name}")),
        role: cluster["nodeRoleName"].as_str().unwrap().to_owned(),
        tags: tag::for_profile(name, "us-west-2", "default", &tag::Tags::new()),
    };
    let profile = joiner_aws::profiles::ensure(&aws, &profile).await.unwrap();
    class.status = Some(
        serde_json::from_value(json!({
            "instanceProfile": profile.name,
            "subnets": subnets.iter().map(|s| json!({"id": s.id, "zone": s.zone, "zoneID": s.zone_id})).collect::<Vec<_>>(),
            "securityGroups": groups.iter().map(|g| json!({"id": g.id, "name": g.name})).collect::<Vec<_>>(),
            "amis": images.iter().map(|i| json!({"id": i.id, "name": i.name, "requirements": i.requirements})).collect::<Vec<_>>(),
        }))
        .unwrap(),
    );
    NodeClass::try_from(&class).unwrap()
}

/// All that orders of one test borrow from.
pub(crate) struct Scene {
    pub(crate) aws: Aws,
    name: String,
    cluster: Cluster,
    pub(crate) class: NodeClass,
    pub(crate) types: Vec<InstanceType>,
    labels: Labels,
    requests: Resources,
}

impl Scene {
    pub(crate) async fn new(name: &str, alias: &str) -> Self {
        Self::on(cloud(), name, alias).await
    }

    async fn on(cloud: &Cloud, name: &str, alias: &str) -> Self {
        let made = cloud.cluster(name);
        let class = resolved_class(cloud, &made, alias).await;
        let types = instance_types(
            facts().await,
            &class,
            &Settings::default(),
            &Unavailable::default(),
            Timestamp::now(),
        );
        Self {
            aws: cloud.admin(),
            name: name.to_owned(),
            cluster: Cluster {
                name: name.to_owned(),
                endpoint: made["endpoint"].as_str().unwrap_or_default().to_owned(),
                ca_bundle: "Q0E=".to_owned(),
                service_cidr: "172.20.0.0/16".to_owned(),
                dns: None,
            },
            class,
            types,
            labels: labels([("karpenter.sh/nodepool", "default")]),
            requests: Resources::cpu_memory(1000, 1 << 30),
        }
    }

    pub(crate) fn plan(&self, requirements: &[Requirement]) -> Plan {
        plan(
            &requirements.iter().cloned().collect::<Requirements>(),
            &self.requests,
            &self.types,
        )
        .unwrap()
    }

    /// An order that is given, and carried out.
    pub(crate) async fn launch(&self, launcher: &Launcher, claims: &[ClaimKey], plan: &Plan) -> Launched {
        let order = self.order(claims, plan);
        launcher
            .launch(&order, &Unavailable::default(), Timestamp::now())
            .await
            .unwrap()
    }

    pub(crate) fn order<'a>(&'a self, claims: &'a [ClaimKey], plan: &'a Plan) -> Order<'a> {
        Order {
            claims,
            node_pool: "default",
            cluster: &self.cluster,
            class: &self.class,
            plan,
            types: &self.types,
            labels: &self.labels,
            taints: &[],
            startup_taints: &[],
            requests: &self.requests,
            tenancy: Tenancy::Default,
        }
    }
}

pub(crate) fn claim(name: &str) -> ClaimKey {
    ClaimKey {
        name: name.to_owned(),
        uid: format!("uid of {name}"),
    }
}

fn of(kinds: &[&str], capacity_type: &str) -> Vec<Requirement> {
    vec![
        Requirement::is_in("node.kubernetes.io/instance-type", kinds.iter().copied()),
        Requirement::is("karpenter.sh/capacity-type", capacity_type),
    ]
}

#[tokio::test]
async fn an_order_buys_the_cheapest_and_destroy_leaves_nothing() {
    let scene = Scene::new("buys", "al2023@latest").await;
    let launcher = Launcher::new(scene.aws.clone(), &scene.name);
    let plan = scene.plan(&of(&["m5.large", "m5.xlarge", "m6g.large"], "on-demand"));
    let claims = [claim("default-aaaaa")];
    let launched = scene.launch(&launcher, &claims, &plan).await;
    let [bought] = launched.bought.as_slice() else {
        panic!("{launched:?}")
    };
    assert_eq!(
        (bought.claim.as_str(), bought.capacity_type),
        ("default-aaaaa", CapacityType::OnDemand)
    );
    assert_eq!(bought.instance_type, "m6g.large", "the cheapest of the three");
    let listed = instances::list(&scene.aws, &scene.name).await.unwrap();
    let [instance] = listed.as_slice() else {
        panic!("{listed:?}")
    };
    assert_eq!(instance.id, bought.instance_id);
    assert_eq!(instance.node_claim(), Some("default-aaaaa"));
    assert_eq!(instance.node_pool(), Some("default"));
    assert_eq!(instance.tags.get("team").map(String::as_str), Some("a"));
    assert_eq!(instance.security_groups, scene.class.security_groups);
    assert_eq!(
        (&instance.zone, &instance.image_id),
        (&bought.zone, &bought.image_id)
    );
    assert_eq!(
        instances::instance_id(&instance.provider_id()),
        Some(instance.id.as_str())
    );

    let named = [("Name".to_owned(), "ip-10-0-0-1".to_owned())].into();
    assert!(
        instances::tag(&scene.aws, &bought.instance_id, &named)
            .await
            .unwrap()
    );
    let ids = [bought.instance_id.clone(), "i-00000000000000000".to_owned()];
    instances::terminate(&scene.aws, &ids).await.unwrap();
    instances::terminate(&scene.aws, &ids[1..]).await.unwrap();
    assert!(
        instances::get(&scene.aws, &ids[0])
            .await
            .unwrap()
            .is_none_or(|gone| gone.state.is_ending())
    );
    assert!(instances::get(&scene.aws, &ids[1]).await.unwrap().is_none());
    // One for each image and number of pods.
    assert_eq!(launcher.delete_templates("default").await.unwrap().len(), 3);
    assert!(
        joiner_aws::profiles::delete(&scene.aws, &scene.class.instance_profile)
            .await
            .unwrap()
    );
    let left = cloud().admin_route(
        "GET",
        &format!("/_sandbox/leftovers?cluster={}", scene.name),
        &Value::Null,
    );
    assert!(
        !left.to_string().contains("lt-") && !left.to_string().contains(&bought.instance_id),
        "{left}"
    );
}

#[tokio::test]
async fn an_instance_joins_with_what_the_template_says() {
    let scene = Scene::new("joins", "bottlerocket@latest").await;
    let launcher = Launcher::new(scene.aws.clone(), &scene.name);
    let plan = scene.plan(&of(&["c6g.xlarge"], "spot"));
    let launched = scene.launch(&launcher, &[claim("default-bbbbb")], &plan).await;
    let id = launched.bought[0].instance_id.clone();
    let all = cloud().admin_route("GET", "/_sandbox/instances?after=0", &Value::Null);
    let seen = all["instances"]
        .as_array()
        .unwrap()
        .iter()
        .find(|instance| instance["id"] == id.as_str())
        .unwrap();
    assert_eq!(seen["lifecycle"], "spot");
    assert_eq!(seen["arch"], "arm64");
    let user_data = seen["userData"].as_str().unwrap();
    assert!(user_data.contains("cluster-name = \"joins\""), "{user_data}");
    assert!(
        user_data.contains("\"karpenter.sh/capacity-type\" = \"spot\""),
        "{user_data}"
    );
    assert!(
        user_data.contains("\"karpenter.sh/unregistered\" = [\":NoExecute\"]"),
        "{user_data}"
    );
    assert_eq!(
        instances::get(&scene.aws, &id)
            .await
            .unwrap()
            .unwrap()
            .capacity_type,
        CapacityType::Spot
    );
    instances::terminate(&scene.aws, &[id]).await.unwrap();
}

#[tokio::test]
async fn what_is_short_is_marked_and_the_next_offering_is_tried() {
    let scene = Scene::new("short", "al2023@latest").await;
    let launcher = Launcher::new(scene.aws.clone(), &scene.name);
    let short =
        cloud().fault(&json!({"kind": "insufficient-capacity", "match": {"instanceType": "r5b.large"}}));
    let plan = scene.plan(&of(&["r5b.large"], "on-demand"));
    let error = launcher
        .launch(
            &scene.order(&[claim("default-ccccc")], &plan),
            &Unavailable::default(),
            Timestamp::now(),
        )
        .await
        .unwrap_err();
    let LaunchError::InsufficientCapacity { shortages, detail } = error else {
        panic!("{error:?}")
    };
    assert!(detail.contains("InsufficientInstanceCapacity"), "{detail}");
    let zones: BTreeSet<&str> = plan.choices.iter().map(|choice| &*choice.zone).collect();
    assert_eq!(shortages.len(), zones.len(), "{shortages:?}");

    let now = Timestamp::now();
    let mut out = Unavailable::default();
    for (shortage, reason) in shortages {
        assert!(matches!(shortage, Shortage::Offering { .. }));
        out.mark(shortage, &reason, now);
    }
    let types = instance_types(facts().await, &scene.class, &Settings::default(), &out, now);
    let rest = joiner_core::launch::plan(
        &of(&["r5b.large", "r5b.xlarge"], "on-demand")
            .into_iter()
            .collect(),
        &scene.requests,
        &types,
    )
    .unwrap();
    assert!(
        rest.choices
            .iter()
            .all(|choice| &*choice.instance_type == "r5b.xlarge"),
        "{rest:?}"
    );
    let launched = launcher
        .launch(
            &scene.order(&[claim("default-ccccd")], &rest),
            &out,
            Timestamp::now(),
        )
        .await
        .unwrap();
    assert_eq!(launched.bought[0].instance_type, "r5b.xlarge");
    drop(short);
    instances::terminate(&scene.aws, &[launched.bought[0].instance_id.clone()])
        .await
        .unwrap();
}

#[tokio::test]
async fn a_batch_gives_each_claim_an_instance_and_a_killed_controller_finds_them() {
    let scene = Scene::new("batch", "al2023@latest").await;
    let launcher = Launcher::new(scene.aws.clone(), &scene.name);
    let plan = scene.plan(&of(&["m5a.large", "m5a.xlarge"], "spot"));
    let claims: Vec<ClaimKey> = ["b-1", "b-2", "b-3"].map(claim).into();
    let launched = scene.launch(&launcher, &claims, &plan).await;
    assert_eq!(launched.bought.len(), 3);
    let listed = instances::list(&scene.aws, &scene.name).await.unwrap();
    let first = launched.bought[0].instance_id.as_str();
    let found = find_lost(&listed, &BTreeSet::from([first]), &claims[1..]);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["b-2", "b-3"]);
    let ids: Vec<String> = launched
        .bought
        .iter()
        .map(|bought| bought.instance_id.clone())
        .collect();
    instances::terminate(&scene.aws, &ids).await.unwrap();
}

#[tokio::test]
async fn an_order_for_many_claims_becomes_several_calls() {
    let scene = Scene::new("many", "al2023@latest").await;
    let launcher = Launcher::new(scene.aws.clone(), &scene.name);
    let plan = scene.plan(&of(&["c6i.large"], "on-demand"));
    let claims: Vec<ClaimKey> = (0..25)
        .map(|number| claim(&format!("many-{number:02}")))
        .collect();
    let launched = scene.launch(&launcher, &claims, &plan).await;
    let ids: BTreeSet<String> = launched
        .bought
        .iter()
        .map(|bought| bought.instance_id.clone())
        .collect();
    assert_eq!((ids.len(), launched.unserved.len()), (25, 0));
    instances::terminate(&scene.aws, &ids.into_iter().collect::<Vec<_>>())
        .await
        .unwrap();
}

#[tokio::test]
async fn an_order_given_twice_buys_once() {
    let scene = Scene::new("twice", "al2023@latest").await;
    let plan = scene.plan(&of(&["m5d.large"], "on-demand"));
    let claims = [claim("default-ddddd")];
    let mut ids = BTreeSet::new();
    for _ in 0..2 {
        // A new launcher each time, as after a crash.
        let launcher = Launcher::new(scene.aws.clone(), &scene.name);
        let launched = scene.launch(&launcher, &claims, &plan).await;
        ids.insert(launched.bought[0].instance_id.clone());
    }
    // The same claim with other offerings: EC2 refuses the token, the instance is found by its tag.
    let other = scene.plan(&of(&["m5d.xlarge"], "on-demand"));
    let launcher = Launcher::new(scene.aws.clone(), &scene.name);
    let launched = scene.launch(&launcher, &claims, &other).await;
    ids.insert(launched.bought[0].instance_id.clone());
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(instances::list(&scene.aws, &scene.name).await.unwrap().len(), 1);
    instances::terminate(&scene.aws, &ids.into_iter().collect::<Vec<_>>())
        .await
        .unwrap();
}

#[tokio::test]
async fn a_template_that_someone_deleted_is_made_again() {
    let scene = Scene::new("template", "al2023@latest").await;
    let launcher = Launcher::new(scene.aws.clone(), &scene.name);
    let plan = scene.plan(&of(&["c5.large"], "on-demand"));
    let first = scene.launch(&launcher, &[claim("default-eeeee")], &plan).await;
    let stranger = Launcher::new(scene.aws.clone(), &scene.name);
    assert_eq!(stranger.hydrate(Timestamp::now()).await.unwrap(), 1);
    assert!(stranger.sweep(Timestamp::now()).await.unwrap().is_empty());
    let later = Timestamp::now() + jiff::SignedDuration::from_mins(31);
    assert_eq!(stranger.sweep(later).await.unwrap().len(), 1);
    let second = scene.launch(&launcher, &[claim("default-eeeef")], &plan).await;
    let ids = [first, second].map(|launched| launched.bought[0].instance_id.clone());
    assert_ne!(ids[0], ids[1]);
    instances::terminate(&scene.aws, &ids).await.unwrap();
}

#[tokio::test]
async fn what_was_prepared_is_used() {
    let scene = Scene::new("prepared", "al2023@latest").await;
    let launcher = Launcher::new(scene.aws.clone(), &scene.name);
    let plan = scene.plan(&of(&["r5.large", "r5.xlarge", "r5.4xlarge"], "on-demand"));
    let prepare = async |wanted: bool| {
        let order = scene.order(&[], &plan);
        launcher
            .prepare(&order, 32, &Unavailable::default(), Timestamp::now(), || wanted)
            .await
            .unwrap()
    };
    assert_eq!(prepare(false).await, 0, "its class is gone");
    let made = prepare(true).await;
    assert_eq!(made, 3, "one for each number of pods");
    let launched = scene.launch(&launcher, &[claim("default-hhhhh")], &plan).await;
    let stranger = Launcher::new(scene.aws.clone(), &scene.name);
    assert_eq!(stranger.hydrate(Timestamp::now()).await.unwrap(), made);
    let id = launched.bought[0].instance_id.clone();
    instances::terminate(&scene.aws, &[id]).await.unwrap();
    assert_eq!(launcher.delete_templates("default").await.unwrap().len(), made);
}

#[tokio::test]
async fn a_lost_answer_and_a_refusal_cost_no_second_instance() {
    let own = start();
    let scene = Scene::on(&own, "faults", "al2023@latest").await;
    let launcher = Launcher::new(scene.aws.clone(), &scene.name);
    let plan = scene.plan(&of(&["m5.large"], "on-demand"));
    let claims = [claim("default-ggggg")];
    let order = scene.order(&claims, &plan);
    let now = Timestamp::now();
    let out = Unavailable::default();

    let throttled = own.fault(&json!({
        "kind": "throttle", "match": {"action": "ec2:CreateFleet"}, "times": 1
    }));
    let error = launcher.launch(&order, &out, now).await.unwrap_err();
    assert!(matches!(error, LaunchError::Throttled { .. }), "{error:?}");
    drop(throttled);
    assert!(instances::list(&scene.aws, &scene.name).await.unwrap().is_empty());

    let lost = own.fault(&json!({
        "kind": "lost-response", "match": {"action": "ec2:CreateFleet"}, "times": 1
    }));
    let error = launcher.launch(&order, &out, now).await.unwrap_err();
    assert!(matches!(error, LaunchError::Other { .. }), "{error:?}");
    drop(lost);
    let bought = instances::list(&scene.aws, &scene.name).await.unwrap();
    let [instance] = bought.as_slice() else {
        panic!("{bought:?}")
    };
    let found = find_lost(&bought, &BTreeSet::new(), &claims);
    assert_eq!(found["default-ggggg"].id, instance.id);
    let again = launcher.launch(&order, &out, now).await.unwrap();
    assert_eq!(again.bought[0].instance_id, instance.id);
    assert_eq!(instances::list(&scene.aws, &scene.name).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_validation_buys_nothing() {
    let scene = Scene::new("throttled", "al2023@latest").await;
    let launcher = Launcher::new(scene.aws.clone(), &scene.name);
    let plan = scene.plan(&of(&["c5a.large"], "on-demand"));
    let order_claims = [claim("default-fffff")];
    let order = scene.order(&order_claims, &plan);
    assert!(matches!(
        launcher.validate(&order, Timestamp::now()).await,
        Validity::Valid
    ));
    assert!(
        instances::list(&scene.aws, &scene.name).await.unwrap().is_empty(),
        "a validation buys nothing"
    );
}

/// A connection with the controller's own policy for the cluster, as a role that is taken on.
async fn as_controller(cluster: &Value, role: &str) -> Aws {
    let admin = cloud().admin();
    let trust = json!({
        "Version": "2012-10-17",
        "Statement": [{
            "Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "sts:AssumeRole"
        }],
    });
    let new = iam::NewRole {
        name: role.to_owned(),
        trust: trust.to_string(),
        ..Default::default()
    };
    let made = iam::create_role(&admin, &new).await.unwrap();
    let document = policy::controller(&policy::Controller {
        partition: "aws".to_owned(),
        region: "us-west-2".to_owned(),
        account: "123456789012".to_owned(),
        cluster: cluster["name"].as_str().unwrap().to_owned(),
        queue_arn: None,
        node_role_arns: vec![cluster["nodeRoleArn"].as_str().unwrap().to_owned()],
        manages_profiles: true,
    });
    iam::put_inline_policy(&admin, role, "controller", &document.to_json())
        .await
        .unwrap();
    let mut settings = cloud().settings();
    settings.assume_role = Some(AssumeRole {
        role_arn: made.arn,
        session_name: None,
        external_id: None,
    });
    Aws::connect(settings).unwrap()
}

#[tokio::test]
async fn the_controllers_policy_allows_all_that_it_does_and_no_more() {
    let mut scene = Scene::new("policy", "al2023@latest").await;
    let cluster = cloud().admin_route("GET", "/_sandbox/clusters/policy", &Value::Null);
    scene.aws = as_controller(&cluster, "policy-controller").await;
    assert!(
        !joiner_aws::catalogue::load_zones(&scene.aws)
            .await
            .unwrap()
            .is_empty()
    );
    joiner_aws::eks::describe(&scene.aws, "policy").await.unwrap();
    let profile = joiner_aws::profiles::Wanted {
        name: joiner_aws::profiles::name("policy", "us-west-2", "other", "role"),
        path: joiner_aws::profiles::path("us-west-2", "policy", "other"),
        role: cluster["nodeRoleName"].as_str().unwrap().to_owned(),
        tags: tag::for_profile("policy", "us-west-2", "other", &tag::Tags::new()),
    };
    joiner_aws::profiles::ensure(&scene.aws, &profile).await.unwrap();
    assert!(
        joiner_aws::profiles::delete(&scene.aws, &profile.name)
            .await
            .unwrap()
    );

    let launcher = Launcher::new(scene.aws.clone(), "policy");
    for capacity_type in ["on-demand", "spot"] {
        let plan = scene.plan(&of(&["m5n.large"], capacity_type));
        let claims = [claim(&format!("policy-{capacity_type}"))];
        let order = scene.order(&claims, &plan);
        let validity = launcher.validate(&order, Timestamp::now()).await;
        assert!(matches!(validity, Validity::Valid), "{validity:?}");
        let launched = launcher
            .launch(&order, &Unavailable::default(), Timestamp::now())
            .await
            .unwrap();
        let id = launched.bought[0].instance_id.clone();
        let named = [
            ("Name".to_owned(), "x".to_owned()),
            (tag::NODE_CLAIM.to_owned(), "x".to_owned()),
        ]
        .into();
        assert!(instances::tag(&scene.aws, &id, &named).await.unwrap());
        let other = [("team".to_owned(), "x".to_owned())].into();
        assert!(matches!(
            instances::tag(&scene.aws, &id, &other).await,
            Err(Error::Unauthorized(_))
        ));
        instances::terminate(&scene.aws, &[id]).await.unwrap();
    }
    assert!(!launcher.delete_templates("default").await.unwrap().is_empty());

    // With another cluster's name on its tags nothing goes.
    scene.cluster.name = "other".to_owned();
    let plan = scene.plan(&of(&["m5n.large"], "on-demand"));
    let claims = [claim("policy-other")];
    let order = scene.order(&claims, &plan);
    let stranger = Launcher::new(scene.aws.clone(), "other");
    let error = stranger
        .launch(&order, &Unavailable::default(), Timestamp::now())
        .await
        .unwrap_err();
    assert!(matches!(error, LaunchError::Unauthorized { .. }), "{error:?}");
    assert_eq!(error.reason(), "Unauthorized");
    let validity = stranger.validate(&order, Timestamp::now()).await;
    let Validity::Invalid { reason, message } = validity else {
        panic!("{validity:?}")
    };
    assert_eq!(reason, "CreateLaunchTemplateAuthCheckFailed");
    assert!(message.contains("ec2:CreateLaunchTemplate"), "{message}");
}
