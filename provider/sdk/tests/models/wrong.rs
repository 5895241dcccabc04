//! Resources that a core would refuse: the fake core says which rule they break.

use serde_json::json;
use tfplugin::testing::{Core, Failure};
use tfplugin::{
    ApplyRequest, Configured, Context, Diagnostics, Empty, Field, Model, NoIdentity, Offers, Plan,
    PlanRequest, Provider, Resource, State, Value, async_trait,
};

#[derive(Clone, Debug, Default, Model)]
struct Small {
    #[tf(required)]
    name: Field<String>,
    note: Field<String>,
    #[tf(computed)]
    id: Field<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    PlansAnotherName,
    PlansAnUnconfiguredNote,
    LeavesUnknown,
    ReturnsAnotherName,
    Nothing,
}

struct WrongProvider(Wrong);

#[async_trait]
impl Provider for WrongProvider {
    type Model = Empty;
    type Data = ();

    async fn configure(&self, _: &Context<()>, _: Empty) -> Result<Configured<()>, Diagnostics> {
        Ok(Configured::ready(()))
    }

    fn offers(&self) -> Offers<()> {
        Offers::new().resource(WrongResource(self.0))
    }
}

struct WrongResource(Wrong);

#[async_trait]
impl Resource for WrongResource {
    type Data = ();
    type Model = Small;
    type Identity = NoIdentity;

    fn name(&self) -> &'static str {
        "wrong_thing"
    }

    async fn plan(
        &self,
        _: &Context<()>,
        _: &PlanRequest<Small>,
        plan: &mut Plan<Small, NoIdentity>,
    ) -> Result<(), Diagnostics> {
        match self.0 {
            Wrong::PlansAnotherName => plan.planned.name = "other".into(),
            Wrong::PlansAnUnconfiguredNote => plan.planned.note = "n".into(),
            _ => {}
        }
        Ok(())
    }

    async fn create(
        &self,
        _: &Context<()>,
        request: ApplyRequest<Small, NoIdentity>,
    ) -> Result<State<Small, NoIdentity>, Diagnostics> {
        let mut small = request.planned;
        if self.0 != Wrong::LeavesUnknown {
            small.id = "1".into();
        }
        if self.0 == Wrong::ReturnsAnotherName {
            small.name = "other".into();
        }
        Ok(State::new(small))
    }

    async fn read(
        &self,
        _: &Context<()>,
        state: State<Small, NoIdentity>,
    ) -> Result<Option<State<Small, NoIdentity>>, Diagnostics> {
        Ok(Some(state))
    }

    async fn update(
        &self,
        _: &Context<()>,
        _: State<Small, NoIdentity>,
        request: ApplyRequest<Small, NoIdentity>,
    ) -> Result<State<Small, NoIdentity>, Diagnostics> {
        Ok(State::new(request.planned))
    }

    async fn delete(&self, _: &Context<()>, _: State<Small, NoIdentity>) -> Result<(), Diagnostics> {
        Ok(())
    }
}

#[tokio::test]
async fn broken_rules_are_named() {
    for (wrong, want) in [
        (Wrong::Nothing, None),
        (Wrong::PlansAnotherName, Some("name: planned String(\"other\")")),
        (
            Wrong::PlansAnUnconfiguredNote,
            Some("note: planned a value for an attribute that is neither"),
        ),
        (Wrong::LeavesUnknown, Some("id: is still unknown")),
        (
            Wrong::ReturnsAnotherName,
            Some("name: was planned as String(\"a\")"),
        ),
    ] {
        let core = Core::new(WrongProvider(wrong)).await.unwrap();
        core.configure(json!({})).await.unwrap();
        let result = core
            .resource("wrong_thing")
            .unwrap()
            .apply(json!({"name": "a"}))
            .await;
        match (want, result) {
            (None, result) => assert!(result.is_ok(), "{result:?}"),
            (Some(want), Err(failure)) => assert!(failure.to_string().contains(want), "{wrong:?}: {failure}"),
            (Some(_), Ok(_)) => panic!("{wrong:?} was accepted"),
        }
    }
}

#[derive(Clone, Debug, Model)]
struct BadSchema {
    #[tf(optional)]
    count: Field<String>,
    #[tf(optional)]
    bag: Field<tfplugin::Set<Value>>,
}

struct BadProvider;

#[async_trait]
impl Provider for BadProvider {
    type Model = BadSchema;
    type Data = ();

    async fn configure(&self, _: &Context<()>, _: BadSchema) -> Result<Configured<()>, Diagnostics> {
        Ok(Configured::Unconfigured)
    }

    fn offers(&self) -> Offers<()> {
        Offers::new()
    }
}

#[tokio::test]
async fn schemas_that_no_core_loads_are_named() {
    let Err(Failure::Rule { title, violations }) = Core::new(BadProvider).await.map(|_| ()) else {
        panic!("accepted")
    };
    assert_eq!(title, "Failed to load plugin schemas");
    let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "provider: count: the name is reserved for configurations",
            "provider: bag: a set cannot hold elements of any type",
        ]
    );
}
