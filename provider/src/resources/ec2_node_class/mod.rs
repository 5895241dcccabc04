//! `joiner_ec2_node_class`.

mod apply;
mod defaults;
mod devices;
mod import;
mod kubelet;
mod plan;
mod read;
mod schema;
mod selectors;
mod validate;

use crate::objects::with_meaning;
use crate::provider::Joiner;
pub(crate) use schema::Ec2NodeClass;
use tfplugin::{
    ApplyRequest, Context, Diagnostics, ImportBy, Model as _, NoIdentity, Plan, PlanRequest, Resource,
    Schema, State, async_trait,
};

/// The resource `joiner_ec2_node_class`.
pub(crate) struct Ec2NodeClassResource;

#[async_trait]
impl Resource for Ec2NodeClassResource {
    type Data = Joiner;
    type Model = Ec2NodeClass;
    type Identity = NoIdentity;

    fn name(&self) -> &'static str {
        "joiner_ec2_node_class"
    }

    fn schema(&self) -> Schema {
        with_meaning(Ec2NodeClass::schema(self.version()))
    }

    async fn validate(&self, _: &Context<Joiner>, config: &Ec2NodeClass) -> Result<(), Diagnostics> {
        validate::validate(config)
    }

    async fn plan(
        &self,
        ctx: &Context<Joiner>,
        request: &PlanRequest<Ec2NodeClass>,
        plan: &mut Plan<Ec2NodeClass, NoIdentity>,
    ) -> Result<(), Diagnostics> {
        plan::plan(ctx, request, plan).await
    }

    async fn create(
        &self,
        ctx: &Context<Joiner>,
        request: ApplyRequest<Ec2NodeClass, NoIdentity>,
    ) -> Result<State<Ec2NodeClass, NoIdentity>, Diagnostics> {
        apply::create(ctx, request).await
    }

    async fn read(
        &self,
        ctx: &Context<Joiner>,
        state: State<Ec2NodeClass, NoIdentity>,
    ) -> Result<Option<State<Ec2NodeClass, NoIdentity>>, Diagnostics> {
        read::read(ctx, state).await
    }

    async fn update(
        &self,
        ctx: &Context<Joiner>,
        _: State<Ec2NodeClass, NoIdentity>,
        request: ApplyRequest<Ec2NodeClass, NoIdentity>,
    ) -> Result<State<Ec2NodeClass, NoIdentity>, Diagnostics> {
        apply::update(ctx, request).await
    }

    async fn delete(
        &self,
        ctx: &Context<Joiner>,
        state: State<Ec2NodeClass, NoIdentity>,
    ) -> Result<(), Diagnostics> {
        apply::delete(ctx, &state.model).await
    }

    async fn import(
        &self,
        ctx: &Context<Joiner>,
        by: ImportBy<NoIdentity>,
    ) -> Result<Vec<State<Ec2NodeClass, NoIdentity>>, Diagnostics> {
        import::import(ctx, by).await
    }
}
