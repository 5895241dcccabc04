//! `joiner_node_pool`.

mod apply;
mod defaults;
mod import;
mod plan;
mod read;
mod schema;
mod validate;

use crate::objects::with_meaning;
use crate::provider::Joiner;
pub(crate) use schema::NodePool;
use tfplugin::{
    ApplyRequest, Context, Diagnostics, ImportBy, Model as _, NoIdentity, Plan, PlanRequest, Resource,
    Schema, State, async_trait,
};

/// The resource `joiner_node_pool`.
pub(crate) struct NodePoolResource;

#[async_trait]
impl Resource for NodePoolResource {
    type Data = Joiner;
    type Model = NodePool;
    type Identity = NoIdentity;

    fn name(&self) -> &'static str {
        "joiner_node_pool"
    }

    fn schema(&self) -> Schema {
        with_meaning(NodePool::schema(self.version()))
    }

    async fn validate(&self, _: &Context<Joiner>, config: &NodePool) -> Result<(), Diagnostics> {
        validate::validate(config)
    }

    async fn plan(
        &self,
        ctx: &Context<Joiner>,
        request: &PlanRequest<NodePool>,
        plan: &mut Plan<NodePool, NoIdentity>,
    ) -> Result<(), Diagnostics> {
        plan::plan(ctx, request, plan).await
    }

    async fn create(
        &self,
        ctx: &Context<Joiner>,
        request: ApplyRequest<NodePool, NoIdentity>,
    ) -> Result<State<NodePool, NoIdentity>, Diagnostics> {
        apply::create(ctx, request).await
    }

    async fn read(
        &self,
        ctx: &Context<Joiner>,
        state: State<NodePool, NoIdentity>,
    ) -> Result<Option<State<NodePool, NoIdentity>>, Diagnostics> {
        read::read(ctx, state).await
    }

    async fn update(
        &self,
        ctx: &Context<Joiner>,
        _: State<NodePool, NoIdentity>,
        request: ApplyRequest<NodePool, NoIdentity>,
    ) -> Result<State<NodePool, NoIdentity>, Diagnostics> {
        apply::update(ctx, request).await
    }

    async fn delete(
        &self,
        ctx: &Context<Joiner>,
        state: State<NodePool, NoIdentity>,
    ) -> Result<(), Diagnostics> {
        apply::delete(ctx, &state.model).await
    }

    async fn import(
        &self,
        ctx: &Context<Joiner>,
        by: ImportBy<NoIdentity>,
    ) -> Result<Vec<State<NodePool, NoIdentity>>, Diagnostics> {
        import::import(ctx, by).await
    }
}
