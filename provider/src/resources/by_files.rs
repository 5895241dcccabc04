//! One shape for every resource: what a core asks for is answered by the file of that name in the resource's folder.

/// Implements [`tfplugin::Resource`] by the folder's modules `validate`, `plan`, `apply`, `read` and `import`. `schema` is what the
/// model's own schema goes through; `moved` takes over the state of another provider's resource, `destroy` looks at a planned
/// destroy, `stored` completes a state that an earlier release stored, `count` notes each resource that a plan has.
macro_rules! by_files {
    ($resource:ident is $name:literal: $model:ty, $identity:ty, schema $schema:expr $(, moved $moved:path)? $(, destroy $destroy:path)? $(, stored $stored:path)? $(, count $count:path)?) => {
        #[tfplugin::async_trait]
        impl tfplugin::Resource for $resource {
            type Data = $crate::provider::Joiner;
            type Model = $model;
            type Identity = $identity;

            fn name(&self) -> &'static str {
                $name
            }

            fn schema(&self) -> tfplugin::Schema {
                $schema(<$model as tfplugin::Model>::schema(self.version()))
            }

            async fn validate(
                &self,
                ctx: &tfplugin::Context<Self::Data>,
                config: &$model,
            ) -> Result<(), tfplugin::Diagnostics> {
                let _ = ctx;
                $( $count(ctx, config); )?
                validate::validate(config)
            }

            async fn plan(
                &self,
                ctx: &tfplugin::Context<Self::Data>,
                request: &tfplugin::PlanRequest<$model>,
                plan: &mut tfplugin::Plan<$model, $identity>,
            ) -> Result<(), tfplugin::Diagnostics> {
                plan::plan(ctx, request, plan).await
            }

            async fn create(
                &self,
                ctx: &tfplugin::Context<Self::Data>,
                request: tfplugin::ApplyRequest<$model, $identity>,
            ) -> Result<tfplugin::State<$model, $identity>, tfplugin::Diagnostics> {
                apply::create(ctx, request).await
            }

            async fn read(
                &self,
                ctx: &tfplugin::Context<Self::Data>,
                state: tfplugin::State<$model, $identity>,
            ) -> Result<Option<tfplugin::State<$model, $identity>>, tfplugin::Diagnostics> {
                read::read(ctx, state).await
            }

            async fn update(
                &self,
                ctx: &tfplugin::Context<Self::Data>,
                prior: tfplugin::State<$model, $identity>,
                request: tfplugin::ApplyRequest<$model, $identity>,
            ) -> Result<tfplugin::State<$model, $identity>, tfplugin::Diagnostics> {
                apply::update(ctx, prior, request).await
            }

            async fn delete(
                &self,
                ctx: &tfplugin::Context<Self::Data>,
                state: tfplugin::State<$model, $identity>,
            ) -> Result<(), tfplugin::Diagnostics> {
                apply::delete(ctx, state).await
            }

            async fn import(
                &self,
                ctx: &tfplugin::Context<Self::Data>,
                by: tfplugin::ImportBy<$identity>,
            ) -> Result<Vec<tfplugin::State<$model, $identity>>, tfplugin::Diagnostics> {
                import::import(ctx, by).await
            }
            $(
                async fn move_state(
                    &self,
                    request: tfplugin::MoveRequest,
                ) -> Result<Option<tfplugin::State<$model, $identity>>, tfplugin::Diagnostics> {
                    $moved(self.name(), &request)
                }
            )?
            $(
                async fn plan_destroy(
                    &self,
                    ctx: &tfplugin::Context<Self::Data>,
                    state: &tfplugin::State<$model, $identity>,
                ) -> Result<(), tfplugin::Diagnostics> {
                    $destroy(ctx, state).await
                }
            )?
            $(
                fn complete(&self, ctx: &tfplugin::Context<Self::Data>, stored: $model) -> $model {
                    $stored(ctx, stored)
                }
            )?
        }
    };
}
pub(crate) use by_files;
