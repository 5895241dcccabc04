//! A release's life under a core, by the core's own rules, with a Helm in memory.

use super::schema::HelmRelease;
use crate::cluster::Cluster;
use crate::cluster::mock::MockApi;
use crate::helm::FakeHelm;
use crate::provider::{Fakes, JoinerProvider};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tfplugin::Field;
use tfplugin::testing::{Action, Core, Failure, Session, UNKNOWN};

const TYPE: &str = "joiner_helm_release";
const KNOWN: &str = "https://cluster";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/n/deployments/r";

struct World {
    api: Arc<MockApi>,
    helm: Arc<FakeHelm>,
    core: Core<JoinerProvider>,
}

impl World {
    async fn new() -> Self {
        let api = MockApi::new("c");
        let helm = FakeHelm::new(&api);
        let (reached, fakes) = (
            Arc::clone(&api),
            Fakes {
                helm: Some(Arc::clone(&helm)),
                ..Fakes::default()
            },
        );
        let provider =
            JoinerProvider::reaching(move |_| Cluster::from_client(KNOWN, reached.client())).with(fakes);
        let core = Core::new(provider).await.expect("the schemas are valid");
        let world = Self { api, helm, core };
        world.configure(KNOWN).await;
        world
    }

    async fn configure(&self, host: &str) {
        let configured = self
            .core
            .configure(json!({ "kubernetes": { "host": host } }))
            .await;
        configured.expect("configured");
    }

    fn session(&self) -> Session<JoinerProvider> {
        self.core.resource(TYPE).expect("the type exists")
    }

    /// A session of a release that is there.
    async fn installed(&self) -> Session<JoinerProvider> {
        let mut release = self.session();
        release.apply(config(|_| {})).await.expect("installed");
        self.helm.verbs();
        release
    }
}

fn config(change: impl FnOnce(&mut Json)) -> Json {
    let mut config = json!({
        "name": "r", "namespace": "n", "timeout": "0s", "values": { "replicas": 2 },
    });
    change(&mut config);
    config
}

async fn action(release: &mut Session<JoinerProvider>, config: Json) -> Action {
    release.plan(config).await.expect("planned").action
}

fn model(release: &Session<JoinerProvider>) -> HelmRelease {
    release.model().expect("a release")
}

fn words(failure: &Failure) -> String {
    failure.diagnostics().to_string()
}

#[tokio::test]
async fn install_plan_upgrade_and_destroy() {
    let world = World::new().await;
    let mut release = world.session();
    assert_eq!(action(&mut release, config(|_| {})).await, Action::Create);
    release.apply(config(|_| {})).await.expect("installed");
    assert_eq!(world.helm.verbs(), ["upgrade"]);
    assert_eq!(world.api.get(DEPLOYMENT).expect("there")["spec"]["replicas"], 2);
    assert_eq!(model(&release).revision, Field::Known(1));
    assert_eq!(model(&release).status.as_str(), Some("deployed"));
    assert_eq!(action(&mut release, config(|_| {})).await, Action::NoOp);
    let other_words = config(|config| config["values"] = json!(["replicas: 1\n", { "replicas": 2 }]));
    assert_eq!(
        action(&mut release, other_words).await,
        Action::NoOp,
        "the same values in other words"
    );

    let wider = config(|config| config["set"] = json!([{ "name": "replicas", "value": "3" }]));
    assert_eq!(action(&mut release, wider.clone()).await, Action::Update);
    release.apply(wider.clone()).await.expect("upgraded");
    assert_eq!(world.api.get(DEPLOYMENT).expect("there")["spec"]["replicas"], 3);
    assert_eq!(model(&release).revision, Field::Known(2));
    assert_eq!(action(&mut release, wider).await, Action::NoOp);

    let moved = config(|config| config["namespace"] = json!("m"));
    assert_eq!(action(&mut release, moved).await, Action::Replace);
    world.helm.verbs();
    release.destroy().await.expect("destroyed");
    assert_eq!(world.helm.verbs(), ["uninstall"]);
    assert_eq!(world.api.get(DEPLOYMENT), None);
    release.destroy().await.expect("nothing is left to do");
}

#[tokio::test]
async fn objects_that_outlast_helms_own_wait_are_waited_for() {
    let world = World::new().await;
    let mut release = world.installed().await;
    world.helm.end_early();
    let looks = || {
        let of_deployment = format!("GET {DEPLOYMENT}");
        let calls = world.api.calls();
        calls.iter().filter(|call| **call == of_deployment).count()
    };
    let is_ending = || {
        let live = world.api.get(DEPLOYMENT);
        live.is_some_and(|live| live["metadata"]["deletionTimestamp"].is_string())
    };
    let ends_when_looked_at = async {
        while !is_ending() {
            tokio::task::yield_now().await;
        }
        let before = looks();
        while looks() == before {
            tokio::task::yield_now().await;
        }
        world.api.remove(DEPLOYMENT);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        destroyed = release.destroy() => drop(destroyed.expect("destroyed")),
        () = ends_when_looked_at => {}
    }
    assert_eq!(world.api.get(DEPLOYMENT), None);

    let hasty = || config(|config| config["timeouts"] = json!({ "delete": "0s" }));
    let mut release = world.session();
    release.apply(hasty()).await.expect("installed");
    world.helm.end_early();
    let failure = release.destroy().await.expect_err("it is still there");
    assert!(
        words(&failure).contains("Deployment/n/r waits for the end of what it owns"),
        "{failure}"
    );
    world.api.remove(DEPLOYMENT);
    release.destroy().await.expect("nothing is left to do");
}

#[tokio::test]
async fn a_plan_needs_neither_cluster_nor_helm() {
    let world = World::new().await;
    world.configure(UNKNOWN).await;
    let before = world.api.calls().len();
    let mut release = world.session();
    let unknown = config(|config| config["values"] = json!({ "replicas": UNKNOWN, "role": UNKNOWN }));
    assert_eq!(action(&mut release, unknown).await, Action::Create);
    let of_a_registry = config(|config| config["chart"] = json!("oci://registry.invalid/charts/r"));
    assert_eq!(action(&mut world.session(), of_a_registry).await, Action::Create);
    assert_eq!((world.api.calls().len(), world.helm.verbs().len()), (before, 0));
}

#[tokio::test]
async fn what_someone_changed_is_set_right() {
    let world = World::new().await;
    let mut release = world.installed().await;
    world
        .api
        .change(DEPLOYMENT, |live| live["spec"]["replicas"] = json!(9));
    assert_eq!(action(&mut release, config(|_| {})).await, Action::Update);
    let drift = format!("{:?}", model(&release).drift);
    assert!(
        drift.contains("Deployment/n/r") && drift.contains("spec.replicas: 9, not 2"),
        "{drift}"
    );
    release.apply(config(|_| {})).await.expect("set right");
    assert_eq!(world.api.get(DEPLOYMENT).expect("there")["spec"]["replicas"], 2);
    assert_eq!(action(&mut release, config(|_| {})).await, Action::NoOp);
    // An object that is gone, and one that nobody is to look at.
    world.api.remove(DEPLOYMENT);
    assert_eq!(action(&mut release, config(|_| {})).await, Action::Update);
    let blind = config(|config| config["detect_drift"] = json!(false));
    release.apply(blind.clone()).await.expect("applied");
    world
        .api
        .change(DEPLOYMENT, |live| live["spec"]["replicas"] = json!(9));
    assert_eq!(action(&mut release, blind).await, Action::NoOp);
}

#[tokio::test]
async fn a_release_whose_pods_never_get_ready_is_kept_and_told() {
    let world = World::new().await;
    world.helm.break_pods(true);
    let mut release = world.session();
    let warnings = release
        .apply(config(|_| {}))
        .await
        .expect("installed, with a warning")
        .to_string();
    assert!(warnings.contains("0 of 2 pods ready"), "{warnings}");
    assert_eq!(model(&release).ready, Field::Known(false));
    assert_eq!(
        action(&mut release, config(|_| {})).await,
        Action::NoOp,
        "nothing is tainted"
    );
}

#[tokio::test]
async fn a_release_whose_record_cannot_be_read_is_kept_and_told() {
    let world = World::new().await;
    world.helm.hide_records();
    let mut release = world.session();
    let warnings = release
        .apply(config(|_| {}))
        .await
        .expect("installed, with a warning")
        .to_string();
    assert!(
        warnings.contains("not known whether release r is ready"),
        "{warnings}"
    );
    assert_eq!(model(&release).status.as_str(), Some("unknown"));
}

#[tokio::test]
async fn a_failed_first_install_is_in_the_state_and_made_anew() {
    let world = World::new().await;
    let mut release = world.session();
    world.helm.fail_next("no such image");
    let failure = release.apply(config(|_| {})).await.expect_err("it fails");
    assert!(words(&failure).contains("no such image"), "{failure}");
    assert_eq!(model(&release).status.as_str(), Some("failed"));
    assert_eq!(action(&mut release, config(|_| {})).await, Action::Replace);
    release.apply(config(|_| {})).await.expect("made anew");
    assert_eq!(model(&release).status.as_str(), Some("deployed"));
}

#[tokio::test]
async fn a_failed_upgrade_is_an_error_that_taints_nothing() {
    let world = World::new().await;
    let mut release = world.installed().await;
    let wider = config(|config| config["values"]["replicas"] = json!(3));
    world.helm.fail_next("quota exceeded");
    let failure = release.apply(wider.clone()).await.expect_err("it fails");
    assert!(words(&failure).contains("quota exceeded"), "{failure}");
    assert_eq!(model(&release).status.as_str(), Some("failed"));
    assert_eq!(
        action(&mut release, wider.clone()).await,
        Action::Update,
        "tried again, not replaced"
    );
    release.apply(wider).await.expect("upgraded");
    assert_eq!(model(&release).status.as_str(), Some("deployed"));
}

#[tokio::test]
async fn atomic_goes_back_to_what_was_before() {
    let world = World::new().await;
    let atomic = |replicas: i64| {
        config(move |config| {
            config["atomic"] = json!(true);
            config["values"]["replicas"] = json!(replicas);
        })
    };
    let mut release = world.session();
    world.helm.fail_next("no such image");
    release.apply(atomic(2)).await.expect_err("it fails");
    assert_eq!(world.helm.verbs(), ["upgrade", "uninstall"]);
    assert_eq!(
        action(&mut release, atomic(2)).await,
        Action::Create,
        "nothing is left of it"
    );
    release.apply(atomic(2)).await.expect("installed");
    world.helm.verbs();
    for broken in [false, true] {
        if broken {
            world.helm.break_pods(true);
        } else {
            world.helm.fail_next("quota exceeded");
        }
        let failure = release.apply(atomic(3)).await.expect_err("it fails");
        assert!(words(&failure).contains("rolled back to revision"), "{failure}");
        assert_eq!(world.helm.verbs(), ["upgrade", "rollback"]);
        assert_eq!(world.api.get(DEPLOYMENT).expect("there")["spec"]["replicas"], 2);
        world.helm.break_pods(false);
        assert_eq!(
            action(&mut release, atomic(3)).await,
            Action::Update,
            "still wanted"
        );
    }
    release.apply(atomic(3)).await.expect("upgraded");
    assert_eq!(world.api.get(DEPLOYMENT).expect("there")["spec"]["replicas"], 3);
}

#[tokio::test]
async fn releases_of_others_and_of_killed_runs() {
    let world = World::new().await;
    world.installed().await;
    // A working release that our provider made is gone on from: a run was killed before it wrote its state.
    let mut again = world.session();
    let warnings = again.apply(config(|_| {})).await.expect("taken over").to_string();
    assert!(warnings.contains("taken over"), "{warnings}");
    // Someone else's is refused.
    world
        .api
        .change("/api/v1/namespaces/n/secrets/sh.helm.release.v1.r.v2", |secret| {
            secret["metadata"]["labels"] =
                json!({ "owner": "helm", "name": "r", "version": "2", "status": "deployed" });
        });
    let mut theirs = world.session();
    let failure = theirs.apply(config(|_| {})).await.expect_err("refused");
    assert!(words(&failure).contains("adopt = true"), "{failure}");
    theirs
        .apply(config(|config| config["adopt"] = json!(true)))
        .await
        .expect("adopted");
    // One that is pending, and whose worker may be alive, is waited for; here no time is left for that.
    world.helm.leave_pending("r", "n");
    let failure = world
        .session()
        .apply(config(|_| {}))
        .await
        .expect_err("someone works on it");
    assert!(words(&failure).contains("may be alive"), "{failure}");
    // Long abandoned, it is taken up.
    world.api.change("/api/v1/namespaces/n/secrets/sh.helm.release.v1.r.v3", |secret| {
        secret["metadata"]["labels"] = json!({
            "owner": "helm", "name": "r", "version": "3", "status": "pending-upgrade", "modifiedAt": "1000000000",
        });
    });
    let mut taken_up = world.session();
    let warnings = taken_up
        .apply(config(|_| {}))
        .await
        .expect("taken up")
        .to_string();
    assert!(warnings.contains("marked as failed"), "{warnings}");
    assert_eq!(model(&taken_up).status.as_str(), Some("deployed"));
}

#[tokio::test]
async fn a_replaced_cluster_gets_its_release_again() {
    let world = World::new().await;
    let mut release = world.installed().await;
    world.configure(UNKNOWN).await;
    let planned = release.plan(config(|_| {})).await.expect("planned");
    assert_eq!(planned.action, Action::Update, "it may be gone after the apply");
    world.configure(KNOWN).await;
    for path in [DEPLOYMENT, "/api/v1/namespaces/n/secrets/sh.helm.release.v1.r.v1"] {
        world.api.remove(path);
    }
    release
        .apply_plan(planned, config(|_| {}))
        .await
        .expect("applied");
    assert!(world.api.get(DEPLOYMENT).is_some(), "it was installed anew");

    let planned = async {
        world.configure(UNKNOWN).await;
        release.plan(config(|_| {})).await.expect("planned")
    };
    let planned = planned.await;
    world.configure(KNOWN).await;
    world.helm.verbs();
    release
        .apply_plan(planned, config(|_| {}))
        .await
        .expect("applied");
    assert!(
        world.helm.verbs().is_empty(),
        "the second plan saw that it is there"
    );
}

#[tokio::test]
async fn an_import_takes_values_and_is_then_planned_without_change() {
    let world = World::new().await;
    world.installed().await;
    let plain = config(|config| {
        config.as_object_mut().expect("a map").remove("timeout");
    });
    let mut by_id = world.session();
    by_id.import("n/r").await.expect("imported");
    assert_eq!(action(&mut by_id, plain.clone()).await, Action::NoOp);
    let mut by_identity = world.session();
    let identity = json!({ "namespace": "n", "name": "r" });
    by_identity.import_by_identity(identity).await.expect("imported");
    assert_eq!(action(&mut by_identity, plain.clone()).await, Action::NoOp);
    // As a core generates it for an import.
    let mut generated = plain.clone();
    generated["set_sensitive"] = json!([]);
    assert_eq!(action(&mut by_identity, generated).await, Action::NoOp);
    // What is dropped goes, and is no default of ours.
    let mut secret = plain.clone();
    secret["set_sensitive"] = json!([{ "name": "a", "value": "b" }]);
    by_identity.apply(secret).await.expect("applied");
    assert_eq!(world.helm.values()["a"], "b");
    assert_eq!(action(&mut by_identity, plain.clone()).await, Action::Update);
    by_identity.apply(plain).await.expect("applied");
    assert_eq!(world.helm.values()["a"], Json::Null);
    for (id, text) in [
        ("r", "NAMESPACE/NAME"),
        ("n/", "NAMESPACE/NAME"),
        ("n/other", "no Helm release"),
    ] {
        let failure = world.session().import(id).await.expect_err(id);
        assert!(words(&failure).contains(text), "{failure}");
    }
}

#[tokio::test]
async fn what_is_write_only_reaches_helm_and_no_state() {
    let world = World::new().await;
    let secret = |value: &str, version: i64| {
        let entry = json!({ "name": "auth.password", "value": value, "type": "string" });
        config(move |config| {
            config["set_wo"] = json!([entry]);
            config["set_wo_version"] = json!(version);
        })
    };
    let mut release = world.session();
    release.apply(secret("first", 1)).await.expect("installed");
    assert_eq!(world.helm.values()["auth"]["password"], "first");
    assert!(
        !format!("{:?}", release.state()).contains("first"),
        "{:?}",
        release.state()
    );
    assert_eq!(
        action(&mut release, secret("first", 1)).await,
        Action::NoOp,
        "it is no drift"
    );
    assert_eq!(
        action(&mut release, secret("second", 1)).await,
        Action::NoOp,
        "the version tells"
    );
    release.apply(secret("second", 2)).await.expect("upgraded");
    assert_eq!(world.helm.values()["auth"]["password"], "second");
}

#[tokio::test]
async fn the_controller_outlives_its_nodes() {
    let world = World::new().await;
    let mut release = world.installed().await;
    world.api.put(
        "/apis/karpenter.sh/v1/nodeclaims/p-1",
        json!({ "metadata": { "name": "p-1" } }),
    );
    let failure = release.destroy().await.expect_err("a node is left");
    assert!(
        words(&failure).contains("p-1") && words(&failure).contains("allow_orphans"),
        "{failure}"
    );
    assert!(world.api.get(DEPLOYMENT).is_some());
    let mut orphaning = world.session();
    orphaning.import("n/r").await.expect("imported");
    orphaning
        .apply(config(|config| config["allow_orphans"] = json!(true)))
        .await
        .expect("applied");
    orphaning.destroy().await.expect("destroyed");
}

#[tokio::test]
async fn values_that_the_chart_refuses_are_told_in_the_plan() {
    const SAID: &str =
        "execution error at (joiner/templates/deployment.yaml:1:1): settings.clusterName is empty: set it";
    let world = World::new().await;
    world.helm.refuse_values(Some(SAID));
    let mut release = world.session();
    let failure = release.plan(config(|_| {})).await.expect_err("refused");
    assert_eq!(failure.diagnostics().paths(), ["values"]);
    let told = words(&failure);
    assert!(
        told.contains("rendered with them: settings.clusterName is empty: set it"),
        "{told}"
    );
    let unknown = config(|config| config["values"] = json!({ "replicas": UNKNOWN }));
    release
        .plan(unknown)
        .await
        .expect("what is not known is left to the apply");
    world.helm.refuse_values(None);
    release.apply(config(|_| {})).await.expect("installed");
    world.helm.refuse_values(Some(SAID));
    assert_eq!(
        action(&mut release, config(|_| {})).await,
        Action::NoOp,
        "what does not change is not rendered"
    );
}

#[tokio::test]
async fn a_chart_on_this_machine_is_rendered_in_the_plan() {
    let world = World::new().await;
    let chart = tempfile::tempdir().expect("a directory");
    std::fs::write(
        chart.path().join("Chart.yaml"),
        "apiVersion: v2\nname: own\nversion: 1.0.0\n",
    )
    .expect("written");
    let of = |chart: &str| config(|config| config["chart"] = json!(chart));
    let own = of(&chart.path().display().to_string());
    world
        .helm
        .refuse_values(Some("template: own/templates/x.yaml:1:3: nil pointer"));
    let mut release = world.session();
    let failure = release.plan(own.clone()).await.expect_err("refused");
    assert_eq!(failure.diagnostics().paths(), ["values"]);
    assert!(words(&failure).contains("correct the chart"), "{failure}");
    assert!(world.helm.verbs().is_empty(), "a plan changes nothing");
    release
        .plan(of("oci://registry.example/own"))
        .await
        .expect("a registry is left to the apply");
    let unknown = {
        let mut unknown = own.clone();
        unknown["values"] = json!({ "replicas": UNKNOWN });
        unknown
    };
    release.plan(unknown).await.expect("so is what is not known");
    // Only the apply knows what the cluster can do.
    std::fs::create_dir(chart.path().join("templates")).expect("made");
    std::fs::write(
        chart.path().join("templates/x.yaml"),
        "{{ .Capabilities.APIVersions.Has \"x/v1\" | ternary \"\" (fail \"no x\") }}",
    )
    .expect("written");
    let planned = release.plan(own).await.expect("a warning");
    let told = planned.warnings.to_string();
    assert!(told.contains("may not take these values"), "{told}");
}

#[tokio::test]
async fn a_role_for_another_service_account_is_told_by_what_is_planned_second() {
    let role = |account: &str| {
        json!({
            "name": "role", "cluster_name": "c", "service_account": account, "namespace": "n",
            "oidc_provider_arn": "arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/A",
        })
    };
    // What the first plan of a role cannot tell, its ARN, is no reason not to look.
    let annotated = config(|config| {
        config["values"]["serviceAccount"] =
            json!({ "annotations": { "eks.amazonaws.com/role-arn": UNKNOWN } });
    });
    for (account, is_told) in [("joiner", true), ("r-joiner", false)] {
        for role_first in [true, false] {
            let world = World::new().await;
            let mut kinds = [
                ("joiner_irsa_role", role(account), "service_account"),
                (TYPE, annotated.clone(), "values"),
            ];
            if !role_first {
                kinds.reverse();
            }
            let mut told = Vec::new();
            for (kind, config, _) in &kinds {
                let mut session = world.core.resource(kind).expect("the type exists");
                let planned = session.plan(config.clone()).await.expect("planned");
                told.push((planned.warnings.paths(), planned.warnings.to_string()));
            }
            assert!(told[0].0.is_empty(), "nothing to compare with: {told:?}");
            assert_eq!(
                told[1].0,
                Vec::from_iter(is_told.then_some(kinds[1].2)),
                "{told:?}"
            );
            if is_told {
                let words = &told[1].1;
                for part in [
                    "joiner_irsa_role \"role\"",
                    "joiner_helm_release \"n/r\"",
                    "service_account = \"r-joiner\" in the role",
                    "serviceAccount = { name = \"joiner\" } in the release's values",
                ] {
                    assert!(words.contains(part), "{part:?} is not in {words}");
                }
            }
        }
    }
}
