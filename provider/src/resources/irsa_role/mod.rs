//! `joiner_irsa_role`.

mod apply;
mod documents;
mod import;
mod plan;
mod read;
mod schema;
mod validate;

use crate::provider::Joiner;
use schema::IrsaRole;
use tfplugin::{
    ApplyRequest, Context, Diagnostics, ImportBy, NoIdentity, Plan, PlanRequest, Resource, State, async_trait,
};

/// The resource `joiner_irsa_role`.
pub(crate) struct IrsaRoleResource;

#[async_trait]
impl Resource for IrsaRoleResource {
    type Data = Joiner;
    type Model = IrsaRole;
    type Identity = NoIdentity;

    fn name(&self) -> &'static str {
        "joiner_irsa_role"
    }

    async fn validate(&self, _: &Context<Joiner>, config: &IrsaRole) -> Result<(), Diagnostics> {
        validate::validate(config)
    }

    async fn plan(
        &self,
        ctx: &Context<Joiner>,
        request: &PlanRequest<IrsaRole>,
        plan: &mut Plan<IrsaRole, NoIdentity>,
    ) -> Result<(), Diagnostics> {
        plan::plan(ctx, request, plan).await
    }

    async fn create(
        &self,
        ctx: &Context<Joiner>,
        request: ApplyRequest<IrsaRole, NoIdentity>,
    ) -> Result<State<IrsaRole, NoIdentity>, Diagnostics> {
        apply::create(ctx, request).await
    }

    async fn read(
        &self,
        ctx: &Context<Joiner>,
        state: State<IrsaRole, NoIdentity>,
    ) -> Result<Option<State<IrsaRole, NoIdentity>>, Diagnostics> {
        read::read(ctx, state).await
    }

    async fn update(
        &self,
        ctx: &Context<Joiner>,
        prior: State<IrsaRole, NoIdentity>,
        request: ApplyRequest<IrsaRole, NoIdentity>,
    ) -> Result<State<IrsaRole, NoIdentity>, Diagnostics> {
        apply::update(ctx, prior, request).await
    }

    async fn delete(
        &self,
        ctx: &Context<Joiner>,
        state: State<IrsaRole, NoIdentity>,
    ) -> Result<(), Diagnostics> {
        apply::delete(ctx, &state.model).await
    }

    async fn import(
        &self,
        ctx: &Context<Joiner>,
        by: ImportBy<NoIdentity>,
    ) -> Result<Vec<State<IrsaRole, NoIdentity>>, Diagnostics> {
        import::import(ctx, by).await
    }
}
