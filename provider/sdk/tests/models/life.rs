//! A well-behaved resource through its whole life under the fake core.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use tfplugin::testing::{Action, Core, Failure, Stored, UNKNOWN};
use tfplugin::{
    ApplyRequest, AttributePath, Configured, Context, Diagnostic, Diagnostics, Field, ImportBy, Model,
    NoIdentity, Offers, Plan, PlanRequest, Provider, Resource, State, async_trait,
};

use crate::model::Thing;

#[derive(Clone, Debug, Model)]
struct Settings {
    region: Field<String>,
}

/// What exists, by name: the number of writes.
type World = Mutex<BTreeMap<String, i64>>;

struct Things(Arc<World>);

#[async_trait]
impl Provider for Things {
    type Model = Settings;
    type Data = Arc<World>;

    async fn configure(
        &self,
        _: &Context<Arc<World>>,
        config: Settings,
    ) -> Result<Configured<Arc<World>>, Diagnostics> {
        Ok(match config.region {
            Field::Unknown => Configured::UnknownUntilApply,
            _ => Configured::ready(Arc::clone(&self.0)),
        })
    }

    fn offers(&self) -> Offers<Arc<World>> {
        Offers::new().resource(ThingResource)
    }
}

struct ThingResource;

fn finish(mut thing: Thing, revision: i64) -> State<Thing, NoIdentity> {
    if thing.id.is_unknown() {
        thing.id = thing.name.clone();
    }
    if thing.kind.is_unknown() {
        thing.kind = "plain".into();
    }
    thing.revision = Field::Known(revision);
    let parts = thing
        .parts
        .known_mut()
        .into_iter()
        .flatten()
        .chain(thing.lead.known_mut());
    for part in parts.chain(thing.named.known_mut().into_iter().flat_map(BTreeMap::values_mut)) {
        if part.mark.is_unknown() {
            part.mark = part.kind.clone();
        }
    }
    if let Field::Known(bag) = &mut thing.bag {
        for part in &mut bag.0 {
            part.mark = part.kind.clone();
        }
    }
    State::new(thing)
}

#[async_trait]
impl Resource for ThingResource {
    type Data = Arc<World>;
    type Model = Thing;
    type Identity = NoIdentity;

    fn name(&self) -> &'static str {
        "test_thing"
    }

    async fn plan(
        &self,
        ctx: &Context<Arc<World>>,
        request: &PlanRequest<Thing>,
        plan: &mut Plan<Thing, NoIdentity>,
    ) -> Result<(), Diagnostics> {
        let Some(prior) = &request.prior else {
            return Ok(());
        };
        let name = prior.name.as_str().unwrap_or_default();
        let there = match ctx.provider() {
            Configured::Ready(world) => world.lock().unwrap().contains_key(name),
            _ => false,
        };
        if !there && !plan.changed {
            plan.assume_changed();
        }
        if prior.copies != plan.planned.copies && plan.planned.copies == Field::Known(0) {
            plan.require_replace("copies");
        }
        Ok(())
    }

    async fn create(
        &self,
        ctx: &Context<Arc<World>>,
        request: ApplyRequest<Thing, NoIdentity>,
    ) -> Result<State<Thing, NoIdentity>, Diagnostics> {
        let name = request.planned.name.as_str().unwrap_or_default().to_owned();
        if name == "panic" {
            std::panic::panic_any("told to");
        }
        if request.config.secret == "wrong".into() {
            return Err(Diagnostics::error("Refused", "wrong secret"));
        }
        if name == "slow" {
            ctx.cancellation().cancelled().await;
            return Err(Diagnostics::error("Interrupted", "nothing was made"));
        }
        ctx.ready()?.lock().unwrap().insert(name.clone(), 1);
        if name == "half" {
            ctx.report(Diagnostic::error(
                "Half made",
                "it is there, but not as it should be",
            ));
        }
        Ok(finish(request.planned, 1))
    }

    async fn read(
        &self,
        ctx: &Context<Arc<World>>,
        mut state: State<Thing, NoIdentity>,
    ) -> Result<Option<State<Thing, NoIdentity>>, Diagnostics> {
        if ctx.is_unknown_until_apply() {
            return Ok(Some(state));
        }
        let name = state.model.name.clone().known_or_default();
        let revision = ctx.ready()?.lock().unwrap().get(&name).copied();
        state.model.revision = Field::from_option(revision);
        state.model.id = state.model.name.clone();
        // A server that writes durations its own way:
        for part in state.model.parts.known_mut().into_iter().flatten() {
            if part.life_time == "1h".into() {
                part.life_time = "60m".into();
            }
        }
        Ok(revision.map(|_| state))
    }

    async fn update(
        &self,
        ctx: &Context<Arc<World>>,
        prior: State<Thing, NoIdentity>,
        request: ApplyRequest<Thing, NoIdentity>,
    ) -> Result<State<Thing, NoIdentity>, Diagnostics> {
        if request.planned.policy == "Drop".into() {
            return Err(Diagnostics::error("Refused", "it stays"));
        }
        let revision = prior.model.revision.known_or(0) + 1;
        ctx.ready()?
            .lock()
            .unwrap()
            .insert(request.planned.name.clone().known_or_default(), revision);
        Ok(finish(request.planned, revision))
    }

    async fn delete(
        &self,
        ctx: &Context<Arc<World>>,
        state: State<Thing, NoIdentity>,
    ) -> Result<(), Diagnostics> {
        ctx.ready()?
            .lock()
            .unwrap()
            .remove(state.model.name.as_str().unwrap_or_default());
        Ok(())
    }

    /// The first release knew one policy, and did not store it.
    fn complete(&self, ctx: &Context<Arc<World>>, mut stored: Thing) -> Thing {
        if stored.policy.is_null() && matches!(ctx.provider(), Configured::Ready(_)) {
            stored.policy = "Keep".into();
        }
        stored
    }

    async fn import(
        &self,
        _: &Context<Arc<World>>,
        by: ImportBy<NoIdentity>,
    ) -> Result<Vec<State<Thing, NoIdentity>>, Diagnostics> {
        let ImportBy::Id(name) = by else {
            return Ok(Vec::new());
        };
        let thing = Thing {
            name: Field::Known(name),
            policy: "Keep".into(),
            copies: Field::Known(3),
            ..Thing::default()
        };
        Ok(vec![State::new(thing)])
    }
}

async fn core() -> (Core<Things>, Arc<World>) {
    let world = Arc::new(World::default());
    let core = Core::new(Things(Arc::clone(&world))).await.unwrap();
    core.configure(json!({})).await.unwrap();
    (core, world)
}

#[tokio::test]
async fn what_an_earlier_release_did_not_store_is_completed() {
    let (core, world) = core().await;
    world.lock().unwrap().insert("a".to_owned(), 1);
    let mut old = core.resource("test_thing").unwrap();
    let stored = json!({ "name": "a", "copies": 3 });
    old.restore(0, Stored::Json(stored)).await.unwrap();
    assert_eq!(old.model::<Thing>().unwrap().policy, "Keep".into());
    let planned = old.plan(json!({ "name": "a" })).await.unwrap();
    assert_eq!(planned.action, Action::NoOp);
}

fn full() -> Json {
    json!({
        "name": "a", "big": 5, "labels": {"k": "v"}, "cluster_dns": ["x"], "secret": "s",
        "parts": [{"kind": "wheel", "life_time": "1h"}, {"kind": "axle", "count": 2}],
        "named": {"left": {"kind": "door"}}, "bag": [{"kind": "bolt"}, {"kind": "nut"}], "lead": {"kind": "head"},
        "extra": {"any": [1, "two"]}, "timeouts": {"create": "5m"},
    })
}

fn with(changes: &[(&str, Json)]) -> Json {
    let mut config = full();
    for (pointer, value) in changes {
        *config.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value.clone();
    }
    config
}

#[tokio::test]
async fn creates_settles_updates_and_destroys() {
    let (core, world) = core().await;
    let mut thing = core.resource("test_thing").unwrap();
    let planned = thing.plan(full()).await.unwrap();
    assert_eq!(planned.action, Action::Create);
    assert_eq!(*planned.planned.attribute("policy"), "Keep".into());
    assert!(planned.planned.attribute("id").is_unknown());
    assert!(planned.planned.attribute("secret").is_null());
    let mark = AttributePath::from("parts").index(0).attribute("mark");
    assert!(planned.planned.at(&mark).unwrap().is_unknown());

    thing.apply(full()).await.unwrap();
    let model: Thing = thing.model().unwrap();
    assert_eq!(model.parts.known().unwrap()[1].count, Field::Known(2));
    assert_eq!(model.kind, "plain".into());
    assert_eq!(thing.plan(full()).await.unwrap().action, Action::NoOp);

    let planned = thing.plan(with(&[("/labels/k", json!("w"))])).await.unwrap();
    assert_eq!(planned.action, Action::Update);
    assert_eq!(
        *planned.planned.attribute("id"),
        "a".into(),
        "use_state_for_unknown"
    );
    assert!(
        planned.planned.attribute("revision").is_unknown(),
        "something changes, so it may"
    );
    thing.apply(with(&[("/labels/k", json!("w"))])).await.unwrap();
    assert_eq!(thing.model::<Thing>().unwrap().revision, Field::Known(2));

    thing.destroy().await.unwrap();
    assert!(thing.state().is_null() && world.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_means_the_same_changes_nothing() {
    let (core, _) = core().await;
    let mut thing = core.resource("test_thing").unwrap();
    thing.apply(full()).await.unwrap();
    assert_eq!(
        thing.model::<Thing>().unwrap().parts.known().unwrap()[0].life_time,
        "1h".into()
    );
    thing.refresh().await.unwrap();
    assert_eq!(
        thing.model::<Thing>().unwrap().parts.known().unwrap()[0].life_time,
        "1h".into(),
        "the server says 60m"
    );
    for same in [
        with(&[("/parts/0/life_time", json!("60m"))]),
        with(&[(
            "/parts",
            json!([{"kind": "axle", "count": 2}, {"kind": "wheel", "life_time": "1h"}]),
        )]),
    ] {
        assert_eq!(
            thing.plan(same.clone()).await.unwrap().action,
            Action::NoOp,
            "{same}"
        );
    }
    let other = with(&[("/parts/0/life_time", json!("2h"))]);
    assert_eq!(thing.plan(other).await.unwrap().action, Action::Update);
}

#[tokio::test]
async fn some_changes_replace() {
    let (core, world) = core().await;
    let mut thing = core.resource("test_thing").unwrap();
    thing.apply(full()).await.unwrap();
    let planned = thing.plan(with(&[("/name", json!("b"))])).await.unwrap();
    assert_eq!(
        (planned.action, planned.replace),
        (Action::Replace, vec!["name".into()])
    );
    assert!(planned.planned.attribute("id").is_unknown());
    let mut zero = full();
    zero["copies"] = json!(0);
    assert_eq!(thing.plan(zero).await.unwrap().replace, ["copies".into()]);
    let planned = thing.plan(with(&[("/name", json!(UNKNOWN))])).await.unwrap();
    assert_eq!(
        planned.action,
        Action::Replace,
        "it may change, so it is replaced"
    );
    thing.apply(with(&[("/name", json!("b"))])).await.unwrap();
    assert_eq!(world.lock().unwrap().keys().collect::<Vec<_>>(), ["b"]);
}

#[tokio::test]
async fn anything_may_be_unknown_at_plan() {
    let (core, _) = core().await;
    for pointer in [
        "/name",
        "/big",
        "/labels",
        "/labels/k",
        "/cluster_dns",
        "/cluster_dns/0",
        "/parts",
        "/parts/0",
        "/parts/0/kind",
        "/parts/1/count",
        "/named",
        "/named/left",
        "/named/left/kind",
        "/bag",
        "/lead",
        "/lead/kind",
        "/extra",
        "/secret",
        "/timeouts",
        "/timeouts/create",
    ] {
        let mut thing = core.resource("test_thing").unwrap();
        let planned = thing
            .plan(with(&[(pointer, json!(UNKNOWN))]))
            .await
            .unwrap_or_else(|error| panic!("{pointer}: {error}"));
        thing
            .apply_plan(planned, full())
            .await
            .unwrap_or_else(|error| panic!("{pointer}: {error}"));
        assert_eq!(
            thing.plan(full()).await.unwrap().action,
            Action::NoOp,
            "{pointer}"
        );
    }
}

#[tokio::test]
async fn an_unknown_provider_plans_an_update_that_the_apply_decides() {
    let (core, world) = core().await;
    let mut thing = core.resource("test_thing").unwrap();
    thing.apply(full()).await.unwrap();

    core.configure(json!({"region": UNKNOWN})).await.unwrap();
    let planned = thing.plan(full()).await.unwrap();
    assert_eq!(planned.action, Action::Update);
    core.configure(json!({})).await.unwrap();
    thing.apply_plan(planned.clone(), full()).await.unwrap();
    assert_eq!(world.lock().unwrap()["a"], 1, "it was there: nothing was done");

    world.lock().unwrap().clear();
    thing.apply_plan(planned, full()).await.unwrap();
    assert!(world.lock().unwrap().contains_key("a"), "it was gone: it is back");
}

#[tokio::test]
async fn imports() {
    let (core, world) = core().await;
    world.lock().unwrap().insert("found".to_owned(), 4);
    let mut thing = core.resource("test_thing").unwrap();
    thing.import("found").await.unwrap();
    assert_eq!(thing.model::<Thing>().unwrap().revision, Field::Known(4));
    assert_eq!(
        thing.plan(json!({"name": "found"})).await.unwrap().action,
        Action::NoOp
    );
    let missing = core
        .resource("test_thing")
        .unwrap()
        .import("missing")
        .await
        .unwrap_err();
    assert!(
        missing
            .to_string()
            .contains("Cannot import non-existent remote object"),
        "{missing}"
    );
}

#[tokio::test]
async fn objects_that_vanish_are_created_anew() {
    let (core, world) = core().await;
    let mut thing = core.resource("test_thing").unwrap();
    thing.apply(full()).await.unwrap();
    world.lock().unwrap().clear();
    assert_eq!(thing.plan(full()).await.unwrap().action, Action::Create);
}

#[tokio::test]
async fn failures_leave_the_right_state() {
    let (core, world) = core().await;
    let mut thing = core.resource("test_thing").unwrap();
    let refused = thing
        .apply(with(&[("/secret", json!("wrong"))]))
        .await
        .unwrap_err();
    assert_eq!(
        refused.diagnostics().iter().next().unwrap().detail,
        "wrong secret"
    );
    assert!(thing.state().is_null());

    let failed = thing.apply(with(&[("/name", json!("panic"))])).await.unwrap_err();
    assert!(
        failed
            .to_string()
            .contains("A bug in the provider stopped this operation"),
        "{failed}"
    );
    assert!(failed.to_string().contains("told to"), "{failed}");
    assert!(thing.state().is_null());

    let half = thing.apply(with(&[("/name", json!("half"))])).await.unwrap_err();
    assert!(half.to_string().contains("Half made"));
    assert!(thing.is_tainted() && world.lock().unwrap().contains_key("half"));
    assert_eq!(
        thing
            .plan(with(&[("/name", json!("half"))]))
            .await
            .unwrap()
            .action,
        Action::Replace
    );
    thing.destroy().await.unwrap();

    thing.apply(full()).await.unwrap();
    let mut drop_it = full();
    drop_it["policy"] = json!("Drop");
    thing.apply(drop_it).await.unwrap_err();
    assert_eq!(
        thing.model::<Thing>().unwrap().policy,
        "Keep".into(),
        "a failed update keeps the state"
    );
}

#[tokio::test]
async fn stop_reaches_calls_in_flight_and_later_calls_go_on() {
    let (core, _) = core().await;
    let mut slow = core.resource("test_thing").unwrap();
    let (result, ()) = tokio::join!(slow.apply(with(&[("/name", json!("slow"))])), async {
        tokio::task::yield_now().await;
        core.stop();
    });
    let result = match result {
        Err(failure) => failure,
        Ok(_) => panic!("it was not interrupted"),
    };
    assert!(result.to_string().contains("Interrupted"), "{result}");
    core.resource("test_thing").unwrap().apply(full()).await.unwrap();
}

#[tokio::test]
async fn validators_speak_of_attributes() {
    let (core, _) = core().await;
    let thing = core.resource("test_thing").unwrap();
    for (changes, want) in [
        (
            ("/name", json!("")),
            "error at name: Invalid value for name: The text is empty",
        ),
        (
            ("/parts/0/life_time", json!("soon")),
            "error at parts[0].life_time: Invalid value for life_time: \"soon\" is not",
        ),
        (
            ("/parts", json!([])),
            "error at parts: Invalid value for parts: There are 0 elements",
        ),
        (
            ("/secret", json!("far too long")),
            "error at secret: Invalid value for secret: \"(sensitive)\" is too long.",
        ),
        (("/timeouts/create", json!("x")), "error at timeouts.create"),
    ] {
        let error = thing
            .validate(with(std::slice::from_ref(&changes)))
            .await
            .unwrap_err();
        assert!(error.to_string().contains(want), "{error}");
    }
    let mut config = full();
    config["policy"] = json!("keep");
    let Failure::Refused(error) = thing.validate(config).await.unwrap_err() else {
        panic!("not refused")
    };
    assert!(
        error
            .to_string()
            .contains("\"keep\" is not one of Keep, Drop. Did you mean \"Keep\"?"),
        "{error}"
    );
}
