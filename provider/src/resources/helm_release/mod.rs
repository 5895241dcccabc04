//! `joiner_helm_release`.

mod apply;
mod documents;
mod import;
mod plan;
mod read;
mod schema;
mod steps;
mod validate;

use crate::provider::Joiner;
use schema::HelmRelease;
use tfplugin::{
    ApplyRequest, Context, Diagnostics, ImportBy, NoIdentity, Plan, PlanRequest, Resource, State, async_trait,
};

/// The resource `joiner_helm_release`.
pub(crate) struct HelmReleaseResource;

#[async_trait]
impl Resource for HelmReleaseResource {
    type Data = Joiner;
    type Model = HelmRelease;
    type Identity = NoIdentity;

    fn name(&self) -> &'static str {
        "joiner_helm_release"
    }

    async fn validate(&self, _: &Context<Joiner>, config: &HelmRelease) -> Result<(), Diagnostics> {
        validate::validate(config)
    }

    async fn plan(
        &self,
        ctx: &Context<Joiner>,
        request: &PlanRequest<HelmRelease>,
        plan: &mut Plan<HelmRelease, NoIdentity>,
    ) -> Result<(), Diagnostics> {
        plan::plan(ctx, request, plan).await
    }

    async fn create(
        &self,
        ctx: &Context<Joiner>,
        request: ApplyRequest<HelmRelease, NoIdentity>,
    ) -> Result<State<HelmRelease, NoIdentity>, Diagnostics> {
        apply::create(ctx, request).await
    }

    async fn read(
        &self,
        ctx: &Context<Joiner>,
        state: State<HelmRelease, NoIdentity>,
    ) -> Result<Option<State<HelmRelease, NoIdentity>>, Diagnostics> {
        read::read(ctx, state).await
    }

    async fn update(
        &self,
        ctx: &Context<Joiner>,
        prior: State<HelmRelease, NoIdentity>,
        request: ApplyRequest<HelmRelease, NoIdentity>,
    ) -> Result<State<HelmRelease, NoIdentity>, Diagnostics> {
        apply::update(ctx, prior, request).await
    }

    async fn delete(
        &self,
        ctx: &Context<Joiner>,
        state: State<HelmRelease, NoIdentity>,
    ) -> Result<(), Diagnostics> {
        apply::delete(ctx, &state.model).await
    }

    async fn import(
        &self,
        ctx: &Context<Joiner>,
        by: ImportBy<NoIdentity>,
    ) -> Result<Vec<State<HelmRelease, NoIdentity>>, Diagnostics> {
        import::import(ctx, by).await
    }
}
