//! A NodePool's life under a core, by the core's own rules.

use crate::cluster::Cluster;
use crate::cluster::mock::MockApi;
use crate::provider::JoinerProvider;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tfplugin::testing::{Action, Core, Session, UNKNOWN};

const TYPE: &str = "joiner_node_pool";
const POOL: &str = "/apis/karpenter.sh/v1/nodepools/p";
const KNOWN: &str = "https://cluster";

async fn core(api: &Arc<MockApi>, host: &str) -> Core<JoinerProvider> {
    let api = Arc::clone(api);
    let provider = JoinerProvider::reaching(move |_| Cluster::from_client(KNOWN, api.client()));
    let core = Core::new(provider).await.expect("the schemas are valid");
    configure(&core, host).await;
    core
}

async fn configure(core: &Core<JoinerProvider>, host: &str) {
    core.configure(json!({ "kubernetes": { "host": host } }))
        .await
        .expect("configured");
}

fn config(change: impl FnOnce(&mut Json)) -> Json {
    let mut config = json!({
        "name": "p",
        "template": { "spec": {
            "node_class_ref": { "name": "c" },
            "requirements": [
                { "key": "kubernetes.io/arch", "operator": "In", "values": ["arm64", "amd64"] },
                { "key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"] },
            ],
        } },
        "limits": { "cpu": "1000m" },
        "wait": { "ready": false },
    });
    change(&mut config);
    config
}

fn session(core: &Core<JoinerProvider>) -> Session<JoinerProvider> {
    core.resource(TYPE).expect("the type exists")
}

#[tokio::test]
async fn create_plan_change_and_destroy() {
    let api = MockApi::new("c");
    let core = core(&api, KNOWN).await;
    let mut pool = session(&core);
    assert_eq!(
        pool.plan(config(|_| {})).await.expect("planned").action,
        Action::Create
    );
    pool.apply(config(|_| {})).await.expect("applied");
    let live = api.get(POOL).expect("it is there");
    assert_eq!(
        live["spec"]["disruption"]["budgets"],
        json!([{ "nodes": "10%" }]),
        "known defaults are applied"
    );
    assert_eq!(
        live["spec"]["template"]["spec"]["nodeClassRef"]["kind"],
        "EC2NodeClass"
    );
    assert_eq!(
        pool.plan(config(|_| {})).await.expect("planned").action,
        Action::NoOp
    );
    // The same in other words, in the configuration.
    let other_words = config(|config| {
        config["limits"]["cpu"] = json!("1");
        config["template"]["spec"]["requirements"]
            .as_array_mut()
            .expect("a list")
            .reverse();
        config["template"]["spec"]["expire_after"] = json!("43200m");
    });
    assert_eq!(
        pool.plan(other_words).await.expect("planned").action,
        Action::NoOp
    );
    let wider = config(|config| config["limits"]["cpu"] = json!("2"));
    assert_eq!(
        pool.plan(wider.clone()).await.expect("planned").action,
        Action::Update
    );
    pool.apply(wider.clone()).await.expect("applied");
    assert_eq!(api.get(POOL).expect("there")["spec"]["limits"]["cpu"], "2");
    // Drift is set right.
    api.change(POOL, |pool| pool["spec"]["limits"]["cpu"] = json!("9"));
    assert_eq!(
        pool.plan(wider.clone()).await.expect("planned").action,
        Action::Update
    );
    pool.apply(wider).await.expect("applied");
    let renamed = config(|config| config["name"] = json!("q"));
    assert_eq!(pool.plan(renamed).await.expect("planned").action, Action::Replace);
    let fixed = config(|config| {
        config["replicas"] = json!(2);
        config.as_object_mut().expect("a map").remove("limits");
    });
    assert_eq!(pool.plan(fixed).await.expect("planned").action, Action::Replace);
    pool.destroy().await.expect("destroyed");
    assert_eq!(api.get(POOL), None);
}

#[tokio::test]
async fn a_plan_needs_no_cluster() {
    let api = MockApi::new("c");
    let core = core(&api, UNKNOWN).await;
    let mut pool = session(&core);
    let config = config(|config| config["template"]["spec"]["node_class_ref"]["name"] = json!(UNKNOWN));
    assert_eq!(pool.plan(config).await.expect("planned").action, Action::Create);
    assert!(api.calls().is_empty(), "{:?}", api.calls());
}

#[tokio::test]
async fn a_replaced_cluster_gets_its_pool_again() {
    let api = MockApi::new("c");
    let core = core(&api, KNOWN).await;
    let mut pool = session(&core);
    pool.apply(config(|_| {})).await.expect("applied");
    // While the cluster is being replaced the provider's configuration is unknown.
    configure(&core, UNKNOWN).await;
    let planned = pool.plan(config(|_| {})).await.expect("planned");
    assert_eq!(planned.action, Action::Update, "it may be gone after the apply");
    // Then it is known, and the new cluster is empty.
    configure(&core, KNOWN).await;
    api.remove(POOL);
    pool.apply_plan(planned, config(|_| {})).await.expect("applied");
    assert!(api.get(POOL).is_some(), "it was applied anew");
}

#[tokio::test]
async fn a_cluster_that_was_not_replaced_after_all_changes_nothing() {
    let api = MockApi::new("c");
    let core = core(&api, KNOWN).await;
    let mut pool = session(&core);
    pool.apply(config(|_| {})).await.expect("applied");
    let before = api.get(POOL);
    configure(&core, UNKNOWN).await;
    let planned = pool.plan(config(|_| {})).await.expect("planned");
    configure(&core, KNOWN).await;
    pool.apply_plan(planned, config(|_| {})).await.expect("applied");
    assert_eq!(api.get(POOL), before, "the second plan saw that it is there");
}

#[tokio::test]
async fn wrong_configurations_are_told_with_their_path() {
    let api = MockApi::new("c");
    let core = core(&api, UNKNOWN).await;
    let requirement = |requirement: Json| {
        config(|config| config["template"]["spec"]["requirements"] = json!([requirement]))
    };
    for (config, path, words) in [
        (
            requirement(json!({ "key": "kubernetes.io/arch", "operator": "Inn", "values": ["amd64"] })),
            "template.spec.requirements[0].operator",
            "did you mean \"In\"",
        ),
        (
            requirement(json!({ "key": "karpenter.sh/other", "operator": "Exists" })),
            "template.spec.requirements[0].key",
            "karpenter.sh",
        ),
        (
            config(|config| config["limits"]["cpu"] = json!("much")),
            "limits[\"cpu\"]",
            "quantity",
        ),
        (
            config(|config| config["weight"] = json!(101)),
            "weight",
            "1 to 100",
        ),
        (
            config(|config| config["template"]["spec"]["expire_after"] = json!("14d")),
            "template.spec.expire_after",
            "duration",
        ),
        (
            config(|config| {
                config["disruption"] = json!({ "budgets": [{ "nodes": "1", "schedule": "@daily" }] })
            }),
            "disruption.budgets[0]",
            "both",
        ),
        (
            config(|config| config["wait"] = json!({ "timeout": "soon" })),
            "wait.timeout",
            "duration",
        ),
        (
            config(|config| {
                config["template"]["spec"]["taints"] = json!([{ "key": "a", "effect": "Never" }])
            }),
            "template.spec.taints[0].effect",
            "NoSchedule",
        ),
    ] {
        let failure = session(&core).validate(config).await.expect_err(path);
        let found = failure.diagnostics();
        assert_eq!(found.paths(), [path], "{found}");
        assert!(found.to_string().contains(words), "{found} lacks {words:?}");
    }
    let excluding = config(|config| {
        config["template"]["spec"]["requirements"] = json!([
            { "key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"] },
            { "key": "kubernetes.io/arch", "operator": "NotIn", "values": ["amd64"] },
        ]);
    });
    let failure = session(&core)
        .validate(excluding)
        .await
        .expect_err("nothing is left");
    assert!(
        failure.diagnostics().to_string().contains("no node can meet"),
        "{failure}"
    );
    assert!(api.calls().is_empty());
}

#[tokio::test]
async fn every_type_reads_back_what_an_import_finds() {
    let api = MockApi::new("c");
    let core = core(&api, KNOWN).await;
    let mut pool = session(&core);
    pool.apply(config(|_| {})).await.expect("applied");
    let mut imported = session(&core);
    imported.import("p").await.expect("imported");
    let without_wait = config(|config| {
        config.as_object_mut().expect("a map").remove("wait");
    });
    assert_eq!(
        imported.plan(without_wait.clone()).await.expect("planned").action,
        Action::NoOp
    );
    let mut by_identity = session(&core);
    let identity = json!({ "name": "p" });
    by_identity.import_by_identity(identity).await.expect("imported");
    assert_eq!(
        by_identity.plan(without_wait).await.expect("planned").action,
        Action::NoOp
    );
}

#[tokio::test]
async fn a_field_that_the_installed_definition_lacks_is_an_error_unless_the_plan_brings_it() {
    const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodepools.karpenter.sh";
    let api = MockApi::new("c");
    let all = joiner_api::crds();
    let pools = all
        .iter()
        .find(|it| it.spec.names.kind == "NodePool")
        .expect("a definition");
    let mut old = serde_json::to_value(pools).expect("JSON");
    let spec = &mut old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    spec["properties"]
        .as_object_mut()
        .expect("fields")
        .remove("replicas");
    api.put(DEFINITION, old);
    api.put(
        "/apis/karpenter.k8s.aws/v1/ec2nodeclasses/c",
        json!({ "metadata": { "name": "c" } }),
    );
    let asked = || {
        let of_definition = format!("GET {DEFINITION}");
        api.calls().iter().filter(|call| **call == of_definition).count()
    };
    let process = core(&api, KNOWN).await;
    session(&process)
        .plan(config(|_| {}))
        .await
        .expect("nothing in it is new");
    assert_eq!(asked(), 0);
    let fixed = config(|config| {
        config["replicas"] = json!(2);
        config.as_object_mut().expect("a map").remove("limits");
    });
    for _ in 0..2 {
        let failure = session(&process).plan(fixed.clone()).await.expect_err("too old");
        assert_eq!(
            failure.diagnostics().paths(),
            ["replicas"],
            "{}",
            failure.diagnostics()
        );
    }
    assert_eq!(asked(), 1, "once in a process");
    // The next plan brings definitions first.
    let process = core(&api, KNOWN).await;
    let mut definitions = process.resource("joiner_crds").expect("the type exists");
    definitions.plan(json!({})).await.expect("planned");
    session(&process).plan(fixed).await.expect("planned");
    assert_eq!(asked(), 1);
}

/// A node class with something else in it.
fn class(change: impl FnOnce(&mut Json)) -> Json {
    let mut config = json!({
        "name": "c",
        "role": "nodes",
        "ami_selector_terms": [{ "alias": "al2023@latest" }],
        "subnet_selector_terms": [{ "tags": { "team": "a" } }],
        "security_group_selector_terms": [{ "tags": { "team": "a" } }],
    });
    change(&mut config);
    config
}

#[tokio::test]
async fn a_class_is_told_of_in_the_words_of_its_attributes() {
    let api = MockApi::new("c");
    let core = core(&api, UNKNOWN).await;
    let volume = |ebs: Json| {
        class(|config| {
            config["block_device_mappings"] = json!([{ "device_name": "/dev/xvda", "ebs": ebs }]);
        })
    };
    for (config, path, words) in [
        (
            class(|config| config["role"] = Json::Null),
            "",
            "set exactly one of 'role' and 'instance_profile'",
        ),
        (
            volume(json!({ "volume_size": "20Gi", "volume_initialization_rate": 200 })),
            "block_device_mappings[0].ebs",
            "set 'snapshot_id' or remove 'volume_initialization_rate'",
        ),
        (
            volume(json!({ "volume_size": "20Gi", "kms_key_id": "alias/x" })),
            "block_device_mappings[0].ebs.kms_key_id",
            "set 'encrypted' to true",
        ),
        (
            class(|config| config["block_device_mappings"] = json!([{ "ebs": { "volume_size": "20Gi" } }])),
            "block_device_mappings[0]",
            "the volume has no 'device_name'",
        ),
        (
            class(|config| {
                let disk = json!({ "device_name": "/dev/xvda", "ebs": { "volume_size": "20Gi" } });
                config["block_device_mappings"] = json!([disk, disk]);
            }),
            "block_device_mappings[1].device_name",
            "already mapped at block_device_mappings[0]:",
        ),
        (
            class(|config| config["tags"] = json!({ "aws:x": "1" })),
            "tags[\"aws:x\"]",
            "choose another key",
        ),
        (
            class(|config| config["kubelet"] = json!({ "max_pods": 10, "other": { "maxPods": 20 } })),
            "kubelet.max_pods",
            "remove maxPods from other",
        ),
        (
            class(|config| config["kubelet"] = json!({ "other": { "registryPullQPS": "ten" } })),
            "kubelet",
            "\"registryPullQPS\" cannot be \"ten\"",
        ),
    ] {
        let session = core.resource("joiner_ec2_node_class").expect("the type exists");
        let failure = session.validate(config).await.expect_err(path);
        let found = failure.diagnostics();
        // What is wrong with the whole has no place.
        assert_eq!(found.paths().concat(), path, "{found}");
        assert!(found.to_string().contains(words), "{found} lacks {words:?}");
    }
    let broken = class(|config| {
        config["user_data"] =
            json!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"A\"\n\n--B--\n");
    });
    let mut session = core.resource("joiner_ec2_node_class").expect("the type exists");
    let failure = session.plan(broken).await.expect_err("no archive");
    let told = failure.diagnostics().to_string();
    assert!(
        told.contains("user_data cannot be merged") && !told.contains("userData"),
        "{told}"
    );
}

#[tokio::test]
async fn a_class_that_is_nowhere_is_a_warning() {
    const CLASS: &str = "/apis/karpenter.k8s.aws/v1/ec2nodeclasses/c";
    const PLACE: &str = "template.spec.node_class_ref.name";
    let api = MockApi::new("c");
    let process = core(&api, KNOWN).await;
    let warned = async |process: &Core<JoinerProvider>| {
        let planned = session(process).plan(config(|_| {})).await.expect("planned");
        planned.warnings.paths().contains(&PLACE.to_owned())
    };
    assert!(warned(&process).await, "neither in the cluster nor planned");
    let mut planned = process
        .resource("joiner_ec2_node_class")
        .expect("the type exists");
    let half_known = class(|config| config["role"] = json!(UNKNOWN));
    planned.plan(half_known).await.expect("planned");
    let calls = api.calls().len();
    assert!(!warned(&process).await, "planned before");
    assert!(
        !api.calls()[calls..].contains(&format!("GET {CLASS}")),
        "not asked for"
    );
    api.put(CLASS, json!({ "metadata": { "name": "c" } }));
    assert!(!warned(&core(&api, KNOWN).await).await, "in the cluster");
    assert!(!warned(&core(&api, UNKNOWN).await).await, "no cluster to ask");
}
