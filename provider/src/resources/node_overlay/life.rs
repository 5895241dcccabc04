//! An overlay's life under a core, by the core's own rules.

use crate::cluster::Cluster;
use crate::cluster::mock::MockApi;
use crate::provider::JoinerProvider;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tfplugin::testing::{Action, Core, UNKNOWN};

const TYPE: &str = "joiner_node_overlay";
const OVERLAY: &str = "/apis/karpenter.sh/v1alpha1/nodeoverlays/o";

async fn core(api: &Arc<MockApi>, host: &str) -> Core<JoinerProvider> {
    let api = Arc::clone(api);
    let provider = JoinerProvider::reaching(move |_| Cluster::from_client("https://cluster", api.client()));
    let core = Core::new(provider).await.expect("the schemas are valid");
    let configured = core.configure(json!({ "kubernetes": { "host": host } })).await;
    configured.expect("configured");
    core
}

fn config(change: impl FnOnce(&mut Json)) -> Json {
    let mut config = json!({
        "name": "o",
        "requirements": [{ "key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["m7i", "m6i"] }],
        "price_adjustment": "-15%",
        "capacity": { "smarter-devices/fuse": "1" },
    });
    change(&mut config);
    config
}

#[tokio::test]
async fn create_change_import_and_destroy() {
    let api = MockApi::new("c");
    let core = core(&api, "https://cluster").await;
    let mut overlay = core.resource(TYPE).expect("the type exists");
    overlay.apply(config(|_| {})).await.expect("applied");
    let live = api.get(OVERLAY).expect("it is there");
    assert_eq!(
        (&live["spec"]["priceAdjustment"], &live["spec"]["capacity"]),
        (&json!("-15%"), &json!({ "smarter-devices/fuse": "1" }))
    );
    let other_words = config(|config| {
        config["capacity"]["smarter-devices/fuse"] = json!("1000m");
        config["requirements"][0]["values"] = json!(["m6i", "m7i"]);
    });
    assert_eq!(
        overlay.plan(other_words).await.expect("planned").action,
        Action::NoOp
    );
    let priced = config(|config| {
        config["price_adjustment"] = Json::Null;
        config["price"] = json!("0.25");
        config["weight"] = json!(10);
    });
    assert_eq!(
        overlay.plan(priced.clone()).await.expect("planned").action,
        Action::Update
    );
    overlay.apply(priced.clone()).await.expect("applied");
    let mut imported = core.resource(TYPE).expect("the type exists");
    imported
        .import_by_identity(json!({ "name": "o" }))
        .await
        .expect("imported");
    let live = api.get(OVERLAY).expect("there");
    assert_eq!(live["spec"]["price"], "0.25");
    overlay.destroy().await.expect("destroyed");
    assert_eq!(api.get(OVERLAY), None);
}

#[tokio::test]
async fn wrong_configurations_are_told_with_their_path() {
    let api = MockApi::new("c");
    let core = core(&api, UNKNOWN).await;
    for (config, path) in [
        (config(|config| config["price"] = json!("1")), "price"),
        (
            config(|config| config["price_adjustment"] = json!("15%")),
            "price_adjustment",
        ),
        (config(|config| config["weight"] = json!(0)), "weight"),
        (
            config(|config| config["capacity"] = json!({ "cpu": "1" })),
            "capacity",
        ),
        (
            config(|config| config["requirements"][0]["operator"] = json!("Is")),
            "requirements[0].operator",
        ),
    ] {
        let overlay = core.resource(TYPE).expect("the type exists");
        let failure = overlay.validate(config).await.expect_err(path);
        let told = failure.diagnostics().to_string();
        assert!(told.contains(path), "{told} lacks {path}");
    }
    let mut overlay = core.resource(TYPE).expect("the type exists");
    let unknown = config(|config| config["requirements"][0]["values"] = json!([UNKNOWN]));
    assert_eq!(
        overlay.plan(unknown).await.expect("planned").action,
        Action::Create
    );
    assert!(api.calls().is_empty());
}

#[tokio::test]
async fn overlays_that_correct_nothing_or_the_same_are_warnings() {
    let api = MockApi::new("c");
    let core = core(&api, UNKNOWN).await;
    let told = async |config: Json| {
        let mut overlay = core.resource(TYPE).expect("the type exists");
        let planned = overlay.plan(config).await.expect("planned");
        planned.warnings
    };
    assert!(told(config(|_| {})).await.is_empty());
    let other = |weight: Json| {
        config(|config| {
            config["name"] = json!("p");
            config["weight"] = weight;
        })
    };
    assert!(told(other(json!(1))).await.is_empty(), "of another weight");
    assert_eq!(told(other(Json::Null)).await.paths(), ["weight"]);
    let misspelt = config(|config| {
        config["weight"] = json!(9);
        config["requirements"][0]["values"] = json!(["m55"]);
    });
    assert_eq!(told(misspelt).await.paths(), ["requirements[0].values"]);
    let nothing = config(|config| {
        config["weight"] = json!(8);
        config["price_adjustment"] = Json::Null;
        config["capacity"] = Json::Null;
    });
    let told = told(nothing).await.to_string();
    assert!(
        told.contains("no price, no price_adjustment and no capacity"),
        "{told}"
    );
}
