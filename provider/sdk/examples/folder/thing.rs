//! The resource: every kind of attribute that the SDK has.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use tfplugin::{
    ApplyRequest, Context, Diagnostic, Diagnostics, Field, Identity, ImportBy, Model, Number, Plan,
    PlanRequest, Resource, State, Timeouts, Value, async_trait, validate,
};

use crate::store::Store;

/// A thing.
#[derive(Clone, Debug, Default, Model)]
pub(crate) struct Thing {
    /// Its name, and that of its file.
    #[tf(required, requires_replace, validate = validate::not_empty)]
    pub(crate) name: Field<String>,
    /// A number of any size.
    size: Field<Number>,
    /// What becomes of it.
    #[tf(default = "Keep", validate = validate::one_of(&["Keep", "Drop", "Panic", "Slow"]))]
    policy: Field<String>,
    /// How long it lives.
    #[tf(validate = validate::duration, equivalent = same_duration)]
    life: Field<String>,
    /// Labels.
    labels: Field<BTreeMap<String, String>>,
    /// How it is built.
    spec: Field<Spec>,
    /// Anything at all.
    extra: Field<Value>,
    /// A secret that is stored nowhere.
    #[tf(write_only, sensitive)]
    secret: Field<String>,
    /// Change it to write the secret again.
    secret_version: Field<i64>,
    /// The length of the secret that was written.
    #[tf(computed)]
    secret_length: Field<i64>,
    /// Its identifier.
    #[tf(computed, use_state_for_unknown)]
    pub(crate) id: Field<String>,
    /// How often it was written.
    #[tf(computed)]
    revision: Field<i64>,
    /// How long operations may take.
    timeouts: Field<Timeouts>,
}

/// How a thing is built.
#[derive(Clone, Debug, Model)]
struct Spec {
    /// Its parts, in order.
    #[tf(required)]
    parts: Field<Vec<Part>>,
    /// Parts by name.
    named: Field<BTreeMap<String, Part>>,
    /// How heavy it is, once it is built.
    #[tf(computed)]
    weight: Field<i64>,
}

/// A part.
#[derive(Clone, Debug, Model)]
struct Part {
    /// What it is.
    #[tf(required)]
    kind: Field<String>,
    /// How many of it.
    #[tf(default = 1, validate = validate::between(1..=1000))]
    count: Field<i64>,
    /// The mark that it got.
    #[tf(optional, computed)]
    mark: Field<String>,
}

/// What tells one thing from all others.
#[derive(Clone, Debug, Model)]
pub(crate) struct ThingIdentity {
    /// Its name.
    #[tf(required)]
    name: Field<String>,
}

impl Identity for ThingIdentity {}

fn same_duration(left: &str, right: &str) -> bool {
    validate::parse_duration(left).ok() == validate::parse_duration(right).ok()
}

pub(crate) struct ThingResource;

type ThingState = State<Thing, ThingIdentity>;

impl ThingResource {
    /// Fills in what only the apply knows, and stores the whole.
    fn write(
        &self,
        store: &Store,
        request: ApplyRequest<Thing, ThingIdentity>,
        revision: i64,
    ) -> Result<ThingState, Diagnostics> {
        let mut thing = request.planned;
        let name = thing.name.as_str().unwrap_or_default().to_owned();
        if thing.id.is_unknown() {
            thing.id = Field::Known(format!("thing-{name}"));
        }
        if thing.secret_length.is_unknown() {
            thing.secret_length = request
                .config
                .secret
                .map(|secret| i64::try_from(secret.len()).unwrap_or(i64::MAX));
        }
        thing.revision = Field::Known(revision);
        if let Field::Known(spec) = &mut thing.spec {
            let named = spec.named.known_mut().into_iter().flat_map(BTreeMap::values_mut);
            let parts = spec.parts.known_mut().into_iter().flatten().chain(named);
            let mut weight = 0;
            for part in parts {
                weight += part.count.known_or(0);
                if part.mark.is_unknown() {
                    part.mark = part.kind.clone().map(|kind| kind.to_uppercase());
                }
            }
            spec.weight = Field::Known(weight);
        }
        store.put(
            &name,
            &json!({ "revision": revision, "size": thing.size.known().map(ToString::to_string) }),
        )?;
        Ok(State::new(thing).with_identity(ThingIdentity {
            name: Field::Known(name),
        }))
    }
}

#[async_trait]
impl Resource for ThingResource {
    type Data = Store;
    type Model = Thing;
    type Identity = ThingIdentity;

    fn name(&self) -> &'static str {
        "folder_thing"
    }

    async fn validate(&self, _: &Context<Store>, config: &Thing) -> Result<(), Diagnostics> {
        if config.secret.is_null() && config.secret_version.is_known() {
            let mut found = Diagnostics::new();
            found.error_at(
                "secret_version",
                "No secret",
                "secret_version is set, but secret is not. Set it, or drop both.",
            );
            return Err(found);
        }
        Ok(())
    }

    async fn plan(
        &self,
        ctx: &Context<Store>,
        request: &PlanRequest<Thing>,
        plan: &mut Plan<Thing, ThingIdentity>,
    ) -> Result<(), Diagnostics> {
        // With an unknown folder nobody knows whether the thing is there: plan an update, look again at apply.
        let Some(prior) = &request.prior else {
            return Ok(());
        };
        if ctx.is_unknown_until_apply() {
            plan.assume_changed();
        } else if !plan.changed {
            let store = ctx.ready()?;
            let name = prior.name.as_str().unwrap_or_default();
            if store.get(name)?.is_none() {
                plan.assume_changed();
            }
        }
        Ok(())
    }

    #[expect(clippy::panic, reason = "the tests look at what becomes of a panic")]
    async fn create(
        &self,
        ctx: &Context<Store>,
        request: ApplyRequest<Thing, ThingIdentity>,
    ) -> Result<ThingState, Diagnostics> {
        let store = ctx.ready()?;
        match request.planned.policy.as_str() {
            Some("Panic") => std::panic::panic_any("a thing panicked".to_owned()),
            Some("Slow") => {
                // It is there from now on, if not as it should be.
                store.put(
                    request.planned.name.as_str().unwrap_or_default(),
                    &json!({ "revision": 0 }),
                )?;
                let limit = tfplugin::timeout_or(
                    &request.planned.timeouts,
                    |timeouts| &timeouts.create,
                    Duration::from_secs(30),
                );
                tokio::select! {
                    () = ctx.cancellation().cancelled() => {
                        ctx.report(Diagnostic::warning("Interrupted", "The thing was not finished."));
                    }
                    () = tokio::time::sleep(limit) => {}
                }
            }
            _ => {}
        }
        self.write(&store, request, 1)
    }

    async fn read(
        &self,
        ctx: &Context<Store>,
        mut state: ThingState,
    ) -> Result<Option<ThingState>, Diagnostics> {
        if ctx.is_unknown_until_apply() {
            return Ok(Some(state));
        }
        let name = state.model.name.clone().known_or_default();
        let Some(thing) = ctx.ready()?.get(&name)? else {
            return Ok(None);
        };
        state.identity = Some(ThingIdentity {
            name: state.model.name.clone(),
        });
        state.model.revision = Field::from_option(thing["revision"].as_i64());
        state.model.id = Field::Known(format!("thing-{name}"));
        Ok(Some(state))
    }

    async fn update(
        &self,
        ctx: &Context<Store>,
        prior: ThingState,
        request: ApplyRequest<Thing, ThingIdentity>,
    ) -> Result<ThingState, Diagnostics> {
        let revision = prior.model.revision.known_or(0) + 1;
        self.write(ctx.ready()?.as_ref(), request, revision)
    }

    async fn delete(&self, ctx: &Context<Store>, state: ThingState) -> Result<(), Diagnostics> {
        ctx.ready()?.remove(state.model.name.as_str().unwrap_or_default())
    }

    async fn import(
        &self,
        _: &Context<Store>,
        by: ImportBy<ThingIdentity>,
    ) -> Result<Vec<ThingState>, Diagnostics> {
        let name = match by {
            ImportBy::Id(id) => Field::Known(id),
            ImportBy::Identity(identity) => identity.name,
        };
        let thing = Thing {
            name: name.clone(),
            policy: Field::Known("Keep".to_owned()),
            ..Thing::default()
        };
        Ok(vec![State::new(thing).with_identity(ThingIdentity { name })])
    }
}
