//! A managed resource without its types.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;

use super::patch::patch;
use crate::context::Context;
use crate::diagnostics::Diagnostics;
use crate::identity::Identity;
use crate::model::{AttributeValue, Model};
use crate::path::AttributePath;
use crate::private::Private;
use crate::resource::{ApplyRequest, ImportBy, MoveRequest, Plan, PlanRequest, RawPlan, Resource, State};
use crate::schema::Schema;
use crate::value::{Type, Value};

pub(crate) type RawState = State<Value, Value>;
pub(crate) type RawApply = ApplyRequest<Value, Value>;

/// A plan as the SDK has prepared it for the resource.
pub(crate) struct PlanInput {
    pub(crate) raw: RawPlan,
    pub(crate) planned: Value,
    pub(crate) private: Private,
    pub(crate) identity: Option<Value>,
}

/// A plan as the resource leaves it.
pub(crate) struct PlanOutput {
    pub(crate) planned: Value,
    pub(crate) private: Private,
    pub(crate) identity: Option<Value>,
    pub(crate) replace: Vec<AttributePath>,
    pub(crate) assume_changed: bool,
}

#[async_trait]
pub(crate) trait AnyResource<D>: Send + Sync {
    fn name(&self) -> &'static str;
    fn schema(&self) -> &Schema;
    /// The type of the schema's values.
    fn ty(&self) -> &Type;
    fn identity_schema(&self) -> Option<&Schema>;
    async fn validate(&self, ctx: &Context<D>, config: &Value) -> Result<(), Diagnostics>;
    async fn plan(&self, ctx: &Context<D>, input: PlanInput) -> Result<PlanOutput, Diagnostics>;
    async fn plan_destroy(&self, ctx: &Context<D>, state: RawState) -> Result<(), Diagnostics>;
    async fn create(&self, ctx: &Context<D>, request: RawApply) -> Result<RawState, Diagnostics>;
    async fn read(&self, ctx: &Context<D>, state: RawState) -> Result<Option<RawState>, Diagnostics>;
    async fn update(
        &self,
        ctx: &Context<D>,
        prior: RawState,
        request: RawApply,
    ) -> Result<RawState, Diagnostics>;
    async fn delete(&self, ctx: &Context<D>, state: RawState) -> Result<(), Diagnostics>;
    async fn import(&self, ctx: &Context<D>, by: ImportBy<Value>) -> Result<Vec<RawState>, Diagnostics>;
    async fn upgrade(&self, version: i64, state: serde_json::Value) -> Result<Value, Diagnostics>;
    fn complete(&self, ctx: &Context<D>, stored: Value) -> Result<Value, Diagnostics>;
    async fn move_state(&self, request: MoveRequest) -> Result<Option<RawState>, Diagnostics>;
}

struct Erased<R: Resource> {
    resource: R,
    schema: OnceLock<Schema>,
    ty: OnceLock<Type>,
    identity: OnceLock<Option<Schema>>,
}

pub(crate) fn erase_resource<R: Resource>(resource: R) -> Arc<dyn AnyResource<R::Data>> {
    Arc::new(Erased {
        resource,
        schema: OnceLock::new(),
        ty: OnceLock::new(),
        identity: OnceLock::new(),
    })
}

fn typed<M: AttributeValue>(value: &Value) -> Result<M, Diagnostics> {
    M::from_value(value, &AttributePath::root()).map_err(Diagnostics::from)
}

fn typed_option<M: AttributeValue>(value: Option<&Value>) -> Result<Option<M>, Diagnostics> {
    value.filter(|value| !value.is_null()).map(typed).transpose()
}

fn typed_state<M: Model, I: Identity>(state: RawState) -> Result<State<M, I>, Diagnostics> {
    Ok(State {
        model: typed(&state.model)?,
        identity: typed_option(state.identity.as_ref())?,
        private: state.private,
    })
}

fn raw_state<M: Model, I: Identity>(state: State<M, I>) -> RawState {
    State {
        model: state.model.to_value(),
        identity: state
            .identity
            .filter(|_| I::PRESENT)
            .map(|identity| identity.to_value()),
        private: state.private,
    }
}

fn typed_apply<M: Model, I: Identity>(request: RawApply) -> Result<ApplyRequest<M, I>, Diagnostics> {
    Ok(ApplyRequest {
        config: typed(&request.config)?,
        planned: typed(&request.planned)?,
        identity: typed_option(request.identity.as_ref())?,
        private: request.private,
    })
}

#[async_trait]
impl<R: Resource> AnyResource<R::Data> for Erased<R> {
    fn name(&self) -> &'static str {
        self.resource.name()
    }

    fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| self.resource.schema())
    }

    fn ty(&self) -> &Type {
        self.ty.get_or_init(|| self.schema().ty())
    }

    fn identity_schema(&self) -> Option<&Schema> {
        self.identity
            .get_or_init(|| R::Identity::PRESENT.then(|| R::Identity::schema(R::Identity::VERSION)))
            .as_ref()
    }

    async fn validate(&self, ctx: &Context<R::Data>, config: &Value) -> Result<(), Diagnostics> {
        self.resource.validate(ctx, &typed(config)?).await
    }

    async fn plan(&self, ctx: &Context<R::Data>, input: PlanInput) -> Result<PlanOutput, Diagnostics> {
        let PlanInput {
            raw,
            mut planned,
            private,
            identity,
        } = input;
        let changed = planned != raw.prior;
        let mut plan: Plan<R::Model, R::Identity> = Plan {
            planned: typed(&planned)?,
            private,
            identity: typed_option(identity.as_ref())?,
            changed,
            replace: Vec::new(),
            assume_changed: false,
        };
        let before = plan.planned.to_value();
        let request = PlanRequest {
            config: typed(&raw.config)?,
            prior: typed_option(Some(&raw.prior))?,
            raw,
        };
        self.resource.plan(ctx, &request, &mut plan).await?;
        patch(&before, &plan.planned.to_value(), &mut planned);
        Ok(PlanOutput {
            planned,
            private: plan.private,
            identity: plan
                .identity
                .filter(|_| R::Identity::PRESENT)
                .map(|identity| identity.to_value()),
            replace: plan.replace,
            assume_changed: plan.assume_changed,
        })
    }

    async fn plan_destroy(&self, ctx: &Context<R::Data>, state: RawState) -> Result<(), Diagnostics> {
        self.resource.plan_destroy(ctx, &typed_state(state)?).await
    }

    async fn create(&self, ctx: &Context<R::Data>, request: RawApply) -> Result<RawState, Diagnostics> {
        self.resource
            .create(ctx, typed_apply(request)?)
            .await
            .map(raw_state)
    }

    async fn read(&self, ctx: &Context<R::Data>, state: RawState) -> Result<Option<RawState>, Diagnostics> {
        Ok(self.resource.read(ctx, typed_state(state)?).await?.map(raw_state))
    }

    async fn update(
        &self,
        ctx: &Context<R::Data>,
        prior: RawState,
        request: RawApply,
    ) -> Result<RawState, Diagnostics> {
        self.resource
            .update(ctx, typed_state(prior)?, typed_apply(request)?)
            .await
            .map(raw_state)
    }

    async fn delete(&self, ctx: &Context<R::Data>, state: RawState) -> Result<(), Diagnostics> {
        self.resource.delete(ctx, typed_state(state)?).await
    }

    async fn import(
        &self,
        ctx: &Context<R::Data>,
        by: ImportBy<Value>,
    ) -> Result<Vec<RawState>, Diagnostics> {
        let by = match by {
            ImportBy::Id(id) => ImportBy::Id(id),
            ImportBy::Identity(identity) => ImportBy::Identity(typed(&identity)?),
        };
        Ok(self
            .resource
            .import(ctx, by)
            .await?
            .into_iter()
            .map(raw_state)
            .collect())
    }

    async fn upgrade(&self, version: i64, state: serde_json::Value) -> Result<Value, Diagnostics> {
        Ok(self.resource.upgrade(version, state).await?.to_value())
    }

    fn complete(&self, ctx: &Context<R::Data>, mut stored: Value) -> Result<Value, Diagnostics> {
        let model: R::Model = typed(&stored)?;
        let before = model.to_value();
        patch(
            &before,
            &self.resource.complete(ctx, model).to_value(),
            &mut stored,
        );
        Ok(stored)
    }

    async fn move_state(&self, request: MoveRequest) -> Result<Option<RawState>, Diagnostics> {
        Ok(self.resource.move_state(request).await?.map(raw_state))
    }
}
